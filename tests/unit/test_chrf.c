#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <softalign.h>
#include <string.h>

/* Expected values are those of sacreBLEU 2.6.0, some of its own tests among them (Apache-2.0), or of the definition
 * worked out with Python's counters. */

static const char *const hypotheses[] = {"The old clock strikes twelve, and nobody stirs.",
                                         "Two boats left the harbour at 5.30 a.m.", "She reads."};
static const char *const first[] = {"The old clock struck twelve and no one stirs.",
                                    "Two boats left harbour at 5.30 a.m.", "She is reading a book."};
static const char *const second[] = {"At twelve, the old clock strikes and nobody moves.",
                                     "At 5.30 a.m. two boats left the harbour.", "She reads a lot of books."};

static void assert_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9))
        fail_msg("%.12f is not %.12f", found, expected);
}

static sa_chrf_options usual(void) {
    sa_chrf_options options;
    sa_chrf_options_init(&options);
    return options;
}

static sa_chrf_result of(const char *const *texts, size_t n, const char *const *const *references,
                         size_t n_references, sa_chrf_options options) {
    sa_chrf_result result;
    sa_error error;
    if (sa_chrf(texts, n, references, n_references, &options, &result, &error) != SA_OK)
        fail_msg("%s", error.text);
    return result;
}

static double of_line(const char *hypothesis, const char *reference, sa_chrf_options options) {
    const char *const *references = &reference;
    return of(&hypothesis, 1, &references, 1, options).chrf;
}

static void characters_without_white_space_are_compared(void **state) {
    (void)state;
    sa_chrf_result r = of(hypotheses, 3, (const char *const *[]){first}, 1, usual());
    assert_near(r.chrf, 63.5768312894212);
    assert_string_equal(r.signature, "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:softalign-" SA_VERSION);
    assert_near(of_line("a b c", "abc", usual()), 100);
    assert_near(of_line("a\xC2\xA0"
                        "b\xE3\x80\x80"
                        "c",
                        "a b\tc", usual()),
                100);
}

static void without_options_the_defaults_hold(void **state) {
    (void)state;
    sa_chrf_result r;
    sa_error error;
    assert_int_equal(sa_chrf(hypotheses, 3, (const char *const *[]){first}, 1, NULL, &r, &error), SA_OK);
    assert_near(r.chrf, 63.5768312894212);
}

static void words_are_counted_too_in_chrf_plus_plus(void **state) {
    (void)state;
    sa_chrf_options options = usual();
    options.word_order = 2;
    sa_chrf_result r = of(hypotheses, 3, (const char *const *[]){first}, 1, options);
    assert_near(r.chrf, 62.1528370056767);
    assert_non_null(strstr(r.signature, "|nc:6|nw:2|"));
    assert_near(of_line(hypotheses[1], first[1], options), 89.13693739388133);
    options.char_order = 4;
    options.word_order = 1;
    assert_near(of(hypotheses, 3, (const char *const *[]){first}, 1, options).chrf, 71.84720043689416);
}

static void a_word_gives_up_punctuation_at_its_end_or_else_at_its_start(void **state) {
    (void)state;
    sa_chrf_options options = usual();
    options.word_order = 1;
    options.eps_smoothing = true;
    /* What each of the seven orders is worth, of which the last is that of words. */
    const double order = 100.0 / 7;
    assert_near(of_line("x)", "x )", options), 2 * order + order);
    assert_near(of_line("(x)", "x)", options), order * (10.0 / 11 + 5.0 / 6) + order / 2); /* "(x" and ")" */
    assert_near(of_line("\"x", "\" x", options), 2 * order + order);
    assert_near(of_line(".", ".", options), 2 * order);
    assert_near(of_line("x\xE2\x80\xA6", "x \xE2\x80\xA6", options), 2 * order); /* ASCII punctuation only */
}

static void the_best_reference_of_each_line_counts(void **state) {
    (void)state;
    const char *const *both[] = {first, second};
    sa_chrf_result r = of(hypotheses, 3, both, 2, usual());
    assert_near(r.chrf, 68.28850765189814);
    assert_non_null(strstr(r.signature, "nrefs:2|"));
    sa_chrf_options options = usual();
    options.word_order = 2;
    assert_near(of(hypotheses, 3, both, 2, options).chrf, 66.83932811541264);
    static const char *const dog[] = {"The dog bit the man.", "It wasn't surprising.",
                                      "The man had just bitten him."};
    static const char *const dog1[] = {"The dog bit the man.", "It was not unexpected.", "The man bit him first."};
    static const char *const dog2[] = {"The dog had bit the man.", "No one was surprised.",
                                       "The man had bitten the dog."};
    assert_near(of(dog, 3, (const char *const *[]){dog1, dog2}, 2, usual()).chrf, 59.72751782684763);
}

static void missing_and_blank_references_are_left_out(void **state) {
    (void)state;
    const char *some[] = {NULL, " \t", second[2]};
    sa_chrf_result r = of(hypotheses, 3, (const char *const *[]){first, some}, 2, usual());
    assert_non_null(strstr(r.signature, "nrefs:var|"));
    const char *const all[] = {first[0], first[1], second[2]};
    assert_near(r.chrf, of(hypotheses, 3, (const char *const *[]){all}, 1, usual()).chrf);
}

static void recall_counts_beta_times_as_much(void **state) {
    (void)state;
    sa_chrf_options options = usual();
    options.beta = 3;
    assert_near(of(hypotheses, 3, (const char *const *[]){first}, 1, options).chrf, 63.32922073876552);
    options.beta = 0; /* precision alone: six orders, of which the hypothesis has two */
    assert_near(of_line("ab", "abcdef", options), 100);
}

static void white_space_counts_on_request(void **state) {
    (void)state;
    sa_chrf_options options = usual();
    options.whitespace = true;
    sa_chrf_result r = of(hypotheses, 3, (const char *const *[]){first}, 1, options);
    assert_near(r.chrf, 67.61085675432575);
    assert_non_null(strstr(r.signature, "|space:yes|"));
    options.beta = 3;
    assert_near(of_line("Die Beziehung zwischen Obama und Netanjahu ist nicht gerade freundlich.",
                        "Das Verh\xC3\xA4ltnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich.",
                        options),
                67.34816062977241);
}

static void epsilon_smoothing_counts_every_order(void **state) {
    (void)state;
    sa_chrf_options options = usual();
    options.eps_smoothing = true;
    options.beta = 3;
    assert_near(of_line("abcdefg", "hijklmnop", options), 0);
    assert_near(of_line("", "reference", options), 0);
    assert_near(of_line("aa", "ab", options), 8.333333333333343);
    assert_near(of_line("a", "a", options), 16.666666666666668);
    assert_near(of_line("a b c", "a b c", options), 50);
    assert_near(
        of((const char *const[]){"a", "b"}, 2, (const char *const *[]){(const char *const[]){"a", "c"}}, 1, options)
            .chrf,
        8.333333333333343);
    options.word_order = 2;
    options.beta = 2;
    sa_chrf_result r = of(hypotheses, 3, (const char *const *[]){first}, 1, options);
    assert_near(r.chrf, 62.14797241980836);
    assert_non_null(strstr(r.signature, "|eff:no|"));
}

static void without_it_orders_that_are_too_long_are_left_out(void **state) {
    (void)state;
    sa_chrf_options options = usual();
    options.beta = 3;
    assert_near(of_line("a", "a", options), 100);
    assert_near(of_line("aa", "ab", options), 25);
    assert_near(of_line("", "c", options), 0);
    assert_near(of_line("", "", options), 0);
    assert_near(of_line("c", "", options), 0);
    options.beta = 2;
    assert_near(of((const char *const[]){"abc", "abcd"}, 2,
                   (const char *const *[]){(const char *const[]){"a", "abce"}}, 1, options)
                    .chrf,
                47.90665598861007); /* "ab" and "bc" of the first line are no mistakes: "a" has no such n-grams */
    options.beta = 3;
    assert_near(
        of((const char *const[]){"a", "b"}, 2, (const char *const *[]){(const char *const[]){"a", "c"}}, 1, options)
            .chrf,
        50);
}

static void lower_case_is_that_of_unicode(void **state) {
    (void)state;
    sa_chrf_options options = usual();
    assert_true(of_line("\xC3\x84RGER", "\xC3\xA4rger", options) < 1);
    options.lowercase = true;
    const char *const *reference = &(const char *){"\xC3\xA4rger"};
    sa_chrf_result r = of(&(const char *){"\xC3\x84RGER"}, 1, &reference, 1, options);
    assert_near(r.chrf, 100);
    assert_non_null(strstr(r.signature, "case:lc|"));
}

static void options_out_of_range_are_refused(void **state) {
    (void)state;
    static const struct {
        int char_order, word_order, beta;
        const char *text;
    } cases[] = {{0, 0, 2, "char_order is 0"},
                 {11, 0, 2, "give 1 to 10"},
                 {6, -1, 2, "word_order is -1"},
                 {6, 11, 2, "give 0 to 10"},
                 {6, 0, -1, "beta is -1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_chrf_options options = usual();
        options.char_order = cases[i].char_order;
        options.word_order = cases[i].word_order;
        options.beta = cases[i].beta;
        sa_chrf_result r;
        sa_error error;
        const char *const *references = first;
        assert_int_equal(sa_chrf(hypotheses, 3, &references, 1, &options, &r, &error), SA_USAGE);
        assert_non_null(strstr(error.text, cases[i].text));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_without_white_space_are_compared),
        cmocka_unit_test(without_options_the_defaults_hold),
        cmocka_unit_test(words_are_counted_too_in_chrf_plus_plus),
        cmocka_unit_test(a_word_gives_up_punctuation_at_its_end_or_else_at_its_start),
        cmocka_unit_test(the_best_reference_of_each_line_counts),
        cmocka_unit_test(missing_and_blank_references_are_left_out),
        cmocka_unit_test(recall_counts_beta_times_as_much),
        cmocka_unit_test(white_space_counts_on_request),
        cmocka_unit_test(epsilon_smoothing_counts_every_order),
        cmocka_unit_test(without_it_orders_that_are_too_long_are_left_out),
        cmocka_unit_test(lower_case_is_that_of_unicode),
        cmocka_unit_test(options_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
