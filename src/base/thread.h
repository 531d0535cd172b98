/* A team of threads that shares out numbered tasks. What a task computes must depend on its number only, never on
 * the worker: then the result is the same for any number of threads. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/error.h"

typedef struct pool pool;

/* A pool of that many workers, at least 1. The caller of pool_run is worker 0; threads - 1 threads are made, with
 * signals blocked, each of which calls on_start (NULL: nothing) once before its first task, to set what belongs to
 * a thread. SA_MEMORY when the system gives no more threads; then none is left running. */
sa_status pool_new(pool **out, int threads, void (*on_start)(void), sa_error *error);
/* Ends the threads. NULL is fine. Not from inside a task. */
void pool_free(pool *p);
int pool_threads(const pool *p);

/* Calls task(arg, i, worker) for i = 0 ... tasks - 1, each once, taken in that order by whichever worker is free,
 * worker in 0 ... threads - 1; returns when all are done, and what they wrote is visible to the caller. One thread
 * at a time may run a pool, and no task may run the pool that it is in. */
void pool_run(pool *p, int tasks, void (*task)(void *arg, int task, int worker), void *arg);

/* Cores that this process may use (its affinity mask); at least 1. */
int thread_cores(void);

#endif
