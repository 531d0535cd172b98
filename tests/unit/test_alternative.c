/* Steps made again with other weights, and the measures of importance, on small random models of every form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/alternative.h"
#include "explain/distance.h"
#include "explain/importance.h"
#include "forced_pair.h"

#include <math.h>

enum { V = 23 };

static bool begin(fixture *x, const model_form *form, double scale) {
    static const form_widths widths = {.vocab_source = V,
                                       .vocab_target = V,
                                       .emb = 8,
                                       .rnn = 8,
                                       .dec = 10,
                                       .att = 6,
                                       .maxout = 8,
                                       .rank = 8,
                                       .model = 6,
                                       .ffn = 4};
    return begin_with(x, form, &widths, scale, false);
}

static void keep_row(void *user, int row, real *p) {
    memcpy((real *)user + (long)row * V, p, V * sizeof *p);
}

static void steps_made_again_with_their_own_weights_are_the_same(void **state) {
    (void)state;
    for (int form = 0; form < MODEL_FORMS; form++) {
        fixture x;
        real p[T * V];
        const int first[] = {0}, others[] = {3, 1, 2};
        if (!begin(&x, &model_forms[form], 1.2))
            continue;
        forced_rewind(&x.f, false);
        tensor *one = tape_matrix(x.t, 1, S), *more = tape_matrix(x.t, 3, S);
        memcpy(one->data, x.f.weights, S * sizeof(real));
        for (int r = 0; r < 3; r++)
            memcpy(more->data + r * S, x.f.weights + others[r] * S, S * sizeof(real));
        assert_true(output_visit(&x.net, x.t, forced_again(&x.f, 1, first, one, NULL), keep_row, p));
        assert_true(output_visit(&x.net, x.t, forced_again(&x.f, 3, others, more, NULL), keep_row, p + V));
        assert_true(distance_tv(p, x.f.p, V) < 1e-6);
        for (int r = 0; r < 3; r++)
            if (!(distance_tv(p + (1 + r) * V, x.f.p + others[r] * V, V) < 1e-6))
                fail_msg("form %d: step %d differs by %g", form, others[r],
                         distance_tv(p + (1 + r) * V, x.f.p + others[r] * V, V));
        end(&x);
    }
}

static void leave_one_out_is_what_removing_the_word_does(void **state) {
    (void)state;
    for (int form = 0; form < MODEL_FORMS; form++) {
        fixture x, y;
        float got[T * S];
        if (!begin(&x, &model_forms[form], 1.2))
            continue;
        begin(&y, &model_forms[form], 1.2);
        assert_true(importance_leave_one_out(&x.f, got));
        for (int j = 0; j < S - 1; j++) {
            int shorter[S - 1], n = 0;
            for (int k = 0; k < S; k++)
                if (k != j)
                    shorter[n++] = source_ids[k];
            assert_true(forced_begin(&y.f, &y.net, y.t, (sentence){shorter, n}, (sentence){target_ids, T}));
            for (int i = 0; i < T; i++)
                assert_true(fabs(distance_tv(y.f.p + i * V, x.f.p + i * V, V) - (double)got[i * S + j]) < 1e-5);
        }
        for (int i = 0; i < T; i++)
            assert_true(isnan(got[i * S + S - 1]));
        end(&x);
        end(&y);
    }
}

static void carried_is_attention_times_the_norm_of_annotations(void **state) {
    (void)state;
    fixture x;
    float got[T * S];
    begin(&x, &model_forms[0], 1.2);
    importance_carried(&x.f, got);
    int D = tensor_cols(x.f.h.h.values);
    for (int i = 0; i < T; i++)
        for (int j = 0; j < S; j++) {
            double sum = 0;
            for (int k = 0; k < D; k++)
                sum += pow((double)x.f.h.h.values->data[j * D + k], 2);
            assert_true(fabs((double)got[i * S + j] - (double)x.f.weights[i * S + j] * sqrt(sum)) < 1e-6);
        }
    end(&x);
}

/* TVD of step i with other weights. */
static double tvd_with(fixture *x, int i, const float *weights) {
    real p[V];
    forced_rewind(&x->f, false);
    tensor *given = tape_matrix(x->t, 1, S);
    memcpy(given->data, weights, S * sizeof(real));
    assert_true(output_visit(&x->net, x->t, forced_again(&x->f, 1, &i, given, NULL), keep_row, p));
    return distance_tv(p, x->f.p + i * V, V);
}

static void next_order(int order[S - 1]) {
    int i = S - 3, j = S - 2;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return;
    while (order[j] < order[i])
        j--;
    int kept = order[i];
    order[i] = order[j];
    order[j] = kept;
    for (int a = i + 1, b = S - 2; a < b; a++, b--) {
        kept = order[a];
        order[a] = order[b];
        order[b] = kept;
    }
}

/* The largest JSD of all 24 orders of the words' weights with a TVD of at most epsilon, and the median of TVDs is
 * not beyond the largest. */
static double best_permutation(fixture *x, int i, double epsilon, double *least, double *most) {
    int order[S - 1] = {0, 1, 2, 3};
    double best = 0;
    *least = 1, *most = 0;
    for (int k = 0; k < 24; k++, next_order(order)) {
        float weights[S];
        for (int j = 0; j < S - 1; j++)
            weights[j] = x->f.weights[i * S + order[j]];
        weights[S - 1] = x->f.weights[i * S + S - 1];
        double tvd = tvd_with(x, i, weights), jsd = distance_js(weights, x->f.weights + i * S, S);
        *least = fmin(*least, tvd);
        *most = fmax(*most, tvd);
        if (tvd <= epsilon)
            best = fmax(best, jsd);
    }
    return best;
}

static void adversaries_keep_within_epsilon_and_beat_permutations(void **state) {
    (void)state;
    static const struct {
        int form;
        bool whole; /* all words are looked at, so that all of their weights change places */
    } tried[] = {{0, true}, {1, true}, {18, true}, {25, true}, {21, false}, {22, false}};
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        fixture x;
        double permuted[T], jsd[T], tvd[T];
        float adversary[T * S];
        begin(&x, &model_forms[tried[k].form], 0.6);
        const alternative_options o = {
            .permutations = 200, .adversaries = 3, .steps = 60, .epsilon = 0.05, .seed = 3, .line = 7};
        const alternative_result found = {permuted, jsd, tvd, adversary};
        assert_true(alternative_find(&x.f, &o, &found));
        double gained = 0;
        for (int i = 0; i < T; i++) {
            const float *a = adversary + i * S;
            double least, most, sum = 0, was = 0;
            assert_true(tvd[i] <= o.epsilon && fabs(tvd_with(&x, i, a) - tvd[i]) < 1e-6);
            assert_true(fabs(distance_js(a, x.f.weights + i * S, S) - jsd[i]) < 1e-9);
            for (int j = 0; j < S; j++) {
                sum += (double)a[j];
                was += (double)x.f.weights[i * S + j];
                assert_true(a[j] >= 0 && (x.f.weights[i * S + j] > 0 || a[j] <= 0));
            }
            assert_true(fabs(sum - was) < 1e-5 && fabsf(a[S - 1] - x.f.weights[i * S + S - 1]) <= 0);
            double best = best_permutation(&x, i, o.epsilon, &least, &most);
            if (tried[k].whole) {
                assert_true(jsd[i] >= best - 1e-6);
                assert_true(permuted[i] >= least - 1e-6 && permuted[i] <= most + 1e-6);
                gained += jsd[i] - best;
            }
        }
        assert_true(!tried[k].whole || gained > 0); /* the search finds more than permutations do */
        end(&x);
    }
}

static void distances_have_their_bounds(void **state) {
    (void)state;
    const real a[] = {1, 0}, b[] = {0, 1}, c[] = {0.5f, 0.5f};
    assert_true(fabs(distance_js(a, b, 2) - log(2)) < 1e-12 && distance_js(c, c, 2) <= 0);
    /* KL(a || m) = log(4/3), KL(c || m) = log(2/3) / 2 + log(2) / 2, m = (3/4, 1/4) */
    assert_true(fabs(distance_js(a, c, 2) - (log(4.0 / 3) + log(2.0 / 3) / 2 + log(2) / 2) / 2) < 1e-7);
    assert_true(fabs(distance_tv(a, b, 2) - 1) < 1e-12 && fabs(distance_tv(a, c, 2) - 0.5) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_made_again_with_their_own_weights_are_the_same),
        cmocka_unit_test(leave_one_out_is_what_removing_the_word_does),
        cmocka_unit_test(carried_is_attention_times_the_norm_of_annotations),
        cmocka_unit_test(adversaries_keep_within_epsilon_and_beat_permutations),
        cmocka_unit_test(distances_have_their_bounds),
    };
    return cmocka_run_group_tests_name("alternative", tests, NULL, NULL);
}
