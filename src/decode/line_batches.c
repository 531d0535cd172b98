#include "decode/line_batches.h"

#include "base/thread.h"
#include "math/gemm.h"

#include <stdlib.h>

typedef struct batches {
    const size_t *line; /* in order of length */
    size_t n, size;
    batch_work *work;
    void *argument;
    sa_status *status; /* of each batch */
    sa_error *error;
} batches;

static void batch_task(void *argument, int task, int worker) {
    (void)worker;
    batches *b = argument;
    size_t at = (size_t)task * b->size, n = b->n - at < b->size ? b->n - at : b->size;
    b->status[task] = b->work(b->argument, b->line + at, (int)n, &b->error[task]);
}

typedef struct length_key {
    size_t length, line;
} length_key;

static int compare_lengths(const void *a, const void *b) {
    const length_key *x = a, *y = b;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return x->line < y->line ? -1 : 1;
}

/* Fills line with the numbers of those that are not empty, the longest first, and returns how many there are;
 * (size_t)-1 without memory. */
static size_t sort_by_length(const size_t *length, size_t n, size_t *line) {
    length_key *key = calloc(n + 1, sizeof *key);
    if (!key)
        return (size_t)-1;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (length[i] > 0)
            key[kept++] = (length_key){length[i], i};
    qsort(key, kept, sizeof *key, compare_lengths);
    for (size_t i = 0; i < kept; i++)
        line[i] = key[i].line;
    free(key);
    return kept;
}

static sa_status run_tasks(batches *b, int tasks, int threads, sa_error *error) {
    pool *workers;
    if (threads == 0)
        threads = thread_cores();
    SA_TRY(pool_new(&workers, threads < tasks ? threads : tasks, gemm_work_alone, error));
    gemm_work_alone();
    pool_run(workers, tasks, batch_task, b);
    pool_free(workers);
    for (int i = 0; i < tasks; i++)
        if (b->status[i] != SA_OK) {
            if (error)
                *error = b->error[i];
            return b->status[i];
        }
    return SA_OK;
}

sa_status batch_run(const size_t *length, size_t n, int batch, int threads, batch_work *work, void *argument,
                    sa_error *error) {
    size_t *line = calloc(n + 1, sizeof *line), size = (size_t)batch;
    size_t kept = line ? sort_by_length(length, n, line) : (size_t)-1;
    if (kept == (size_t)-1 || kept == 0) {
        free(line);
        return kept == 0 ? SA_OK : sa_fail_memory(error, n * sizeof *line);
    }
    size_t tasks = (kept + size - 1) / size;
    batches b = {line, kept, size, work, argument, NULL, NULL};
    b.status = calloc(tasks, sizeof *b.status);
    b.error = calloc(tasks, sizeof *b.error);
    sa_status status = b.status && b.error ? run_tasks(&b, (int)tasks, threads, error)
                                           : sa_fail_memory(error, tasks * sizeof *b.error);
    free(line);
    free(b.status);
    free(b.error);
    return status;
}
