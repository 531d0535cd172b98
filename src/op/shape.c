#include "op/shape.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct gather_record {
    op_record record;
    tensor *y, *a, *b;
    const int *index;
} gather_record;

static void gather_backward(tape *t, op_record *record) {
    (void)t;
    gather_record *r = (gather_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    long D = tensor_cols(r->y), D_a = tensor_cols(r->a);
    tensor_grad_clear_once(r->a);
    if (r->b)
        tensor_grad_clear_once(r->b);
    for (long i = 0; i < tensor_rows(r->y); i++) {
        const real *dy = r->y->grad + i * D;
        vec_add(r->a->grad + r->index[i] * D_a, dy, (int)D_a);
        if (r->b)
            vec_add(r->b->grad + r->index[i] * (D - D_a), dy + D_a, (int)(D - D_a));
    }
}

tensor *op_gather(tape *t, tensor *a, tensor *b, int n, const int *index) {
    if (!a || !index)
        return tape_fail(t);
    long D_a = tensor_cols(a), D_b = b ? tensor_cols(b) : 0;
    tensor *y = tape_matrix(t, n, (int)(D_a + D_b));
    if (!y)
        return NULL;
    for (int i = 0; i < n; i++) {
        SA_ASSERT(index[i] >= 0 && index[i] < tensor_rows(a));
        real *row = y->data + i * (D_a + D_b);
        memcpy(row, a->data + index[i] * D_a, (size_t)D_a * sizeof *row);
        if (b)
            memcpy(row + D_a, b->data + index[i] * D_b, (size_t)D_b * sizeof *row);
    }
    gather_record *r = tape_record(t, sizeof *r, gather_backward);
    if (r) {
        r->y = y;
        r->a = a;
        r->b = b;
        r->index = index;
    }
    return t->failed ? NULL : y;
}

tensor *op_join(tape *t, tensor *a, tensor *b) {
    if (!a || !b)
        return tape_fail(t);
    SA_ASSERT(tensor_rows(a) == tensor_rows(b));
    int n = (int)tensor_rows(a), *index = tape_bytes(t, (size_t)n * sizeof *index);
    for (int i = 0; index && i < n; i++)
        index[i] = i;
    return op_gather(t, a, b, n, index);
}

tensor *op_zeros(tape *t, int n, int cols) {
    tensor *y = tape_matrix(t, n, cols);
    if (y)
        memset(y->data, 0, (size_t)tensor_count(y) * sizeof *y->data);
    return y;
}

typedef struct add_record {
    op_record record;
    tensor *y, *x;
} add_record;

static void add_rows(real *to, const real *from, const tensor *shape) {
    int cols = tensor_cols(shape);
    for (long i = 0; i < tensor_rows(shape); i++)
        vec_add(to + i * cols, from + i * cols, cols);
}

static void add_backward(tape *t, op_record *record) {
    (void)t;
    add_record *r = (add_record *)record;
    tensor_grad_clear_once(r->x);
    add_rows(r->x->grad, r->y->grad, r->y);
}

tensor *op_add_to(tape *t, tensor *y, tensor *x) {
    if (!y || !x)
        return tape_fail(t);
    SA_ASSERT(y->grad == (t->recording ? y->data : NULL));
    SA_ASSERT(tensor_cols(x) == tensor_cols(y) && tensor_rows(x) >= tensor_rows(y));
    add_rows(y->data, x->data, y);
    add_record *r = tape_record(t, sizeof *r, add_backward);
    if (r) {
        r->y = y;
        r->x = x;
    }
    return t->failed ? NULL : y;
}

typedef struct mean_record {
    op_record record;
    tensor *y, *x;
    const int *at, *lengths;
} mean_record;

static void mean_backward(tape *t, op_record *record) {
    (void)t;
    mean_record *r = (mean_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    tensor_grad_clear_once(r->x);
    int c = tensor_cols(r->x);
    for (long i = 0; i < tensor_rows(r->y); i++)
        for (int j = 0; j < r->lengths[i]; j++)
            vec_axpy(r->x->grad + ((long)r->at[i] + j) * c, (real)1 / (real)r->lengths[i], r->y->grad + i * c, c);
}

tensor *op_mean(tape *t, tensor *x, int n, const int *at, const int *lengths) {
    if (!x || !at || !lengths)
        return tape_fail(t);
    int c = tensor_cols(x);
    tensor *y = op_zeros(t, n, c);
    if (!y)
        return NULL;
    for (long i = 0; i < n; i++) {
        SA_ASSERT(at[i] >= 0 && lengths[i] > 0 && at[i] + lengths[i] <= tensor_rows(x));
        for (int j = 0; j < lengths[i]; j++)
            vec_axpy(y->data + i * c, (real)1 / (real)lengths[i], x->data + ((long)at[i] + j) * c, c);
    }
    mean_record *r = tape_record(t, sizeof *r, mean_backward);
    if (r) {
        r->y = y;
        r->x = x;
        r->at = at;
        r->lengths = lengths;
    }
    return t->failed ? NULL : y;
}
