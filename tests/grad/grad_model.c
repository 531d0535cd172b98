/* The gradient of the whole training pass, for every way to build a model. */
#include "check.h"

#include "../unit/forms.h"
#include "model/loss.h"

#include <stdio.h>

enum { SENTENCES = 5, TAPES_MOST = 3, S_MOST = 5, T_MOST = 4, V_SOURCE = 11, V_TARGET = 13 };

/* Sentence pairs, ids drawn once; a piece is sentences first ... first + n - 1. By length sources and targets have
 * orders of their own, and the first piece of three has a target of one word. */
static int source_words[SENTENCES][S_MOST], target_words[SENTENCES][T_MOST];
static const int source_length[SENTENCES] = {3, 5, 1, 4, 2}, target_length[SENTENCES] = {1, 2, 4, 3, 4};

typedef struct piece {
    int first, n;
} piece;

typedef struct run {
    model net;
    regularisation rates;
    tape *tapes[TAPES_MOST];
    gemm *workers[TAPES_MOST];
    piece pieces[TAPES_MOST];
    int n;
    pool *team;
} run;

static const double scale = 0.5;

/* Sentences dealt out to n tapes, in order. */
static void deal(run *r, int n) {
    r->n = n;
    for (int i = 0; i < n; i++) {
        int first = SENTENCES * i / n, behind = SENTENCES * (i + 1) / n;
        r->pieces[i] = (piece){first, behind - first};
        r->tapes[i]->seed = 5;
        r->tapes[i]->update = 8;
        r->tapes[i]->first_sentence = first;
    }
}

/* Every second word ought to look at the first and the last position of its source, others are not guided. first:
 * number of the first sentence. */
static void guide(tape *t, target_batch *target, const sentence *source, int first) {
    const steps *s = &target->steps;
    int rows = s->at[s->T], made = 0;
    int *at = tape_bytes(t, ((size_t)rows + 1) * sizeof *at),
        *column = tape_bytes(t, 2 * (size_t)rows * sizeof *at);
    assert_true(at && column);
    for (int j = 0; j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++) {
            int number = target->number[i];
            at[s->at[j] + i] = made;
            if ((first + number + j) % 2 == 0)
                continue;
            column[made++] = 0;
            column[made++] = source[number].length - 1;
        }
    at[rows] = made;
    target->guide = (guide_rows){at, column};
}

static void pass(const run *r, tape *t, piece p, pass_result *result) {
    sentence source_of[SENTENCES], target_of[SENTENCES];
    source_batch source;
    target_batch target;
    for (int i = 0; i < p.n; i++) {
        source_of[i] = (sentence){source_words[p.first + i], source_length[p.first + i]};
        target_of[i] = (sentence){target_words[p.first + i], target_length[p.first + i]};
    }
    assert_true(source_batch_make(t, p.n, source_of, &source));
    assert_true(target_batch_make(t, p.n, target_of, &source, &target));
    if (r->rates.guide > 0 && r->net.preset->attends)
        guide(t, &target, source_of, p.first);
    assert_true(model_pass(&r->net, t, &source, &target, &r->rates, scale, result));
}

static double loss(run *r, bool recording) {
    double sum = 0;
    for (int i = 0; i < r->n; i++) {
        pass_result result = {0};
        tape_reset(r->tapes[i], recording);
        pass(r, r->tapes[i], r->pieces[i], &result);
        sum += result.sums.loss;
    }
    return scale * sum;
}

static void differentiate(run *r) {
    loss(r, true);
    for (int i = 0; i < r->n; i++) {
        tape_backward(r->tapes[i]);
        assert_false(r->tapes[i]->failed);
    }
    assert_int_equal(params_collect(&r->net.params, r->tapes, r->n, false, r->workers, r->team, NULL), SA_OK);
}

static void begin(run *r, const sa_model_config *config) {
    sa_error e;
    rng random = rng_at(11, 0, 0, 0);
    *r = (run){0};
    if (model_declare(&r->net, config, &e) != SA_OK)
        fail_msg("%s", e.text);
    params *p = &r->net.params;
    assert_int_equal(params_allocate(p, true, &e), SA_OK);
    for (int i = 0; i < p->n; i++)
        for (long k = 0; k < param_count(p->at[i]); k++)
            p->at[i]->value[k] = 1.2 * rng_uniform(&random) - 0.6;
    assert_int_equal(pool_new(&r->team, 2, NULL, &e), SA_OK);
    for (int i = 0; i < TAPES_MOST; i++) {
        assert_int_equal(tape_new(&r->tapes[i], p->n, 1 << 16, &e), SA_OK);
        r->workers[i] = r->tapes[i]->gemm;
    }
    assert_int_equal(params_pack(p, r->workers, r->team, &e), SA_OK);
    for (int i = 0; i < SENTENCES; i++) {
        for (int j = 0; j < S_MOST; j++)
            source_words[i][j] = j + 1 == source_length[i] ? 0 : (int)rng_below(&random, V_SOURCE);
        for (int j = 0; j < T_MOST; j++)
            target_words[i][j] = j + 1 == target_length[i] ? 0 : (int)rng_below(&random, V_TARGET);
    }
}

static void end(run *r) {
    for (int i = 0; i < TAPES_MOST; i++)
        tape_free(r->tapes[i]);
    pool_free(r->team);
    model_clear(&r->net);
}

/* A pass without recording has no dropout. */
static double slope_at(run *r, real *value, double step, double *above) {
    bool recording = r->rates.dropout > 0;
    real kept = *value;
    *value = kept + step;
    *above = loss(r, recording);
    *value = kept - step;
    double below = loss(r, recording);
    *value = kept;
    return (*above - below) / (2 * step);
}

/* Every number of every parameter, with the sentences on n tapes. Where a corner of a rectifier or maxout lies
 * between the two points, nearer ones must agree, if not as closely. */
static void compare_with_slopes(run *r, const char *name, int n) {
    deal(r, n);
    differentiate(r);
    for (int i = 0; i < r->net.params.n; i++) {
        param *p = r->net.params.at[i];
        char where[256];
        snprintf(where, sizeof where, "%s, %d tapes: %s", name, n, p->name);
        for (long k = 0; k < param_count(p); k++) {
            double above, slope = slope_at(r, &p->value[k], CHECK_STEP, &above);
            if (slope_agrees(p->grad[k], slope, above, CHECK_TOLERANCE))
                continue;
            double nearer = slope_at(r, &p->value[k], CHECK_STEP / 32, &above);
            if (!slope_agrees(p->grad[k], nearer, above, 32 * CHECK_TOLERANCE))
                check_slope(where, k, p->grad[k], slope, above);
        }
    }
}

static void compare_tapes(run *r, const char *name) {
    long count = r->net.params.count;
    real *whole = malloc((size_t)count * sizeof *whole);
    assert_non_null(whole);
    deal(r, 1);
    double expected = loss(r, true);
    differentiate(r);
    memcpy(whole, r->net.params.grads, (size_t)count * sizeof *whole);
    for (int n = 2; n <= TAPES_MOST; n++) {
        deal(r, n);
        assert_true(fabs(loss(r, true) - expected) < 1e-12);
        differentiate(r);
        for (long k = 0; k < count; k++)
            if (!(fabs(r->net.params.grads[k] - whole[k]) < 1e-13))
                fail_msg("%s: number %ld differs between 1 and %d tapes", name, k, n);
    }
    free(whole);
}

static void check_every_model(regularisation rates) {
    static const form_widths widths = {.vocab_source = V_SOURCE,
                                       .vocab_target = V_TARGET,
                                       .emb = 5,
                                       .rnn = 4,
                                       .dec = 6,
                                       .att = 3,
                                       .maxout = 4,
                                       .rank = 3,
                                       .model = 6,
                                       .ffn = 7};
    for (int i = 0; i < MODEL_FORMS; i++) {
        char name[160];
        form_name(&model_forms[i], name, sizeof name);
        sa_model_config config = form_config(&model_forms[i], &widths);
        run r;
        begin(&r, &config);
        r.rates = rates;
        compare_with_slopes(&r, name, 1 + i % TAPES_MOST);
        compare_tapes(&r, name);
        end(&r);
    }
}

static void gradients_match_for_every_model(void **state) {
    (void)state;
    check_every_model((regularisation){0});
}

static void gradients_match_with_dropout_and_label_smoothing(void **state) {
    (void)state;
    check_every_model((regularisation){
        .dropout = 0.3f, .dropout_emb = 0.2f, .dropout_src = 0.3f, .dropout_trg = 0.4f, .label_smoothing = 0.1f});
}

static void gradients_match_with_guided_attention(void **state) {
    (void)state;
    check_every_model((regularisation){.guide = 0.7f});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_every_model),
        cmocka_unit_test(gradients_match_with_guided_attention),
        cmocka_unit_test(gradients_match_with_dropout_and_label_smoothing),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
