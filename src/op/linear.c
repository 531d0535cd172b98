#include "op/linear.h"

#include "math/vecmath.h"

#include <string.h>

enum { TERMS_MAX = 4 };

typedef struct linear_record {
    op_record record;
    tensor *y, *addend;
    param *b;
    int n;
    linear_term term[TERMS_MAX];
} linear_record;

bool linear_product(tape *t, matrix x, const param *W, const param *b, matrix y, bool accumulate) {
    if (W->forward)
        return gemm_run_packed(t->gemm, x, W->forward, b ? b->value : NULL, y, accumulate);
    SA_ASSERT(W->value); /* what is stored in fewer bits has a pack */
    for (long i = 0; b && i < y.rows; i++)
        memcpy(y.at + i * y.stride, b->value, (size_t)y.cols * sizeof *y.at);
    return gemm_run(t->gemm, x, matrix_transposed(matrix_of(W->value, W->dim[0], W->dim[1], W->dim[1])), y,
                    accumulate || b);
}

bool linear_product_back(tape *t, matrix dy, const param *W, matrix dx, bool accumulate) {
    if (W->backward)
        return gemm_run_packed(t->gemm, dy, W->backward, NULL, dx, accumulate);
    return gemm_run(t->gemm, dy, matrix_of(W->value, W->dim[0], W->dim[1], W->dim[1]), dx, accumulate);
}

static void linear_backward(tape *t, op_record *record) {
    linear_record *r = (linear_record *)record;
    tensor *y = r->y;
    if (!tensor_has_grad(y))
        return;
    long rows = tensor_rows(y);
    int out = tensor_cols(y);
    for (int k = 0; k < r->n; k++) {
        tensor *x = r->term[k].x;
        param *W = r->term[k].W;
        if (!linear_product_back(t, tensor_grad_matrix(y), W, tensor_grad_matrix(x), tensor_grad_accumulates(x)))
            tape_fail(t);
        tape_defer_product(t, W, tensor_matrix(x), tensor_grad_matrix(y));
    }
    if (r->addend) {
        tensor_grad_clear_once(r->addend);
        for (long i = 0; i < rows; i++)
            vec_add(r->addend->grad + i * out, y->grad + i * out, out);
    }
    if (r->b)
        tape_defer_rows(t, r->b, tensor_grad_matrix(y));
}

/* y = addend + b */
static void start_rows(tensor *y, const tensor *addend, const param *b) {
    int out = tensor_cols(y);
    memcpy(y->data, addend->data, (size_t)tensor_count(y) * sizeof *y->data);
    for (long i = 0; b && i < tensor_rows(y); i++)
        vec_add(y->data + i * out, b->value, out);
}

static tensor *make(tape *t, tensor *y, tensor *addend, param *b, int n, const linear_term *terms) {
    SA_ASSERT(n >= 0 && n <= TERMS_MAX);
    if (!y)
        return NULL;
    SA_ASSERT(!addend || tensor_count(addend) == tensor_count(y));
    SA_ASSERT(!b || b->dim[0] == tensor_cols(y));
    if (addend)
        start_rows(y, addend, b);
    for (int k = 0; k < n; k++) {
        SA_ASSERT(tensor_cols(terms[k].x) == terms[k].W->dim[1] && terms[k].W->dim[0] == tensor_cols(y));
        SA_ASSERT(tensor_rows(terms[k].x) == tensor_rows(y));
        bool first = k == 0 && !addend;
        if (!linear_product(t, tensor_matrix(terms[k].x), terms[k].W, first ? b : NULL, tensor_matrix(y), !first))
            return tape_fail(t);
    }
    linear_record *r = tape_record(t, sizeof *r, linear_backward);
    if (r) {
        r->y = y;
        r->addend = addend;
        r->b = b;
        r->n = n;
        for (int k = 0; k < n; k++)
            r->term[k] = terms[k];
    }
    return t->failed ? NULL : y;
}

static bool all_there(int n, const linear_term *terms) {
    bool all = true;
    for (int k = 0; k < n; k++)
        all = all && terms[k].x;
    return all;
}

tensor *linear_sum(tape *t, tensor *addend, param *b, int n, const linear_term *terms) {
    if (!all_there(n, terms))
        return tape_fail(t);
    const tensor *x = terms[0].x;
    int dim[4];
    memcpy(dim, x->dim, sizeof dim);
    dim[x->rank - 1] = terms[0].W->dim[0];
    return make(t, tape_tensor(t, x->rank, dim), addend, b, n, terms);
}

tensor *linear_consumed(tape *t, int n, const linear_term *terms, param *b) {
    if (!all_there(n, terms))
        return tape_fail(t);
    tensor *y = tape_consumed(t, (int)tensor_rows(terms[0].x), terms[0].W->dim[0]);
    return make(t, y, NULL, b, n, terms);
}

tensor *linear_bias(tape *t, int n, param *b) {
    tensor *y = tape_consumed(t, n, b->dim[0]);
    for (long i = 0; y && i < n; i++)
        memcpy(y->data + i * b->dim[0], b->value, (size_t)b->dim[0] * sizeof *y->data);
    return make(t, y, NULL, b, 0, NULL);
}
