#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "align/count_table.h"
#include "base/rng.h"

#include <string.h>

static sa_error error;

static void add(count_table *t, int source, int target, int direction, int by) {
    assert_int_equal(count_table_add(t, source, target, direction, by, &error), SA_OK);
}

static void a_row_that_was_never_written_to_counts_nothing(void **state) {
    (void)state;
    count_table t;
    assert_int_equal(count_table_make(&t, 3, &error), SA_OK);
    for (int target = 0; target < 5; target++)
        assert_int_equal(count_find(&t.row[1], target)->count[0] + count_find(&t.row[1], target)->count[1], 0);
    add(&t, 0, 4, 1, 2);
    assert_int_equal(count_find(&t.row[0], 4)->count[1], 2);
    assert_int_equal(count_find(&t.row[0], 4)->count[0], 0);
    assert_int_equal(count_find(&t.row[1], 4)->count[1], 0);
    count_table_free(&t);
}

/* Beside a plain array, through additions and removals at random. */
static void counts_are_those_of_a_plain_array(void **state) {
    (void)state;
    enum { ROWS = 5, TARGETS = 300 };
    static uint32_t plain[ROWS][TARGETS][2];
    memset(plain, 0, sizeof plain);
    count_table t;
    assert_int_equal(count_table_make(&t, ROWS, &error), SA_OK);
    rng random = rng_at(1, 2, 3, 4);
    for (int step = 0; step < 50000; step++) {
        int row = (int)rng_below(&random, ROWS), direction = (int)rng_below(&random, 2);
        int target = (int)rng_below(&random, row == 0 ? 3 : TARGETS);
        uint32_t *known = &plain[row][target][direction];
        int by = *known > 0 && rng_below(&random, 2) ? -1 : 1;
        *known += (uint32_t)by;
        add(&t, row, target, direction, by);
    }
    for (int row = 0; row < ROWS; row++)
        for (int target = 0; target < TARGETS; target++)
            assert_memory_equal(count_find(&t.row[row], target)->count, plain[row][target], 2 * sizeof(uint32_t));
    count_table_free(&t);
}

static void cells_that_count_nothing_any_more_are_used_again(void **state) {
    (void)state;
    count_table t;
    assert_int_equal(count_table_make(&t, 1, &error), SA_OK);
    for (int target = 0; target < 100000; target++) {
        add(&t, 0, target, 0, 1);
        add(&t, 0, target, 0, -1);
    }
    assert_true(t.row[0].mask < 16);
    count_table_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_was_never_written_to_counts_nothing),
        cmocka_unit_test(counts_are_those_of_a_plain_array),
        cmocka_unit_test(cells_that_count_nothing_any_more_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
