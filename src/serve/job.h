/* Work that a request needs done on a thread that may take its time: texts to translate, pairs to score, an
 * explanation. A job is made of units, each of which is done by itself or together with units like it, of this and
 * of other jobs (serve/queue.h).
 *
 * To add one: a structure that begins with a job, and a job_kind. */
#ifndef SERVE_JOB_H
#define SERVE_JOB_H

#include <jansson.h>
#include <softalign.h>
#include <stdatomic.h>

typedef struct job job;
typedef struct hosted_model hosted_model;

/* One text, or one pair. */
typedef struct job_unit {
    job *job;
    size_t number; /* in the job, from 0 */
    size_t length; /* that units are put together by: bytes */
    bool taken;
    int words; /* set by run: symbols that were written or scored, for the statistics */
} job_unit;

typedef struct job_kind {
    const char *name; /* in messages and statistics */
    /* Whether units of the two may run together; NULL: each unit runs alone. */
    bool (*same)(const job *a, const job *b);
    /* Does the work of n units, whose jobs are alike, and keeps the results in the jobs. Called on a worker,
     * without locks; it looks at job->cancelled now and then where it can. */
    sa_status (*run)(job_unit *const *units, size_t n, sa_error *error);
    void (*free)(job *j);
} job_kind;

struct job {
    const job_kind *kind;
    const hosted_model *model;
    size_t n;
    job_unit *unit;
    _Atomic bool cancelled; /* nobody waits for it any more */

    /* The queue's, under its lock. */
    size_t first;            /* units before this one are taken */
    size_t waiting, running; /* units */
    bool ended;
    job *before, *next; /* that wait */
    sa_error error;     /* of the first unit that failed */

    /* Called once, without locks, when nothing of the job waits or runs any more. */
    void (*done)(job *j, void *user);
    void *user;
    atomic_int references;
};

/* Gives a job of that kind its units; one reference, which is the caller's. SA_MEMORY. */
sa_status job_init(job *j, const job_kind *kind, const hosted_model *model, size_t n, sa_error *error);
void job_hold(job *j);
/* Frees the job with its last reference; NULL is fine. */
void job_release(job *j);

#endif
