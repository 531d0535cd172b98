#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct worker {
    pool *pool;
    int index; /* 1 ... threads - 1 */
    pthread_t thread;
} worker;

struct pool {
    int threads, started; /* started: threads made, to be joined */
    worker *workers;
    void (*on_start)(void);

    pthread_mutex_t lock; /* guards all below but next */
    pthread_cond_t work, done;
    uint64_t round; /* of pool_run */
    int busy;       /* workers that have not finished this round */
    bool ending;
    int tasks;
    void (*task)(void *arg, int task, int worker);
    void *arg;
    _Atomic int64_t next; /* wider than tasks: each worker counts once past the end */
};

/* Works until nothing is left; what a round is made of does not change while one of its workers is busy. */
static void work(pool *p, int index) {
    int tasks = p->tasks;
    for (;;) {
        int64_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (i >= tasks)
            return;
        p->task(p->arg, (int)i, index);
    }
}

static void *worker_main(void *argument) {
    worker *w = argument;
    pool *p = w->pool;
    if (p->on_start)
        p->on_start();
    uint64_t round = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->round == round && !p->ending)
            pthread_cond_wait(&p->work, &p->lock);
        if (p->ending)
            break;
        round = p->round;
        pthread_mutex_unlock(&p->lock);
        work(p, w->index);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Signals go to the threads of the program, which expect them; those that report a fault stay where it is. */
static void block_signals(sigset_t *before) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static sa_status start_workers(pool *p, sa_error *error) {
    sigset_t before;
    block_signals(&before);
    int code = 0;
    for (int i = 1; i < p->threads && !code; i++) {
        p->workers[i] = (worker){.pool = p, .index = i};
        code = pthread_create(&p->workers[i].thread, NULL, worker_main, &p->workers[i]);
        p->started += !code;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!code)
        return SA_OK;
    char text[128];
    return sa_fail(error, SA_MEMORY, "thread %d of %d cannot be started: %s; use fewer threads", p->started + 2,
                   p->threads, strerror_r(code, text, sizeof text));
}

sa_status pool_new(pool **out, int threads, void (*on_start)(void), sa_error *error) {
    SA_ASSERT(threads >= 1);
    *out = NULL;
    pool *p = calloc(1, sizeof *p);
    worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!p || !workers) {
        free(p);
        free(workers);
        return sa_fail_memory(error, sizeof *p + (size_t)threads * sizeof *workers);
    }
    p->threads = threads;
    p->workers = workers;
    p->on_start = on_start;
    /* With default attributes these three cannot fail on Linux. */
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    sa_status status = start_workers(p, error);
    if (status != SA_OK)
        pool_free(p);
    else
        *out = p;
    return status;
}

void pool_free(pool *p) {
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i <= p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p->workers);
    free(p);
}

int pool_threads(const pool *p) {
    return p->threads;
}

void pool_run(pool *p, int tasks, void (*task)(void *arg, int task, int worker), void *arg) {
    if (p->threads == 1 || tasks <= 1) {
        for (int i = 0; i < tasks; i++)
            task(arg, i, 0);
        return;
    }
    pthread_mutex_lock(&p->lock);
    SA_ASSERT(p->busy == 0);
    p->tasks = tasks;
    p->task = task;
    p->arg = arg;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    p->busy = p->threads - 1;
    p->round++;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);

    work(p, 0);

    pthread_mutex_lock(&p->lock);
    while (p->busy)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

int thread_cores(void) {
    /* The mask of a machine with more cores than the kernel's answer fits in is asked for again, larger. */
    for (int most = CPU_SETSIZE; most <= 1 << 20; most *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)most);
        if (!set)
            break;
        size_t size = CPU_ALLOC_SIZE((size_t)most);
        bool known = !sched_getaffinity(0, size, set);
        int cores = known ? CPU_COUNT_S(size, set) : 0;
        bool larger = !known && errno == EINVAL;
        CPU_FREE(set);
        if (cores > 0)
            return cores;
        if (!larger)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
