/* The model against tests/reference/forward.py, which computes the same from the equations of the papers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "model/kept_state.h"
#include "model/loss.h"
#include "model/model_file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef REFERENCE_JSON
#error "define REFERENCE_JSON as the path of forward.json"
#endif

static json_t *reference;

static int load(void **state) {
    (void)state;
    json_error_t problem;
    reference = json_load_file(REFERENCE_JSON, JSON_REJECT_DUPLICATES, &problem);
    if (!reference)
        print_error("%s:%d: %s\n", problem.source, problem.line, problem.text);
    return reference ? 0 : -1;
}

static int unload(void **state) {
    (void)state;
    json_decref(reference);
    return 0;
}

static const json_t *get(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("no \"%s\" in %s", key, REFERENCE_JSON);
    return value;
}

static int get_int(const json_t *object, const char *key) {
    assert_true(json_is_integer(get(object, key)));
    return (int)json_integer_value(get(object, key));
}

static const char *get_text(const json_t *object, const char *key) {
    assert_true(json_is_string(get(object, key)));
    return json_string_value(get(object, key));
}

/* Within 1e-5, relative for values above 1. */
static void near(const char *what, int at, double value, const json_t *wanted) {
    assert_true(json_is_number(wanted));
    double w = json_number_value(wanted);
    if (!(fabs(value - w) <= 1e-5 * fmax(1, fabs(w))))
        fail_msg("%s, %d: %.9g, should be %.9g", what, at, value, w);
}

static void all_near(const char *what, int at, const float *value, size_t n, const json_t *wanted) {
    assert_int_equal(json_array_size(wanted), n);
    for (size_t i = 0; i < n; i++)
        near(what, at, (double)value[i], json_array_get(wanted, i));
}

/* ---- parameters by the formula of forward.py: scale * u, u of 24 bits of splitmix64(hash of the name + i) */

static double uniform(const char *name, uint64_t i) {
    uint64_t z = hash_string(name) + i + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 40) * 0x1p-23 - 1;
}

static void fill(param *p) {
    double scale = p->rank == 2 ? 1.5 / sqrt(p->dim[1]) : strcmp(p->name, "attention.v_a") == 0 ? 1 : 0.3;
    for (long i = 0; i < param_count(p); i++)
        p->value[i] = (float)(scale * uniform(p->name, (uint64_t)i));
}

static void the_formula_of_the_parameters_is_that_of_the_reference(void **state) {
    (void)state;
    const char *name;
    json_t *value;
    assert_true(json_object_size(get(reference, "uniform")) > 0);
    json_object_foreach(json_object_get(reference, "uniform"), name, value) {
        assert_true(hash_string(name) == strtoull(get_text(get(reference, "hash"), name), NULL, 16));
        for (size_t i = 0; i < json_array_size(value); i++)
            near(name, (int)i, uniform(name, i), json_array_get(value, i));
    }
}

/* ---- a case: a model and sentences */

enum { SENTENCES_MOST = 8, LENGTH_MOST = 16 * 16 + 1 };

typedef struct pair {
    const json_t *json;
    int source[LENGTH_MOST], target[LENGTH_MOST], source_length, target_length;
} pair;

typedef struct reference_case {
    const char *name;
    const json_t *json;
    model net;
    tape *tape;
    float smoothing;
    pair pairs[SENTENCES_MOST];
    int n;
} reference_case;

static int read_ids(const json_t *array, int *ids) {
    size_t n = json_array_size(array);
    assert_true(n > 0 && n <= LENGTH_MOST);
    for (size_t i = 0; i < n; i++)
        ids[i] = (int)json_integer_value(json_array_get(array, i));
    return (int)n;
}

/* The reference writes a configuration as a model's file has it. */
static sa_model_config read_config(const json_t *c) {
    sa_model_config config;
    sa_error e;
    char *text = json_dumps(c, JSON_ENCODE_ANY);
    assert_non_null(text);
    if (model_config_parse(&config, text, REFERENCE_JSON, &e) != SA_OK)
        fail_msg("%s", e.text);
    free(text);
    return config;
}

/* The names and shapes that the reference knows, no more and no fewer. */
static void compare_shapes(const params *p, const json_t *shapes) {
    assert_int_equal(json_object_size(shapes), p->n);
    for (int i = 0; i < p->n; i++) {
        const json_t *shape = get(shapes, p->at[i]->name);
        assert_int_equal(json_array_size(shape), p->at[i]->rank);
        for (int k = 0; k < p->at[i]->rank; k++)
            assert_int_equal(json_integer_value(json_array_get(shape, (size_t)k)), p->at[i]->dim[k]);
    }
}

static void begin(reference_case *c, const json_t *json, bool packed) {
    sa_error e;
    const json_t *config = get(json, "config"), *sentences = get(json, "sentences");
    *c = (reference_case){.name = get_text(json, "name"), .json = json};
    c->smoothing = (float)json_number_value(get(config, "label_smoothing"));
    const sa_model_config read = read_config(config);
    if (model_declare(&c->net, &read, &e) != SA_OK)
        fail_msg("%s: %s", c->name, e.text);
    compare_shapes(&c->net.params, get(json, "parameters"));
    assert_int_equal(params_allocate(&c->net.params, false, &e), SA_OK);
    for (int i = 0; i < c->net.params.n; i++)
        fill(c->net.params.at[i]);
    assert_int_equal(tape_new(&c->tape, c->net.params.n, 1 << 16, &e), SA_OK);
    if (packed) {
        pool *alone;
        assert_int_equal(pool_new(&alone, 1, NULL, &e), SA_OK);
        assert_int_equal(params_pack(&c->net.params, &c->tape->gemm, alone, &e), SA_OK);
        pool_free(alone);
    }
    c->n = (int)json_array_size(sentences);
    assert_true(c->n > 0 && c->n <= SENTENCES_MOST);
    for (int i = 0; i < c->n; i++) {
        pair *p = &c->pairs[i];
        p->json = json_array_get(sentences, (size_t)i);
        p->source_length = read_ids(get(p->json, "source"), p->source);
        p->target_length = read_ids(get(p->json, "target"), p->target);
    }
}

static void end(reference_case *c) {
    tape_free(c->tape);
    model_clear(&c->net);
}

static void compare_word(const reference_case *c, const pair *p, int step, double nll, const float *weights) {
    near(c->name, step, -nll, json_array_get(get(p->json, "log_probs"), (size_t)step));
    assert_int_equal(weights != NULL, json_object_get(p->json, "attention") != NULL);
    if (weights)
        all_near(c->name, step, weights, (size_t)model_positions(&c->net.config, p->source_length),
                 json_array_get(get(p->json, "attention"), (size_t)step));
}

static bool make_source(tape *t, const pair *p, int B, source_batch *out) {
    sentence sentences[SENTENCES_MOST];
    for (int i = 0; i < B; i++)
        sentences[i] = (sentence){p[i].source, p[i].source_length};
    return source_batch_make(t, B, sentences, out);
}

/* One training pass over the pairs from `first` on, B of them. */
static pass_result pass(reference_case *c, int first, int B) {
    const pair *pairs = c->pairs + first;
    sentence targets[SENTENCES_MOST];
    for (int i = 0; i < B; i++)
        targets[i] = (sentence){pairs[i].target, pairs[i].target_length};
    const regularisation rates = {.label_smoothing = c->smoothing};
    source_batch source;
    target_batch target;
    pass_result result = {0};
    tape_reset(c->tape, false);
    assert_true(make_source(c->tape, pairs, B, &source));
    assert_true(target_batch_make(c->tape, B, targets, &source, &target));
    assert_true(model_pass(&c->net, c->tape, &source, &target, &rates, 1, &result));
    const steps *s = &target.steps;
    int S = model_positions(&c->net.config, source.steps.T), words = 0;
    for (int j = 0; j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++, words++)
            compare_word(c, &pairs[target.number[i]], j, result.word_nll[s->at[j] + i],
                         result.weights ? result.weights->data + (long)(s->at[j] + i) * S : NULL);
    for (int i = 0; i < B; i++)
        words -= pairs[i].target_length;
    assert_int_equal(words, 0);
    assert_int_equal(result.words, s->at[s->T]);
    return result;
}

static void for_every_case(void (*check)(reference_case *c)) {
    const json_t *cases = get(reference, "cases");
    assert_true(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++)
        for (int packed = 0; packed < 2; packed++) {
            reference_case c;
            begin(&c, json_array_get(cases, i), packed);
            check(&c);
            end(&c);
        }
}

static void compare_batch(reference_case *c) {
    pass_result r = pass(c, 0, c->n);
    near(c->name, -1, r.sums.nll, get(c->json, "loss"));
    near(c->name, -2, r.sums.loss, get(c->json, "smoothed_loss"));
}

static void a_batch_of_all_sentences_agrees_with_the_reference(void **state) {
    (void)state;
    for_every_case(compare_batch);
}

static void compare_single(reference_case *c) {
    for (int i = 0; i < c->n; i++) {
        pass_result r = pass(c, i, 1);
        double log_prob = json_number_value(get(c->pairs[i].json, "log_prob"));
        assert_true(fabs(r.sums.nll + log_prob) <= 1e-5 * fmax(1, fabs(log_prob)));
        near(c->name, i, r.sums.loss, get(c->pairs[i].json, "smoothed_loss"));
    }
}

static void each_sentence_alone_agrees_with_the_reference(void **state) {
    (void)state;
    for_every_case(compare_single);
}

static double log_sum_exp(const float *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += exp((double)x[i]);
    return log(sum);
}

static void compare_step(reference_case *c, const pair *p, int step, step_output shown, tensor *scores) {
    int V = tensor_cols(scores);
    double log_sum = log_sum_exp(scores->data, V);
    compare_word(c, p, step, log_sum - (double)scores->data[p->target[step]],
                 shown.weights ? shown.weights->data : NULL);
    const json_t *s = json_array_get(get(p->json, "states"), (size_t)step);
    const json_t *contexts = json_object_get(p->json, "contexts");
    all_near(c->name, step, shown.s->data, (size_t)tensor_cols(shown.s), s);
    if (contexts)
        all_near(c->name, step, shown.c->data, (size_t)tensor_cols(shown.c),
                 json_array_get(contexts, (size_t)step));
    for (int k = 0; step == 0 && k < V; k++)
        near(c->name, k, (double)scores->data[k] - log_sum,
             json_array_get(get(p->json, "first_log_distribution"), (size_t)k));
}

static void compare_steps(reference_case *c) {
    static const regularisation none = {0};
    for (int i = 0; i < c->n; i++) {
        const pair *p = &c->pairs[i];
        const int nothing = -1, same = 0;
        kept_state kept = {0};
        source_batch source;
        encoding h;
        decoder_state now, next;
        tape *t = c->tape;
        tape_reset(t, false);
        assert_true(make_source(t, p, 1, &source) && model_encode(&c->net, t, &source, &none, &h));
        assert_true(model_start(&c->net, t, &h, 1, NULL, &now));
        for (int j = 0; j < p->target_length; j++) {
            step_words words;
            step_output shown;
            assert_true(model_words(&c->net, t, 1, j ? &p->target[j - 1] : &nothing, &words));
            assert_true(model_step(&c->net, t, &h, NULL, words, &now, &next, &shown));
            tensor *hidden = model_readout(&c->net, t, &shown, &none, NULL);
            tensor *scores = tape_matrix(t, 1, c->net.config.vocab_target);
            assert_true(hidden && scores && model_scores(&c->net, t, hidden, 0, 1, scores->data));
            compare_step(c, p, j, shown, scores);
            assert_true(kept_state_take(&kept, &next, &same, 1) && kept_state_give(&kept, t, &now));
        }
        kept_state_free(&kept);
    }
}

static void states_contexts_and_distributions_agree_with_the_reference(void **state) {
    (void)state;
    for_every_case(compare_steps);
}

/* ---- sa_attention */

static float *floats(const json_t *value, size_t n) {
    float *out = malloc(n * sizeof *out);
    assert_non_null(out);
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *row = json_array_get(value, i);
        if (!json_is_array(row)) {
            assert_true(at < n);
            out[at++] = (float)json_number_value(row);
        }
        for (size_t k = 0; k < json_array_size(row); k++) {
            assert_true(at < n);
            out[at++] = (float)json_number_value(json_array_get(row, k));
        }
    }
    assert_int_equal(at, n);
    return out;
}

static void compare_attention(const json_t *c) {
    const json_t *shape = get(c, "shape"), *inputs = get(c, "inputs");
    const sa_attention_shape sizes = {get_int(shape, "T"), get_int(shape, "d_dec"), get_int(shape, "d_enc"),
                                      get_int(shape, "d_att")};
    size_t T = (size_t)sizes.T, A = (size_t)sizes.d_att, D = (size_t)sizes.d_enc, d = (size_t)sizes.d_dec;
    float *s = floats(get(inputs, "s"), d), *h = floats(get(inputs, "h"), T * D);
    float *W_a = floats(get(inputs, "W_a"), A * d), *U_a = floats(get(inputs, "U_a"), A * D);
    float *v_a = floats(get(inputs, "v_a"), A), *context = malloc(D * sizeof *context);
    float *weights = malloc(T * sizeof *weights);
    assert_true(context && weights);
    assert_int_equal(sa_attention(sizes, s, h, W_a, U_a, v_a, context, weights, NULL), SA_OK);
    all_near(get_text(c, "name"), 0, weights, T, get(c, "weights"));
    all_near(get_text(c, "name"), 1, context, D, get(c, "context"));
    double sum = 0;
    for (size_t j = 0; j < T; j++) {
        assert_true(weights[j] >= 0 && weights[j] <= 1);
        sum += (double)weights[j];
    }
    assert_true(fabs(sum - 1) < 1e-6);
    float *const all[] = {s, h, W_a, U_a, v_a, context, weights};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void attention_by_itself_agrees_with_the_reference(void **state) {
    (void)state;
    const json_t *cases = get(reference, "attention");
    assert_true(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++)
        compare_attention(json_array_get(cases, i));
}

static void energies_of_a_thousand_do_not_overflow(void **state) {
    (void)state;
    const json_t *cases = get(reference, "energies");
    assert_true(json_array_size(cases) > 0);
    double largest = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i), *energies = get(c, "energies");
        for (size_t j = 0; j < json_array_size(energies); j++)
            largest = fmax(largest, fabs(json_number_value(json_array_get(energies, j))));
        compare_attention(c);
    }
    assert_true(largest >= 1000);
}

static void attention_refuses_sizes_below_one(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        sa_error e = {0};
        float one[1] = {1};
        const sa_attention_shape sizes = {k != 0, k != 1, k != 2, k != 3};
        assert_int_equal(sa_attention(sizes, one, one, one, one, one, one, one, &e), SA_USAGE);
        assert_non_null(strstr(e.text, "at least 1"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula_of_the_parameters_is_that_of_the_reference),
        cmocka_unit_test(a_batch_of_all_sentences_agrees_with_the_reference),
        cmocka_unit_test(each_sentence_alone_agrees_with_the_reference),
        cmocka_unit_test(states_contexts_and_distributions_agree_with_the_reference),
        cmocka_unit_test(attention_by_itself_agrees_with_the_reference),
        cmocka_unit_test(energies_of_a_thousand_do_not_overflow),
        cmocka_unit_test(attention_refuses_sizes_below_one),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
