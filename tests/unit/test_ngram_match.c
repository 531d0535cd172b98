#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/ngram_match.h"

#include <stdio.h>
#include <string.h>

static int64_t add(ngram_match *m, const char *tokens) {
    int64_t n;
    assert_true(ngram_match_reference(m, tokens, strlen(tokens), &n));
    return n;
}

/* Matches of orders 1 to 3 as "3 2 1". */
static void assert_matches(ngram_match *m, const char *tokens, const char *expected) {
    int64_t n, correct[3] = {0};
    char found[64];
    assert_true(ngram_match_hypothesis(m, tokens, strlen(tokens), &n, correct));
    snprintf(found, sizeof found, "%d %d %d", (int)correct[0], (int)correct[1], (int)correct[2]);
    assert_string_equal(found, expected);
}

static void an_ngram_matches_at_most_as_often_as_one_reference_has_it(void **state) {
    (void)state;
    ngram_match m = {.max_order = 3};
    ngram_match_begin(&m);
    add(&m, "the cat the");
    add(&m, "the");
    assert_matches(&m, "the the the the", "2 0 0");
    ngram_match_free(&m);
}

static void references_give_their_best_and_not_their_sum(void **state) {
    (void)state;
    ngram_match m = {.max_order = 3};
    ngram_match_begin(&m);
    add(&m, "a b a b");
    add(&m, "b c");
    add(&m, "a b c");
    assert_matches(&m, "a b c a b c", "5 3 1");
    ngram_match_free(&m);
}

static void characters_can_be_the_tokens(void **state) {
    (void)state;
    ngram_match m = {.max_order = 3, .tokens.characters = true};
    ngram_match_begin(&m);
    assert_int_equal(add(&m, "\xC3\xA4 b\xE2\x82\xAC"
                             "b"),
                     5);
    assert_matches(&m,
                   "b\xE2\x82\xAC \xC3\xA4"
                   "b",
                   "5 1 0");
    ngram_match_free(&m);
}

static void tokens_in_no_reference_match_nothing(void **state) {
    (void)state;
    ngram_match m = {.max_order = 3};
    ngram_match_begin(&m);
    add(&m, "a b c");
    assert_matches(&m, "x a y b c x y x y", "3 1 0");
    ngram_match_free(&m);
}

static void an_older_line_leaves_nothing_behind(void **state) {
    (void)state;
    ngram_match m = {.max_order = 3};
    ngram_match_begin(&m);
    add(&m, "a b c");
    assert_matches(&m, "a b c", "3 2 1");
    ngram_match_begin(&m);
    add(&m, "c b");
    assert_matches(&m, "a b c", "2 0 0");
    ngram_match_begin(&m);
    assert_matches(&m, "c b", "0 0 0");
    ngram_match_free(&m);
}

static void lengths_are_counted_in_tokens(void **state) {
    (void)state;
    ngram_match m = {.max_order = 3};
    int64_t n, correct[3] = {0};
    ngram_match_begin(&m);
    assert_int_equal(add(&m, ""), 0);
    assert_int_equal(add(&m, "one two three"), 3);
    assert_true(ngram_match_hypothesis(&m, "", 0, &n, correct));
    assert_int_equal(n, 0);
    ngram_match_free(&m);
}

static void tables_grow_with_the_line(void **state) {
    (void)state;
    enum { TOKENS = 20000 };
    strbuf text = {0};
    for (int i = 0; i < TOKENS; i++)
        strbuf_printf(&text, i > 0 ? " w%d" : "w%d", i);
    ngram_match m = {.max_order = 3};
    ngram_match_begin(&m);
    assert_int_equal(add(&m, text.data), TOKENS);
    assert_matches(&m, text.data, "20000 19999 19998");
    ngram_match_begin(&m);
    add(&m, "w1 w2");
    assert_matches(&m, text.data, "2 1 0");
    ngram_match_free(&m);
    strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ngram_matches_at_most_as_often_as_one_reference_has_it),
        cmocka_unit_test(references_give_their_best_and_not_their_sum),
        cmocka_unit_test(characters_can_be_the_tokens),
        cmocka_unit_test(tokens_in_no_reference_match_nothing),
        cmocka_unit_test(an_older_line_leaves_nothing_behind),
        cmocka_unit_test(lengths_are_counted_in_tokens),
        cmocka_unit_test(tables_grow_with_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
