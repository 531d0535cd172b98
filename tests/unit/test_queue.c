#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A job that does nothing but to note its batches; it waits for a gate that tests open. */
typedef struct note_job {
    job job;
    int group; /* of jobs that go together */
    int done;  /* units */
} note_job;

enum { MOST = 100 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static bool open_gate;
static int running, ended, batches;
static size_t batch_size[MOST];
static size_t batch_length[MOST][2]; /* shortest and longest unit */
static size_t bad;                   /* a unit of this length fails; 0: none */
static const char *const names[] = {"a"};
static sa_error error;

static bool same(const job *a, const job *b) {
    return ((const note_job *)(const void *)a)->group == ((const note_job *)(const void *)b)->group;
}

static sa_status run(job_unit *const *units, size_t n, sa_error *e) {
    size_t shortest = units[0]->length, longest = shortest;
    bool fails = false;
    pthread_mutex_lock(&lock);
    running++;
    pthread_cond_broadcast(&change);
    while (!open_gate)
        pthread_cond_wait(&change, &lock);
    for (size_t i = 0; i < n; i++) {
        note_job *j = (note_job *)(void *)units[i]->job;
        shortest = units[i]->length < shortest ? units[i]->length : shortest;
        longest = units[i]->length > longest ? units[i]->length : longest;
        fails = fails || (bad && units[i]->length == bad);
        j->done++;
    }
    batch_size[batches] = n;
    batch_length[batches][0] = shortest;
    batch_length[batches++][1] = longest;
    running--;
    pthread_mutex_unlock(&lock);
    if (fails)
        snprintf(e->text, sizeof e->text, "a bad unit");
    return fails ? e->status = SA_DATA : SA_OK;
}

static void no_free(job *j) {
    (void)j;
}
static const job_kind note_kind = {"note", same, run, no_free};
static const job_kind alone_kind = {"alone", NULL, run, no_free};

static void on_end(job *j, void *user) {
    (void)j;
    (void)user;
    pthread_mutex_lock(&lock);
    ended++;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
}

static void wait_until(const int *what, int value) {
    pthread_mutex_lock(&lock);
    while (*what != value)
        pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
}

static void set_gate(bool open) {
    pthread_mutex_lock(&lock);
    open_gate = open;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
}

static void prepare(note_job *j, const job_kind *kind, int group, size_t n, size_t first_length) {
    *j = (note_job){.group = group};
    assert_int_equal(job_init(&j->job, kind, NULL, n, &error), SA_OK);
    j->job.done = on_end;
    for (size_t i = 0; i < n; i++)
        j->job.unit[i].length = first_length + i;
}

static queue *begin(int threads, int together, int most, metrics **counts) {
    queue *q;
    running = ended = batches = 0;
    bad = 0;
    open_gate = false;
    *counts = metrics_new(names, 1);
    assert_non_null(*counts);
    assert_int_equal(queue_new(&q, threads, together, most, *counts, &error), SA_OK);
    return q;
}

static void end(queue *q, metrics *counts) {
    queue_free(q);
    metrics_free(counts);
}

static void submit(queue *q, note_job *j) {
    int wait;
    assert_true(queue_submit(q, &j->job, &wait));
}

/* Lets the one thread begin with something, so that all that follows waits. */
static void occupy(queue *q, note_job *j) {
    prepare(j, &alone_kind, 0, 1, 1);
    submit(q, j);
    wait_until(&running, 1);
}

static void units_of_many_jobs_go_together_by_length(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(1, 8, MOST, &counts);
    note_job first, j[16];
    occupy(q, &first);
    for (int i = 0; i < 16; i++) {
        prepare(&j[i], &note_kind, 1, 1, i % 2 ? 100 + (size_t)i : 10 + (size_t)i);
        submit(q, &j[i]);
    }
    assert_int_equal(queue_waiting(q), 16);
    set_gate(true);
    wait_until(&ended, 17);
    assert_int_equal(batches, 3);
    assert_int_equal(batch_size[1], 8);
    assert_int_equal(batch_size[2], 8);
    assert_true(batch_length[1][1] < 30 && batch_length[2][0] > 100);
    end(q, counts);
    for (int i = 0; i < 16; i++)
        job_release(&j[i].job);
    job_release(&first.job);
}

static void jobs_that_are_unlike_stay_apart(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(1, 8, MOST, &counts);
    note_job first, j[4];
    occupy(q, &first);
    for (int i = 0; i < 4; i++) {
        prepare(&j[i], i == 3 ? &alone_kind : &note_kind, i % 2, 2, 10);
        submit(q, &j[i]);
    }
    set_gate(true);
    wait_until(&ended, 5);
    assert_int_equal(batches, 1 + 2 + 2); /* 0 and 2 together, 1, and the two units of 3 */
    end(q, counts);
    for (int i = 0; i < 4; i++)
        job_release(&j[i].job);
    job_release(&first.job);
}

static void a_large_job_goes_behind_the_others(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(1, 4, MOST, &counts);
    note_job first, large, small;
    occupy(q, &first);
    prepare(&large, &note_kind, 1, 40, 10);
    prepare(&small, &note_kind, 2, 1, 10);
    submit(q, &large);
    submit(q, &small);
    set_gate(true);
    wait_until(&ended, 3);
    assert_int_equal(batch_size[1], 4);
    assert_int_equal(batch_size[2], 1); /* the small one is the second */
    assert_int_equal(batches, 1 + 10 + 1);
    end(q, counts);
    job_release(&first.job);
    job_release(&large.job);
    job_release(&small.job);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(1, 4, 10, &counts);
    note_job first, j, more, none;
    int wait = 0;
    occupy(q, &first);
    prepare(&j, &note_kind, 1, 8, 10);
    prepare(&more, &note_kind, 1, 3, 10);
    prepare(&none, &note_kind, 1, 0, 10);
    submit(q, &j);
    assert_false(queue_submit(q, &more.job, &wait));
    assert_true(wait >= 1);
    submit(q, &none); /* nothing always fits, and ends at once */
    assert_int_equal(ended, 1);
    set_gate(true);
    wait_until(&ended, 3);
    submit(q, &more);
    wait_until(&ended, 4);
    end(q, counts);
    job_release(&first.job);
    job_release(&j.job);
    job_release(&more.job);
    job_release(&none.job);
}

static void a_job_that_nobody_wants_leaves_its_units(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(1, 4, MOST, &counts);
    note_job first, j, other;
    occupy(q, &first);
    prepare(&j, &note_kind, 1, 20, 10);
    prepare(&other, &note_kind, 1, 2, 10);
    submit(q, &j);
    submit(q, &other);
    queue_cancel(q, &j.job);
    assert_int_equal(ended, 1);
    assert_int_equal(queue_waiting(q), 2);
    queue_cancel(q, &j.job);
    queue_cancel(q, &first.job); /* runs: it ends when it is done */
    assert_int_equal(ended, 1);
    assert_true(first.job.cancelled);
    set_gate(true);
    wait_until(&ended, 3);
    assert_int_equal(j.done, 0);
    assert_int_equal(other.done, 2);
    assert_int_equal(queue_jobs(q), 0);
    end(q, counts);
    job_release(&first.job);
    job_release(&j.job);
    job_release(&other.job);
}

static void a_unit_that_fails_spoils_no_other(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(1, 8, MOST, &counts);
    note_job first, good, failing;
    occupy(q, &first);
    bad = 77;
    prepare(&good, &note_kind, 1, 3, 75 - 3);
    prepare(&failing, &note_kind, 1, 3, 76);
    submit(q, &good);
    submit(q, &failing);
    set_gate(true);
    wait_until(&ended, 3);
    assert_int_equal(good.job.error.status, SA_OK);
    assert_int_equal(failing.job.error.status, SA_DATA);
    assert_string_equal(failing.job.error.text, "a bad unit");
    end(q, counts);
    job_release(&first.job);
    job_release(&good.job);
    job_release(&failing.job);
}

static void threads_that_are_free_share_what_there_is(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(2, 8, MOST, &counts);
    note_job j;
    prepare(&j, &note_kind, 1, 8, 10);
    submit(q, &j);
    wait_until(&running, 2);
    set_gate(true);
    wait_until(&ended, 1);
    assert_int_equal(batch_size[0] + batch_size[1], 8);
    assert_int_equal(batches, 2);
    end(q, counts);
    job_release(&j.job);
}

static void what_waits_at_the_end_is_cancelled(void **state) {
    (void)state;
    metrics *counts;
    queue *q = begin(1, 4, MOST, &counts);
    note_job first, j;
    occupy(q, &first);
    prepare(&j, &note_kind, 1, 5, 10);
    submit(q, &j);
    queue_cancel(q, &j.job);
    set_gate(true);
    end(q, counts);
    assert_int_equal(ended, 2);
    job_release(&first.job);
    job_release(&j.job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_many_jobs_go_together_by_length),
        cmocka_unit_test(jobs_that_are_unlike_stay_apart),
        cmocka_unit_test(a_large_job_goes_behind_the_others),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_job_that_nobody_wants_leaves_its_units),
        cmocka_unit_test(a_unit_that_fails_spoils_no_other),
        cmocka_unit_test(threads_that_are_free_share_what_there_is),
        cmocka_unit_test(what_waits_at_the_end_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
