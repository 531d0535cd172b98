#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/batch.h"

#include <string.h>

static tape *t;

static int begin(void **state) {
    (void)state;
    return tape_new(&t, 0, 1 << 12, NULL);
}

static int end(void **state) {
    (void)state;
    tape_free(t);
    return 0;
}

#define EQUAL(ints, ...) assert_memory_equal(ints, ((const int[]){__VA_ARGS__}), sizeof((const int[]){__VA_ARGS__}))

/* Sources by length: 2, 0, 3, 1. Targets: 1, 3, 0, 2. */
enum { N = 4 };
static const sentence sources[N] = {
    {(int[]){11, 12, 0}, 3}, {(int[]){0}, 1}, {(int[]){31, 32, 33, 0}, 4}, {(int[]){41, 42, 0}, 3}};
static const sentence targets[N] = {
    {(int[]){15, 0}, 2}, {(int[]){25, 26, 27, 0}, 4}, {(int[]){0}, 1}, {(int[]){45, 46, 47, 0}, 4}};

static void sources_are_laid_out_longest_first_step_by_step(void **state) {
    (void)state;
    source_batch s;
    tape_reset(t, false);
    assert_true(source_batch_make(t, N, sources, &s));
    EQUAL(s.number, 2, 0, 3, 1); /* as long as each other: in the caller's order */
    EQUAL(s.row, 1, 3, 0, 2);
    EQUAL(s.lengths, 4, 3, 3, 1);
    assert_true(s.steps.B == N && s.steps.T == 4);
    EQUAL(s.steps.n, 4, 3, 3, 1);
    EQUAL(s.steps.at, 0, 4, 7, 10, 11);
    EQUAL(s.ids, 31, 11, 41, 0, 32, 12, 42, 33, 0, 0, 0);
}

static void targets_have_an_order_of_their_own_and_know_their_sources(void **state) {
    (void)state;
    source_batch s;
    target_batch y;
    tape_reset(t, false);
    assert_true(source_batch_make(t, N, sources, &s) && target_batch_make(t, N, targets, &s, &y));
    EQUAL(y.number, 1, 3, 0, 2);
    EQUAL(y.source, 3, 2, 1, 0);
    EQUAL(y.lengths, 4, 4, 2, 1);
    EQUAL(y.steps.n, 4, 3, 2, 2);
    EQUAL(y.ids, 25, 45, 15, 0, 26, 46, 0, 27, 47, 0, 0);
    EQUAL(y.previous, -1, -1, -1, -1, 25, 45, 15, 26, 46, 27, 47);
}

static void ids_are_copied(void **state) {
    (void)state;
    int words[] = {5, 6, 0};
    source_batch s;
    target_batch y;
    tape_reset(t, false);
    assert_true(source_batch_make(t, 1, &(sentence){words, 3}, &s));
    assert_true(target_batch_make(t, 1, &(sentence){words, 3}, &s, &y));
    memset(words, 0, sizeof words);
    EQUAL(s.ids, 5, 6, 0);
    EQUAL(y.ids, 5, 6, 0);
    EQUAL(y.previous, -1, 5, 6);
}

static void rows_of_all_steps_know_their_sentences(void **state) {
    (void)state;
    source_batch s;
    tape_reset(t, false);
    assert_true(source_batch_make(t, N, sources, &s));
    int *number = batch_row_numbers(t, &s.steps, s.number);
    assert_non_null(number);
    EQUAL(number, 2, 0, 3, 1, 2, 0, 3, 2, 0, 3, 2);
}

/* Each word of each sentence is found again at the row that the maps lead to. */
static void many_sentences_are_all_there(void **state) {
    (void)state;
    enum { MANY = 70, MOST = 30 };
    static int words[2][MANY][MOST];
    sentence side[2][MANY];
    rng random = rng_at(3, 0, 0, 0);
    for (int i = 0; i < 2 * MANY; i++) {
        int *ids = words[i % 2][i / 2], length = 1 + (int)rng_below(&random, MOST);
        side[i % 2][i / 2] = (sentence){ids, length};
        for (int j = 0; j + 1 < length; j++)
            ids[j] = 1 + (int)rng_below(&random, 1000);
    }
    source_batch s;
    target_batch y;
    tape_reset(t, false);
    assert_true(source_batch_make(t, MANY, side[0], &s) && target_batch_make(t, MANY, side[1], &s, &y));
    for (int i = 0; i < MANY; i++) {
        int k = s.number[i];
        assert_int_equal(s.row[k], i);
        assert_int_equal(s.lengths[i], side[0][k].length);
        for (int j = 0; j < s.lengths[i]; j++)
            assert_int_equal(s.ids[s.steps.at[j] + i], words[0][k][j]);
        k = y.number[i];
        assert_int_equal(s.number[y.source[i]], k);
        assert_int_equal(y.lengths[i], side[1][k].length);
        for (int j = 0; j < y.lengths[i]; j++) {
            assert_int_equal(y.ids[y.steps.at[j] + i], words[1][k][j]);
            assert_int_equal(y.previous[y.steps.at[j] + i], j ? words[1][k][j - 1] : -1);
        }
        assert_true(i == 0 || (s.lengths[i] <= s.lengths[i - 1] && y.lengths[i] <= y.lengths[i - 1]));
    }
}

static void a_tape_that_has_failed_makes_no_batch(void **state) {
    (void)state;
    source_batch s;
    target_batch y;
    tape_reset(t, false);
    assert_true(source_batch_make(t, N, sources, &s));
    tape_fail(t);
    assert_false(target_batch_make(t, N, targets, &s, &y));
    assert_null(batch_row_numbers(t, &s.steps, s.number));
    assert_false(source_batch_make(t, N, sources, &s));
    assert_true(t->failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_laid_out_longest_first_step_by_step),
        cmocka_unit_test(targets_have_an_order_of_their_own_and_know_their_sources),
        cmocka_unit_test(ids_are_copied),
        cmocka_unit_test(rows_of_all_steps_know_their_sentences),
        cmocka_unit_test(many_sentences_are_all_there),
        cmocka_unit_test(a_tape_that_has_failed_makes_no_batch),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
