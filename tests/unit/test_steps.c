#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tape/tape.h"

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

static void expect(int B, const int *lengths, int T, const int *n, const int *at) {
    steps s;
    tape_reset(t, false);
    steps_make(t, B, lengths, &s);
    assert_false(t->failed);
    assert_int_equal(s.B, B);
    assert_int_equal(s.T, T);
    assert_memory_equal(s.n, n, (size_t)T * sizeof *n);
    assert_memory_equal(s.at, at, ((size_t)T + 1) * sizeof *at);
}

static void a_step_has_a_row_for_each_sequence_that_is_longer(void **state) {
    (void)state;
    expect(4, (int[]){4, 3, 3, 1}, 4, (int[]){4, 3, 3, 1}, (int[]){0, 4, 7, 10, 11});
    expect(3, (int[]){6, 2, 2}, 6, (int[]){3, 3, 1, 1, 1, 1}, (int[]){0, 3, 6, 7, 8, 9, 10});
}

static void sequences_of_one_length_and_one_alone_make_full_steps(void **state) {
    (void)state;
    expect(5, (int[]){3, 3, 3, 3, 3}, 3, (int[]){5, 5, 5}, (int[]){0, 5, 10, 15});
    expect(1, (int[]){4}, 4, (int[]){1, 1, 1, 1}, (int[]){0, 1, 2, 3, 4});
    expect(3, (int[]){1, 1, 1}, 1, (int[]){3}, (int[]){0, 3});
    expect(0, NULL, 0, (int[]){0}, (int[]){0});
}

static void each_position_of_each_sequence_has_one_row(void **state) {
    (void)state;
    enum { MOST = 40 };
    rng random = rng_at(1, 0, 0, 0);
    for (int round = 0; round < 200; round++) {
        int lengths[MOST], B = 1 + (int)rng_below(&random, MOST), all = 0;
        for (int i = 0; i < B; i++)
            lengths[i] =
                i ? 1 + (int)rng_below(&random, (uint64_t)lengths[i - 1]) : 1 + (int)rng_below(&random, 90);
        steps s;
        tape_reset(t, false);
        steps_make(t, B, lengths, &s);
        assert_int_equal(s.T, lengths[0]);
        for (int j = 0; j < s.T; j++) {
            assert_int_equal(s.at[j + 1] - s.at[j], s.n[j]);
            for (int i = 0; i < B; i++)
                assert_int_equal(i < s.n[j], j < lengths[i]);
        }
        for (int i = 0; i < B; i++)
            all += lengths[i];
        assert_int_equal(s.at[s.T], all);
    }
}

static void on_a_tape_that_has_failed_there_are_none(void **state) {
    (void)state;
    steps s;
    tape_reset(t, false);
    tape_fail(t);
    steps_make(t, 2, (int[]){3, 1}, &s);
    assert_null(s.n);
    assert_true(t->failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_has_a_row_for_each_sequence_that_is_longer),
        cmocka_unit_test(sequences_of_one_length_and_one_alone_make_full_steps),
        cmocka_unit_test(each_position_of_each_sequence_has_one_row),
        cmocka_unit_test(on_a_tape_that_has_failed_there_are_none),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
