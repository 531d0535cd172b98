#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

static void expect_score(const sa_model *const *models, int n_models, const sa_translate_options *o) {
    sa_translate_options scoring = *o;
    scoring.mini_batch = 7;
    sa_translation *best, *scored;
    const char *written[TOY_PAIRS];
    expect_status(sa_translate_ensemble(models, n_models, line, TOY_PAIRS, o, &best, &error), SA_OK);
    for (int i = 0; i < TOY_PAIRS; i++)
        written[i] = best[i].hypothesis[0].text;
    expect_status(sa_score_pairs(models, n_models, line, written, TOY_PAIRS, &scoring, &scored, &error), SA_OK);
    for (int i = 0; i < TOY_PAIRS; i++) {
        const sa_hypothesis *a = &best[i].hypothesis[0], *b = &scored[i].hypothesis[0];
        double sum = 0;
        assert_int_equal(scored[i].n, 1);
        assert_int_equal(a->length, b->length);
        assert_int_equal(best[i].source_length, scored[i].source_length);
        assert_string_equal(b->text, written[i]);
        assert_true(fabs(a->score - b->score) < 1e-4);
        assert_true(fabs(a->normalized - b->normalized) < 1e-4);
        for (int k = 0; k < a->length; k++) {
            assert_string_equal(a->symbol[k], b->symbol[k]);
            assert_true(fabs(a->word_score[k] - b->word_score[k]) < 1e-4);
            sum += a->word_score[k];
        }
        assert_true(fabs(sum - a->score) < 1e-9);
        for (int k = 0; o->attention && k < a->length * best[i].source_length; k++)
            assert_true(fabs((double)a->attention[k] - (double)b->attention[k]) < 1e-5);
    }
    sa_translations_free(best, TOY_PAIRS);
    sa_translations_free(scored, TOY_PAIRS);
}

static void the_scorer_gives_what_the_decoder_gave(void **state) {
    (void)state;
    const sa_model *const sets[][2] = {{model, NULL}, {vague, NULL}, {few, NULL}, {blind, NULL}, {model, vague}};
    for (int k = 0; k < 5; k++)
        for (int way = 0; way < 3; way++) {
            sa_translate_options o = usual();
            o.word_scores = true;
            o.attention = k != 3;
            o.normalize = way == 1 ? 0.6f : 1;
            o.length_penalty = way == 2 ? 0.8f : 0;
            o.coverage_penalty = way == 2 && k != 3 ? 0.3f : 0;
            o.symbols = way == 1;
            expect_score(sets[k], sets[k][1] ? 2 : 1, &o);
        }
}

static void empty_sides_have_scores_too(void **state) {
    (void)state;
    const char *const source[] = {"", "the dog", " ", "the dog"}, *const target[] = {"", "", "un cane", "un cane"};
    sa_translate_options o = usual();
    o.word_scores = true;
    sa_translation *t;
    expect_status(sa_score_pairs((const sa_model *const *)&model, 1, source, target, 4, &o, &t, &error), SA_OK);
    const int length[] = {0, 1, 3, 3}, source_length[] = {0, 3, 1, 3};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(t[i].n, 1);
        assert_int_equal(t[i].hypothesis[0].length, length[i]);
        assert_int_equal(t[i].source_length, source_length[i]);
        assert_true(i == 0 ? t[i].hypothesis[0].score == 0 : t[i].hypothesis[0].score < 0);
        assert_false(t[i].too_long);
    }
    sa_translations_free(t, 4);
    o.max_length = 2;
    expect_status(sa_score_pairs((const sa_model *const *)&model, 1, (const char *[]){"the dog", "the"},
                                 (const char *[]){"a", "un cane rosso"}, 2, &o, &t, &error),
                  SA_OK);
    assert_true(!t[0].too_long && t[1].too_long);
    assert_int_equal(t[1].hypothesis[0].length, 3);
    sa_translations_free(t, 2);
}

static void models_with_other_vocabularies_do_not_work_together(void **state) {
    (void)state;
    const sa_model *const models[] = {model, few}, *many[SA_ENSEMBLE_MAX + 1];
    sa_translation *t;
    expect_status(sa_translate_ensemble(models, 2, line, 1, NULL, &t, &error), SA_USAGE);
    assert_null(t);
    assert_non_null(strstr(error.text, "different source vocabularies"));
    assert_non_null(strstr(error.text, "good/best.safetensors"));
    assert_non_null(strstr(error.text, "few/best.safetensors"));
    expect_status(sa_score_pairs(models, 2, line, line, 1, NULL, &t, &error), SA_USAGE);
    for (int i = 0; i <= SA_ENSEMBLE_MAX; i++)
        many[i] = model;
    expect_status(sa_translate_ensemble(many, SA_ENSEMBLE_MAX + 1, line, 1, NULL, &t, &error), SA_USAGE);
    expect_status(sa_translate_ensemble(many, 0, line, 1, NULL, &t, &error), SA_USAGE);
    expect_status(sa_translate_ensemble(many, SA_ENSEMBLE_MAX, line, 1, NULL, &t, &error), SA_OK);
    char source[80], target[80];
    toy_pair(0, source, target);
    assert_string_equal(t[0].hypothesis[0].text, target);
    sa_translations_free(t, 1);
}

static void samples_belong_to_their_lines(void **state) {
    (void)state;
    sa_translate_options o = usual();
    o.sample = true;
    o.n_best = 7; /* more than the beam would have */
    o.temperature = 1.5f;
    o.seed = 5;
    sa_translation *all = translate(vague, line, N, &o), *part;
    for (int first = 0; first < N; first += 5)
        for (int batch = 1; batch <= 8; batch += 7) {
            o.first_line = (uint64_t)first;
            o.mini_batch = batch;
            o.threads = 2;
            part = translate(vague, line + first, 3, &o);
            for (int i = 0; i < 3 && first + i < N; i++) {
                assert_int_equal(part[i].n, 7);
                expect_same(&part[i], &all[first + i]);
            }
            sa_translations_free(part, 3);
        }
    assert_string_not_equal(all[0].hypothesis[0].text, all[0].hypothesis[1].text);
    sa_translations_free(all, N);
}

static void what_a_model_cannot_do_is_refused(void **state) {
    (void)state;
    sa_translation *t;
    sa_translate_options o = usual();
    o.replace_unk = true;
    expect_status(sa_translate(blind, line, 1, &o, &t, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "attention"));
    o = usual();
    o.coverage_penalty = 0.2f;
    expect_status(sa_translate(blind, line, 1, &o, &t, &error), SA_USAGE);
    expect_status(sa_translate_ensemble((const sa_model *const[]){blind, model}, 2, line, 1, &o, &t, &error),
                  SA_OK);
    sa_translations_free(t, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scorer_gives_what_the_decoder_gave),
        cmocka_unit_test(empty_sides_have_scores_too),
        cmocka_unit_test(models_with_other_vocabularies_do_not_work_together),
        cmocka_unit_test(samples_belong_to_their_lines),
        cmocka_unit_test(what_a_model_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
