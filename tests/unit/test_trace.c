/* sa_trace_make: what it shows is what the model computed, and goes together as the equations say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

#include <jansson.h>
#include <softalign/trace.h>

static const char source[] = "the red dog sees a cat today", target[] = "oggi vede il cane rosso un gatto";

static sa_trace *trace(const sa_model *m, const char *to, const sa_trace_options *o) {
    sa_trace *t = NULL;
    expect_status(sa_trace_make(&t, m, source, to, o, &error), SA_OK);
    assert_non_null(t);
    return t;
}

static sa_trace_options of_step(int step) {
    sa_trace_options o;
    sa_trace_options_init(&o);
    o.step = step;
    return o;
}

static void expect_near(const char *what, double got, double wanted) {
    if (!(fabs(got - wanted) < 1e-5 * (1 + fabs(wanted))))
        fail_msg("%s: %.9g, not %.9g", what, got, wanted);
}

static void weights_and_scores_are_those_of_the_alignment(void **state) {
    (void)state;
    const char *const from = source, *const to = target;
    const sa_model *const models[] = {model};
    sa_translate_options o = usual();
    sa_translation *scored;
    sa_alignment alignment;
    const sa_alignment_options words = {0};
    o.attention = o.word_scores = true;
    expect_status(sa_score_pairs(models, 1, &from, &to, 1, &o, &scored, &error), SA_OK);
    expect_status(sa_alignment_make(&alignment, scored, 0, source, &words, &error), SA_OK);
    sa_trace *t = trace(model, target, NULL);
    assert_int_equal(t->source_length, alignment.source_length);
    assert_int_equal(t->target_length, alignment.target_length);
    assert_int_equal(t->n_words, 7);
    assert_string_equal(t->source_word[2], "dog");
    assert_string_equal(t->source_symbol[7], "</s>");
    assert_true(t->word_of_symbol[2] == 2 && t->word_of_symbol[7] == -1);
    assert_string_equal(t->target, target);
    for (int i = 0; i < t->target_length; i++) {
        assert_string_equal(t->target_symbol[i], scored->hypothesis[0].symbol[i]);
        expect_near("log p", t->log_p[i], scored->hypothesis[0].word_score[i]);
    }
    for (int k = 0; k < t->source_length * t->target_length; k++)
        expect_near("weight", (double)t->weights[k], (double)alignment.weights[k]);
    sa_trace_free(t);
    sa_alignment_free(&alignment);
    sa_translations_free(scored, 1);
}

static void a_target_that_is_not_given_is_the_best_translation(void **state) {
    (void)state;
    const char *const from = source;
    sa_translate_options o = usual();
    sa_translation *best = translate(model, &from, 1, &o);
    sa_trace *t = trace(model, NULL, NULL);
    assert_string_equal(t->target, best->hypothesis[0].text);
    assert_int_equal(t->target_length, best->hypothesis[0].length);
    sa_trace_free(t);
    sa_translations_free(best, 1);
}

/* e_j = v_a . tanh(W_a s + U_a h_j), a = softmax(e), c = sum_j a_j h_j */
static void parts_of_a_step_go_together(void **state) {
    (void)state;
    sa_trace_options o = of_step(3);
    sa_trace *t = trace(model, target, &o);
    const sa_trace_step *s = t->step;
    int S = t->source_length, A = s->dim_att, D = s->dim_context;
    double total = 0;
    assert_true(A == 24 && D == 64 && D == t->dim_annotation && s->dim_state == 32 && s->step == 3);
    for (int j = 0; j < S; j++)
        total += exp((double)s->energy[j]);
    for (int j = 0; j < S; j++) {
        double e = 0;
        for (int k = 0; k < A; k++) {
            expect_near("sum", (double)s->sum[j * A + k], (double)s->query[k] + (double)s->keys[j * A + k]);
            expect_near("tanh", (double)s->squashed[j * A + k], tanh((double)s->sum[j * A + k]));
            e += (double)s->v_a[k] * (double)s->squashed[j * A + k];
        }
        expect_near("energy", (double)s->energy[j], e);
        expect_near("weight", (double)s->weights[j], exp((double)s->energy[j]) / total);
        expect_near("weight", (double)t->weights[3 * S + j], (double)s->weights[j]);
        expect_near("energy", (double)t->energies[3 * S + j], (double)s->energy[j]);
    }
    for (int d = 0; d < D; d++) {
        double c = 0;
        for (int j = 0; j < S; j++)
            c += (double)s->weights[j] * (double)t->annotations[j * D + d];
        expect_near("context", (double)s->context[d], c);
    }
    for (int k = 0; k < s->dim_readout; k++)
        expect_near("maxout", (double)s->readout[k],
                    fmax((double)s->before_maxout[2 * k], (double)s->before_maxout[2 * k + 1]));
    sa_trace_free(t);
}

/* h' = (1 - z) h + z h~, and an annotation is [h->; h<-]. */
static void units_of_the_encoder_make_the_annotations(void **state) {
    (void)state;
    sa_trace *t = trace(model, target, NULL);
    int S = t->source_length, D = t->dim_annotation;
    assert_int_equal(t->n_units, 2);
    for (int way = 0; way < 2; way++) {
        const sa_trace_unit *u = &t->unit[way];
        int n = u->width;
        assert_string_equal(u->name, way ? "encoder.backward" : "encoder.forward");
        assert_true(u->n == S && 2 * n == D);
        for (int j = 0; j < S; j++)
            for (int k = 0; k < n; k++) {
                int before = way ? j + 1 : j - 1, at = j * n + k;
                double h = before >= 0 && before < S ? (double)u->state[before * n + k] : 0,
                       z = (double)u->update[at];
                assert_true(z > 0 && z < 1 && u->reset[at] > 0 && u->reset[at] < 1);
                expect_near("state", (double)u->state[at], (1 - z) * h + z * (double)u->candidate[at]);
                assert_true(u->state[at] == t->annotations[j * D + way * n + k]);
            }
    }
    sa_trace_free(t);
}

/* Look-first holds its state in the first step, and shows s_0; later the unit's new state is the one that is read.
 */
static void the_decoder_starts_where_it_says(void **state) {
    (void)state;
    sa_trace_options first = of_step(0), second = of_step(1);
    sa_trace *t = trace(model, target, &first), *u = trace(model, target, &second);
    assert_true(t->step->n_units == 0 && u->step->n_units == 1);
    assert_string_equal(u->step->unit[0].name, "decoder.gru");
    assert_int_equal(t->dim_start, t->step->dim_state);
    assert_memory_equal(t->start, t->step->state, (size_t)t->dim_start * sizeof(float));
    assert_memory_equal(u->step->unit[0].state, u->step->state, (size_t)t->dim_start * sizeof(float));
    for (int k = 0; k < t->dim_start; k++) {
        double z = (double)u->step->unit[0].update[k];
        expect_near("state", (double)u->step->state[k],
                    (1 - z) * (double)t->start[k] + z * (double)u->step->unit[0].candidate[k]);
    }
    sa_trace_free(t);
    sa_trace_free(u);
}

static void next_words_are_the_likeliest(void **state) {
    (void)state;
    sa_trace_options o = of_step(3);
    o.next = 100000; /* all there are */
    sa_trace *t = trace(model, target, &o);
    const sa_trace_step *s = t->step;
    double sum = 0;
    int found = -1;
    assert_int_equal(s->n_next, sa_model_vocab_size(model, SA_TARGET));
    assert_null(s->next_original);
    for (int k = 0; k < s->n_next; k++) {
        assert_true(k == 0 || s->next[k].p <= s->next[k - 1].p);
        sum += s->next[k].p;
        found = strcmp(s->next[k].symbol, t->target_symbol[3]) == 0 ? k : found;
    }
    expect_near("all words together", sum, 1);
    assert_true(found >= 0);
    expect_near("log p of the word that was written", log(s->next[found].p), t->log_p[3]);
    sa_trace_free(t);
}

static void own_weights_given_change_nothing_and_others_do(void **state) {
    (void)state;
    sa_trace_options o = of_step(3);
    sa_trace *t = trace(model, target, &o);
    float elsewhere[8] = {0};
    o.n_weights = t->source_length;
    o.weights = t->step->weights;
    sa_trace *same = trace(model, target, &o);
    for (int k = 0; k < 10; k++) {
        assert_string_equal(same->step->next[k].symbol, t->step->next[k].symbol);
        assert_string_equal(same->step->next_original[k].symbol, t->step->next[k].symbol);
        expect_near("p", same->step->next[k].p, t->step->next[k].p);
        expect_near("p", same->step->next_original[k].p, t->step->next[k].p);
    }
    elsewhere[5] = 1; /* "cat" in the place of "dog" */
    o.weights = elsewhere;
    sa_trace *other = trace(model, target, &o);
    assert_true(other->step->weights[5] >= 1 && other->step->weights[2] <= 0);
    for (int d = 0; d < t->dim_annotation; d++)
        expect_near("context", (double)other->step->context[d], (double)t->annotations[5 * t->dim_annotation + d]);
    assert_string_equal(other->step->next_original[0].symbol, "cane");
    assert_string_equal(other->step->next[0].symbol, "gatto"); /* it writes what it looks at */
    assert_true(other->weights[3 * t->source_length + 2] == t->weights[3 * t->source_length + 2]);
    sa_trace_free(t);
    sa_trace_free(same);
    sa_trace_free(other);
}

static void a_model_without_attention_shows_its_states(void **state) {
    (void)state;
    sa_trace_options o = of_step(1);
    sa_trace *t = trace(blind, target, &o);
    int S = t->source_length, D = t->dim_annotation;
    assert_true(!t->weights && !t->energies && !t->step->query && !t->step->energy && !t->step->weights);
    assert_int_equal(D, 32);
    assert_int_equal(t->n_units, 1);
    assert_memory_equal(t->annotations, t->unit[0].state, (size_t)(S * D) * sizeof(float));
    assert_memory_equal(t->step->context, t->annotations + (S - 1) * D, (size_t)D * sizeof(float));
    for (int k = 0; k < S * t->target_length; k++)
        assert_true(t->source_gradient[k] > 0 && t->annotation_gradient[k] > 0);
    assert_true(t->sensitivity[1] <= 0); /* the first state knows nothing of the second word */
    const float weights[8] = {1};
    o.weights = weights;
    o.n_weights = S;
    sa_trace *none = NULL;
    expect_status(sa_trace_make(&none, blind, source, target, &o, &error), SA_USAGE);
    assert_null(none);
    sa_trace_free(t);
}

static void json_has_the_shapes(void **state) {
    (void)state;
    sa_trace_options o = of_step(2);
    o.sensitivity = false;
    sa_trace *t = trace(model, target, &o);
    char *json;
    expect_status(sa_trace_json(t, true, &json, &error), SA_OK);
    json_t *j = json_loads(json, 0, NULL);
    assert_non_null(j);
    assert_null(json_object_get(j, "sensitivity"));
    assert_string_equal(json_string_value(json_object_get(j, "decoder_order")), "look-first");
    const struct {
        const char *object, *key;
        size_t rows;
    } list[] = {{NULL, "source_symbols", 8},
                {NULL, "weights", 8},
                {NULL, "source_gradient", 8},
                {"annotations", "forward", 8},
                {"annotations", "backward", 8},
                {"step", "Wa_s", 24},
                {"step", "Ua_h", 8},
                {"step", "next", 10},
                {"step", "context", 64},
                {"step", "units", 1},
                {NULL, "start", 32}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        json_t *in = list[k].object ? json_object_get(j, list[k].object) : j;
        if (json_array_size(json_object_get(in, list[k].key)) != list[k].rows)
            fail_msg("%s has %zu rows", list[k].key, json_array_size(json_object_get(in, list[k].key)));
    }
    json_t *update = json_object_get(json_object_get(json_object_get(j, "gates"), "backward"), "update");
    assert_int_equal(json_array_size(json_array_get(update, 7)), 32);
    expect_near("a weight", json_number_value(json_array_get(json_array_get(json_object_get(j, "weights"), 3), 2)),
                (double)t->weights[3 * 8 + 2]);
    json_decref(j);
    free(json);
    sa_trace_free(t);
}

static void what_cannot_be_traced_is_refused(void **state) {
    (void)state;
    const float weights[8] = {0, 0, -1};
    const struct {
        const char *source, *target, *says;
        sa_status status;
        sa_trace_options options;
    } list[] = {
        {" ", "il", "the source is blank", SA_DATA, {.step = -1, .max_length = 9}},
        {"the", "", "the target is blank", SA_DATA, {.step = -1, .max_length = 9}},
        {"the the the", "il", "3 symbols", SA_DATA, {.step = -1, .max_length = 2}},
        {"the", "il", "no step 2", SA_USAGE, {.step = 2, .max_length = 9}},
        {"the", "il", "not for which step", SA_USAGE, {.step = -1, .weights = weights, .max_length = 9}},
        {"the", "il", "source has 2", SA_USAGE, {.weights = weights, .n_weights = 3, .max_length = 9}},
        {"the dog", "il", "weight 2 is -1", SA_USAGE, {.weights = weights, .n_weights = 3, .max_length = 9}},
        {"the", "il", "max-length", SA_USAGE, {.step = -1}},
        {"the", "il", "next", SA_USAGE, {.next = -1, .max_length = 9}},
        {"the", "il", "--protect", SA_USAGE, {.protect = SA_PROTECT_ON, .max_length = 9}},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        sa_trace *t;
        expect_status(sa_trace_make(&t, model, list[k].source, list[k].target, &list[k].options, &error),
                      list[k].status);
        assert_null(t);
        if (!strstr(error.text, list[k].says))
            fail_msg("\"%s\" does not say \"%s\"", error.text, list[k].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_and_scores_are_those_of_the_alignment),
        cmocka_unit_test(a_target_that_is_not_given_is_the_best_translation),
        cmocka_unit_test(parts_of_a_step_go_together),
        cmocka_unit_test(units_of_the_encoder_make_the_annotations),
        cmocka_unit_test(the_decoder_starts_where_it_says),
        cmocka_unit_test(next_words_are_the_likeliest),
        cmocka_unit_test(own_weights_given_change_nothing_and_others_do),
        cmocka_unit_test(a_model_without_attention_shows_its_states),
        cmocka_unit_test(json_has_the_shapes),
        cmocka_unit_test(what_cannot_be_traced_is_refused),
    };
    return cmocka_run_group_tests_name("trace", tests, make_models, remove_models);
}
