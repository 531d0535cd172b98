/* Tensors: numbers with their shape, row-major, contiguous, rank 1 to 4. They live in a tape's arena. */
#ifndef TAPE_TENSOR_H
#define TAPE_TENSOR_H

#include "math/gemm.h"

#include <stdbool.h>

/* A view (rows of another tensor) has that one as its whole: they share data, gradient, and whether there is one.
 *
 * A tensor with grad == data is *consumed*: its one reader needs the values no longer than its own forward and
 * backward, and in backward puts the gradient in their place. */
typedef struct tensor tensor;
struct tensor {
    int rank;
    int dim[4];
    real *data;
    real *grad;    /* same shape; NULL when the tape does not record */
    bool has_grad; /* grad holds values; before, its memory is undefined. Of a view its whole's counts */
    tensor *whole; /* NULL: not a view */
};

/* Numbers in all; in the last dimension; and how many rows of the last dimension there are. */
static inline long tensor_count(const tensor *x) {
    long n = 1;
    for (int i = 0; i < x->rank; i++)
        n *= x->dim[i];
    return n;
}
static inline int tensor_cols(const tensor *x) {
    return x->dim[x->rank - 1];
}
static inline long tensor_rows(const tensor *x) {
    long n = 1;
    for (int i = 0; i < x->rank - 1; i++)
        n *= x->dim[i];
    return n;
}

/* The tensor seen as a matrix of rows x last dimension: its data, its gradient. */
static inline matrix tensor_matrix(const tensor *x) {
    return matrix_of(x->data, (int)tensor_rows(x), tensor_cols(x), tensor_cols(x));
}
static inline matrix tensor_grad_matrix(const tensor *x) {
    return matrix_of(x->grad, (int)tensor_rows(x), tensor_cols(x), tensor_cols(x));
}

/* Whether grad holds values. */
static inline bool tensor_has_grad(const tensor *x) {
    while (x->whole)
        x = x->whole;
    return x->has_grad;
}
/* For a backward that adds to x->grad: clears it first when nothing was there, all of it where x is a view. */
void tensor_grad_clear_once(tensor *x);
/* For a backward that can either write or add: whether to add. Marks the gradient as present. */
bool tensor_grad_accumulates(tensor *x);

#endif
