#include "op/gru_norm.h"

#include "math/vecmath.h"
#include "op/linear.h"

#include <string.h>

typedef struct norm_record {
    op_record record;
    gru_weights g;
    gru_input x; /* normalised in forward; in backward the gradients of what they were before. NULLs: no input */
    tensor *c, *s, *y;
    gru_norm_kept kept; /* the same */
} norm_record;

enum { SCALE_X_ZR, SCALE_X, SCALE_U_ZR, SCALE_U, SCALES };

/* The rows that have a state: the first of y, all of s or the first of them. */
static int rows_with_state(const norm_record *r) {
    long n = tensor_rows(r->y), m = tensor_rows(r->s);
    return (int)(m < n ? m : n);
}

/* Rows that have a state of what the state gives. */
static matrix state_share(const norm_record *r, real *at, int cols) {
    return matrix_of(at, rows_with_state(r), cols, cols);
}

static matrix states(const norm_record *r) {
    matrix s = tensor_matrix(r->s);
    s.rows = rows_with_state(r);
    return s;
}

static vec_gru_norm row_of(const norm_record *r, long i) {
    int H = tensor_cols(r->y);
    const gru_norm *n = &r->g.norm;
    vec_gru_norm row = {.u_zr = r->kept.u_zr + 2 * i * H,
                        .u = r->kept.u + i * H,
                        .gain_u_zr = n->g_U_zr->value,
                        .gain_u = n->g_U->value,
                        .b_zr = n->b_zr->value,
                        .b = n->b->value,
                        .b_u = n->b_U->value};
    if (r->x.gates) {
        row.x_zr = r->x.gates->data + 2 * i * H;
        row.x = r->x.candidate->data + i * H;
        row.gain_x_zr = n->g_W_zr->value;
        row.gain_x = n->g_W->value;
    }
    return row;
}

/* ---- forward ----------------------------------------------------------------------------------------- */

static bool multiply(tape *t, const norm_record *r) {
    int H = tensor_cols(r->y), m = rows_with_state(r);
    size_t without = (size_t)(tensor_rows(r->y) - m) * (size_t)H * sizeof(real);
    memset(r->kept.u_zr + 2L * m * H, 0, 2 * without);
    memset(r->kept.u + (long)m * H, 0, without);
    return gru_context_add(t, &r->g, r->x, r->c) &&
           linear_product(t, states(r), r->g.U_zr, NULL, state_share(r, r->kept.u_zr, 2 * H), false) &&
           linear_product(t, states(r), r->g.U, NULL, state_share(r, r->kept.u, H), false);
}

/* A row is normalised and used while it is in the cache. */
static void normalise_and_mix(const norm_record *r) {
    int H = tensor_cols(r->y), m = rows_with_state(r);
    for (long i = 0; i < tensor_rows(r->y); i++) {
        real *scale = r->kept.scale + SCALES * i;
        if (r->x.gates) {
            scale[SCALE_X_ZR] = vec_normalise(r->x.gates->data + 2 * i * H, 2 * H);
            scale[SCALE_X] = vec_normalise(r->x.candidate->data + i * H, H);
        }
        scale[SCALE_U_ZR] = vec_normalise(r->kept.u_zr + 2 * i * H, 2 * H);
        scale[SCALE_U] = vec_normalise(r->kept.u + i * H, H);
        const vec_gru_norm row = row_of(r, i);
        vec_gru_norm_mix(r->y->data + i * H, &row, i < m ? r->s->data + i * H : NULL, H);
    }
}

/* ---- backward ---------------------------------------------------------------------------------------- */

/* Gradients of gains and biases. */
typedef struct norm_grads {
    real *g_W_zr, *g_W, *g_U_zr, *g_U, *b_zr, *b, *b_U;
} norm_grads;

static norm_grads grads_of(tape *t, const norm_record *r) {
    const gru_norm *n = &r->g.norm;
    bool input = r->x.gates;
    return (norm_grads){input ? tape_direct_grad(t, n->g_W_zr) : NULL,
                        input ? tape_direct_grad(t, n->g_W) : NULL,
                        tape_direct_grad(t, n->g_U_zr),
                        tape_direct_grad(t, n->g_U),
                        tape_direct_grad(t, n->b_zr),
                        tape_direct_grad(t, n->b),
                        tape_direct_grad(t, n->b_U)};
}

/* What was normalised gives way to the gradients of what it was before; ds takes the direct share. d: 4H numbers.
 */
static void unmix(const norm_record *r, const norm_grads *grads, real *d) {
    int H = tensor_cols(r->y), m = rows_with_state(r);
    const real *d_c = d + 2 * H, *d_u = d + 3 * H;
    for (long i = 0; i < tensor_rows(r->y); i++) {
        const vec_gru_norm row = row_of(r, i);
        const real *scale = r->kept.scale + SCALES * i;
        vec_gru_norm_unmix(i < m ? r->s->grad + i * H : NULL, d, &row, r->y->grad + i * H,
                           i < m ? r->s->data + i * H : NULL, H);
        vec_add(grads->b_zr, d, 2 * H);
        vec_add(grads->b, d_c, H);
        vec_add(grads->b_U, d_u, H);
        vec_normalise_backward(r->kept.u_zr + 2 * i * H, d, row.gain_u_zr, scale[SCALE_U_ZR], grads->g_U_zr, 2 * H);
        vec_normalise_backward(r->kept.u + i * H, d_u, row.gain_u, scale[SCALE_U], grads->g_U, H);
        if (!r->x.gates)
            continue;
        vec_normalise_backward(r->x.gates->data + 2 * i * H, d, row.gain_x_zr, scale[SCALE_X_ZR], grads->g_W_zr,
                               2 * H);
        vec_normalise_backward(r->x.candidate->data + i * H, d_c, row.gain_x, scale[SCALE_X], grads->g_W, H);
    }
}

static void clear_input(const norm_record *r) {
    if (!r->x.gates)
        return;
    memset(r->x.gates->data, 0, (size_t)tensor_count(r->x.gates) * sizeof(real));
    memset(r->x.candidate->data, 0, (size_t)tensor_count(r->x.candidate) * sizeof(real));
}

static void norm_backward(tape *t, op_record *record) {
    norm_record *r = (norm_record *)record;
    int H = tensor_cols(r->y);
    if (!tensor_has_grad(r->y)) { /* the input waits for gradients in its place */
        clear_input(r);
        return;
    }
    const norm_grads grads = grads_of(t, r);
    real *d = tape_scratch(t, 4L * H);
    if (t->failed)
        return;
    tensor_grad_clear_once(r->s);
    unmix(r, &grads, d);
    matrix u_zr = state_share(r, r->kept.u_zr, 2 * H), u = state_share(r, r->kept.u, H);
    matrix ds = tensor_grad_matrix(r->s);
    ds.rows = rows_with_state(r);
    tape_defer_product(t, r->g.U_zr, states(r), u_zr);
    tape_defer_product(t, r->g.U, states(r), u);
    if (!linear_product_back(t, u_zr, r->g.U_zr, ds, true) || !linear_product_back(t, u, r->g.U, ds, true) ||
        !gru_context_back(t, &r->g, r->x, r->c))
        tape_fail(t);
}

gru_norm_kept gru_norm_allocate(tape *t, const tensor *y) {
    long n = tensor_rows(y), count = tensor_count(y);
    gru_norm_kept kept = {tape_reals(t, 2 * count), tape_reals(t, count), tape_reals(t, n * SCALES)};
    return t->failed ? (gru_norm_kept){0} : kept;
}

tensor *gru_norm_step(tape *t, const gru_weights *g, gru_input x, tensor *c, tensor *s) {
    bool input = g->norm.g_W;
    if (!s || (input && (!x.gates || !x.candidate)) || (g->C && !c))
        return tape_fail(t);
    int n = (int)tensor_rows(input ? x.gates : s), H = tensor_cols(s);
    SA_ASSERT(g->reset == SA_RESET_AFTER && (c != NULL) == (g->C != NULL) && (!c || tensor_rows(c) == n));
    SA_ASSERT(!input || (tensor_cols(x.gates) == 2 * H && tensor_cols(x.candidate) == H));
    norm_record now = {.g = *g, .x = x, .c = c, .s = s};
    now.y = tape_matrix(t, n, H);
    if (!now.y)
        return NULL;
    now.kept = gru_norm_allocate(t, now.y);
    if (t->failed || !multiply(t, &now))
        return tape_fail(t);
    normalise_and_mix(&now);
    norm_record *r = tape_record(t, sizeof *r, norm_backward);
    if (r) {
        now.record = r->record;
        *r = now;
    }
    return t->failed ? NULL : now.y;
}
