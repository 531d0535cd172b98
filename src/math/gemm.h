/* Matrix products. The only room that knows oneDNN; in double, plain loops.
 *
 * A row of the result does not depend on the other rows (bit for bit, for one left factor per row) where oneDNN
 * keeps that; it does on AVX-512. See docs/architecture.md. */
#ifndef MATH_GEMM_H
#define MATH_GEMM_H

#include "base/error.h"
#include "math/real.h"

/* A view of row-major numbers: element (i, j) is at[i * stride + j], or at[j * stride + i] when transposed. */
typedef struct matrix {
    real *at;
    int rows, cols; /* of the matrix as seen, after transposition */
    long stride;
    bool transposed;
} matrix;

static inline matrix matrix_of(const real *at, int rows, int cols, long stride) {
    return (matrix){(real *)at, rows, cols, stride, false};
}
static inline matrix matrix_transposed(matrix m) {
    return (matrix){m.at, m.cols, m.rows, m.stride, !m.transposed};
}

/* Engine, compiled products and scratch memory of one thread. */
typedef struct gemm gemm;
sa_status gemm_new(gemm **out, sa_error *error);
void gemm_free(gemm *g);
/* oneDNN would open an OpenMP team for each product: tells it that the calling thread works alone. */
void gemm_work_alone(void);

/* C = A B, or C += A B. C is not transposed. False when oneDNN refuses (memory). */
bool gemm_run(gemm *g, matrix A, matrix B, matrix C, bool accumulate);

/* B laid out as the machine likes it: several products with one B gain, those with few rows most. A pack is
 * read-only after gemm_pack_fill and may be used by several threads. */
typedef struct gemm_pack gemm_pack;
gemm_pack *gemm_pack_new(gemm *g, int rows, int cols); /* NULL without memory */
bool gemm_pack_fill(gemm *g, gemm_pack *pack, matrix B);
void gemm_pack_free(gemm_pack *pack);
bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, matrix C, bool accumulate);

/* The same by three loops: what the others are checked against, and the arithmetic in double. */
void gemm_plain(matrix A, matrix B, matrix C, bool accumulate);

#endif
