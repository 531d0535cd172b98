#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <softalign.h>
#include <string.h>

static void assert_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9))
        fail_msg("%.12f is not %.12f", found, expected);
}

static sa_aer_result of(const char *const *links, size_t n, const char *const *const *gold, size_t n_gold,
                        sa_aer_options options) {
    sa_aer_result result;
    sa_error error;
    if (sa_aer(links, n, gold, n_gold, &options, &result, &error) != SA_OK)
        fail_msg("%s", error.text);
    return result;
}

static sa_aer_result of_line(const char *links, const char *gold) {
    const char *const *references = &gold;
    return of(&links, 1, &references, 1, (sa_aer_options){0});
}

static void sure_links_count_as_possible_too(void **state) {
    (void)state;
    /* |A| = 4, |S| = 3, |A & S| = 2, |A & P| = 3 */
    sa_aer_result r = of_line("0-0 1-1 2-2 3-0", "0-0 1-1 2p2 4-4");
    assert_near(r.precision, 75);
    assert_near(r.recall, 200.0 / 3);
    assert_near(r.aer, 100 - 500.0 / 7);
    assert_int_equal(r.links, 4);
    assert_int_equal(r.sure, 3);
    assert_string_equal(r.signature, "nrefs:1|base:0|refbase:0|swap:no|version:softalign-" SA_VERSION);
}

static void no_links_where_none_are_sure_are_no_error(void **state) {
    (void)state;
    assert_near(of_line("", "").aer, 0);
    assert_near(of_line("", "0p0").aer, 0);
    assert_near(of_line("", "0-0").aer, 100);
    assert_near(of_line("0-0", "").aer, 100);
    assert_near(of_line("0p0", "0-0").aer, 0);
}

static void counts_are_summed_over_lines(void **state) {
    (void)state;
    const char *links[] = {"0-0", "0-1 1-0", ""}, *gold[] = {"0-0", "0-0 1p0", "2-2"};
    const char *const *references = gold;
    sa_aer_result r = of(links, 3, &references, 1, (sa_aer_options){0});
    assert_near(r.aer, 100 - 100 * 3.0 / 6);
    assert_near(r.precision, 200.0 / 3);
    assert_near(r.recall, 100.0 / 3);
}

static void bases_and_direction_are_those_of_each_file(void **state) {
    (void)state;
    const char *links = "0-2", *gold = "3-1";
    const char *const *references = &gold;
    assert_near(of(&links, 1, &references, 1, (sa_aer_options){0, 1, true}).aer, 0);
    assert_near(of(&links, 1, &references, 1, (sa_aer_options){0, 1, false}).aer, 100);
    assert_near(of(&links, 1, &references, 1, (sa_aer_options){0, 0, true}).aer, 100);
}

static void several_references_are_sure_where_all_are(void **state) {
    (void)state;
    const char *links = "0-0 1-1 2-2 3-3", *first = "0-0 1-1 4-4", *second = "0-0 1p1 2-2";
    const char *const *references[] = {&first, &second};
    sa_aer_result r = of(&links, 1, references, 2, (sa_aer_options){0});
    assert_int_equal(r.sure, 1);
    assert_near(r.precision, 75);
    assert_near(r.recall, 100);
}

static void a_wrong_line_is_named(void **state) {
    (void)state;
    const char *links[] = {"0-0", "1~1"}, *gold[] = {"0-0", "0-0"};
    const char *const *references = gold;
    sa_aer_result result;
    sa_error error;
    assert_int_equal(sa_aer(links, 2, &references, 1, NULL, &result, &error), SA_DATA);
    assert_non_null(strstr(error.text, "hypothesis 2: '1~1'"));
    references = links;
    assert_int_equal(sa_aer(gold, 2, &references, 1, NULL, &result, &error), SA_DATA);
    assert_non_null(strstr(error.text, "line 2 of reference 1: '1~1'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sure_links_count_as_possible_too),
        cmocka_unit_test(no_links_where_none_are_sure_are_no_error),
        cmocka_unit_test(counts_are_summed_over_lines),
        cmocka_unit_test(bases_and_direction_are_those_of_each_file),
        cmocka_unit_test(several_references_are_sure_where_all_are),
        cmocka_unit_test(a_wrong_line_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
