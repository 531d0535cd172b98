#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kendall.h"

#include <math.h>
#include <stdio.h>

static void expect(const float *x, const float *y, int n, double tau, double p) {
    sa_correlation c = kendall_tau(x, y, n);
    if (!(fabs(c.tau - tau) < 1e-12) || !(fabs(c.p - p) < 1e-12))
        fail_msg("tau %.15g, p %.15g; not %.15g and %.15g", c.tau, c.p, tau, p);
}

static void values_without_ties_have_exact_p(void **state) {
    (void)state;
    const float up[] = {1, 2, 3, 4, 5}, down[] = {5, 4, 3, 2, 1}, mixed[] = {1, 2, 4, 3, 5},
                half[] = {3, 4, 1, 2, 5};
    expect(up, up, 5, 1, 2.0 / 120); /* one order of 120 on each side */
    expect(up, down, 5, -1, 2.0 / 120);
    expect(up, mixed, 5, 0.8, 2.0 * 5 / 120);                    /* one inversion: 1 + 4 orders have at most that */
    expect(up, half, 5, 0.2, 2.0 * (1 + 4 + 9 + 15 + 20) / 120); /* four of ten pairs */
    expect(up, up, 2, 1, 1);
}

/* The order of values counts, not their size, and neither side is special. */
static void tau_is_of_ranks_and_symmetric(void **state) {
    (void)state;
    const float x[] = {0.1f, 100, 7, -3}, ranks[] = {2, 4, 3, 1}, y[] = {4, 3, 2, 1};
    sa_correlation a = kendall_tau(x, y, 4), b = kendall_tau(y, ranks, 4);
    assert_true(fabs(a.tau - b.tau) < 1e-15 && fabs(a.p - b.p) < 1e-15);
}

/* Of 10 pairs two are tied in x and one in y, and P - Q = -4: tau = -4 / sqrt((10 - 2) (10 - 1)). */
static void ties_count_as_tau_b_says(void **state) {
    (void)state;
    const float x[] = {12, 2, 1, 12, 2}, y[] = {1, 4, 7, 1, 0};
    /* SciPy: kendalltau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]), from its documentation */
    expect(x, y, 5, -0.47140452079103173, 0.2827454599327748);
}

static void long_lists_have_the_normal_p(void **state) {
    (void)state;
    enum { N = 40 };
    float x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(i ^ 1); /* 20 neighbours changed places */
    }
    double difference = N * (N - 1) / 2 - 40, variance = N * (N - 1) * (2 * N + 5) / 18.0;
    expect(x, y, N, difference / (N * (N - 1) / 2), erfc(difference / sqrt(2 * variance)));
}

static void what_has_no_order_has_no_tau(void **state) {
    (void)state;
    const float same[] = {1, 1, 1}, up[] = {1, 2, 3}, broken[] = {1, NAN, 3};
    assert_true(isnan(kendall_tau(same, up, 3).tau) && isnan(kendall_tau(same, up, 3).p));
    assert_true(isnan(kendall_tau(up, broken, 3).tau));
    assert_true(isnan(kendall_tau(up, up, 1).tau));
    assert_true(isnan(kendall_tau(up, up, 0).tau));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_without_ties_have_exact_p), cmocka_unit_test(tau_is_of_ranks_and_symmetric),
        cmocka_unit_test(ties_count_as_tau_b_says),         cmocka_unit_test(long_lists_have_the_normal_p),
        cmocka_unit_test(what_has_no_order_has_no_tau),
    };
    return cmocka_run_group_tests_name("kendall", tests, NULL, NULL);
}
