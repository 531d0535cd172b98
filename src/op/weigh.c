#include "op/weigh.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct weigh_record {
    op_record record;
    tensor *y, *weights;
    annotations h;
    const int *source;
} weigh_record;

static void weigh_backward(tape *t, op_record *record) {
    (void)t;
    weigh_record *r = (weigh_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    tensor *values = r->h.values;
    long D = tensor_cols(values), S = tensor_cols(r->weights);
    tensor_grad_clear_once(r->weights);
    if (values->grad)
        tensor_grad_clear_once(values);
    for (long i = 0; i < tensor_rows(r->y); i++) {
        const real *dy = r->y->grad + i * D, *a = r->weights->data + i * S;
        long first = r->h.at[r->source[i]] * D;
        for (int j = 0; j < r->h.lengths[r->source[i]]; j++) {
            r->weights->grad[i * S + j] += vec_dot(dy, values->data + first + j * D, (int)D);
            if (values->grad)
                vec_axpy(values->grad + first + j * D, a[j], dy, (int)D);
        }
    }
}

tensor *op_weigh(tape *t, tensor *weights, const annotations *h, const int *source) {
    if (!weights || !h->values || !source)
        return tape_fail(t);
    SA_ASSERT(tensor_cols(weights) == h->longest);
    long rows = tensor_rows(weights), D = tensor_cols(h->values), S = h->longest;
    tensor *y = tape_matrix(t, (int)rows, (int)D);
    if (!y)
        return NULL;
    memset(y->data, 0, (size_t)tensor_count(y) * sizeof *y->data);
    for (long i = 0; i < rows; i++)
        for (int j = 0; j < h->lengths[source[i]]; j++)
            vec_axpy(y->data + i * D, weights->data[i * S + j], h->values->data + (h->at[source[i]] + j) * D,
                     (int)D);
    weigh_record *r = tape_record(t, sizeof *r, weigh_backward);
    if (r) {
        r->y = y;
        r->weights = weights;
        r->h = *h;
        r->source = source;
    }
    return t->failed ? NULL : y;
}
