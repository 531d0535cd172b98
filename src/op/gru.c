#include "op/gru.h"

#include "math/vecmath.h"
#include "op/gru_norm.h"
#include "op/linear.h"

#include <string.h>

typedef struct step_record {
    op_record record;
    gru_weights g;
    gru_input x; /* gates z and r, and the candidate; in backward the gradients of what went into them. They lie
                    apart, because oneDNN is slow where rows are wider than the product */
    tensor *c, *s, *y;
    real *inner; /* (n, H): r * s before, U s after the product; in backward (after) the gradient of U s */
} step_record;

/* The rows that have a state: the first of x, all of s or the first of them. */
static int rows_with_state(const step_record *r) {
    long n = tensor_rows(r->y), m = tensor_rows(r->s);
    return (int)(m < n ? m : n);
}

static matrix top(matrix m, int rows) {
    m.rows = rows;
    return m;
}

static matrix inner_matrix(const step_record *r) {
    int H = tensor_cols(r->s);
    return matrix_of(r->inner, (int)tensor_rows(r->y), H, H);
}

static real *row_of(const tensor *x, long i) {
    return x->data + i * tensor_cols(x);
}

bool gru_context_add(tape *t, const gru_weights *g, gru_input x, const tensor *c) {
    return !c || (linear_product(t, tensor_matrix(c), g->C_zr, NULL, tensor_matrix(x.gates), true) &&
                  linear_product(t, tensor_matrix(c), g->C, NULL, tensor_matrix(x.candidate), true));
}

bool gru_context_back(tape *t, const gru_weights *g, gru_input x, tensor *c) {
    if (!c)
        return true;
    matrix gates = tensor_matrix(x.gates), candidate = tensor_matrix(x.candidate);
    tape_defer_product(t, g->C_zr, tensor_matrix(c), gates);
    tape_defer_product(t, g->C, tensor_matrix(c), candidate);
    return linear_product_back(t, gates, g->C_zr, tensor_grad_matrix(c), tensor_grad_accumulates(c)) &&
           linear_product_back(t, candidate, g->C, tensor_grad_matrix(c), true);
}

/* ---- forward ----------------------------------------------------------------------------------------- */

static bool open_gates(tape *t, step_record *r) {
    int n = (int)tensor_rows(r->y), m = rows_with_state(r), H = tensor_cols(r->s);
    matrix gates = tensor_matrix(r->x.gates);
    if (!gru_context_add(t, &r->g, r->x, r->c) ||
        !linear_product(t, top(tensor_matrix(r->s), m), r->g.U_zr, NULL, top(gates, m), true))
        return false;
    for (int i = 0; i < n; i++)
        vec_sigmoid(row_of(r->x.gates, i), row_of(r->x.gates, i), 2 * H);
    return true;
}

/* U's share of the candidate, with the reset gate on either side of the product. */
static bool add_inner(tape *t, step_record *r) {
    int m = rows_with_state(r), H = tensor_cols(r->s);
    matrix inner = inner_matrix(r);
    bool before = r->g.reset == SA_RESET_BEFORE;
    if (!before && !linear_product(t, top(tensor_matrix(r->s), m), r->g.U, NULL, top(inner, m), false))
        return false;
    for (long i = 0; i < m; i++) {
        const real *gate = row_of(r->x.gates, i) + H;
        if (before)
            vec_mul(r->inner + i * H, gate, row_of(r->s, i), H);
        else
            vec_mul_add(row_of(r->x.candidate, i), gate, r->inner + i * H, H);
    }
    return !before || linear_product(t, top(inner, m), r->g.U, NULL, top(tensor_matrix(r->x.candidate), m), true);
}

static void mix(step_record *r) {
    int m = rows_with_state(r), H = tensor_cols(r->s);
    for (int i = 0; i < (int)tensor_rows(r->y); i++)
        vec_gru_mix(row_of(r->y, i), row_of(r->x.candidate, i), row_of(r->x.gates, i),
                    i < m ? row_of(r->s, i) : NULL, H);
}

/* ---- backward ---------------------------------------------------------------------------------------- */

/* z and the candidate give way to the gradients of their pre-activations; ds takes the direct share. */
static void unmix(step_record *r) {
    int m = rows_with_state(r), H = tensor_cols(r->s);
    for (long i = 0; i < tensor_rows(r->y); i++)
        vec_gru_unmix(i < m ? r->s->grad + i * H : NULL, row_of(r->x.gates, i), row_of(r->x.candidate, i),
                      r->y->grad + i * H, i < m ? row_of(r->s, i) : NULL, H);
}

/* r gives way to the gradient of its pre-activation, which is zero where there was no state to reset. */
static void clear_reset_without_state(step_record *r) {
    int H = tensor_cols(r->s);
    for (long i = rows_with_state(r); i < tensor_rows(r->y); i++)
        memset(row_of(r->x.gates, i) + H, 0, (size_t)H * sizeof(real));
}

/* dy is used up: its memory takes the gradient of r * s. */
static bool close_reset_before(tape *t, step_record *r) {
    int m = rows_with_state(r), H = tensor_cols(r->s);
    if (!linear_product_back(t, top(tensor_matrix(r->x.candidate), m), r->g.U, top(tensor_grad_matrix(r->y), m),
                             false))
        return false;
    for (long i = 0; i < m; i++)
        vec_gru_reset_before(r->s->grad + i * H, row_of(r->x.gates, i) + H, r->y->grad + i * H, row_of(r->s, i), H);
    tape_defer_product(t, r->g.U, top(inner_matrix(r), m), top(tensor_matrix(r->x.candidate), m));
    return true;
}

static bool close_reset_after(tape *t, step_record *r) {
    int m = rows_with_state(r), H = tensor_cols(r->s);
    matrix inner = top(inner_matrix(r), m), s = top(tensor_matrix(r->s), m);
    for (long i = 0; i < m; i++)
        vec_gru_reset_after(row_of(r->x.gates, i) + H, r->inner + i * H, row_of(r->x.candidate, i), H);
    tape_defer_product(t, r->g.U, s, inner);
    return linear_product_back(t, inner, r->g.U, top(tensor_grad_matrix(r->s), m), true);
}

static void step_backward(tape *t, op_record *record) {
    step_record *r = (step_record *)record;
    int m = rows_with_state(r);
    if (!tensor_has_grad(r->y)) { /* the input waits for gradients in its place */
        memset(r->x.gates->data, 0, (size_t)tensor_count(r->x.gates) * sizeof(real));
        memset(r->x.candidate->data, 0, (size_t)tensor_count(r->x.candidate) * sizeof(real));
        return;
    }
    tensor_grad_clear_once(r->s);
    unmix(r);
    clear_reset_without_state(r);
    matrix gates = top(tensor_matrix(r->x.gates), m), s = top(tensor_matrix(r->s), m);
    bool before = r->g.reset == SA_RESET_BEFORE;
    if (!(before ? close_reset_before(t, r) : close_reset_after(t, r)) ||
        !linear_product_back(t, gates, r->g.U_zr, top(tensor_grad_matrix(r->s), m), true) ||
        !gru_context_back(t, &r->g, r->x, r->c)) {
        tape_fail(t);
        return;
    }
    tape_defer_product(t, r->g.U_zr, s, gates);
}

tensor *gru_step(tape *t, const gru_weights *g, gru_input x, tensor *c, tensor *s) {
    if (g->norm.g_U)
        return gru_norm_step(t, g, x, c, s);
    if (!x.gates || !x.candidate || !s || (g->C && !c))
        return tape_fail(t);
    int n = (int)tensor_rows(x.gates), H = tensor_cols(s);
    SA_ASSERT(tensor_cols(x.gates) == 2 * H && tensor_cols(x.candidate) == H && tensor_rows(x.candidate) == n);
    SA_ASSERT((c != NULL) == (g->C != NULL) && (!c || tensor_rows(c) == n));
    step_record now = {.g = *g, .x = x, .c = c, .s = s};
    now.y = tape_matrix(t, n, H);
    now.inner = tape_reals(t, (long)n * H);
    if (!now.y || !now.inner)
        return NULL;
    if (!open_gates(t, &now) || !add_inner(t, &now))
        return tape_fail(t);
    mix(&now);
    tape_show(t, "gates", g->U, x.gates);
    tape_show(t, "candidate", g->U, x.candidate);
    tape_show(t, "state", g->U, now.y);
    step_record *r = tape_record(t, sizeof *r, step_backward);
    if (r) {
        now.record = r->record;
        *r = now;
    }
    return t->failed ? NULL : now.y;
}

typedef struct hold_record {
    op_record record;
    tensor *s, *y;
} hold_record;

static void hold_backward(tape *t, op_record *record) {
    (void)t;
    hold_record *r = (hold_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    tensor_grad_clear_once(r->s);
    int H = tensor_cols(r->s);
    for (long i = 0; i < tensor_rows(r->s); i++)
        vec_add(r->s->grad + i * H, r->y->grad + i * H, H);
}

tensor *gru_hold(tape *t, const gru_weights *g, tensor *s) {
    if (!s)
        return tape_fail(t);
    tensor *y = tape_like(t, s);
    if (!y || !(g->norm.g_U ? gru_norm_allocate(t, y).scale : tape_reals(t, tensor_count(s))))
        return NULL;
    memcpy(y->data, s->data, (size_t)tensor_count(s) * sizeof *y->data);
    hold_record *r = tape_record(t, sizeof *r, hold_backward);
    if (r) {
        r->s = s;
        r->y = y;
    }
    return t->failed ? NULL : y;
}
