/* Jobs that make a text of JSON for each pair, by itself: explanations, and whatever else looks into a model. */
#ifndef SERVE_TASK_JOB_H
#define SERVE_TASK_JOB_H

#include "serve/hosted.h"
#include "serve/job.h"

typedef struct task_job task_job;
/* Makes *json, which is taken over, of pair i. Called on a worker; job.cancelled says that nobody waits any more.
 */
typedef sa_status task_make(const task_job *j, size_t i, char **json, sa_error *error);

struct task_job {
    job job;
    task_make *make;
    char **source, **target; /* of each pair; target[i] may be NULL */
    void *options;           /* of the task; freed by free() */
    char **json;             /* made of each, when the job is done and not cancelled */
};

extern const job_kind task_kind;

/* Copies n sources and targets; targets may be NULL. options, from malloc, is taken over, whatever comes of it. */
sa_status task_job_new(task_job **out, task_make *make, const hosted_model *model, const char *const *sources,
                       const char *const *targets, size_t n, void *options, sa_error *error);
/* All that was made, as a list. NULL without memory. */
json_t *task_job_list(const task_job *j);

#endif
