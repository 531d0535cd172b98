#include "op/shape.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct join_record {
    op_record record;
    tensor *y;
    int S;
    tensor *const *a, *const *b;
} join_record;

static void join_backward(tape *t, op_record *record) {
    (void)t;
    join_record *r = (join_record *)record;
    if (!r->y->has_grad)
        return;
    int B = r->y->dim[0], D = r->y->dim[2], D_a = tensor_cols(r->a[0]);
    for (int j = 0; j < r->S; j++) {
        tensor_grad_clear_once(r->a[j]);
        if (r->b)
            tensor_grad_clear_once(r->b[j]);
        for (int i = 0; i < B; i++) {
            const real *dy = r->y->grad + ((long)i * r->S + j) * D;
            vec_add(r->a[j]->grad + (long)i * D_a, dy, D_a);
            if (r->b)
                vec_add(r->b[j]->grad + (long)i * (D - D_a), dy + D_a, D - D_a);
        }
    }
}

tensor *op_join_steps(tape *t, int S, tensor *const *a, tensor *const *b) {
    for (int j = 0; j < S; j++)
        if (!a[j] || (b && !b[j]))
            return tape_fail(t);
    int B = (int)tensor_rows(a[0]), D_a = tensor_cols(a[0]), D_b = b ? tensor_cols(b[0]) : 0;
    tensor *y = tape_tensor(t, 3, (int[]){B, S, D_a + D_b});
    if (!y)
        return NULL;
    for (int i = 0; i < B; i++)
        for (int j = 0; j < S; j++) {
            real *row = y->data + ((long)i * S + j) * (D_a + D_b);
            memcpy(row, a[j]->data + (long)i * D_a, (size_t)D_a * sizeof *row);
            if (b)
                memcpy(row + D_a, b[j]->data + (long)i * D_b, (size_t)D_b * sizeof *row);
        }
    join_record *r = tape_record(t, sizeof *r, join_backward);
    if (r) {
        r->y = y;
        r->S = S;
        r->a = a;
        r->b = b;
    }
    return t->failed ? NULL : y;
}

typedef struct pack_record {
    op_record record;
    tensor *y;
    int T;
    tensor *const *x;
    const int *lengths;
} pack_record;

static void pack_backward(tape *t, op_record *record) {
    (void)t;
    pack_record *r = (pack_record *)record;
    if (!r->y->has_grad)
        return;
    int D = tensor_cols(r->y);
    const real *dy = r->y->grad;
    for (int j = 0; j < r->T; j++) {
        tensor_grad_clear_once(r->x[j]);
        for (long i = 0; i < tensor_rows(r->x[j]); i++)
            if (j < r->lengths[i]) {
                vec_add(r->x[j]->grad + i * D, dy, D);
                dy += D;
            }
    }
}

tensor *op_pack_steps(tape *t, int T, tensor *const *x, const int *lengths) {
    for (int j = 0; j < T; j++)
        if (!x[j])
            return tape_fail(t);
    int B = (int)tensor_rows(x[0]), D = tensor_cols(x[0]), N = 0;
    for (int i = 0; i < B; i++)
        N += lengths[i];
    tensor *y = tape_matrix(t, N, D);
    if (!y)
        return NULL;
    real *row = y->data;
    for (int j = 0; j < T; j++)
        for (int i = 0; i < B; i++)
            if (j < lengths[i]) {
                memcpy(row, x[j]->data + (long)i * D, (size_t)D * sizeof *row);
                row += D;
            }
    pack_record *r = tape_record(t, sizeof *r, pack_backward);
    if (r) {
        r->y = y;
        r->T = T;
        r->x = x;
        r->lengths = lengths;
    }
    return t->failed ? NULL : y;
}
