/* How far words and annotations reach, against central differences, for every model that looks at most once a step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/forced_pair.h"
#include "explain/influence.h"
#include "op/linear.h"

#include <math.h>

enum { WIDTH_MOST = 8 };
static const double STEP = 1e-5;
static const regularisation none;

/* Encodes, adds `by` to number k of annotation j (j < 0: to none), and gives log p of all words. */
static void score(fixture *x, int j, int k, double by, double log_p[T]) {
    tape *t = x->t;
    const sentence from = {source_ids, S}, to = {target_ids, T};
    source_batch source;
    target_batch target;
    encoding h;
    step_words words;
    decoder_state state, after;
    step_output shown;
    forced_rewind(&x->f, false);
    assert_true(source_batch_make(t, 1, &from, &source) && target_batch_make(t, 1, &to, &source, &target) &&
                model_encode(&x->net, t, &source, &none, &h));
    if (j >= 0) {
        h.h.values->data[j * tensor_cols(h.h.values) + k] += by;
        h.h.keys = linear(t, h.h.values, params_find(&x->net.params, "attention.U_a"), NULL);
    }
    assert_true(model_target_words(&x->net, t, &target, &none, &words) &&
                model_start(&x->net, t, &h, 1, target.source, &state) &&
                model_steps(&x->net, t, &h, &words, &none, &state, &after, &shown));
    assert_true(output_visit(&x->net, t, model_readout(&x->net, t, &shown, &none, NULL), read_forced_log, log_p));
}

/* Number k of the embedded word j: every source word stands once. */
static void move(fixture *x, int j, int k, double by) {
    x->net.source_embedding->value[source_ids[j] * x->net.config.dim_emb + k] += by;
}

static void expect(const model_form *form, const char *what, int i, int j, double got, double wanted) {
    char name[160];
    form_name(form, name, sizeof name);
    if (!(fabs(got - wanted) < 1e-6 * (1 + wanted)))
        fail_msg("%s: %s of %d from %d: %g, not %g", name, what, i, j, got, wanted);
}

static void words_reach_the_output_as_far_as_differences_say(void **state) {
    (void)state;
    int tried = 0;
    for (int form = 0; form < MODEL_FORMS; form++) {
        fixture x;
        float got[T * S];
        double square[T][S] = {0}, above[T], below[T];
        if (!begin_with(&x, &model_forms[form], &few_widths, 0.6, true))
            continue;
        assert_true(influence_on_output(&x.f, got, NULL));
        for (int j = 0; j < S; j++)
            for (int k = 0; k < x.net.config.dim_emb; k++) {
                move(&x, j, k, STEP);
                score(&x, -1, 0, 0, above);
                move(&x, j, k, -2 * STEP);
                score(&x, -1, 0, 0, below);
                move(&x, j, k, STEP);
                for (int i = 0; i < T; i++)
                    square[i][j] += pow((above[i] - below[i]) / (2 * STEP), 2);
            }
        for (int i = 0; i < T; i++)
            for (int j = 0; j < S; j++, tried++)
                expect(&model_forms[form], "word", i, j, (double)got[i * S + j], sqrt(square[i][j]));
        end(&x);
    }
    assert_true(tried > 0);
}

static void annotations_reach_the_output_as_far_as_differences_say(void **state) {
    (void)state;
    for (int form = 0; form < 4; form++) { /* rnnsearch in both orders, whose keys are U_a h alone */
        fixture x;
        float words[T * S], got[T * S];
        double above[T], below[T];
        assert_true(begin_with(&x, &model_forms[form], &few_widths, 0.6, true));
        assert_true(influence_on_output(&x.f, words, got));
        for (int j = 0; j < S; j++) {
            double square[T] = {0};
            for (int k = 0; k < 2 * x.net.config.dim_rnn; k++) {
                score(&x, j, k, STEP, above);
                score(&x, j, k, -STEP, below);
                for (int i = 0; i < T; i++)
                    square[i] += pow((above[i] - below[i]) / (2 * STEP), 2);
            }
            for (int i = 0; i < T; i++)
                expect(&model_forms[form], "annotation", i, j, (double)got[i * S + j], sqrt(square[i]));
        }
        end(&x);
    }
}

/* What the encoder leaves at position j; returns how wide it is. */
static int annotation(fixture *x, int j, real *out) {
    const sentence from = {source_ids, S};
    source_batch source;
    encoding h;
    forced_rewind(&x->f, false);
    assert_true(source_batch_make(x->t, 1, &from, &source) && model_encode(&x->net, x->t, &source, &none, &h));
    const tensor *at = h.h.values ? h.h.values : h.states;
    int D = tensor_cols(at);
    assert_true(D <= WIDTH_MOST);
    memcpy(out, at->data + j * D, (size_t)D * sizeof *out);
    return D;
}

static void an_annotation_listens_as_far_as_differences_say(void **state) {
    (void)state;
    int tried = 0;
    for (int form = 0; form < MODEL_FORMS; form++) {
        fixture x;
        float got[S * S];
        if (!begin_with(&x, &model_forms[form], &few_widths, 0.6, true))
            continue;
        assert_true(influence_has_positions(&x.f) && influence_within_source(&x.f, got));
        for (int j = 0; j < S; j++) {
            double norm[S], sum = 0;
            for (int w = 0; w < S; w++) {
                real above[WIDTH_MOST], below[WIDTH_MOST];
                norm[w] = 0;
                for (int k = 0; k < x.net.config.dim_emb; k++) {
                    move(&x, w, k, STEP);
                    int D = annotation(&x, j, above);
                    move(&x, w, k, -2 * STEP);
                    annotation(&x, j, below);
                    move(&x, w, k, STEP);
                    for (int d = 0; d < D; d++)
                        norm[w] += pow((above[d] - below[d]) / (2 * STEP), 2);
                }
                norm[w] = sqrt(norm[w]);
                sum += norm[w];
            }
            for (int w = 0; w < S; w++, tried++)
                expect(&model_forms[form], "annotation and word", j, w, (double)got[j * S + w], norm[w] / sum);
        }
        end(&x);
    }
    assert_true(tried > 0);
}

/* 32 numbers and 16 probes: within a third of the exact norm. */
static void a_wide_annotation_is_estimated(void **state) {
    (void)state;
    static const form_widths wide = {.vocab_source = FEW_SYMBOLS,
                                     .vocab_target = FEW_SYMBOLS,
                                     .emb = 5,
                                     .rnn = 16,
                                     .dec = 6,
                                     .att = 3,
                                     .maxout = 4};
    fixture x;
    float got[S * S];
    assert_true(begin_with(&x, &model_forms[0], &wide, 0.6, false));
    assert_true(influence_within_source(&x.f, got));
    double exact = 0, other = 0;
    const int j = 2, k = 1; /* how much more annotation j listens to its own word than to the one before */
    for (int w = k; w <= j; w++) {
        double square = 0;
        for (int m = 0; m < x.net.config.dim_emb; m++) {
            real at[2][32];
            for (int side = 0; side < 2; side++) {
                move(&x, w, m, side ? -STEP : STEP);
                const sentence from = {source_ids, S};
                source_batch source;
                encoding h;
                forced_rewind(&x.f, false);
                assert_true(source_batch_make(x.t, 1, &from, &source) &&
                            model_encode(&x.net, x.t, &source, &none, &h));
                memcpy(at[side], h.h.values->data + j * 32, sizeof at[side]);
                move(&x, w, m, side ? STEP : -STEP);
            }
            for (int d = 0; d < 32; d++)
                square += pow((at[0][d] - at[1][d]) / (2 * STEP), 2);
        }
        *(w == j ? &exact : &other) = sqrt(square);
    }
    double ratio = (double)got[j * S + j] / (double)got[j * S + k] / (exact / other);
    if (!(ratio > 0.75 && ratio < 1.33))
        fail_msg("the estimated ratio is %g times the exact one", ratio);
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_reach_the_output_as_far_as_differences_say),
        cmocka_unit_test(annotations_reach_the_output_as_far_as_differences_say),
        cmocka_unit_test(an_annotation_listens_as_far_as_differences_say),
        cmocka_unit_test(a_wide_annotation_is_estimated),
    };
    return cmocka_run_group_tests_name("influence", tests, NULL, NULL);
}
