#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <softalign.h>
#include <string.h>

/* Expected values are those of sacreBLEU 2.6.0 for the same texts. */

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

static sa_bleu_options usual(void) {
    sa_bleu_options options;
    sa_bleu_options_init(&options);
    return options;
}

/* BLEU of the three sentences above. */
static sa_bleu_result of_texts(const char *const *const *references, size_t n, sa_bleu_options options) {
    sa_bleu_result result;
    sa_error error;
    if (sa_bleu(hypotheses, 3, references, n, &options, &result, &error) != SA_OK)
        fail_msg("%s", error.text);
    return result;
}

static sa_bleu_result of_line(const char *hypothesis, const char *reference, sa_bleu_options options) {
    sa_bleu_result result;
    sa_error error;
    const char *const *references = &reference;
    if (sa_bleu(&hypothesis, 1, &references, 1, &options, &result, &error) != SA_OK)
        fail_msg("%s", error.text);
    return result;
}

static void one_reference_gives_all_numbers(void **state) {
    (void)state;
    sa_bleu_result r = of_texts((const char *const *[]){first}, 1, usual());
    static const int correct[] = {19, 11, 7, 4}, total[] = {24, 21, 18, 15};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(r.correct[i], correct[i]);
        assert_int_equal(r.total[i], total[i]);
        assert_near(r.precision[i], 100.0 * correct[i] / total[i]);
    }
    assert_int_equal(r.correct[4], 0);
    assert_int_equal(r.total[4], 0);
    assert_int_equal(r.hypothesis_length, 24);
    assert_int_equal(r.reference_length, 26);
    assert_near(r.brevity_penalty, 0.9200444146293233);
    assert_near(r.bleu, 41.89732516819061);
    assert_string_equal(r.signature, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:softalign-" SA_VERSION);
}

static void without_options_the_defaults_hold(void **state) {
    (void)state;
    sa_bleu_result r;
    const char *const *references[] = {first};
    assert_int_equal(sa_bleu(hypotheses, 3, references, 1, NULL, &r, NULL), SA_OK);
    assert_near(r.bleu, 41.89732516819061);
}

static void the_tokenizer_changes_score_and_signature(void **state) {
    (void)state;
    static const double expected[] = {
        [SA_TOK_13A] = 41.89732516819061,
        [SA_TOK_INTL] = 41.89732516819061,
        [SA_TOK_CHAR] = 70.58382776951453,
        [SA_TOK_NONE] = 27.558570076576075,
    };
    static const char *const name[] = {"|tok:13a|", "|tok:intl|", "|tok:char|", "|tok:none|"};
    for (sa_bleu_tokenizer t = SA_TOK_13A; t <= SA_TOK_NONE; t++) {
        sa_bleu_options options = usual();
        options.tokenizer = t;
        sa_bleu_result r = of_texts((const char *const *[]){first}, 1, options);
        assert_near(r.bleu, expected[t]);
        assert_non_null(strstr(r.signature, name[t]));
    }
}

static void several_references_and_lower_case(void **state) {
    (void)state;
    const char *const *references[] = {first, second};
    sa_bleu_options options = usual();
    sa_bleu_result r = of_texts(references, 2, options);
    assert_near(r.bleu, 57.24898086810374);
    assert_non_null(strstr(r.signature, "nrefs:2|case:mixed|"));
    options.lowercase = true;
    r = of_texts(references, 2, options);
    assert_near(r.bleu, 62.27299719674323);
    assert_non_null(strstr(r.signature, "nrefs:2|case:lc|"));
}

static void missing_and_empty_references_are_left_out(void **state) {
    (void)state;
    const char *absent[][3] = {{first[0], NULL, first[2]}, {first[0], "", first[2]}, {first[0], " \t", first[2]}};
    for (int i = 0; i < 3; i++) {
        sa_bleu_result r = of_texts((const char *const *[]){absent[i], second}, 2, usual());
        assert_near(r.bleu, 39.52405673261331);
        assert_int_equal(r.reference_length, 28);
        assert_non_null(strstr(r.signature, "nrefs:var|"));
    }
}

static void an_empty_reference_does_not_count_as_a_short_one(void **state) {
    (void)state;
    const char *hypothesis = "a b", *empty = "", *full = "a b c d e f g";
    const char *const *references[] = {&empty, &full};
    sa_bleu_result r;
    assert_int_equal(sa_bleu(&hypothesis, 1, references, 2, NULL, &r, NULL), SA_OK);
    assert_int_equal(r.reference_length, 7);
    assert_non_null(strstr(r.signature, "nrefs:1|"));
}

static void of_two_lengths_as_near_the_shorter_counts(void **state) {
    (void)state;
    const char *hypothesis = "a b c d", *longer = "a b c d e f", *shorter = "a b";
    const char *const *references[][2] = {{&longer, &shorter}, {&shorter, &longer}};
    for (int i = 0; i < 2; i++) {
        sa_bleu_result r;
        assert_int_equal(sa_bleu(&hypothesis, 1, references[i], 2, NULL, &r, NULL), SA_OK);
        assert_int_equal(r.reference_length, 2);
        assert_near(r.brevity_penalty, 1);
        assert_near(r.bleu, 100);
    }
}

static void smoothing_fills_in_for_orders_without_a_match(void **state) {
    (void)state;
    static const struct {
        sa_bleu_smoothing smoothing;
        double value, bleu, effective; /* without and with effective order */
        const char *signature;
    } cases[] = {
        {SA_SMOOTH_EXP, -1, 0, 20.374971871270475, "|smooth:exp|"},
        {SA_SMOOTH_FLOOR, -1, 0, 8.77930924157779, "|smooth:floor[0.10]|"},
        {SA_SMOOTH_FLOOR, 0, 0, 0, "|smooth:floor[0.00]|"},
        {SA_SMOOTH_ADD_K, -1, 32.80443278078625, 32.80443278078625, "|smooth:add-k[1.00]|"},
        {SA_SMOOTH_ADD_K, 2.25, 39.94786115014971, 39.94786115014971, "|smooth:add-k[2.25]|"},
        {SA_SMOOTH_NONE, -1, 0, 0, "|smooth:none|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_bleu_options options = usual();
        options.smoothing = cases[i].smoothing;
        options.smooth_value = cases[i].value;
        sa_bleu_result r = of_line("red green blue", "red yellow blue green white", options);
        assert_near(r.bleu, cases[i].bleu);
        assert_non_null(strstr(r.signature, cases[i].signature));
        assert_non_null(strstr(r.signature, "|eff:no|"));
        options.effective_order = true;
        r = of_line("red green blue", "red yellow blue green white", options);
        assert_near(r.bleu, cases[i].effective);
        assert_non_null(strstr(r.signature, "|eff:yes|"));
        assert_int_equal(r.correct[1], 0); /* counts stay counts */
    }
}

static void add_k_leaves_single_words_alone(void **state) {
    (void)state;
    sa_bleu_options options = usual();
    options.smoothing = SA_SMOOTH_ADD_K;
    sa_bleu_result r = of_texts((const char *const *[]){first}, 1, options);
    assert_near(r.precision[0], 100 * 19.0 / 24);
    assert_near(r.precision[1], 100 * 12.0 / 22);
    assert_near(r.bleu, 44.9190565674325);
}

static void orders_from_one_to_eight(void **state) {
    (void)state;
    static const struct {
        int order;
        double bleu;
    } cases[] = {{1, 72.83684949148807}, {2, 59.2470414006047}, {8, 22.819342601934135}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_bleu_options options = usual();
        options.max_order = cases[i].order;
        assert_near(of_texts((const char *const *[]){first}, 1, options).bleu, cases[i].bleu);
    }
}

static void empty_texts_score_zero(void **state) {
    (void)state;
    sa_bleu_result r = of_line("", "", usual());
    assert_near(r.bleu, 0);
    assert_near(r.brevity_penalty, 1);
    r = of_line("", "a b", usual());
    assert_near(r.bleu, 0);
    assert_near(r.brevity_penalty, 0);
    r = of_line("x", "", usual());
    assert_near(r.bleu, 0);
    assert_int_equal(r.hypothesis_length, 1);
}

static void no_common_word_is_zero_whatever_the_smoothing(void **state) {
    (void)state;
    for (sa_bleu_smoothing s = SA_SMOOTH_EXP; s <= SA_SMOOTH_NONE; s++) {
        sa_bleu_options options = usual();
        options.smoothing = s;
        options.effective_order = true;
        sa_bleu_result r = of_line("q", "a b c", options);
        assert_near(r.bleu, 0);
        assert_near(r.precision[0], 0);
        assert_near(r.brevity_penalty, 0.1353352832366127);
    }
}

static void the_score_can_be_had_from_counts(void **state) {
    (void)state;
    sa_bleu_options options = usual();
    sa_bleu_result r = {.correct = {20, 11, 6, 0},
                        .total = {25, 22, 19, 16},
                        .hypothesis_length = 25,
                        .reference_length = 28,
                        .bleu = -1,
                        .precision = {[7] = -1}};
    sa_bleu_compute(&r, &options);
    assert_near(r.bleu, 22.231132021745857);
    assert_near(r.precision[3], 3.125);
    assert_near(r.precision[7], 0);
}

static void the_signature_has_a_point_in_any_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        skip();
    sa_bleu_options options = usual();
    options.smoothing = SA_SMOOTH_FLOOR;
    sa_bleu_result r = of_line("a", "b", options);
    setlocale(LC_NUMERIC, "C");
    assert_non_null(strstr(r.signature, "floor[0.10]"));
}

static void assert_refused(sa_bleu_options options, const char *text) {
    sa_bleu_result r;
    sa_error error;
    const char *const *references[] = {first};
    assert_int_equal(sa_bleu(hypotheses, 3, references, 1, &options, &r, &error), SA_USAGE);
    assert_non_null(strstr(error.text, text));
}

static void options_out_of_range_are_refused(void **state) {
    (void)state;
    sa_bleu_options options = usual();
    options.max_order = 0;
    assert_refused(options, "max_order is 0");
    options.max_order = 9;
    assert_refused(options, "give 1 to 8");
    options = usual();
    options.tokenizer = (sa_bleu_tokenizer)7;
    assert_refused(options, "tokenizer");
    options = usual();
    options.smoothing = (sa_bleu_smoothing)7;
    assert_refused(options, "smoothing method");
    options = usual();
    options.smooth_value = nan("");
    assert_refused(options, "smoothing value");
    options.smooth_value = HUGE_VAL;
    assert_refused(options, "smoothing value");
}

static void texts_that_are_not_there_are_refused(void **state) {
    (void)state;
    sa_bleu_result r;
    sa_error error;
    const char *holes[] = {first[0], NULL, first[2]};
    const char *const *references[] = {first};
    assert_int_equal(sa_bleu(hypotheses, 0, references, 1, NULL, &r, &error), SA_DATA);
    assert_int_equal(sa_bleu(hypotheses, 3, references, 0, NULL, &r, &error), SA_USAGE);
    assert_int_equal(sa_bleu(holes, 3, references, 1, NULL, &r, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "hypothesis 2"));
    references[0] = holes;
    assert_int_equal(sa_bleu(hypotheses, 3, references, 1, NULL, &r, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "line 2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_reference_gives_all_numbers),
        cmocka_unit_test(without_options_the_defaults_hold),
        cmocka_unit_test(the_tokenizer_changes_score_and_signature),
        cmocka_unit_test(several_references_and_lower_case),
        cmocka_unit_test(missing_and_empty_references_are_left_out),
        cmocka_unit_test(an_empty_reference_does_not_count_as_a_short_one),
        cmocka_unit_test(of_two_lengths_as_near_the_shorter_counts),
        cmocka_unit_test(smoothing_fills_in_for_orders_without_a_match),
        cmocka_unit_test(add_k_leaves_single_words_alone),
        cmocka_unit_test(orders_from_one_to_eight),
        cmocka_unit_test(empty_texts_score_zero),
        cmocka_unit_test(no_common_word_is_zero_whatever_the_smoothing),
        cmocka_unit_test(the_score_can_be_had_from_counts),
        cmocka_unit_test(the_signature_has_a_point_in_any_locale),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(texts_that_are_not_there_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
