#include "op/position.h"

#include "math/vecmath.h"

#include <math.h>
#include <string.h>

typedef struct position_record {
    op_record record;
    tensor *x, *y;
    real scale;
} position_record;

static void position_backward(tape *t, op_record *record) {
    (void)t;
    position_record *r = (position_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    int d = tensor_cols(r->x);
    tensor_grad_clear_once(r->x);
    for (long i = 0; i < tensor_rows(r->x); i++)
        vec_axpy(r->x->grad + i * d, r->scale, r->y->grad + i * d, d);
}

/* Waves of positions `from` to `to`, each computed once. */
static real *wave_table(tape *t, int d, int from, int to) {
    real *table = tape_bytes(t, (size_t)(to - from + 1) * (size_t)d * sizeof *table);
    for (int k = 0; table && k < d; k += 2) {
        double turn = pow(10000, -(double)k / d); /* radians a position */
        for (int p = from; p <= to; p++) {
            real *at = table + (long)(p - from) * d + k;
            at[0] = (real)sin(p * turn);
            if (k + 1 < d)
                at[1] = (real)cos(p * turn);
        }
    }
    return table;
}

tensor *op_position(tape *t, tensor *x, double scale, const int *position) {
    if (!x || !position)
        return tape_fail(t);
    int d = tensor_cols(x), N = (int)tensor_rows(x), from = N ? position[0] : 0, to = from;
    for (int i = 1; i < N; i++) {
        from = position[i] < from ? position[i] : from;
        to = position[i] > to ? position[i] : to;
    }
    tensor *y = tape_like(t, x);
    real *table = wave_table(t, d, from, to);
    if (!y || !table)
        return NULL;
    for (long i = 0; i < N; i++) {
        memcpy(y->data + i * d, table + (position[i] - from) * (long)d, (size_t)d * sizeof(real));
        vec_axpy(y->data + i * d, (real)scale, x->data + i * d, d);
    }
    position_record *r = tape_record(t, sizeof *r, position_backward);
    if (r) {
        r->x = x;
        r->y = y;
        r->scale = (real)scale;
    }
    return t->failed ? NULL : y;
}
