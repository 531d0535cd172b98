#ifndef OP_LINEAR_H
#define OP_LINEAR_H

#include "tape/tape.h"

typedef struct linear_term {
    tensor *x; /* (..., in) */
    param *W;  /* (out, in) */
} linear_term;

/* y = sum_k W_k x_k + addend + b, for every row. All x_k have the same number of rows; addend (rows, out) and b
 * (out) may be NULL. Returns y with x_0's shape but out in the last place. Weight gradients are deferred. */
tensor *linear_sum(tape *t, tensor *addend, param *b, int n, const linear_term *terms);

/* y = W x + b */
static inline tensor *linear(tape *t, tensor *x, param *W, param *b) {
    return linear_sum(t, NULL, b, 1, &(linear_term){x, W});
}

/* The same with a result that its one reader consumes (tape_consumed): its gradient takes its place. */
tensor *linear_consumed(tape *t, int n, const linear_term *terms, param *b);

/* n rows of b alone, consumed by their one reader. */
tensor *linear_bias(tape *t, int n, param *b);

/* The products by themselves, for operations that have some inside, row by row, with W's packs where it has them:
 * y (rows, out) = W x + b (NULL: none) or y += W x; dx (rows, in) = W^T dy (+ dx). False without memory. */
bool linear_product(tape *t, matrix x, const param *W, const param *b, matrix y, bool accumulate);
bool linear_product_back(tape *t, matrix dy, const param *W, matrix dx, bool accumulate);

#endif
