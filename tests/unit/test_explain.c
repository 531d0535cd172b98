/* sa_explain: a record for every pair, the same whatever is explained beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

#include <softalign/explanation.h>

enum { PAIRS = 5 };

static sa_explain_options quick(void) {
    sa_explain_options o;
    sa_explain_options_init(&o);
    o.permutations = 7;
    o.adversaries = 2;
    o.adversary_steps = 5;
    o.threads = 1;
    return o;
}

static void toy_targets(char target[PAIRS][80], const char *targets[PAIRS]) {
    for (int i = 0; i < PAIRS; i++) {
        char source[80];
        toy_pair(i, source, target[i]);
        targets[i] = target[i];
    }
}

static void expect_equal(const sa_explanation *a, const sa_explanation *b) {
    size_t rows = (size_t)a->target_length, n = rows * (size_t)a->source_length;
    assert_int_equal(a->source_length, b->source_length);
    assert_int_equal(a->target_length, b->target_length);
    for (int k = 0; k < SA_IMPORTANCES; k++)
        assert_memory_equal(a->importance[k], b->importance[k], n * sizeof(float));
    assert_memory_equal(a->tau, b->tau, rows * SA_TAU_PAIRS * sizeof *a->tau);
    assert_memory_equal(a->permuted, b->permuted, rows * sizeof *a->permuted);
    assert_memory_equal(a->adversary, b->adversary, n * sizeof *a->adversary);
    assert_memory_equal(a->adversary_jsd, b->adversary_jsd, rows * sizeof *a->adversary_jsd);
}

static void threads_and_windows_change_nothing(void **state) {
    (void)state;
    char target[PAIRS][80];
    const char *targets[PAIRS];
    sa_explanation *one, *three, *two;
    sa_explain_options o = quick();
    toy_targets(target, targets);
    expect_status(sa_explain(model, NULL, 0, line, targets, PAIRS, &o, &one, &error), SA_OK);
    o.threads = 3;
    expect_status(sa_explain(model, NULL, 0, line, targets, PAIRS, &o, &three, &error), SA_OK);
    o.first_line = 3;
    expect_status(sa_explain(model, NULL, 0, line + 3, targets + 3, 2, &o, &two, &error), SA_OK);
    for (int i = 0; i < PAIRS; i++)
        expect_equal(&one[i], &three[i]);
    for (int i = 0; i < 2; i++)
        expect_equal(&one[3 + i], &two[i]);
    o.seed++;
    sa_explanations_free(two, 2);
    expect_status(sa_explain(model, NULL, 0, line + 3, targets + 3, 2, &o, &two, &error), SA_OK);
    assert_memory_not_equal(one[3].permuted, two[0].permuted, (size_t)two[0].target_length * sizeof(double));
    sa_explanations_free(one, PAIRS);
    sa_explanations_free(three, PAIRS);
    sa_explanations_free(two, 2);
}

static void log_p_and_attention_are_those_of_score(void **state) {
    (void)state;
    char target[PAIRS][80];
    const char *targets[PAIRS];
    sa_explanation *x;
    sa_translation *scored;
    sa_translate_options score = usual();
    score.attention = score.word_scores = true;
    toy_targets(target, targets);
    sa_explain_options o = quick();
    o.adversaries = 0;
    expect_status(sa_explain(model, NULL, 0, line, targets, PAIRS, &o, &x, &error), SA_OK);
    expect_status(
        sa_score_pairs((const sa_model *const[]){model}, 1, line, targets, PAIRS, &score, &scored, &error), SA_OK);
    for (int i = 0; i < PAIRS; i++) {
        const sa_hypothesis *h = &scored[i].hypothesis[0];
        assert_int_equal(x[i].target_length, h->length);
        assert_null(x[i].adversary);
        for (int k = 0; k < h->length; k++) {
            assert_string_equal(x[i].target_symbol[k], h->symbol[k]);
            assert_true(fabs(x[i].log_p[k] - h->word_score[k]) < 1e-4);
        }
        for (int k = 0; k < h->length * x[i].source_length; k++)
            assert_true(fabsf(x[i].importance[SA_IMPORTANCE_ATTENTION][k] - h->attention[k]) < 1e-5f);
    }
    sa_explanations_free(x, PAIRS);
    sa_translations_free(scored, PAIRS);
}

static void a_model_is_at_no_distance_from_itself(void **state) {
    (void)state;
    char target[PAIRS][80];
    const char *targets[PAIRS];
    const sa_model *others[] = {model, vague};
    sa_explanation *x;
    sa_explain_options o = quick();
    o.adversaries = o.permutations = 0;
    toy_targets(target, targets);
    expect_status(sa_explain(model, others, 2, line, targets, 1, &o, &x, &error), SA_OK);
    assert_int_equal(x->others, 2);
    assert_null(x->permuted);
    for (int i = 0; i < x->target_length; i++) {
        assert_true(x->other_jsd[i] < 1e-12 && x->other_tvd[i] < 1e-6);
        assert_true(x->other_tvd[x->target_length + i] > 0.3); /* it has learned nothing */
    }
    sa_explanations_free(x, 1);
}

static void every_pair_has_an_explanation(void **state) {
    (void)state;
    const char *const sources[] = {"", "the red dog", "   ", "the", "the the the the", "the dog"};
    const char *const targets[] = {"il", "", "  ", "nowhere", "il", "il il il il"};
    sa_explanation *x;
    sa_explain_options o = quick();
    o.max_length = 3;
    expect_status(sa_explain(model, NULL, 0, sources, targets, 6, &o, &x, &error), SA_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(x[i].target_length, i == 3 ? 2 : 0);
    assert_false(x[0].too_long || x[1].too_long || x[2].too_long);
    assert_true(x[4].too_long && x[5].too_long);
    /* One word of the source: nothing to compare or to permute. */
    assert_true(isnan(x[3].tau[0].tau) && isnan(x[3].permuted[0]));
    assert_true(x[3].adversary_jsd[0] <= 0 && x[3].adversary_tvd[0] <= 0);
    sa_explanations_free(x, 6);
    expect_status(sa_explain(model, NULL, 0, sources, targets, 0, &o, &x, &error), SA_OK);
    sa_explanations_free(x, 0);
}

static void what_cannot_be_explained_is_refused(void **state) {
    (void)state;
    const char *source = "the dog", *target = "il cane";
    sa_explanation *x;
    const sa_model *other = few;
    expect_status(sa_explain(blind, NULL, 0, &source, &target, 1, NULL, &x, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "has no attention"));
    expect_status(sa_explain(model, &other, 1, &source, &target, 1, NULL, &x, &error), SA_USAGE);
    other = blind;
    expect_status(sa_explain(model, &other, 1, &source, &target, 1, NULL, &x, &error), SA_USAGE);
    sa_explain_options o = quick();
    o.epsilon = 1.5;
    expect_status(sa_explain(model, NULL, 0, &source, &target, 1, &o, &x, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "epsilon"));
}

/* Two symbols, with largest weights in the first and the last quarter. */
static void summaries_add_up(void **state) {
    (void)state;
    double log_p[] = {-1, -3}, largest[] = {0.2, 1}, permuted[] = {0.5, (double)NAN};
    sa_correlation tau[2 * SA_TAU_PAIRS];
    for (int k = 0; k < SA_TAU_PAIRS; k++) {
        tau[k] = (sa_correlation){0.5, 0.01};
        tau[SA_TAU_PAIRS + k] = (sa_correlation){0.1, 0.6};
    }
    const sa_explanation x = {.source_length = 3,
                              .target_length = 2,
                              .log_p = log_p,
                              .largest = largest,
                              .tau = tau,
                              .permuted = permuted},
                         nothing = {0};
    sa_explain_summary s;
    sa_explain_summary_init(&s);
    sa_explain_summary_add(&s, &x);
    sa_explain_summary_add(&s, &nothing);
    assert_true(s.pairs == 1 && s.left_out == 1);
    assert_true(s.bin[0].symbols == 2 && s.bin[1].symbols == 1 && s.bin[4].symbols == 1 && s.bin[2].symbols == 0);
    assert_true(fabs(s.bin[0].log_p.mean + 2) < 1e-12);
    assert_true(fabs(sa_spread_deviation(&s.bin[0].log_p) - sqrt(2)) < 1e-12);
    assert_true(fabs(s.bin[0].tau[0].mean - 0.3) < 1e-12 && s.bin[0].tau[0].significant == 1);
    assert_true(s.bin[0].permuted.n == 1 && s.bin[4].permuted.n == 0);
    assert_true(sa_spread_deviation(&s.bin[1].log_p) <= 0 && s.bin[0].adversary_jsd.n == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_windows_change_nothing),
        cmocka_unit_test(log_p_and_attention_are_those_of_score),
        cmocka_unit_test(a_model_is_at_no_distance_from_itself),
        cmocka_unit_test(every_pair_has_an_explanation),
        cmocka_unit_test(what_cannot_be_explained_is_refused),
        cmocka_unit_test(summaries_add_up),
    };
    return cmocka_run_group_tests_name("explain", tests, make_models, remove_models);
}
