#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <softalign.h>
#include <stdlib.h>

static void assert_made(const char *forward, const char *reverse, sa_symmetrization how, const char *expected) {
    sa_links pair[2], made;
    char *text;
    assert_int_equal(sa_links_parse(&pair[0], forward, 0, false, NULL), SA_OK);
    assert_int_equal(sa_links_parse(&pair[1], reverse, 0, false, NULL), SA_OK);
    assert_int_equal(sa_links_symmetrize(&made, &pair[0], &pair[1], how, NULL), SA_OK);
    assert_int_equal(sa_links_format(&made, false, false, &text, NULL), SA_OK);
    assert_string_equal(text, expected);
    free(text);
    sa_links_free(&made);
    sa_links_free(&pair[0]);
    sa_links_free(&pair[1]);
}

/* Words 0 and 1 agree. 2-2 touches 1-1 and is new; 1-2 comes before it in order, and makes 2-2 new in its source
 * only; 5-5 and 6-5 touch nothing; 4-1 links a word that has no link to one that has. */
static const char forward[] = "0-0 1-1 1-2 2-2 5-5 4-1", reverse[] = "0-0 1-1 6-5";

static void intersection_and_union_are_those_of_sets(void **state) {
    (void)state;
    assert_made(forward, reverse, SA_INTERSECTION, "0-0 1-1");
    assert_made(forward, reverse, SA_UNION, "0-0 1-1 1-2 2-2 4-1 5-5 6-5");
    assert_made("", "1-1", SA_INTERSECTION, "");
    assert_made("", "1-1", SA_UNION, "1-1");
    assert_made("", "", SA_GROW_DIAG_FINAL, "");
}

static void growth_reaches_neighbours_of_words_without_links(void **state) {
    (void)state;
    assert_made(forward, reverse, SA_GROW_DIAG, "0-0 1-1 1-2 2-2");
    /* From link to link, against the order of the links too. */
    assert_made("3-3 0-0 2-2 1-1", "3-3", SA_GROW_DIAG, "0-0 1-1 2-2 3-3");
    /* Both words have links already. */
    assert_made("0-0 1-1 0-1", "0-0 1-1", SA_GROW_DIAG, "0-0 1-1");
}

static void finals_take_the_forward_links_first(void **state) {
    (void)state;
    assert_made(forward, reverse, SA_GROW_DIAG_FINAL, "0-0 1-1 1-2 2-2 4-1 5-5 6-5");
    assert_made(forward, reverse, SA_GROW_DIAG_FINAL_AND, "0-0 1-1 1-2 2-2 5-5");
    assert_made(reverse, forward, SA_GROW_DIAG_FINAL_AND, "0-0 1-1 1-2 2-2 6-5");
}

static void a_weight_is_the_mean_of_both(void **state) {
    (void)state;
    sa_links pair[2], made;
    char *text;
    assert_int_equal(sa_links_parse(&pair[0], "0-0:0.5 0-1:0.5", 0, false, NULL), SA_OK);
    assert_int_equal(sa_links_parse(&pair[1], "0-0:0.75", 0, false, NULL), SA_OK);
    assert_int_equal(sa_links_symmetrize(&made, &pair[0], &pair[1], SA_UNION, NULL), SA_OK);
    assert_int_equal(sa_links_format(&made, false, true, &text, NULL), SA_OK);
    assert_string_equal(text, "0-0:0.625000 0-1:0.250000");
    free(text);
    sa_links_free(&made);
    sa_links_free(&pair[0]);
    sa_links_free(&pair[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intersection_and_union_are_those_of_sets),
        cmocka_unit_test(growth_reaches_neighbours_of_words_without_links),
        cmocka_unit_test(finals_take_the_forward_links_first),
        cmocka_unit_test(a_weight_is_the_mean_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
