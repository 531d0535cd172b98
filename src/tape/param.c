#include "tape/param.h"

#include "base/block.h"
#include "base/hash.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

param *params_declare(params *p, const char *name, int rows, int cols, param_init init, double scale,
                      param_use use) {
    if (p->failed)
        return NULL;
    if (p->n == p->capacity) {
        int capacity = p->capacity ? 2 * p->capacity : 32;
        param **at = realloc(p->at, (size_t)capacity * sizeof *at);
        if (!at) {
            p->failed = true;
            return NULL;
        }
        p->at = at;
        p->capacity = capacity;
    }
    param *made = calloc(1, sizeof *made);
    if (!made) {
        p->failed = true;
        return NULL;
    }
    SA_ASSERT(strlen(name) < sizeof made->name);
    strcpy(made->name, name);
    made->rank = cols ? 2 : 1;
    made->dim[0] = rows;
    made->dim[1] = cols;
    made->index = p->n;
    made->init = init;
    made->init_scale = scale;
    made->use = use;
    p->at[p->n++] = made;
    p->count += param_span(made);
    return made;
}

param *params_find(const params *p, const char *name) {
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->at[i]->name, name))
            return p->at[i];
    return NULL;
}

long params_learned(const params *p) {
    long n = 0;
    for (int i = 0; i < p->n; i++)
        n += param_count(p->at[i]);
    return n;
}

sa_status params_allocate(params *p, bool gradients, sa_error *error) {
    p->values = block_new_cleared((size_t)p->count * sizeof(real));
    p->grads = gradients ? block_new_cleared((size_t)p->count * sizeof(real)) : NULL;
    if (!p->values || (gradients && !p->grads))
        return sa_fail_memory(error, (size_t)p->count * sizeof(real));
    long at = 0;
    for (int i = 0; i < p->n; i++) {
        p->at[i]->value = p->values + at;
        p->at[i]->grad = gradients ? p->grads + at : NULL;
        at += param_span(p->at[i]);
    }
    return SA_OK;
}

/* Rows of an n x n Gaussian matrix made orthonormal (modified Gram-Schmidt): as uniform over the orthogonal
 * matrices as the left singular vectors that the papers' code takes. */
static bool draw_orthogonal(real *out, int n, rng *random) {
    double *row = malloc((size_t)n * (size_t)n * sizeof *row);
    if (!row)
        return false;
    for (long i = 0; i < (long)n * n; i++)
        row[i] = rng_normal(random);
    for (int i = 0; i < n; i++) {
        double *a = row + (long)i * n;
        for (int j = 0; j < i; j++) {
            const double *b = row + (long)j * n;
            double dot = 0;
#pragma omp simd reduction(+ : dot)
            for (int k = 0; k < n; k++)
                dot += a[k] * b[k];
#pragma omp simd
            for (int k = 0; k < n; k++)
                a[k] -= dot * b[k];
        }
        double norm = 0;
        for (int k = 0; k < n; k++)
            norm += a[k] * a[k];
        norm = 1 / sqrt(norm);
        for (int k = 0; k < n; k++)
            a[k] *= norm;
    }
    for (long i = 0; i < (long)n * n; i++)
        out[i] = (real)row[i];
    free(row);
    return true;
}

static sa_status draw(param *p, uint64_t seed, sa_error *error) {
    rng random = rng_at(seed, hash_string(p->name), 0, 0);
    long n = param_count(p);
    switch (p->init) {
    case INIT_ZERO:
        memset(p->value, 0, (size_t)n * sizeof *p->value);
        break;
    case INIT_NORMAL:
        for (long i = 0; i < n; i++)
            p->value[i] = (real)(p->init_scale * rng_normal(&random));
        break;
    case INIT_UNIFORM:
        for (long i = 0; i < n; i++)
            p->value[i] = (real)(p->init_scale * (2 * rng_uniform(&random) - 1));
        break;
    case INIT_CONSTANT:
        for (long i = 0; i < n; i++)
            p->value[i] = (real)p->init_scale;
        break;
    case INIT_BLOCK:
        for (long i = 0; i < n; i++)
            p->value[i] = i >= n / 4 && i < n / 2 ? (real)p->init_scale : 0;
        break;
    case INIT_ORTHOGONAL:
        SA_ASSERT(p->rank == 2 && p->dim[0] % p->dim[1] == 0);
        for (int block = 0; block < p->dim[0] / p->dim[1]; block++)
            if (!draw_orthogonal(p->value + (long)block * p->dim[1] * p->dim[1], p->dim[1], &random))
                return sa_fail_memory(error, (size_t)p->dim[1] * (size_t)p->dim[1] * sizeof(double));
        break;
    }
    return SA_OK;
}

sa_status params_initialise(params *p, uint64_t seed, sa_error *error) {
    for (int i = 0; i < p->n; i++)
        SA_TRY(draw(p->at[i], seed, error));
    return SA_OK;
}

typedef struct packing {
    params *p;
    gemm **workers;
    bool *ok; /* per parameter */
} packing;

static bool fill(gemm *g, const param *p) {
    if (p->stored.at)
        return !p->forward || gemm_pack_fill_narrow(g, p->forward, &p->stored);
    matrix W = matrix_of(p->value, p->dim[0], p->dim[1], p->dim[1]);
    return (!p->forward || gemm_pack_fill(g, p->forward, matrix_transposed(W))) &&
           (!p->backward || gemm_pack_fill(g, p->backward, W));
}

static void fill_one(void *argument, int task, int worker) {
    packing *job = argument;
    const param *p = job->p->at[task];
    job->ok[task] = p->rank == 1 || fill(job->workers[worker], p);
}

static bool plan_packs(params *p, gemm *g) {
    for (int i = 0; i < p->n; i++) {
        param *q = p->at[i];
        if (q->rank != 2 || q->use == USE_LOOKUP)
            continue;
        if (!(q->forward = gemm_pack_plan(g, q->dim[1], q->dim[0])))
            return false;
        bool backward = p->grads && (q->use == USE_STEP || gemm_get_precision(g) != GEMM_F32);
        if (backward && !(q->backward = gemm_pack_plan(g, q->dim[0], q->dim[1])))
            return false;
    }
    return true;
}

/* All in one block, and so in huge pages: a product of one row does little else than read. */
static bool place_packs(params *p) {
    size_t bytes = 0;
    for (int place = 0; place < 2; place++) { /* first only counts */
        if (place && !(p->packs = block_new(bytes)))
            return false;
        bytes = 0;
        for (int i = 0; i < p->n; i++) {
            gemm_pack *const packs[] = {p->at[i]->forward, p->at[i]->backward};
            for (int k = 0; k < 2; k++) {
                if (!packs[k])
                    continue;
                if (place && !gemm_pack_place(packs[k], (char *)p->packs + bytes))
                    return false;
                bytes += (gemm_pack_bytes(packs[k]) + 63) / 64 * 64;
            }
        }
    }
    return true;
}

static bool make_packs(params *p, gemm *g) {
    return p->packs || (plan_packs(p, g) && place_packs(p));
}

sa_status params_pack(params *p, gemm **workers, pool *team, sa_error *error) {
    bool *ok = calloc((size_t)p->n + 1, sizeof *ok);
    if (!ok || !make_packs(p, workers[0])) {
        free(ok);
        return sa_fail_memory(error, (size_t)p->count * sizeof(real));
    }
    packing job = {p, workers, ok};
    pool_run(team, p->n, fill_one, &job);
    bool all = true;
    for (int i = 0; i < p->n; i++)
        all = all && ok[i];
    free(ok);
    return all ? SA_OK : sa_fail_memory(error, 0);
}

void params_free(params *p) {
    for (int i = 0; i < p->n; i++) {
        gemm_pack_free(p->at[i]->forward);
        gemm_pack_free(p->at[i]->backward);
        free(p->at[i]);
    }
    free(p->at);
    free(p->packs);
    free(p->values);
    free(p->grads);
    *p = (params){0};
}

#ifdef SA_REAL_DOUBLE

void param_row(const param *p, int i, real *row) {
    memcpy(row, p->value + (long)i * p->dim[1], (size_t)p->dim[1] * sizeof *row);
}

#else

void param_row(const param *p, int i, real *row) {
    int n = p->dim[1];
    if (p->stored.at)
        narrow_read(&p->stored, i, row);
    else
        memcpy(row, p->value + (long)i * n, (size_t)n * sizeof *row);
    if (p->precision != p->stored.type)
        narrow_round(p->precision, row, n);
}

#endif
