#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ranks/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A transport between threads: each shows the others where its data are. */
enum { MOST = 5, LONG = 7 * RANKS_BLOCK + 77 };

typedef struct meeting {
    int size;
    pthread_barrier_t all;
    const void *shown[MOST];
} meeting;

typedef struct member {
    meeting *with;
    int rank;
} member;

static void thread_exchange(void *self, const void *data, const int *start, void *parts) {
    member *m = self;
    size_t own = (size_t)(start[m->rank + 1] - start[m->rank]);
    m->with->shown[m->rank] = data;
    pthread_barrier_wait(&m->with->all);
    for (int k = 0; k < m->with->size; k++)
        memcpy((char *)parts + own * (size_t)k, (const char *)m->with->shown[k] + start[m->rank], own);
    pthread_barrier_wait(&m->with->all);
}

static void thread_gather(void *self, void *data, const int *start) {
    member *m = self;
    m->with->shown[m->rank] = data;
    pthread_barrier_wait(&m->with->all);
    for (int k = 0; k < m->with->size; k++)
        if (k != m->rank)
            memcpy((char *)data + start[k], (const char *)m->with->shown[k] + start[k],
                   (size_t)(start[k + 1] - start[k]));
    pthread_barrier_wait(&m->with->all);
}

static void thread_leave(void *self) {
    (void)self;
}

static const transport between_threads = {
    .version = SA_VERSION, .exchange = thread_exchange, .gather = thread_gather, .leave = thread_leave};

typedef struct place {
    member m;
    void (*work)(const ranks *r, void *shared);
    void *shared;
} place;

static void *run_place(void *argument) {
    place *p = argument;
    ranks r = {.rank = p->m.rank, .size = p->m.with->size, .via = &between_threads, .self = &p->m};
    r.parts = malloc((size_t)r.size * RANKS_BLOCK * sizeof *r.parts);
    if (r.parts)
        p->work(&r, p->shared);
    ranks_finish(&r);
    return NULL;
}

/* Calls work once on each of that many ranks, at the same time. */
static void on_ranks(int size, void (*work)(const ranks *r, void *shared), void *shared) {
    meeting with = {.size = size};
    pthread_t thread[MOST];
    place at[MOST];
    assert_int_equal(pthread_barrier_init(&with.all, NULL, (unsigned)size), 0);
    for (int k = 0; k < size; k++) {
        at[k] = (place){{&with, k}, work, shared};
        assert_int_equal(pthread_create(&thread[k], NULL, run_place, &at[k]), 0);
    }
    for (int k = 0; k < size; k++)
        pthread_join(thread[k], NULL);
    pthread_barrier_destroy(&with.all);
}

typedef struct arrays {
    long n;
    real *of[MOST];
} arrays;

static void sum_and_share(const ranks *r, void *shared) {
    arrays *a = shared;
    ranks_sum(r, a->of[r->rank], a->n);
    ranks_share(r, a->of[r->rank], a->n);
}

/* Of sizes so different that another order gives other bits. */
static real number(int rank, long i) {
    return (real)((i * 37 + rank * 101) % 1000 - 500) * (rank % 2 ? 1e-3f : 777.7f) / (real)(i % 7 + 1);
}

static void a_sum_is_that_in_order_of_ranks(void **state) {
    (void)state;
    static const long length[] = {0, 1, RANKS_BLOCK, 3L * RANKS_BLOCK + 5, LONG};
    for (int size = 1; size <= MOST; size++)
        for (size_t l = 0; l < sizeof length / sizeof *length; l++) {
            arrays b = {.n = length[l]};
            for (int k = 0; k < size; k++) {
                b.of[k] = malloc((size_t)b.n * sizeof(real) + 1);
                assert_non_null(b.of[k]);
                for (long i = 0; i < b.n; i++)
                    b.of[k][i] = number(k, i);
            }
            on_ranks(size, sum_and_share, &b);
            for (long i = 0; i < b.n; i++) {
                real sum = number(0, i);
                for (int k = 1; k < size; k++)
                    sum += number(k, i);
                for (int k = 0; k < size; k++)
                    if (b.of[k][i] != sum)
                        fail_msg("%d ranks, number %ld of %ld: %g, not %g", size, i, b.n, (double)b.of[k][i],
                                 (double)sum);
            }
            for (int k = 0; k < size; k++)
                free(b.of[k]);
        }
}

/* What each rank puts in and gets. */
typedef struct vote {
    sa_status mine[MOST], got[MOST];
    const char *text[MOST];
    sa_error error[MOST];
    double sum[MOST][2];
    bool mute; /* calls without an error to fill */
} vote;

static void agree(const ranks *r, void *shared) {
    vote *v = shared;
    int k = r->rank;
    if (v->mine[k])
        sa_fail(&v->error[k], v->mine[k], "%s", v->text[k]);
    v->sum[k][0] = k + 1;
    v->sum[k][1] = k ? 0 : 0.5;
    v->got[k] = ranks_agree(r, v->mine[k], v->sum[k], 2, v->mute ? NULL : &v->error[k]);
}

static void every_block_has_one_owner(void **state) {
    (void)state;
    for (int size = 1; size <= MOST; size++)
        for (int blocks = 0; blocks < 12; blocks++) {
            int owners[12] = {0};
            long n = (long)blocks * RANKS_BLOCK - (blocks ? 3 : 0);
            assert_int_equal(ranks_blocks(n), blocks);
            for (int k = 0; k < size; k++) {
                ranks r = {.rank = k, .size = size};
                for (int i = 0; i < ranks_own_blocks(&r, n); i++)
                    owners[ranks_own_block(&r, i)]++;
            }
            for (int i = 0; i < blocks; i++)
                assert_int_equal(owners[i], 1);
        }
}

static void numbers_are_added_when_all_is_well(void **state) {
    (void)state;
    vote v = {0};
    on_ranks(4, agree, &v);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(v.got[k], SA_OK);
        assert_true(v.sum[k][0] == 10 && v.sum[k][1] == 0.5);
    }
}

static void a_failure_of_one_is_told_by_rank_0_and_known_to_all(void **state) {
    (void)state;
    for (int failing = 0; failing < 3; failing++) {
        vote v = {0};
        v.mine[failing] = SA_MEMORY;
        v.text[failing] = "no room";
        v.mine[3] = SA_DATA; /* a later one does not count */
        v.text[3] = "no data";
        on_ranks(4, agree, &v);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(v.got[k], SA_MEMORY);
            assert_int_equal(v.error[k].status, SA_MEMORY);
        }
        char text[32] = "no room";
        if (failing > 0)
            snprintf(text, sizeof text, "rank %d: no room", failing);
        assert_string_equal(v.error[0].text, text);
        for (int k = 1; k < 4; k++)
            assert_string_equal(v.error[k].text, "");
        v.mute = true;
        on_ranks(4, agree, &v);
        for (int k = 0; k < 4; k++)
            assert_int_equal(v.got[k], SA_MEMORY);
    }
}

static void broadcast(const ranks *r, void *shared) {
    char **data = shared;
    ranks_broadcast(r, 2, data[r->rank], 3 * LONG);
}

static void a_broadcast_gives_everyone_the_same_bytes(void **state) {
    (void)state;
    char *data[MOST];
    for (int k = 0; k < MOST; k++) {
        data[k] = malloc(3 * LONG);
        assert_non_null(data[k]);
        for (long i = 0; i < 3 * LONG; i++)
            data[k][i] = (char)(i * i + k);
    }
    on_ranks(MOST, broadcast, data);
    for (long i = 0; i < 3 * LONG; i++)
        if (data[2][i] != (char)(i * i + 2))
            fail_msg("the sender's byte %ld changed", i);
    for (int k = 0; k < MOST; k++)
        assert_memory_equal(data[k], data[2], 3 * LONG);
    for (int k = 0; k < MOST; k++)
        free(data[k]);
}

static void alone_nothing_changes(void **state) {
    (void)state;
    ranks r;
    sa_error error = {SA_OK, "as it was"};
    assert_int_equal(ranks_start(&r, &error), SA_OK);
    assert_int_equal(r.rank, 0);
    assert_int_equal(r.size, 1);
    real block[] = {1, 2};
    double sum = 0.25;
    ranks_sum(&r, block, 2);
    ranks_broadcast(&r, 0, block, sizeof block);
    assert_true(block[0] == 1 && block[1] == 2);
    assert_int_equal(ranks_agree(&r, SA_DATA, &sum, 1, &error), SA_DATA);
    assert_string_equal(error.text, "as it was");
    assert_int_equal(ranks_agree(&r, SA_OK, &sum, 1, &error), SA_OK);
    assert_true(sum == 0.25);
    ranks_finish(&r);
    ranks_finish(&(ranks){0});
}

static void expect_ranks(int want_rank, int want_size) {
    int rank, size;
    sa_train_ranks(&rank, &size);
    assert_int_equal(rank, want_rank);
    assert_int_equal(size, want_size);
}

static void the_environment_of_launchers_is_understood(void **state) {
    (void)state;
    expect_ranks(0, 1);
    setenv("PMIX_RANK", "2", 1); /* without the number of processes it says nothing */
    expect_ranks(0, 1);
    setenv("SLURM_STEP_NUM_TASKS", "3", 1);
    expect_ranks(2, 3);
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "4", 1);
    expect_ranks(0, 4);
    setenv("OMPI_COMM_WORLD_RANK", "7", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
    expect_ranks(7, 8);
    static const char *const nonsense[] = {"", "-1", "8", "7x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        setenv("OMPI_COMM_WORLD_RANK", nonsense[i], 1);
        expect_ranks(0, 4);
    }
    setenv("PMI_SIZE", "257", 1);
    ranks r;
    sa_error error;
    assert_int_equal(ranks_start(&r, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "at most 256"));
    static const char *const names[] = {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMI_RANK",
                                        "PMI_SIZE",  "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    expect_ranks(0, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_is_that_in_order_of_ranks),
        cmocka_unit_test(every_block_has_one_owner),
        cmocka_unit_test(numbers_are_added_when_all_is_well),
        cmocka_unit_test(a_failure_of_one_is_told_by_rank_0_and_known_to_all),
        cmocka_unit_test(a_broadcast_gives_everyone_the_same_bytes),
        cmocka_unit_test(alone_nothing_changes),
        cmocka_unit_test(the_environment_of_launchers_is_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
