#include "op/gru.h"

#include "math/vecmath.h"
#include "op/linear.h"

#include <string.h>

typedef struct step_record {
    op_record record;
    gru_weights g;
    tensor *x, *c, *s, *y;
    const bool *live;
    real *gates;     /* (B, 2H): z and r; in backward the gradients of what went into them */
    real *candidate; /* (B, H); likewise. Apart, because oneDNN is slow where rows are wider than the product */
    real *inner;     /* (B, H): r * s before, U s after the product; in backward (after) the gradient of U s */
} step_record;

static bool alive(const step_record *r, long row) {
    return !r->live || r->live[row];
}

static matrix gate_matrix(const step_record *r) {
    int H = tensor_cols(r->s);
    return matrix_of(r->gates, (int)tensor_rows(r->s), 2 * H, 2L * H);
}

static matrix candidate_matrix(const step_record *r) {
    int H = tensor_cols(r->s);
    return matrix_of(r->candidate, (int)tensor_rows(r->s), H, H);
}

/* Room for (B, 3H), until the next operation. */
static matrix all_scratch(tape *t, const step_record *r) {
    int B = (int)tensor_rows(r->s), H = tensor_cols(r->s);
    return matrix_of(tape_scratch(t, 3L * B * H), B, 3 * H, 3L * H);
}

static matrix inner_matrix(const step_record *r) {
    int H = tensor_cols(r->s);
    return matrix_of(r->inner, (int)tensor_rows(r->s), H, H);
}

/* ---- forward ----------------------------------------------------------------------------------------- */

/* x + C c, parted into gates and candidate; the gates take U_z s and U_r s and become z and r. */
static bool open_gates(tape *t, step_record *r) {
    long B = tensor_rows(r->s), H = tensor_cols(r->s);
    const real *x = r->x->data;
    if (r->c) {
        matrix sum = all_scratch(t, r);
        if (!sum.at)
            return false;
        memcpy(sum.at, x, (size_t)(3 * B * H) * sizeof *x);
        if (!linear_product(t, tensor_matrix(r->c), r->g.C, sum, true))
            return false;
        x = sum.at;
    }
    for (long i = 0; i < B; i++) {
        memcpy(r->gates + 2 * i * H, x + 3 * i * H, (size_t)(2 * H) * sizeof *x);
        memcpy(r->candidate + i * H, x + 3 * i * H + 2 * H, (size_t)H * sizeof *x);
    }
    if (!linear_product(t, tensor_matrix(r->s), r->g.U_zr, gate_matrix(r), true))
        return false;
    for (long i = 0; i < B; i++)
        vec_sigmoid(r->gates + 2 * i * H, r->gates + 2 * i * H, (int)(2 * H));
    return true;
}

/* The candidate: U's share with the reset gate on either side of the product, bias, tanh. */
static bool make_candidate(tape *t, step_record *r) {
    long B = tensor_rows(r->s);
    int H = tensor_cols(r->s);
    bool before = r->g.reset == SA_RESET_BEFORE;
    if (!before && !linear_product(t, tensor_matrix(r->s), r->g.U, inner_matrix(r), false))
        return false;
    for (long i = 0; i < B; i++) {
        const real *gate_r = r->gates + 2 * i * H + H, *s = r->s->data + i * H;
        real *candidate = r->candidate + i * H, *inner = r->inner + i * H;
        vec_add(candidate, r->g.b->value, H);
        if (before)
            for (int j = 0; j < H; j++)
                inner[j] = gate_r[j] * s[j];
        else
            vec_mul_add(candidate, gate_r, inner, H);
    }
    if (before && !linear_product(t, inner_matrix(r), r->g.U, candidate_matrix(r), true))
        return false;
    for (long i = 0; i < B; i++)
        vec_tanh(r->candidate + i * H, r->candidate + i * H, H);
    return true;
}

static void mix(step_record *r) {
    int H = tensor_cols(r->s);
    for (long i = 0; i < tensor_rows(r->s); i++) {
        const real *z = r->gates + 2 * i * H, *candidate = r->candidate + i * H, *s = r->s->data + i * H;
        real *y = r->y->data + i * H;
        if (!alive(r, i)) {
            memcpy(y, s, (size_t)H * sizeof *y);
            continue;
        }
#pragma omp simd
        for (int j = 0; j < H; j++)
            y[j] = s[j] + z[j] * (candidate[j] - s[j]);
    }
}

/* ---- backward ---------------------------------------------------------------------------------------- */

/* z and the candidate give way to the gradients of their pre-activations; ds takes the direct share. */
static void unmix(step_record *r) {
    int H = tensor_cols(r->s);
    for (long i = 0; i < tensor_rows(r->s); i++) {
        const real *dy = r->y->grad + i * H, *s = r->s->data + i * H;
        real *z = r->gates + 2 * i * H, *candidate = r->candidate + i * H, *ds = r->s->grad + i * H;
        if (!alive(r, i)) {
            vec_add(ds, dy, H);
            memset(z, 0, 2 * (size_t)H * sizeof *z);
            memset(candidate, 0, (size_t)H * sizeof *candidate);
            continue;
        }
#pragma omp simd
        for (int j = 0; j < H; j++) {
            real gate = z[j], value = candidate[j];
            ds[j] += dy[j] * (1 - gate);
            candidate[j] = dy[j] * gate * (1 - value * value);
            z[j] = dy[j] * (value - s[j]) * gate * (1 - gate);
        }
    }
}

/* r gives way to the gradient of its pre-activation. dy is used up: its memory takes the gradient of r * s. */
static bool close_reset_before(tape *t, step_record *r) {
    int H = tensor_cols(r->s);
    if (!linear_product_back(t, candidate_matrix(r), r->g.U, tensor_grad_matrix(r->y), false))
        return false;
    for (long i = 0; i < tensor_rows(r->s); i++) {
        const real *d = r->y->grad + i * H, *s = r->s->data + i * H;
        real *gate = r->gates + 2 * i * H + H, *ds = r->s->grad + i * H;
#pragma omp simd
        for (int j = 0; j < H; j++) {
            real value = gate[j];
            ds[j] += d[j] * value;
            gate[j] = d[j] * s[j] * value * (1 - value);
        }
    }
    return true;
}

static bool close_reset_after(tape *t, step_record *r) {
    int H = tensor_cols(r->s);
    for (long i = 0; i < tensor_rows(r->s); i++) {
        real *gate = r->gates + 2 * i * H + H, *inner = r->inner + i * H;
        const real *dc = r->candidate + i * H;
        if (!alive(r, i)) { /* its gates are zero already */
            memset(inner, 0, (size_t)H * sizeof *inner);
            continue;
        }
#pragma omp simd
        for (int j = 0; j < H; j++) {
            real value = gate[j];
            gate[j] = dc[j] * inner[j] * value * (1 - value);
            inner[j] = dc[j] * value;
        }
    }
    return linear_product_back(t, inner_matrix(r), r->g.U, tensor_grad_matrix(r->s), true);
}

/* What reaches x and c: the gradients of gates and candidate side by side. */
static bool leave(tape *t, step_record *r) {
    long B = tensor_rows(r->s), H = tensor_cols(r->s);
    tensor_grad_clear_once(r->x);
    for (long i = 0; i < B; i++) {
        vec_add(r->x->grad + 3 * i * H, r->gates + 2 * i * H, (int)(2 * H));
        vec_add(r->x->grad + 3 * i * H + 2 * H, r->candidate + i * H, (int)H);
    }
    if (!r->c)
        return true;
    matrix all = all_scratch(t, r);
    if (!all.at)
        return false;
    for (long i = 0; i < B; i++) {
        memcpy(all.at + 3 * i * H, r->gates + 2 * i * H, (size_t)(2 * H) * sizeof(real));
        memcpy(all.at + 3 * i * H + 2 * H, r->candidate + i * H, (size_t)H * sizeof(real));
    }
    tape_defer_product(t, r->g.C, 0, tensor_matrix(r->c), gate_matrix(r));
    tape_defer_product(t, r->g.C, (int)(2 * H), tensor_matrix(r->c), candidate_matrix(r));
    return linear_product_back(t, all, r->g.C, tensor_grad_matrix(r->c), tensor_grad_accumulates(r->c));
}

static void step_backward(tape *t, op_record *record) {
    step_record *r = (step_record *)record;
    if (!r->y->has_grad)
        return;
    bool before = r->g.reset == SA_RESET_BEFORE;
    tensor_grad_clear_once(r->s);
    unmix(r);
    if (!(before ? close_reset_before(t, r) : close_reset_after(t, r)) ||
        !linear_product_back(t, gate_matrix(r), r->g.U_zr, tensor_grad_matrix(r->s), true) || !leave(t, r)) {
        tape_fail(t);
        return;
    }
    tape_defer_product(t, r->g.U_zr, 0, tensor_matrix(r->s), gate_matrix(r));
    if (before)
        tape_defer_product(t, r->g.U, 0, inner_matrix(r), candidate_matrix(r));
    else
        tape_defer_product(t, r->g.U, 0, tensor_matrix(r->s), inner_matrix(r));
    tape_defer_rows(t, r->g.b, candidate_matrix(r));
}

tensor *gru_step(tape *t, const gru_weights *g, tensor *x, tensor *c, tensor *s, const bool *live) {
    if (!x || !s || (g->C && !c))
        return tape_fail(t);
    int B = (int)tensor_rows(s), H = tensor_cols(s);
    SA_ASSERT(tensor_cols(x) == 3 * H && tensor_rows(x) == B && (c != NULL) == (g->C != NULL));
    step_record now = {.g = *g, .x = x, .c = c, .s = s, .live = live};
    now.y = tape_matrix(t, B, H);
    now.gates = tape_reals(t, 2L * B * H);
    now.candidate = tape_reals(t, (long)B * H);
    now.inner = tape_reals(t, (long)B * H);
    if (!now.y || !now.gates || !now.candidate || !now.inner)
        return NULL;
    if (!open_gates(t, &now) || !make_candidate(t, &now))
        return tape_fail(t);
    mix(&now);
    step_record *r = tape_record(t, sizeof *r, step_backward);
    if (r) {
        now.record = r->record;
        *r = now;
    }
    return t->failed ? NULL : now.y;
}
