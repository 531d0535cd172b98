#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw/chart_axis.h"

#include <math.h>
#include <softalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The labels of an axis, with blanks between. */
static void assert_labels(double low, double high, int wanted, const char *expected) {
    chart_axis a = chart_axis_make(low, high, wanted);
    strbuf out = {0};
    for (int i = 0; i <= a.steps; i++) {
        strbuf_puts(&out, i > 0 ? " " : "");
        chart_axis_label(&a, i, &out);
    }
    assert_string_equal(out.data, expected);
    strbuf_free(&out);
}

static void axes_have_round_numbers_around_what_they_show(void **state) {
    (void)state;
    assert_labels(0, 60, 5, "0 20 40 60");
    assert_labels(1.05, 2.7, 5, "1.0 1.5 2.0 2.5 3.0");
    assert_labels(-0.3, 0.2, 5, "-0.3 -0.2 -0.1 0.0 0.1 0.2");
    assert_labels(5e-6, 0.00098, 5, "0.0000 0.0002 0.0004 0.0006 0.0008 0.0010");
    assert_labels(120, 11310, 6, "0 2000 4000 6000 8000 10000 12000");
    assert_labels(28.4, 28.6, 5, "28.40 28.45 28.50 28.55 28.60");
}

static void axes_exist_whatever_they_show(void **state) {
    (void)state;
    assert_labels(3, 3, 4, "2.6 2.8 3.0 3.2 3.4");
    assert_labels(0, 0, 4, "-1.0 -0.5 0.0 0.5 1.0");
    assert_labels(HUGE_VAL, HUGE_VAL, 4, "-1.0 -0.5 0.0 0.5 1.0");
    assert_labels(-1e300, 1e300, 4, "-10e299 -5e299 0 5e299 10e299");
    assert_labels(0, 1e-12, 2, "0e-13 5e-13 10e-13");
}

static void broken_lines_are_drawn_in_parts_and_single_points_as_dots(void **state) {
    (void)state;
    char folder[] = "/tmp/softalign.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.svg", folder);
    const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, (double)NAN, 3, HUGE_VAL}, low[] = {0, 1, 1, 1, 1},
                 high[] = {2, 3, 3, 5, 3};
    const sa_series series[] = {
        {"a & b", 5, x, y, low, high}, {NULL, 2, x, y, NULL, NULL}, {"none", 0, NULL, NULL, NULL, NULL}};
    const sa_chart chart[] = {
        {.title = "first", .x_label = "across", .y_label = "up", .series = series, .n_series = 3},
        {.title = "second", .series = series, .n_series = 2}};
    sa_error error;
    assert_int_equal(sa_charts_write(chart, 2, path, NULL, &error), SA_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char text[65536] = "";
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    static const struct {
        const char *what;
        int times;
    } expected[] = {
        {">a &amp; b</text>", 1},
        {">none</text>", 1},
        {">first</text>", 1},
        {">across</text>", 1},
        {"fill=\"#0072b2\" fill-opacity=\"0.16\"", 4},  /* bands of 0 ... 1 and of 3, in two charts */
        {"stroke=\"#0072b2\" stroke-width=\"1.4\"", 3}, /* two lines and the legend */
        {"height=\"4\" fill=\"#0072b2\"", 2},           /* the point at 3 */
        {"stroke-dasharray=\"6\"", 2},                  /* the second series, which has no name */
        {"width=\"752\" height=\"302\" viewBox", 1},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        int n = 0;
        for (const char *at = text; (at = strstr(at, expected[i].what)); at++)
            n++;
        if (n != expected[i].times)
            fail_msg("%s: %d times, not %d", expected[i].what, n, expected[i].times);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_have_round_numbers_around_what_they_show),
        cmocka_unit_test(axes_exist_whatever_they_show),
        cmocka_unit_test(broken_lines_are_drawn_in_parts_and_single_points_as_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
