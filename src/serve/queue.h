/* Jobs that wait, and the threads that do them.
 *
 * A thread that is free takes the first unit of the job that waits longest, and with it those units of all jobs
 * like it whose length is nearest, as many as go together; that job then goes behind the others. So requests of
 * many clients make batches of sentences of similar length, a large request does not keep small ones waiting, and
 * no unit waits for ever. With few units and several threads that are free, each gets a part. */
#ifndef SERVE_QUEUE_H
#define SERVE_QUEUE_H

#include "serve/job.h"
#include "serve/metrics.h"

typedef struct queue queue;

/* threads of work (0: as many as there are cores), `together` units in a batch, `most` waiting. */
sa_status queue_new(queue **out, int threads, int together, int most, metrics *counts, sa_error *error);
/* Ends the threads after what they are doing, and cancels the jobs that are left. NULL is fine. */
void queue_free(queue *q);

/* Takes a job, which the queue holds until it ends. False, with the number of seconds after which to try again,
 * when too many units wait; the job is then as it was. One without units ends at once. */
bool queue_submit(queue *q, job *j, int *retry_after);
/* Nobody waits for the job any more: what has not begun is left out, what runs is told to stop. May be called at
 * any time, and twice. */
void queue_cancel(queue *q, job *j);
/* Units that wait, and jobs that have not ended. */
size_t queue_waiting(queue *q);
size_t queue_jobs(queue *q);

#endif
