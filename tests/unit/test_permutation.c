#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/permutation.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void every_number_stands_at_one_place(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 15, 16, 17, 64, 65, 1000, 65536, 65537, 100000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        bool *seen = calloc(sizes[k], sizeof *seen);
        assert_non_null(seen);
        permutation p = permutation_at(7, k, 1, sizes[k]);
        for (uint64_t i = 0; i < sizes[k]; i++) {
            uint64_t value = permutation_of(&p, i);
            assert_true(value < sizes[k]);
            assert_false(seen[value]);
            seen[value] = true;
        }
        free(seen);
    }
}

static void the_largest_size_is_walked(void **state) {
    (void)state;
    const uint64_t n = (uint64_t)1 << 62;
    permutation p = permutation_at(1, 2, 3, n);
    uint64_t first = permutation_of(&p, 0), last = permutation_of(&p, n - 1);
    assert_true(first < n && last < n && first != last);
}

static void every_coordinate_makes_another_order(void **state) {
    (void)state;
    enum { N = 1000 };
    static const uint64_t at[][3] = {{1, 0, 1}, {2, 0, 1}, {1, 1, 1}, {1, 0, 2}, {1, (uint64_t)1 << 40, 1}};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < a; b++) {
            permutation p = permutation_at(at[a][0], at[a][1], at[a][2], N);
            permutation q = permutation_at(at[b][0], at[b][1], at[b][2], N);
            int same = 0; /* 1 is expected of two unrelated orders */
            for (uint64_t i = 0; i < N; i++)
                same += permutation_of(&p, i) == permutation_of(&q, i);
            assert_in_range(same, 0, 10);
        }
}

/* Chi-square of `cells` equally likely outcomes. */
static double chi_square(const int *count, int cells, int draws) {
    double sum = 0, expected = (double)draws / cells;
    for (int i = 0; i < cells; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

static void all_orders_of_five_are_about_as_frequent(void **state) {
    (void)state;
    enum { DRAWS = 60000 };
    int count[5 * 5 * 5 * 5] = {0}, cells = 0, used[120];
    for (uint64_t epoch = 0; epoch < DRAWS; epoch++) {
        permutation p = permutation_at(3, epoch, 1, 5);
        int code = 0;
        for (uint64_t i = 0; i < 4; i++)
            code = code * 5 + (int)permutation_of(&p, i);
        count[code]++;
    }
    for (int i = 0; i < 625; i++)
        if (count[i] && cells < 120)
            used[cells++] = count[i];
    assert_int_equal(cells, 120);
    /* 119 degrees of freedom: mean 119, standard deviation 15.4. */
    assert_true(chi_square(used, 120, DRAWS) < 119 + 5 * 15.4);
}

/* Neighbours in the text must not stay neighbours, and any place must be as likely as another. */
static void the_places_of_a_pair_are_spread_over_epochs(void **state) {
    (void)state;
    enum { N = 30000, EPOCHS = 20000, CELLS = 100 };
    int place[CELLS] = {0}, distance[CELLS] = {0};
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        permutation p = permutation_at(11, epoch, 1, N);
        uint64_t a = permutation_of(&p, 17), b = permutation_of(&p, 18);
        place[a * CELLS / N]++;
        distance[(b + N - a) % N * CELLS / N]++;
    }
    /* 99 degrees of freedom: mean 99, standard deviation 14.1. */
    assert_true(chi_square(place, CELLS, EPOCHS) < 99 + 5 * 14.1);
    assert_true(chi_square(distance, CELLS, EPOCHS) < 99 + 5 * 14.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_stands_at_one_place),
        cmocka_unit_test(the_largest_size_is_walked),
        cmocka_unit_test(every_coordinate_makes_another_order),
        cmocka_unit_test(all_orders_of_five_are_about_as_frequent),
        cmocka_unit_test(the_places_of_a_pair_are_spread_over_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
