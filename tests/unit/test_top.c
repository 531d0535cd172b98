#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "decode/top.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 3001 };
static real x[MOST], block[(MOST + SCORE_BLOCK - 1) / SCORE_BLOCK];
static scored found[MOST], wanted[MOST];
static rng random_numbers;

/* Scores with many ties. */
static score_row draw(int n, int values) {
    for (int i = 0; i < n; i++)
        x[i] = (real)rng_below(&random_numbers, (uint64_t)values) / 16 - 40;
    score_row row = {x, n, block, 0};
    score_row_measure(&row);
    return row;
}

static int best_first(const void *a, const void *b) {
    const scored *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return p->index - q->index;
}

/* The same by sorting. */
static int sort(const score_row *row, int k, double floor) {
    int n = 0;
    for (int i = 0; i < row->n; i++)
        if ((double)row->x[i] > floor)
            wanted[n++] = (scored){(double)row->x[i], i};
    qsort(wanted, (size_t)n, sizeof *wanted, best_first);
    return n < k ? n : k;
}

static void expect_top(const score_row *row, int k, double floor) {
    int n = sort(row, k, floor);
    assert_int_equal(score_row_top(row, k, floor, found), n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(found[i].index, wanted[i].index);
        assert_true(found[i].score == wanted[i].score);
    }
}

static void the_top_is_that_of_sorting(void **state) {
    (void)state;
    const int n[] = {1, 2, 127, 128, 129, 1000, MOST}, k[] = {1, 2, 5, 12, 300}, values[] = {2, 50, 100000};
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 5; b++)
            for (int c = 0; c < 3; c++)
                for (int again = 0; again < 3; again++) {
                    score_row row = draw(n[a], values[c]);
                    expect_top(&row, k[b], -HUGE_VAL);
                    expect_top(&row, k[b], -39.5);
                    expect_top(&row, k[b], (double)x[0]);
                }
}

static void what_is_forbidden_is_never_in_it(void **state) {
    (void)state;
    for (int again = 0; again < 50; again++) {
        score_row row = draw(1000, 300);
        for (int i = 0; i < 10; i++) { /* the best of all, which decide what is looked at */
            score_row_top(&row, 1, -HUGE_VAL, found);
            score_row_forbid(&row, found[0].index);
            assert_true(row.x[found[0].index] == -INFINITY);
            expect_top(&row, 7, -HUGE_VAL);
        }
    }
    score_row row = draw(200, 10);
    for (int i = 0; i < 200; i++) {
        assert_true(score_row_allows_any(&row));
        score_row_forbid(&row, i);
    }
    assert_false(score_row_allows_any(&row));
    assert_int_equal(score_row_top(&row, 3, -HUGE_VAL, found), 0);
}

static void the_normaliser_is_that_of_the_definition(void **state) {
    (void)state;
    const int n[] = {1, 128, 129, MOST};
    for (int a = 0; a < 4; a++) {
        score_row row = draw(n[a], 1000);
        double sum = 0;
        for (int i = 0; i < row.n; i++)
            sum += exp((double)x[i]);
        assert_true(fabs(score_row_log_sum(&row) - log(sum)) < 1e-5);
        for (int i = 0; i < row.n; i++)
            x[i] += 1000; /* where exp alone would overflow */
        score_row_measure(&row);
        assert_true(fabs(score_row_log_sum(&row) - 1000 - log(sum)) < 1e-3);
    }
    score_row row = draw(300, 10);
    x[77] = NAN;
    score_row_measure(&row);
    assert_false(isfinite(score_row_log_sum(&row)));
}

int main(void) {
    random_numbers = rng_at(3, 0, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_top_is_that_of_sorting),
        cmocka_unit_test(what_is_forbidden_is_never_in_it),
        cmocka_unit_test(the_normaliser_is_that_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
