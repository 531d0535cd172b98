/* From what backward left on the tapes of a minibatch to the gradient of every parameter. */
#include "math/vecmath.h"
#include "tape/tape.h"

#include <stdlib.h>
#include <string.h>

/* A task is a band of rows of one parameter, the same bands for any number of workers. */
enum { BAND_ROWS = 1024 };

typedef struct band {
    param *p;
    int row, rows; /* a vector has one row */
} band;

typedef struct collection {
    tape *const *tapes;
    int n_tapes;
    gemm **workers;
    band *bands;
    bool *ok;
} collection;

static bool add_product(gemm *g, const band *b, const deferred *d, bool accumulate) {
    matrix dy = matrix_of(d->dy + b->row, (int)d->rows, b->rows, d->dy_cols);
    matrix x = matrix_of(d->x, (int)d->rows, d->x_cols, d->x_cols);
    matrix gradient = matrix_of(b->p->grad + (long)b->row * b->p->dim[1], b->rows, b->p->dim[1], b->p->dim[1]);
    return gemm_run(g, matrix_transposed(dy), x, gradient, accumulate);
}

static void add_rest(const band *b, const deferred *d) {
    if (d->ids) {
        for (long i = 0; i < d->rows; i++)
            if (d->ids[i] >= b->row && d->ids[i] < b->row + b->rows)
                vec_add(b->p->grad + (long)d->ids[i] * d->dy_cols, d->dy + i * d->dy_cols, d->dy_cols);
    } else
        for (long i = 0; i < d->rows; i++)
            vec_add(b->p->grad, d->dy + i * d->dy_cols, d->dy_cols);
}

static void collect_band(void *argument, int task, int worker) {
    collection *job = argument;
    const band *b = &job->bands[task];
    const param *p = b->p;
    int cols = p->rank == 2 ? p->dim[1] : p->dim[0];
    real *gradient = p->grad + (long)b->row * cols;
    size_t bytes = (size_t)b->rows * (size_t)cols * sizeof(real);
    bool ok = true, written = false;
    for (int i = 0; i < job->n_tapes && ok; i++) /* products first: the first of them writes instead of adding */
        for (const deferred *d = job->tapes[i]->deferred[p->index]; d && ok; d = d->next)
            if (d->x) {
                ok = add_product(job->workers[worker], b, d, written);
                written = true;
            }
    if (!written)
        memset(gradient, 0, bytes);
    for (int i = 0; i < job->n_tapes; i++) {
        for (const deferred *d = job->tapes[i]->deferred[p->index]; d; d = d->next)
            if (!d->x)
                add_rest(b, d);
        const real *direct = job->tapes[i]->direct[p->index];
        for (int row = 0; direct && row < b->rows; row++)
            vec_add(gradient + (long)row * cols, direct + (long)(b->row + row) * cols, cols);
    }
    job->ok[task] = ok;
}

sa_status params_collect(params *p, tape *const *tapes, int n, gemm **workers, pool *team, sa_error *error) {
    int n_bands = 0;
    for (int i = 0; i < p->n; i++)
        n_bands += p->at[i]->rank == 2 ? (p->at[i]->dim[0] + BAND_ROWS - 1) / BAND_ROWS : 1;
    collection job = {tapes, n, workers, calloc((size_t)n_bands + 1, sizeof(band)), calloc((size_t)n_bands + 1, 1)};
    bool ok = job.bands && job.ok;
    if (ok) {
        int at = 0;
        for (int i = 0; i < p->n; i++) {
            int rows = p->at[i]->rank == 2 ? p->at[i]->dim[0] : 1;
            for (int row = 0; row < rows; row += BAND_ROWS)
                job.bands[at++] = (band){p->at[i], row, rows - row < BAND_ROWS ? rows - row : BAND_ROWS};
        }
        pool_run(team, n_bands, collect_band, &job);
        for (int i = 0; i < n_bands; i++)
            ok = ok && job.ok[i];
    }
    free(job.bands);
    free(job.ok);
    return ok ? SA_OK : sa_fail_memory(error, 0);
}
