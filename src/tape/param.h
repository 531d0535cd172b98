/* Parameters: what a model learns. All values lie in one block, all gradients in another, in order of
 * declaration, so that an optimiser is one pass over plain arrays. */
#ifndef TAPE_PARAM_H
#define TAPE_PARAM_H

#include "base/thread.h"
#include "math/gemm.h"

#include <stdint.h>

typedef enum param_init {
    INIT_ZERO,
    INIT_NORMAL,     /* N(0, scale^2) */
    INIT_ORTHOGONAL, /* each square block of rows random orthogonal */
    INIT_CONSTANT,   /* scale */
    INIT_UNIFORM,    /* U(-scale, scale) */
    INIT_BLOCK       /* zeros, but scale in the second quarter: the forget gate of a long short-term memory */
} param_init;

/* What happens with a parameter, which decides whether it is packed. */
typedef enum param_use {
    USE_LOOKUP,  /* rows of it are read, it is in no product */
    USE_PRODUCT, /* in products of many rows */
    USE_STEP     /* in products of few rows, one for each step of a loop */
} param_use;

typedef struct param {
    char name[64];
    int rank; /* 1 or 2; a matrix W is (out, in): y = W x */
    int dim[2];
    int index; /* in its params */
    param_init init;
    double init_scale;
    param_use use;
    real *value, *grad;            /* NULL until allocated or mapped; value also while `stored` has the values */
    narrow stored;                 /* a matrix as a model file has it, in fewer bits; at NULL: it is in value */
    gemm_precision precision;      /* what its rows are rounded to when they are looked up */
    gemm_pack *forward, *backward; /* W^T and W packed; NULL when not */
} param;

typedef struct params {
    param **at;
    int n, capacity;
    bool failed;          /* memory ran out while declaring */
    long count;           /* numbers in the block, padding between parameters included */
    real *values, *grads; /* blocks; NULL when mapped or planned */
    void *packs;          /* the numbers of all packs */
} params;

static inline long param_count(const param *p) {
    return (long)p->dim[0] * (p->rank == 2 ? p->dim[1] : 1);
}
/* Rows of the block that a parameter takes: its count, rounded up so that the next one is aligned. */
static inline long param_span(const param *p) {
    return (param_count(p) + 15) / 16 * 16;
}

/* Declares a parameter; cols 0: a vector. NULL sets params->failed. */
param *params_declare(params *p, const char *name, int rows, int cols, param_init init, double scale,
                      param_use use);
param *params_find(const params *p, const char *name);
/* Numbers that are learned: the sum of the parameters' counts. */
long params_learned(const params *p);

/* Blocks for values, and for gradients when training; values cleared. */
sa_status params_allocate(params *p, bool gradients, sa_error *error);
/* Draws initial values; a parameter's draw depends on seed and its name only. */
sa_status params_initialise(params *p, uint64_t seed, sa_error *error);
/* Makes and fills the packs of the matrices that products are made with: W^T, and W for backward when gradients are
 * allocated. Call again after the values changed. In float, backward products of many rows are as fast without one.
 */
sa_status params_pack(params *p, gemm **workers, pool *team, sa_error *error);
void params_free(params *p);

/* Row i of a matrix, as it is looked up. */
void param_row(const param *p, int i, real *row);

#endif
