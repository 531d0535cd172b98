#include "serve/task_job.h"

#include "base/error.h"
#include "base/json_build.h"

#include <stdlib.h>
#include <string.h>

static task_job *of(const job *j) {
    return (task_job *)(void *)(uintptr_t)j;
}

static sa_status run_task(job_unit *const *units, size_t n, sa_error *error) {
    SA_ASSERT(n == 1);
    (void)n;
    task_job *j = of(units[0]->job);
    size_t i = units[0]->number;
    return j->make(j, i, &j->json[i], error);
}

static void free_texts(char **text, size_t n) {
    for (size_t i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

static void free_task(job *j) {
    task_job *t = of(j);
    free_texts(t->source, j->n);
    free_texts(t->target, j->n);
    free_texts(t->json, j->n);
    free(t->options);
    free(t);
}

const job_kind task_kind = {"task", NULL, run_task, free_task};

static bool copy_texts(char **to, const char *const *from, size_t n) {
    bool ok = to != NULL;
    for (size_t i = 0; ok && from && i < n; i++)
        ok = !from[i] || (to[i] = strdup(from[i]));
    return ok;
}

sa_status task_job_new(task_job **out, task_make *make, const hosted_model *model, const char *const *sources,
                       const char *const *targets, size_t n, void *options, sa_error *error) {
    task_job *j = *out = calloc(1, sizeof *j);
    if (!j) {
        free(options);
        return sa_fail_memory(error, sizeof *j);
    }
    j->make = make;
    j->options = options;
    sa_status status = job_init(&j->job, &task_kind, model, n, error);
    j->source = calloc(n + 1, sizeof *j->source);
    j->target = calloc(n + 1, sizeof *j->target);
    j->json = calloc(n + 1, sizeof *j->json);
    if (status == SA_OK && (!copy_texts(j->source, sources, n) || !copy_texts(j->target, targets, n) || !j->json))
        status = sa_fail_memory(error, 0);
    if (status != SA_OK) {
        job_release(&j->job);
        *out = NULL;
    }
    return status;
}

json_t *task_job_list(const task_job *j) {
    bool ok = true;
    json_t *list = json_array();
    for (size_t i = 0; i < j->job.n; i++)
        append(list, json_loads(j->json[i], 0, NULL), &ok);
    return finished_json(list, ok);
}
