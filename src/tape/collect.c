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
    bool add; /* to the gradients that are there */
    gemm **workers;
    band *bands;
    bool *ok;
} collection;

/* Adds what d has for rows of the band; the first product that covers all of it writes instead. */
static bool add_product(gemm *g, const band *b, const deferred *d, bool *written) {
    int from = d->row > b->row ? d->row : b->row, cols = b->p->dim[1];
    int end = d->row + d->dy.cols < b->row + b->rows ? d->row + d->dy.cols : b->row + b->rows;
    if (from >= end)
        return true;
    bool whole = from == b->row && end == b->row + b->rows;
    if (!*written && !whole)
        memset(b->p->grad + (long)b->row * cols, 0, (size_t)b->rows * (size_t)cols * sizeof(real));
    bool accumulate = *written || !whole;
    *written = true;
    matrix dy = d->dy;
    dy.at += from - d->row;
    dy.cols = end - from;
    return gemm_run(g, matrix_transposed(dy), d->x,
                    matrix_of(b->p->grad + (long)from * cols, end - from, cols, cols), accumulate);
}

static void add_rest(const band *b, const deferred *d) {
    for (long i = 0; i < d->dy.rows; i++) {
        const real *dy = d->dy.at + i * d->dy.stride;
        if (!d->ids)
            vec_add(b->p->grad, dy, d->dy.cols);
        else if (d->ids[i] >= b->row && d->ids[i] < b->row + b->rows)
            vec_add(b->p->grad + (long)d->ids[i] * d->dy.cols, dy, d->dy.cols);
    }
}

static void collect_band(void *argument, int task, int worker) {
    collection *job = argument;
    const band *b = &job->bands[task];
    const param *p = b->p;
    int cols = p->rank == 2 ? p->dim[1] : p->dim[0];
    real *gradient = p->grad + (long)b->row * cols;
    size_t bytes = (size_t)b->rows * (size_t)cols * sizeof(real);
    bool ok = true, written = job->add;
    for (int i = 0; i < job->n_tapes && ok; i++) /* products first: the first of them writes instead of adding */
        for (const deferred *d = job->tapes[i]->deferred[p->index]; d && ok; d = d->next)
            if (d->x.at)
                ok = add_product(job->workers[worker], b, d, &written);
    if (!written)
        memset(gradient, 0, bytes);
    for (int i = 0; i < job->n_tapes; i++) {
        for (const deferred *d = job->tapes[i]->deferred[p->index]; d; d = d->next)
            if (!d->x.at)
                add_rest(b, d);
        const real *direct = job->tapes[i]->direct[p->index];
        for (int row = 0; direct && row < b->rows; row++)
            vec_add(gradient + (long)row * cols, direct + (long)(b->row + row) * cols, cols);
    }
    job->ok[task] = ok;
}

sa_status params_collect(params *p, tape *const *tapes, int n, bool add, gemm **workers, pool *team,
                         sa_error *error) {
    int n_bands = 0;
    for (int i = 0; i < p->n; i++)
        n_bands += p->at[i]->rank == 2 ? (p->at[i]->dim[0] + BAND_ROWS - 1) / BAND_ROWS : 1;
    collection job = {
        tapes, n, add, workers, calloc((size_t)n_bands + 1, sizeof(band)), calloc((size_t)n_bands + 1, 1)};
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
