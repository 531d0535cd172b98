#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 1000, MOST = 8 };

typedef struct tally {
    int calls[TASKS];           /* plain: a race would be seen */
    int64_t by_worker[MOST][8]; /* likewise */
    atomic_int outside;
    int threads;
} tally;

static void count(void *arg, int task, int worker) {
    tally *t = arg;
    if (worker < 0 || worker >= t->threads) {
        atomic_fetch_add(&t->outside, 1);
        return;
    }
    t->calls[task]++;
    t->by_worker[worker][0]++;
}

static pool *new_pool(int threads, void (*on_start)(void)) {
    pool *p;
    sa_error e;
    if (pool_new(&p, threads, on_start, &e))
        fail_msg("%s", e.text);
    return p;
}

static void every_task_runs_once_at_any_number_of_threads(void **state) {
    (void)state;
    for (int threads = 1; threads <= MOST; threads++) {
        pool *p = new_pool(threads, NULL);
        assert_int_equal(pool_threads(p), threads);
        tally t = {.threads = threads};
        pool_run(p, TASKS, count, &t);
        int64_t all = 0;
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(t.calls[i], 1);
        for (int i = 0; i < MOST; i++)
            all += t.by_worker[i][0];
        assert_int_equal(all, TASKS);
        assert_int_equal(t.outside, 0);
        pool_free(p);
    }
}

static void many_short_rounds_follow_one_another(void **state) {
    (void)state;
    pool *p = new_pool(4, NULL);
    tally t = {.threads = 4};
    for (int round = 0; round < 3000; round++)
        pool_run(p, round % 7, count, &t);
    /* Rounds of 0 ... 6 tasks: task i runs in those of more than i. */
    for (int i = 0; i < 6; i++) {
        int expected = 0;
        for (int round = 0; round < 3000; round++)
            expected += round % 7 > i;
        assert_int_equal(t.calls[i], expected);
    }
    assert_int_equal(t.calls[6], 0);
    pool_free(p);
}

typedef struct meeting {
    pthread_barrier_t barrier;
    pthread_t caller;
    atomic_int zero_is_caller, others_are_not, seen[MOST];
} meeting;

/* No task returns before all have begun: each needs a worker of its own. */
static void meet(void *arg, int task, int worker) {
    (void)task;
    meeting *m = arg;
    atomic_fetch_add(&m->seen[worker], 1);
    bool caller = pthread_equal(pthread_self(), m->caller);
    atomic_fetch_add(worker ? &m->others_are_not : &m->zero_is_caller, worker ? !caller : caller);
    pthread_barrier_wait(&m->barrier);
}

static void as_many_tasks_as_threads_run_at_the_same_time(void **state) {
    (void)state;
    enum { THREADS = 5 };
    pool *p = new_pool(THREADS, NULL);
    meeting m = {.caller = pthread_self()};
    assert_int_equal(pthread_barrier_init(&m.barrier, NULL, THREADS), 0);
    pool_run(p, THREADS, meet, &m);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(m.seen[i], 1);
    assert_int_equal(m.zero_is_caller, 1);
    assert_int_equal(m.others_are_not, THREADS - 1);
    pthread_barrier_destroy(&m.barrier);
    pool_free(p);
}

typedef struct order {
    int n, task[TASKS], worker[TASKS];
    pthread_t thread[TASKS];
} order;

static void note(void *arg, int task, int worker) {
    order *o = arg;
    o->task[o->n] = task;
    o->worker[o->n] = worker;
    o->thread[o->n++] = pthread_self();
}

static void one_thread_works_in_order_in_the_callers_thread(void **state) {
    (void)state;
    pool *p = new_pool(1, NULL);
    order o = {0};
    pool_run(p, TASKS, note, &o);
    assert_int_equal(o.n, TASKS);
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(o.task[i], i);
        assert_int_equal(o.worker[i], 0);
        assert_true(pthread_equal(o.thread[i], pthread_self()));
    }
    pool_free(p);
}

static void no_tasks_run_nothing(void **state) {
    (void)state;
    pool *p = new_pool(3, NULL);
    tally t = {.threads = 3};
    pool_run(p, 0, count, &t);
    assert_int_equal(t.calls[0], 0);
    pool_free(p);
    pool_free(NULL);
}

static atomic_int starts;
static _Thread_local int started_here;

static void on_start(void) {
    atomic_fetch_add(&starts, 1);
    started_here = 1;
}

static void need_start(void *arg, int task, int worker) {
    (void)task;
    if (worker && !started_here)
        atomic_fetch_add((atomic_int *)arg, 1);
}

static void the_hook_runs_once_in_each_new_thread_before_its_tasks(void **state) {
    (void)state;
    atomic_store(&starts, 0);
    pool *p = new_pool(6, on_start);
    atomic_int missing = 0;
    for (int i = 0; i < 50; i++)
        pool_run(p, 100, need_start, &missing);
    pool_free(p);
    assert_int_equal(starts, 5);
    assert_int_equal(missing, 0);
    assert_int_equal(started_here, 0);
}

static void read_mask(void *arg, int task, int worker) {
    (void)task;
    meeting *m = arg;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    int right = worker ? sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) && !sigismember(&mask, SIGSEGV)
                       : !sigismember(&mask, SIGINT);
    atomic_fetch_add(&m->seen[worker], right);
    pthread_barrier_wait(&m->barrier);
}

static void signals_are_left_to_the_callers_thread(void **state) {
    (void)state;
    pool *p = new_pool(3, NULL);
    meeting m = {.caller = pthread_self()};
    assert_int_equal(pthread_barrier_init(&m.barrier, NULL, 3), 0);
    pool_run(p, 3, read_mask, &m);
    for (int i = 0; i < 3; i++)
        assert_int_equal(m.seen[i], 1);
    pthread_barrier_destroy(&m.barrier);
    pool_free(p);
}

static void two_pools_work_side_by_side(void **state) {
    (void)state;
    pool *a = new_pool(3, NULL), *b = new_pool(2, NULL);
    tally ta = {.threads = 3}, tb = {.threads = 2};
    for (int i = 0; i < 100; i++) {
        pool_run(a, 10, count, &ta);
        pool_run(b, 10, count, &tb);
    }
    for (int i = 0; i < 10; i++) {
        assert_int_equal(ta.calls[i], 100);
        assert_int_equal(tb.calls[i], 100);
    }
    pool_free(b);
    pool_free(a);
}

static void threads_that_cannot_be_had_are_an_error(void **state) {
    (void)state;
    pthread_attr_t before, huge;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 46), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    pool *p = (pool *)&before;
    sa_error e;
    sa_status status = pool_new(&p, 4, NULL, &e);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    assert_int_equal(status, SA_MEMORY);
    assert_null(p);
    assert_non_null(strstr(e.text, "thread 2 of 4"));
}

static void cores_follow_the_affinity_mask(void **state) {
    (void)state;
    assert_true(thread_cores() >= 1);
    cpu_set_t before, one;
    if (sched_getaffinity(0, sizeof before, &before))
        skip(); /* more cores than the plain mask holds */
    assert_int_equal(thread_cores(), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    int cores = thread_cores();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(cores, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once_at_any_number_of_threads),
        cmocka_unit_test(many_short_rounds_follow_one_another),
        cmocka_unit_test(as_many_tasks_as_threads_run_at_the_same_time),
        cmocka_unit_test(one_thread_works_in_order_in_the_callers_thread),
        cmocka_unit_test(no_tasks_run_nothing),
        cmocka_unit_test(the_hook_runs_once_in_each_new_thread_before_its_tasks),
        cmocka_unit_test(signals_are_left_to_the_callers_thread),
        cmocka_unit_test(two_pools_work_side_by_side),
        cmocka_unit_test(threads_that_cannot_be_had_are_an_error),
        cmocka_unit_test(cores_follow_the_affinity_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
