#include "serve/queue.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* A unit that could go into a batch, and how far its length is from the first one's. */
typedef struct candidate_unit {
    job_unit *unit;
    size_t distance, order;
} candidate_unit;

/* A batch is chosen among so many times the units that it takes: more would sort better, but let a unit that is
 * unlike the others wait longer. */
enum { CHOICE = 4 };

typedef struct worker {
    queue *queue;
    pthread_t thread;
    job_unit **unit; /* of the batch: n, room for as many as go together */
    size_t n;
    candidate_unit *candidates; /* room for CHOICE times as many */
} worker;

struct queue {
    metrics *counts;
    int threads, started;
    worker *worker;
    size_t together, most;

    pthread_mutex_t lock; /* guards all below, and what a job says is the queue's */
    pthread_cond_t work;
    job *head, *tail; /* jobs with units that wait */
    size_t waiting;   /* units of all of them */
    size_t jobs;      /* that have not ended */
    int busy;         /* threads with a batch; one that has not begun yet is free */
    double speed;     /* units a second, a running mean; 0: not known yet */
    bool ending;
};

/* ---- the list of jobs -------------------------------------------------------------------------------- */

static void append_job(queue *q, job *j) {
    j->next = NULL;
    j->before = q->tail;
    *(q->tail ? &q->tail->next : &q->head) = j;
    q->tail = j;
}

static void remove_job(queue *q, job *j) {
    *(j->before ? &j->before->next : &q->head) = j->next;
    *(j->next ? &j->next->before : &q->tail) = j->before;
    j->before = j->next = NULL;
}

/* After its last unit: true for the caller who is to announce it. */
static bool end_if_done(queue *q, job *j) {
    if (j->ended || j->waiting > 0 || j->running > 0)
        return false;
    j->ended = true;
    q->jobs--;
    return true;
}

/* Without the lock. The reference is the queue's. */
static void announce(job *j) {
    if (j->done)
        j->done(j, j->user);
    job_release(j);
}

/* ---- what goes together ------------------------------------------------------------------------------ */

static int compare_candidates(const void *a, const void *b) {
    const candidate_unit *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool alike(const job *a, const job *b) {
    return a == b || (a->kind == b->kind && a->model == b->model && a->kind->same(a, b));
}

static job_unit *first_waiting(job *j) {
    while (j->unit[j->first].taken)
        j->first++;
    return &j->unit[j->first];
}

static void take(queue *q, worker *b, job_unit *unit) {
    job *j = unit->job;
    unit->taken = true;
    j->waiting--;
    j->running++;
    q->waiting--;
    b->unit[b->n++] = unit;
    if (j->waiting == 0)
        remove_job(q, j);
}

/* Those that may go with the unit, the oldest jobs' first; returns how many there are. */
static size_t list_candidates(queue *q, worker *b, const job_unit *unit) {
    size_t n = 0, most = CHOICE * q->together;
    for (job *j = q->head; j && n < most; j = j->next) {
        size_t end = alike(unit->job, j) ? j->n : 0;
        for (size_t i = j->first; i < end && n < most; i++) {
            job_unit *u = &j->unit[i];
            if (u->taken)
                continue;
            size_t distance = u->length > unit->length ? u->length - unit->length : unit->length - u->length;
            b->candidates[n] = (candidate_unit){u, distance, n};
            n++;
        }
    }
    return n;
}

/* Chooses the units of a batch. Something waits. */
static void choose(queue *q, worker *b) {
    job *first = q->head;
    job_unit *unit = first_waiting(first);
    b->n = 0;
    if (!first->kind->same) {
        take(q, b, unit);
    } else {
        size_t n = list_candidates(q, b, unit), free_threads = (size_t)(q->threads - q->busy);
        size_t share = (n + free_threads - 1) / free_threads;
        share = share < q->together ? share : q->together;
        qsort(b->candidates, n, sizeof *b->candidates, compare_candidates);
        for (size_t i = 0; i < n && b->n < share; i++)
            take(q, b, b->candidates[i].unit);
    }
    if (first->waiting > 0 && first != q->tail) {
        remove_job(q, first);
        append_job(q, first);
    }
}

/* ---- the work ---------------------------------------------------------------------------------------- */

static void note_failure(queue *q, job *j, const sa_error *error) {
    pthread_mutex_lock(&q->lock);
    if (j->error.status == SA_OK)
        j->error = *error;
    pthread_mutex_unlock(&q->lock);
}

/* One unit may spoil a batch: then each is tried by itself, so that nobody pays for what another asked. */
static void run_batch(queue *q, const worker *b) {
    sa_error error = {0};
    const job_kind *kind = b->unit[0]->job->kind;
    if (kind->run(b->unit, b->n, &error) == SA_OK)
        return;
    if (b->n == 1) {
        note_failure(q, b->unit[0]->job, &error);
        return;
    }
    for (size_t i = 0; i < b->n; i++) {
        if (kind->run(&b->unit[i], 1, &error) != SA_OK)
            note_failure(q, b->unit[i]->job, &error);
    }
}

static void note_batch(queue *q, const worker *b, double seconds) {
    long words = 0;
    for (size_t i = 0; i < b->n; i++)
        words += b->unit[i]->words;
    metrics_batch(q->counts, b->n, words);
    double now = (double)b->n * q->threads / (seconds > 1e-6 ? seconds : 1e-6);
    q->speed = q->speed > 0 ? 0.9 * q->speed + 0.1 * now : now;
}

static void finish_batch(queue *q, worker *b) {
    for (size_t i = 0; i < b->n; i++) {
        job *j = b->unit[i]->job;
        pthread_mutex_lock(&q->lock);
        j->running--;
        bool ended = end_if_done(q, j);
        pthread_mutex_unlock(&q->lock);
        if (ended)
            announce(j);
    }
}

static void *worker_main(void *argument) {
    worker *b = argument;
    queue *q = b->queue;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->head && !q->ending)
            pthread_cond_wait(&q->work, &q->lock);
        if (q->ending)
            break;
        choose(q, b);
        q->busy++;
        pthread_mutex_unlock(&q->lock);
        double begun = clock_seconds();
        run_batch(q, b);
        pthread_mutex_lock(&q->lock);
        note_batch(q, b, clock_seconds() - begun);
        pthread_mutex_unlock(&q->lock);
        finish_batch(q, b);
        pthread_mutex_lock(&q->lock);
        q->busy--;
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static sa_status start(queue *q, sa_error *error) {
    sigset_t all, before;
    for (int i = 0; i < q->threads; i++) {
        worker *b = &q->worker[i];
        b->queue = q;
        b->unit = malloc(q->together * sizeof *b->unit);
        b->candidates = malloc(CHOICE * q->together * sizeof *b->candidates);
        if (!b->unit || !b->candidates)
            return sa_fail_memory(error, CHOICE * q->together * sizeof *b->candidates);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = 0;
    for (; q->started < q->threads && !code; q->started += !code)
        code = pthread_create(&q->worker[q->started].thread, NULL, worker_main, &q->worker[q->started]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? sa_fail(error, SA_MEMORY, "cannot make %d threads", q->threads) : SA_OK;
}

sa_status queue_new(queue **out, int threads, int together, int most, metrics *counts, sa_error *error) {
    queue *q = *out = calloc(1, sizeof *q);
    if (!q)
        return sa_fail_memory(error, sizeof *q);
    q->counts = counts;
    q->threads = threads > 0 ? threads : thread_cores();
    q->together = (size_t)together;
    q->most = (size_t)most;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work, NULL);
    q->worker = calloc((size_t)q->threads, sizeof *q->worker);
    sa_status status = q->worker ? start(q, error) : sa_fail_memory(error, 0);
    if (status != SA_OK) {
        queue_free(q);
        *out = NULL;
    }
    return status;
}

void queue_free(queue *q) {
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->ending = true;
    pthread_cond_broadcast(&q->work);
    pthread_mutex_unlock(&q->lock);
    for (int i = 0; i < q->started; i++)
        pthread_join(q->worker[i].thread, NULL);
    while (q->head)
        queue_cancel(q, q->head);
    pthread_cond_destroy(&q->work);
    pthread_mutex_destroy(&q->lock);
    for (int i = 0; q->worker && i < q->threads; i++) {
        free(q->worker[i].unit);
        free(q->worker[i].candidates);
    }
    free(q->worker);
    free(q);
}

/* ---- jobs in and out --------------------------------------------------------------------------------- */

/* When half of what waits will have been done. */
static int seconds_to_wait(const queue *q) {
    enum { LONGEST = 60 };
    double seconds = q->speed > 0 ? (double)q->waiting / (2 * q->speed) : 1;
    return seconds < 1 ? 1 : seconds > LONGEST ? LONGEST : (int)(seconds + 0.5);
}

bool queue_submit(queue *q, job *j, int *retry_after) {
    pthread_mutex_lock(&q->lock);
    bool fits = !q->ending && (j->n == 0 || q->waiting + j->n <= q->most);
    if (fits) {
        job_hold(j);
        q->jobs++;
        q->waiting += j->waiting = j->n;
        if (j->n > 0)
            append_job(q, j);
        j->ended = false;
        pthread_cond_broadcast(&q->work);
    } else {
        *retry_after = seconds_to_wait(q);
    }
    bool ended = fits && end_if_done(q, j);
    pthread_mutex_unlock(&q->lock);
    if (ended)
        announce(j);
    return fits;
}

void queue_cancel(queue *q, job *j) {
    atomic_store(&j->cancelled, true);
    pthread_mutex_lock(&q->lock);
    bool ended = false;
    if (!j->ended) {
        if (j->waiting > 0)
            remove_job(q, j);
        q->waiting -= j->waiting;
        j->waiting = 0;
        for (size_t i = j->first; i < j->n; i++)
            j->unit[i].taken = true;
        ended = end_if_done(q, j);
    }
    pthread_mutex_unlock(&q->lock);
    if (ended)
        announce(j);
}

size_t queue_waiting(queue *q) {
    pthread_mutex_lock(&q->lock);
    size_t n = q->waiting;
    pthread_mutex_unlock(&q->lock);
    return n;
}

size_t queue_jobs(queue *q) {
    pthread_mutex_lock(&q->lock);
    size_t n = q->jobs;
    pthread_mutex_unlock(&q->lock);
    return n;
}
