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

static const deferred *next_product(const deferred *d) {
    while (d && !d->x.at)
        d = d->next;
    return d;
}

/* The products that one tape left for a band, as one. */
static bool add_products(gemm *g, const band *b, const deferred *first, bool *written) {
    int n = 0, cols = b->p->dim[1];
    for (const deferred *d = next_product(first); d; d = next_product(d->next))
        n++;
    if (n == 0)
        return true;
    matrix *dy = calloc((size_t)n, sizeof *dy), *x = calloc((size_t)n, sizeof *x);
    bool ok = dy && x;
    int at = n; /* the newest entry is of the earliest step */
    for (const deferred *d = next_product(first); ok && d; d = next_product(d->next)) {
        dy[--at] = d->dy;
        dy[at].at += b->row;
        dy[at].cols = b->rows;
        x[at] = d->x;
    }
    ok = ok && gemm_outer(g, n, dy, x, matrix_of(b->p->grad + (long)b->row * cols, b->rows, cols, cols), *written);
    *written = true;
    free(dy);
    free(x);
    return ok;
}

static void add_rest(const band *b, const deferred *d) {
    for (long i = 0; i < d->dy.rows; i++) {
        const real *dy = d->dy.at + i * d->dy.stride;
        if (!d->ids)
            vec_add(b->p->grad, dy, d->dy.cols);
        else if (d->ids[i] >= b->row && d->ids[i] < b->row + b->rows)
            vec_add(b->p->grad + (long)d->ids[i] * b->p->dim[1], dy, d->dy.cols);
    }
}

/* Products first: the first of them writes instead of adding. */
static bool add_tape(gemm *g, const band *b, const tape *t, bool *written) {
    const param *p = b->p;
    int cols = p->rank == 2 ? p->dim[1] : p->dim[0];
    real *gradient = p->grad + (long)b->row * cols;
    const real *direct = t->direct[p->index];
    bool own = direct == p->grad;
    *written = *written || own;
    if (!add_products(g, b, t->deferred[p->index], written))
        return false;
    if (!*written)
        memset(gradient, 0, (size_t)b->rows * (size_t)cols * sizeof(real));
    *written = true;
    for (const deferred *d = t->deferred[p->index]; d; d = d->next)
        if (!d->x.at)
            add_rest(b, d);
    for (int row = 0; direct && !own && row < b->rows; row++)
        vec_add(gradient + (long)row * cols, direct + (long)(b->row + row) * cols, cols);
    return true;
}

static void collect_band(void *argument, int task, int worker) {
    collection *job = argument;
    bool ok = true, written = job->add;
    for (int i = 0; i < job->n_tapes && ok; i++)
        ok = add_tape(job->workers[worker], &job->bands[task], job->tapes[i], &written);
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
