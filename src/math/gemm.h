/* Matrix products. The only room that knows oneDNN; in double, plain loops.
 *
 * With a pack, a row of the result does not depend on the other rows (bit for bit, for one left factor per row)
 * where oneDNN keeps that; it does on AVX-512. See docs/architecture.md. */
#ifndef MATH_GEMM_H
#define MATH_GEMM_H

#include "base/error.h"
#include "math/precision.h"
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

/* A product of new sizes is compiled (0.1 to 2 ms) and kept: this many at most, then a gemm drops all and starts
 * over. Each takes about so many bytes, and so many addresses, of oneDNN 2.6. */
enum { GEMM_PRODUCTS_MAX = 2048, GEMM_PRODUCT_BYTES = 44 << 10, GEMM_PRODUCT_ADDRESSES = 600 << 10 };
/* Keeps fewer, and so does oneDNN, which has a store of its own for the whole process. Where it finds no memory to
 * compile in, oneDNN ends the process with a segmentation fault: who is short of memory must see to it before. What
 * the products result in does not depend on it. */
void gemm_keep(gemm *g, int products);
/* Empties oneDNN's store: what a new gemm uses is compiled as in a new process. */
void gemm_forget_compiled(void);

/* What the operands of later products of g are rounded to; sums stay in float. bfloat16 doubles the speed where the
 * processor has instructions for it, int8 doubles it again, but is for packs only: products without one stay in
 * float. In double this has no effect. */
void gemm_set_precision(gemm *g, gemm_precision precision);
gemm_precision gemm_get_precision(const gemm *g);
/* Whether the processor has instructions for it. */
bool gemm_has(gemm *g, gemm_precision precision);

/* C = A B, or C += A B. C is not transposed. For many rows, or a B that is used once. False when oneDNN refuses
 * (memory). */
bool gemm_run(gemm *g, matrix A, matrix B, matrix C, bool accumulate);

/* C = sum_i dy_i^T x_i, or C += that: the gradient of a weight that was used in n places, as one product over the
 * rows of all of them. dy_i (rows_i, C.rows), x_i (rows_i, C.cols). */
bool gemm_outer(gemm *g, int n, const matrix *dy, const matrix *x, matrix C, bool accumulate);

/* Until gemm_release, A does not change and is used again as the left factor of packed products and as the dy of
 * gemm_outer: while no other left factor comes between, it is rounded only once. */
void gemm_hold(gemm *g, matrix A);
void gemm_release(gemm *g);

/* Memory for use between two calls of this function; NULL without memory. */
void *gemm_scratch(gemm *g, size_t bytes);

/* B laid out as the machine likes it: several products with one B gain, those with few rows most. A pack is
 * read-only once it is filled and may be used by several threads.
 *
 * A pack has the precision that g has when it is made, and gives it to the products with it:
 *   bfloat16  A and B are rounded.
 *   int8      column j of B is rounded to q[k,j] u[j], row i of A to p[i,k] v[i], p and q whole numbers from -127
 * to 127, u and v the largest magnitudes / 127:  C[i,j] = (sum_k p[i,k] q[k,j]) u[j] v[i], the sum exact. Where the
 * processor has no instructions for it, B alone is rounded and products are made in float. */
typedef struct gemm_pack gemm_pack;
gemm_pack *gemm_pack_new(gemm *g, int rows, int cols); /* NULL without memory */
/* The same without a place for the numbers, which is given before they are filled in: gemm_pack_bytes, aligned to
 * 64 bytes, kept by the caller longer than the pack. Packs side by side in one large block are read faster. */
gemm_pack *gemm_pack_plan(gemm *g, int rows, int cols);
size_t gemm_pack_bytes(const gemm_pack *pack);
bool gemm_pack_place(gemm_pack *pack, void *memory);
bool gemm_pack_fill(gemm *g, gemm_pack *pack, matrix B);
/* From B^T as a file has it. Numbers that are rounded to the pack's precision already stay as they are. */
bool gemm_pack_fill_narrow(gemm *g, gemm_pack *pack, const narrow *B_transposed);
void gemm_pack_free(gemm_pack *pack);
/* C = A B + bias (C.cols; NULL: none), or C += A B without a bias. A is not transposed when the pack is int8. */
bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, const real *bias, matrix C, bool accumulate);

/* What the products since gemm_forget_uses amounted to: operations (a multiplication and an addition are two), and
 * the seconds that the same products take when each runs by itself, operands in cache as far as they fit. In
 * double: zeros. False without memory. */
void gemm_forget_uses(gemm *g);
bool gemm_replay(gemm *g, double *operations, double *seconds);

/* The same by three loops: what the others are checked against, and the arithmetic in double. */
void gemm_plain(matrix A, matrix B, matrix C, bool accumulate);

#endif
