#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <softalign.h>
#include <string.h>

enum { LINES = 8 };
static const char *const reference[LINES] = {
    "the ship left port",   "rain fell all night long",  "he sold the red car", "no train ran today",
    "she paints old boats", "they ate bread and cheese", "the lamp went out",   "two dogs ran home"};
static const char *const careful[LINES] = {
    "the ship left port",   "rain fell all night",       "he sold a red car", "no train today",
    "she paints old boats", "they ate cheese and bread", "the lamp went",     "dogs ran home"};
static const char *const hasty[LINES] = {
    "a ship left",           "rain fell all night long",  "he sold car", "no train ran now",
    "she painted old boats", "they ate bread and cheese", "lamp out",    "two cats ran home"};

/* Worked out in Python, with the draws of numpy.random.default_rng(12345). */
enum { SAMPLES = 400 };
static const sa_resampling usual = {SAMPLES, SA_RESAMPLING_SEED};
static const struct {
    sa_metric_kind kind;
    double careful, hasty;
    double mean, half; /* of careful */
    double bootstrap, randomization;
} cases[] = {
    {SA_METRIC_CHRF, 76.33892508219083, 68.35978237633395, 76.70819146383569, 11.409199041043763, 76, 207},
    {SA_METRIC_TER, 20.0, 25.714285714285715, 19.62896869295381, 8.006535947712418, 82, 160},
};
enum { CASES = sizeof cases / sizeof *cases };

static void assert_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9))
        fail_msg("%.12f is not %.12f", found, expected);
}

static sa_statistics *collect(const sa_metric *metric, const char *const *text, size_t n) {
    sa_statistics *s;
    sa_error error;
    const char *const *references[] = {reference};
    if (sa_statistics_collect(&s, metric, text, n, references, 1, &error) != SA_OK)
        fail_msg("%s", error.text);
    return s;
}

static sa_statistics *collect_kind(sa_metric_kind kind, const char *const *text) {
    sa_metric metric;
    sa_metric_init(&metric, kind);
    return collect(&metric, text, LINES);
}

static double score_of(const sa_statistics *s, size_t first, size_t n) {
    sa_score score;
    sa_statistics_score(s, first, n, &score);
    return score.score;
}

static double p_of(const sa_statistics *a, const sa_statistics *b, sa_paired_test_kind kind,
                   const sa_resampling *r) {
    double p;
    sa_error error;
    if (sa_paired_test(a, b, kind, r, &p, &error) != SA_OK)
        fail_msg("%s", error.text);
    return p;
}

static void statistics_give_the_score_of_all_lines_and_of_some(void **state) {
    (void)state;
    sa_statistics *s = collect_kind(SA_METRIC_TER, hasty);
    assert_near(score_of(s, 0, LINES), 25.714285714285715);
    assert_near(score_of(s, 0, 1), 50);
    assert_near(score_of(s, 1, 1), 0);
    assert_near(score_of(s, 1, 2), 20);
    assert_near(score_of(s, 3, 0), 0);
    sa_statistics_free(s);
}

static void statistics_give_what_one_call_gives(void **state) {
    (void)state;
    sa_bleu_result bleu;
    sa_score score;
    sa_error error;
    assert_int_equal(sa_bleu(careful, LINES, (const char *const *[]){reference}, 1, NULL, &bleu, &error), SA_OK);
    sa_statistics *s = collect_kind(SA_METRIC_BLEU, careful);
    sa_statistics_score(s, 0, LINES, &score);
    assert_memory_equal(&score.detail.bleu, &bleu, sizeof bleu);
    assert_near(score.score, bleu.bleu);
    assert_string_equal(sa_statistics_name(s), "BLEU");
    assert_string_equal(sa_statistics_signature(s), bleu.signature);
    sa_statistics_free(s);
}

static void names_say_beta_and_words(void **state) {
    (void)state;
    sa_metric metric;
    sa_metric_init(&metric, SA_METRIC_CHRF);
    metric.chrf.beta = 3;
    metric.chrf.word_order = 2;
    sa_statistics *s = collect(&metric, careful, LINES);
    assert_string_equal(sa_statistics_name(s), "chrF3++");
    sa_statistics_free(s);
}

static void intervals_are_those_of_the_same_draws_in_python(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        sa_statistics *s = collect_kind(cases[i].kind, careful);
        sa_interval interval;
        sa_error error;
        assert_near(score_of(s, 0, LINES), cases[i].careful);
        assert_int_equal(sa_bootstrap(s, &usual, &interval, &error), SA_OK);
        assert_near(interval.mean, cases[i].mean);
        assert_near(interval.half, cases[i].half);
        sa_statistics_free(s);
    }
}

static void p_values_are_those_of_the_same_draws_in_python(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        sa_statistics *a = collect_kind(cases[i].kind, careful), *b = collect_kind(cases[i].kind, hasty);
        assert_near(score_of(b, 0, LINES), cases[i].hasty);
        assert_near(p_of(a, b, SA_PAIRED_BOOTSTRAP, &usual), cases[i].bootstrap / (SAMPLES + 1));
        assert_near(p_of(a, b, SA_PAIRED_RANDOMIZATION, &usual), cases[i].randomization / (SAMPLES + 1));
        assert_near(p_of(b, a, SA_PAIRED_RANDOMIZATION, &usual), cases[i].randomization / (SAMPLES + 1));
        sa_statistics_free(a);
        sa_statistics_free(b);
    }
}

static void without_resampling_the_usual_numbers_hold(void **state) {
    (void)state;
    sa_statistics *a = collect_kind(SA_METRIC_TER, careful), *b = collect_kind(SA_METRIC_TER, hasty);
    const sa_resampling bootstrap = {1000, 12345}, randomization = {10000, 12345};
    assert_near(p_of(a, b, SA_PAIRED_BOOTSTRAP, NULL), p_of(a, b, SA_PAIRED_BOOTSTRAP, &bootstrap));
    assert_near(p_of(a, b, SA_PAIRED_RANDOMIZATION, NULL), p_of(a, b, SA_PAIRED_RANDOMIZATION, &randomization));
    sa_interval usual_interval, interval;
    sa_error error;
    assert_int_equal(sa_bootstrap(a, NULL, &usual_interval, &error), SA_OK);
    assert_int_equal(sa_bootstrap(a, &bootstrap, &interval, &error), SA_OK);
    assert_near(usual_interval.mean, interval.mean);
    sa_statistics_free(a);
    sa_statistics_free(b);
}

static void another_seed_draws_other_lines(void **state) {
    (void)state;
    sa_statistics *s = collect_kind(SA_METRIC_CHRF, careful);
    const sa_resampling other = {SAMPLES, 1};
    sa_interval a, b;
    sa_error error;
    assert_int_equal(sa_bootstrap(s, &usual, &a, &error), SA_OK);
    assert_int_equal(sa_bootstrap(s, &other, &b, &error), SA_OK);
    assert_true(a.mean != b.mean);
    assert_true(fabs(a.mean - b.mean) < 1.5);
    sa_statistics_free(s);
}

static void systems_that_do_not_differ_have_p_one(void **state) {
    (void)state;
    sa_statistics *a = collect_kind(SA_METRIC_BLEU, careful), *b = collect_kind(SA_METRIC_BLEU, careful);
    assert_near(p_of(a, b, SA_PAIRED_BOOTSTRAP, &usual), 1);
    assert_near(p_of(a, b, SA_PAIRED_RANDOMIZATION, &usual), 1);
    sa_statistics_free(a);
    sa_statistics_free(b);
}

static void one_line_can_be_resampled(void **state) {
    (void)state;
    sa_metric metric;
    sa_metric_init(&metric, SA_METRIC_TER);
    sa_statistics *s = collect(&metric, hasty, 1);
    sa_interval interval;
    sa_error error;
    assert_int_equal(sa_bootstrap(s, &(sa_resampling){1, 7}, &interval, &error), SA_OK);
    assert_near(interval.mean, 50);
    assert_near(interval.half, 0);
    sa_statistics_free(s);
}

static void assert_unlike(const sa_statistics *a, const sa_statistics *b, const char *text) {
    double p;
    sa_error error;
    assert_int_equal(sa_paired_test(a, b, SA_PAIRED_BOOTSTRAP, &usual, &p, &error), SA_USAGE);
    assert_non_null(strstr(error.text, text));
}

static void what_cannot_be_compared_is_refused(void **state) {
    (void)state;
    sa_metric metric;
    sa_metric_init(&metric, SA_METRIC_CHRF);
    sa_statistics *chrf = collect(&metric, careful, LINES), *fewer = collect(&metric, hasty, LINES - 1);
    metric.chrf.lowercase = true;
    sa_statistics *lower = collect(&metric, hasty, LINES), *ter = collect_kind(SA_METRIC_TER, hasty);
    assert_unlike(chrf, ter, "are not one metric");
    assert_unlike(chrf, lower, "are not one metric");
    assert_unlike(chrf, fewer, "8 lines, the other 7");

    double p;
    sa_interval interval;
    sa_error error;
    const sa_resampling none = {0, 1};
    assert_int_equal(sa_paired_test(chrf, chrf, SA_PAIRED_BOOTSTRAP, &none, &p, &error), SA_USAGE);
    assert_int_equal(sa_bootstrap(chrf, &none, &interval, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "0 samples"));
    assert_int_equal(sa_paired_test(chrf, chrf, (sa_paired_test_kind)7, &usual, &p, &error), SA_USAGE);
    sa_statistics *s;
    metric.kind = (sa_metric_kind)7;
    assert_int_equal(
        sa_statistics_collect(&s, &metric, careful, LINES, (const char *const *[]){reference}, 1, &error),
        SA_USAGE);
    assert_null(s);
    sa_statistics_free(chrf);
    sa_statistics_free(fewer);
    sa_statistics_free(lower);
    sa_statistics_free(ter);
    sa_statistics_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_give_the_score_of_all_lines_and_of_some),
        cmocka_unit_test(statistics_give_what_one_call_gives),
        cmocka_unit_test(names_say_beta_and_words),
        cmocka_unit_test(intervals_are_those_of_the_same_draws_in_python),
        cmocka_unit_test(p_values_are_those_of_the_same_draws_in_python),
        cmocka_unit_test(without_resampling_the_usual_numbers_hold),
        cmocka_unit_test(another_seed_draws_other_lines),
        cmocka_unit_test(systems_that_do_not_differ_have_p_one),
        cmocka_unit_test(one_line_can_be_resampled),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
