#include "op/gru.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct gates_record {
    op_record record;
    tensor *x, *u, *z, *r;
} gates_record;

static void gates_backward(tape *t, op_record *record) {
    (void)t;
    gates_record *g = (gates_record *)record;
    int B = (int)tensor_rows(g->z), H = tensor_cols(g->z);
    tensor_grad_clear_once(g->x);
    tensor_grad_clear_once(g->z);
    tensor_grad_clear_once(g->r);
    g->u->has_grad = true; /* u has no other reader, so its gradient is this op's own, and x's share too */
    for (long i = 0; i < B; i++) {
        real *du = g->u->grad + i * 2 * H;
        memset(du, 0, 2 * (size_t)H * sizeof *du);
        vec_sigmoid_backward(du, g->z->grad + i * H, g->z->data + i * H, H);
        vec_sigmoid_backward(du + H, g->r->grad + i * H, g->r->data + i * H, H);
        vec_add(g->x->grad + i * 3 * H, du, 2 * H);
    }
}

tensor *gru_gates(tape *t, tensor *x, tensor *u, tensor **z) {
    if (!x || !u)
        return tape_fail(t);
    int B = (int)tensor_rows(u), H = tensor_cols(u) / 2;
    SA_ASSERT(tensor_cols(x) == 3 * H && tensor_rows(x) == B);
    *z = tape_matrix(t, B, H);
    tensor *r = tape_matrix(t, B, H);
    if (!*z || !r)
        return NULL;
    for (long i = 0; i < B; i++) {
        const real *a = x->data + i * 3 * H, *b = u->data + i * 2 * H;
        real *gate[2] = {(*z)->data + i * H, r->data + i * H};
        for (int k = 0; k < 2; k++) {
            memcpy(gate[k], a + k * H, (size_t)H * sizeof(real));
            vec_add(gate[k], b + k * H, H);
            vec_sigmoid(gate[k], gate[k], H);
        }
    }
    gates_record *g = tape_record(t, sizeof *g, gates_backward);
    if (g) {
        g->x = x;
        g->u = u;
        g->z = *z;
        g->r = r;
    }
    return t->failed ? NULL : r;
}

typedef struct update_record {
    op_record record;
    tensor *x, *u, *z, *s, *y;
    param *b;
    const bool *live;
    real *candidate; /* (B, H); its gradient is kept in u's */
} update_record;

static void update_backward(tape *t, op_record *record) {
    update_record *r = (update_record *)record;
    if (!r->y->has_grad)
        return;
    int B = (int)tensor_rows(r->y), H = tensor_cols(r->y);
    tensor_grad_clear_once(r->x);
    tensor_grad_clear_once(r->z);
    tensor_grad_clear_once(r->s);
    r->u->has_grad = true;
    for (long i = 0; i < B; i++) {
        const real *dy = r->y->grad + i * H, *z = r->z->data + i * H, *s = r->s->data + i * H;
        const real *c = r->candidate + i * H;
        real *du = r->u->grad + i * H, *dz = r->z->grad + i * H, *ds = r->s->grad + i * H;
        if (r->live && !r->live[i]) {
            memset(du, 0, (size_t)H * sizeof *du);
            vec_add(ds, dy, H);
            continue;
        }
#pragma omp simd
        for (int j = 0; j < H; j++) {
            dz[j] += dy[j] * (c[j] - s[j]);
            ds[j] += dy[j] * (1 - z[j]);
            du[j] = dy[j] * z[j] * (1 - c[j] * c[j]);
        }
        vec_add(r->x->grad + i * 3 * H + 2 * H, du, H);
    }
    tape_defer_rows(t, r->b, r->u->grad, H, B);
}

tensor *gru_update(tape *t, tensor *x, tensor *u, tensor *z, tensor *s, param *b, const bool *live) {
    if (!x || !u || !z || !s)
        return tape_fail(t);
    int B = (int)tensor_rows(s), H = tensor_cols(s);
    SA_ASSERT(tensor_cols(x) == 3 * H && tensor_cols(u) == H && tensor_rows(u) == B && b->dim[0] == H);
    tensor *y = tape_matrix(t, B, H);
    real *candidate = tape_reals(t, (long)B * H);
    if (!y || !candidate)
        return NULL;
    for (long i = 0; i < B; i++) {
        real *out = y->data + i * H, *c = candidate + i * H;
        const real *before = s->data + i * H, *gate = z->data + i * H;
        if (live && !live[i]) {
            memcpy(out, before, (size_t)H * sizeof *out);
            continue;
        }
        memcpy(c, x->data + i * 3 * H + 2 * H, (size_t)H * sizeof *c);
        vec_add(c, u->data + i * H, H);
        vec_add(c, b->value, H);
        vec_tanh(c, c, H);
#pragma omp simd
        for (int j = 0; j < H; j++)
            out[j] = before[j] + gate[j] * (c[j] - before[j]);
    }
    update_record *r = tape_record(t, sizeof *r, update_backward);
    if (r) {
        r->x = x;
        r->u = u;
        r->z = z;
        r->s = s;
        r->y = y;
        r->b = b;
        r->live = live;
        r->candidate = candidate;
    }
    return t->failed ? NULL : y;
}
