/* Products as oneDNN makes them: compiled by shape, run, and measured by themselves. For src/math/gemm.c only. */
#ifndef MATH_GEMM_PRODUCT_H
#define MATH_GEMM_PRODUCT_H

#include "base/block.h"
#include "math/gemm.h"

#include <dnnl.h>

/* A product that oneDNN compiled, which costs 0.1 to 0.5 ms, with handles for its operands. */
typedef struct compiled {
    dnnl_primitive_t primitive;
    dnnl_memory_desc_t a, b, c, scratch;
    dnnl_memory_t at_a, at_b, at_c, at_scratch, at_bias; /* at_b NULL: a pack has its own */
} compiled;

/* C = A B (+ bias), or C += A B. Types of A, B and C: float all; bfloat16, bfloat16, float; or for GEMM_INT8
 * uint8_t, int8_t, int32_t. */
typedef struct product {
    int M, K, N; /* M 0: a free place */
    long a_stride, b_stride, c_stride;
    bool a_transposed, b_transposed, packed, accumulate, biased;
    gemm_precision type;
    compiled *compiled; /* NULL where it needs no compilation (dnnl_sgemm) */
    long uses;
} product;

/* Of one thread. */
typedef struct products {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    product *table;                    /* open addressing */
    size_t n, capacity;                /* shapes in it, places */
    size_t compiled, most;             /* of them compiled: now, at most */
    buffer scratch;                    /* oneDNN's */
    signed char fast[GEMM_PRECISIONS]; /* whether the processor has the instructions; 0: not asked yet, -1: no */
} products;

/* False without memory; products_clear is due either way. */
bool products_init(products *p);
void products_clear(products *p);

/* A right factor (rows, cols) in the layout that oneDNN prefers. It has an engine of its own, and so outlives the
 * products that made it. */
typedef struct packed {
    dnnl_engine_t engine;
    dnnl_memory_desc_t desc;
    dnnl_memory_t memory; /* NULL: has no place yet */
    void *data;
    bool own; /* data goes with it */
} packed;

/* False without memory; packed_clear is due either way. */
bool packed_init(packed *m, products *p, gemm_precision type, int rows, int cols);
size_t packed_bytes(const packed *m);
/* Gives the numbers a place; NULL: one of their own. */
bool packed_place(packed *m, void *data);
void packed_clear(packed *m);
/* From numbers at *at of type `from`: float, or what m has. shape.at is not looked at. */
bool packed_fill(packed *m, products *p, const void *at, gemm_precision from, matrix shape);

/* By a compiled product. pack NULL: the right factor is at b. */
bool product_run(products *p, const product *key, const packed *pack, const void *a, const void *b,
                 const float *bias, void *c);
/* By dnnl_sgemm. */
bool product_run_sgemm(products *p, const product *key, const float *a, const float *b, float *c);

/* Whether oneDNN has instructions for the type, not just a slow path. */
bool products_have(products *p, gemm_precision type);

void products_forget_uses(products *p);
bool products_replay(products *p, double *operations, double *seconds);

#endif
