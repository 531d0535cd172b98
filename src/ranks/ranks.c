#include "ranks/ranks.h"

#include "base/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- who is there ------------------------------------------------------------------------------------ */

static bool number_from(const char *name, int *value) {
    const char *text = getenv(name);
    char *end;
    long number = text ? strtol(text, &end, 10) : -1;
    if (!text || end == text || *end || number < 0 || number > 1 << 24)
        return false;
    *value = (int)number;
    return true;
}

void sa_train_ranks(int *rank, int *size) {
    static const struct {
        const char *rank, *size;
    } launchers[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI's mpirun */
        {"PMI_RANK", "PMI_SIZE"},                         /* MPICH's and its relatives' */
        {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},            /* srun --mpi=pmix */
    };
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (number_from(launchers[i].rank, rank) && number_from(launchers[i].size, size) && *rank < *size)
            return;
    *rank = 0;
    *size = 1;
}

/* ---- meeting ----------------------------------------------------------------------------------------- */

static sa_status join(ranks *out, int rank, int size, sa_error *error) {
    sa_error why;
    /* Open MPI's own plugins look for its symbols among those of the whole process, and MPI does not like to be
     * taken out of one. */
    const transport *via = module_load("softalign-mpi.so", TRANSPORT_NAME, true, &why);
    if (!via)
        return sa_fail(
            error, SA_USAGE,
            "this is process %d of %d, and softalign's MPI module cannot be loaded: %.500s. Build softalign "
            "where MPI is installed (on Debian: libopenmpi-dev), or start one process",
            rank, size, why.text);
    const char *failed = via->join(&out->self, &out->rank, &out->size);
    if (failed)
        return sa_fail(error, SA_USAGE, "%s", failed);
    out->via = via;
    if (out->size == size)
        return SA_OK;
    int met = out->size;
    ranks_finish(out);
    return sa_fail(error, SA_USAGE,
                   "%d processes were started, but MPI knows of %d: use the mpirun of the MPI that softalign was "
                   "built with",
                   size, met);
}

sa_status ranks_start(ranks *out, sa_error *error) {
    int rank, size;
    *out = (ranks){.size = 1};
    sa_train_ranks(&rank, &size);
    if (size == 1)
        return SA_OK;
    if (size > RANKS_MAX)
        return sa_fail(error, SA_USAGE, "%d processes were started; at most %d can train one model", size,
                       RANKS_MAX);
    SA_TRY(join(out, rank, size, error));
    out->parts = malloc((size_t)out->size * RANKS_BLOCK * sizeof *out->parts);
    return ranks_agree(out, out->parts ? SA_OK : sa_fail_memory(error, 0), NULL, 0, error);
}

void ranks_finish(ranks *r) {
    if (r->via)
        r->via->leave(r->self);
    free(r->parts);
    *r = (ranks){.size = 1};
}

/* ---- together ---------------------------------------------------------------------------------------- */

void ranks_broadcast(const ranks *r, int from, void *data, long bytes) {
    enum { AT_A_TIME = 1 << 20 };
    int start[RANKS_MAX + 1];
    for (long at = 0; r->size > 1 && at < bytes; at += AT_A_TIME) {
        long piece = bytes - at < AT_A_TIME ? bytes - at : AT_A_TIME;
        for (int k = 0; k <= r->size; k++)
            start[k] = k > from ? (int)piece : 0;
        r->via->gather(r->self, (char *)data + at, start);
    }
}

sa_status ranks_agree(const ranks *r, sa_status mine, double *sum, int n, sa_error *error) {
    struct vote {
        sa_status status;
        double number[RANKS_NUMBERS];
    } vote[RANKS_MAX];
    int start[RANKS_MAX + 1];
    if (r->size <= 1)
        return mine;
    SA_ASSERT(n <= RANKS_NUMBERS);
    memset(&vote[r->rank], 0, sizeof *vote);
    vote[r->rank].status = mine;
    for (int i = 0; i < n; i++)
        vote[r->rank].number[i] = sum[i];
    for (int k = 0; k <= r->size; k++)
        start[k] = k * (int)sizeof *vote;
    r->via->gather(r->self, vote, start);
    for (int i = 0; i < n; i++) {
        sum[i] = 0;
        for (int k = 0; k < r->size; k++)
            sum[i] += vote[k].number[i];
    }
    int first = 0;
    while (first < r->size && vote[first].status == SA_OK)
        first++;
    if (first == r->size)
        return SA_OK;
    sa_error told = {SA_OK, ""};
    if (r->rank == first && error)
        told = *error;
    ranks_broadcast(r, first, &told, sizeof told);
    if (r->rank > 0)
        return sa_fail(error, vote[first].status, "%s", "");
    return first > 0 ? sa_fail(error, vote[first].status, "rank %d: %s", first, told.text) : vote[first].status;
}

/* The blocks from `at` on, one for each rank, in bytes; the last of an array are shorter, or empty. */
static void cut_round(const ranks *r, long at, long n, int start[RANKS_MAX + 1]) {
    for (int k = 0; k <= r->size; k++) {
        long end = (long)k * RANKS_BLOCK;
        start[k] = (int)((size_t)(end < n - at ? end : n - at) * sizeof(real));
    }
}

void ranks_sum(const ranks *r, real *array, long n) {
    int start[RANKS_MAX + 1];
    for (long at = 0; r->size > 1 && at < n; at += (long)r->size * RANKS_BLOCK) {
        cut_round(r, at, n, start);
        r->via->exchange(r->self, array + at, start, r->parts);
        long own = (start[r->rank + 1] - start[r->rank]) / (long)sizeof(real);
        real *mine = array + at + start[r->rank] / (long)sizeof(real);
        memcpy(mine, r->parts, (size_t)own * sizeof(real));
        for (int k = 1; k < r->size; k++) {
            const real *part = r->parts + k * own;
#pragma omp simd
            for (long i = 0; i < own; i++)
                mine[i] += part[i];
        }
    }
}

void ranks_share(const ranks *r, real *array, long n) {
    int start[RANKS_MAX + 1];
    for (long at = 0; r->size > 1 && at < n; at += (long)r->size * RANKS_BLOCK) {
        cut_round(r, at, n, start);
        r->via->gather(r->self, array + at, start);
    }
}
