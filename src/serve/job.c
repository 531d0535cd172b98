#include "serve/job.h"

#include "base/error.h"

#include <stdlib.h>

sa_status job_init(job *j, const job_kind *kind, const hosted_model *model, size_t n, sa_error *error) {
    j->kind = kind;
    j->model = model;
    j->n = n;
    j->ended = true; /* until it is submitted */
    atomic_init(&j->references, 1);
    j->unit = calloc(n + 1, sizeof *j->unit);
    if (!j->unit)
        return sa_fail_memory(error, n * sizeof *j->unit);
    for (size_t i = 0; i < n; i++)
        j->unit[i] = (job_unit){.job = j, .number = i};
    return SA_OK;
}

void job_hold(job *j) {
    atomic_fetch_add(&j->references, 1);
}

void job_release(job *j) {
    if (!j || atomic_fetch_sub(&j->references, 1) > 1)
        return;
    free(j->unit);
    j->kind->free(j);
}
