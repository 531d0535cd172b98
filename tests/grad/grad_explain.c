/* What explanations differentiate, against central differences, for every model that attends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/forced_pair.h"
#include "explain/importance.h"

#include <math.h>

static const double STEP = 1e-5;
static const regularisation none;

/* log p of all words, with the weights of all steps held where forced_begin found them. */
static void score(fixture *x, double log_p[T]) {
    tape *t = x->t;
    const sentence from = {source_ids, S}, to = {target_ids, T};
    source_batch source;
    target_batch target;
    encoding h;
    step_words words;
    decoder_state state, after;
    step_output shown;
    forced_rewind(&x->f, false);
    tensor *given = tape_matrix(t, T, S);
    assert_non_null(given);
    memcpy(given->data, x->f.weights, sizeof(real) * T * S);
    const attention_control held = {.given = given};
    t->attention = &held;
    assert_true(source_batch_make(t, 1, &from, &source) && target_batch_make(t, 1, &to, &source, &target) &&
                model_encode(&x->net, t, &source, &none, &h) &&
                model_target_words(&x->net, t, &target, &none, &words) &&
                model_start(&x->net, t, &h, 1, target.source, &state) &&
                model_steps(&x->net, t, &h, &words, &none, &state, &after, &shown));
    t->attention = NULL;
    assert_true(output_visit(&x->net, t, model_readout(&x->net, t, &shown, &none, NULL), read_forced_log, log_p));
}

/* x_j (1 + by): every source word stands once. */
static void stretch(fixture *x, int j, double by, const real *embedded) {
    real *row = x->net.source_embedding->value + source_ids[j] * x->net.config.dim_emb;
    for (int k = 0; k < x->net.config.dim_emb; k++)
        row[k] += by * embedded[k];
}

static void gradient_times_input_is_the_slope_of_log_p(void **state) {
    (void)state;
    int tried = 0;
    for (int form = 0; form < MODEL_FORMS; form++) {
        fixture x;
        float got[T * S];
        double slope[T][S], above[T], below[T];
        real embedded[S][FEW_WIDEST];
        char name[160];
        if (!begin_with(&x, &model_forms[form], &few_widths, 0.6, false))
            continue;
        form_name(&model_forms[form], name, sizeof name);
        for (int j = 0; j < S; j++)
            memcpy(embedded[j], x.f.h.x->data + (long)j * x.net.config.dim_emb,
                   (size_t)x.net.config.dim_emb * sizeof(real));
        assert_true(importance_gradient(&x.f, got));
        for (int j = 0; j < S; j++) {
            stretch(&x, j, STEP, embedded[j]);
            score(&x, above);
            stretch(&x, j, -2 * STEP, embedded[j]);
            score(&x, below);
            stretch(&x, j, STEP, embedded[j]);
            for (int i = 0; i < T; i++)
                slope[i][j] = fabs(above[i] - below[i]) / (2 * STEP);
        }
        for (int i = 0; i < T; i++) {
            double sum = 0;
            for (int j = 0; j < S; j++)
                sum += slope[i][j];
            double allowed =
                1e-6 + 1e-15 / STEP / sum; /* a unit that normalises what x_j gives sees no stretching */
            for (int j = 0; j < S; j++, tried++)
                if (!(fabs((double)got[i * S + j] - slope[i][j] / sum) < allowed))
                    fail_msg("%s: word %d from %d: %g, not %g", name, i, j, (double)got[i * S + j],
                             slope[i][j] / sum);
        }
        end(&x);
    }
    assert_true(tried > 0);
}

static void differentiate_log(void *user, int row, real *p) {
    (void)row;
    int y = *(const int *)user;
    for (int k = 0; k < FEW_SYMBOLS; k++)
        p[k] = -p[k];
    p[y] += 1;
}

static void read_one_log(void *user, int row, real *p) {
    double *at = user;
    (void)row;
    *at = log(p[(int)*at]);
}

static double log_p_with(fixture *x, int i, const real *weights) {
    double at = target_ids[i];
    forced_rewind(&x->f, false);
    tensor *given = tape_matrix(x->t, 1, S);
    memcpy(given->data, weights, sizeof(real) * S);
    assert_true(output_visit(&x->net, x->t, forced_again(&x->f, 1, &i, given, NULL), read_one_log, &at));
    return at;
}

static void given_weights_get_their_gradient(void **state) {
    (void)state;
    for (int form = 0; form < MODEL_FORMS; form++) {
        fixture x;
        if (!begin_with(&x, &model_forms[form], &few_widths, 0.6, false))
            continue;
        for (int i = 0; i < T; i++) {
            int y = target_ids[i];
            real weights[S], got[S];
            memcpy(weights, x.f.weights + i * S, sizeof weights);
            forced_rewind(&x.f, true);
            tensor *given = tape_matrix(x.t, 1, S);
            memcpy(given->data, weights, sizeof weights);
            assert_true(output_visit(&x.net, x.t, forced_again(&x.f, 1, &i, given, NULL), differentiate_log, &y));
            tape_backward(x.t);
            assert_true(!x.t->failed && tensor_has_grad(given));
            memcpy(got, given->grad, sizeof got);
            for (int j = 0; j < S; j++) {
                weights[j] += STEP;
                double above = log_p_with(&x, i, weights);
                weights[j] -= 2 * STEP;
                double below = log_p_with(&x, i, weights);
                weights[j] += STEP;
                if (!(fabs(got[j] - (above - below) / (2 * STEP)) < 1e-7))
                    fail_msg("form %d, word %d, weight %d: %g, not %g", form, i, j, got[j],
                             (above - below) / (2 * STEP));
            }
        }
        end(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_times_input_is_the_slope_of_log_p),
        cmocka_unit_test(given_weights_get_their_gradient),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
