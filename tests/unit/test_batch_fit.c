#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "pairs.h"
#include "runs.h"
#include "train/batch_fit.h"
#include "train/update.h"

enum { PAIRS = 3000, LONGEST = 40, SHARDS = 2 };

/* A text of many short sentences and few long ones, and a small model. */
static corpus text;
static length_table lengths;
static sa_train_options options;
static pass_cost cost;
static const pass_kind kind = {&cost, SHARDS, SA_F32};

static int make_all(void **state) {
    static const int words[LONGEST]; /* all </s> */
    rng random = rng_at(1, 2, 3, 4);
    for (int i = 0; i < PAIRS; i++) {
        double u = rng_uniform(&random), v = rng_uniform(&random);
        int T = 1 + (int)(u * u * LONGEST), S = 1 + (int)(0.2 * v * LONGEST + 0.8 * u * u * LONGEST);
        append_pair(&text, 300, words, S, words, T);
    }
    sa_train_options_init(&options, "small", NULL);
    options.model.vocab_source = options.model.vocab_target = 300;
    options.model.dim_emb = options.model.dim_maxout = options.model.dim_att = 32;
    options.model.dim_rnn = options.model.dim_dec = 48;
    options.shards = SHARDS;
    regularisation r = regularisation_of(&options, 0);
    if (length_table_make(&lengths, &text, 0, &error) || pass_cost_measure(&cost, &options.model, &r, &error))
        return -1;
    return make_text(state);
}

static int free_all(void **state) {
    length_table_free(&lengths);
    corpus_free(&text);
    return remove_text(state);
}

static batch_limits fit(double bytes) {
    batch_limits limits;
    expect_status(batch_limits_fit(&limits, kind, &lengths, bytes, &error), SA_OK);
    return limits;
}

static void a_length_table_counts_pairs_and_knows_their_longest_source(void **state) {
    (void)state;
    corpus_entry few[] = {{.source_length = 3, .target_length = 2},
                          {.source_length = 9, .target_length = 4},
                          {.source_length = 5, .target_length = 4}};
    length_table t;
    expect_status(length_table_make(&t, &(corpus){.n = 3, .entry = few}, 0, &error), SA_OK);
    assert_int_equal(t.T, 4);
    const size_t upto[] = {0, 0, 1, 1, 3};
    const int source[] = {0, 0, 3, 3, 9};
    assert_memory_equal(t.pairs, upto, sizeof upto);
    assert_memory_equal(t.source, source, sizeof source);
    length_table_free(&t);
}

static void minibatches_within_the_limits_fit_and_use_the_memory(void **state) {
    (void)state;
    for (double megabytes = 3; megabytes < 40; megabytes *= 2) {
        batch_limits limits = fit(megabytes * 1e6);
        double most = 0, largest = largest_minibatch(kind, &lengths, limits, NULL);
        for (int number = 0; number < 3; number++) {
            epoch e;
            expect_status(epoch_make(&e, &text, 7, number, limits, 20, &error), SA_OK);
            const size_t *batch;
            for (size_t at = 0, n = 0; at < PAIRS; at += n) {
                expect_status(epoch_batch(&e, at, &batch, &n, &error), SA_OK);
                batch_size b = batch_size_of(&text, batch, (int)n);
                assert_true(b.B <= limits.sentences);
                assert_true(b.B == 1 || limits.words == 0 || b.B * b.T <= limits.words);
                most = fmax(most, SHARDS * pass_cost_of(&cost, true, (double)b.B / SHARDS, b.S, b.T));
            }
            epoch_free(&e);
        }
        assert_true(most <= largest && largest <= megabytes * 1e6);
        assert_true(most > 0.7 * megabytes * 1e6);
    }
}

static void many_short_sentences_stand_together_and_few_long_ones(void **state) {
    (void)state;
    batch_limits limits = fit(10e6);
    assert_true(limits.words / LONGEST >= 1);
    assert_true(limits.sentences > 2 * (limits.words / LONGEST));
    batch_limits more = fit(20e6);
    assert_true(more.sentences > limits.sentences && more.words > limits.words);
}

static void what_holds_everything_needs_no_limit_of_words(void **state) {
    (void)state;
    batch_limits limits = fit(1e12);
    assert_true(limits.sentences >= PAIRS && limits.words == 0);
}

static void a_workspace_that_holds_no_pair_is_refused(void **state) {
    (void)state;
    batch_limits limits;
    expect_status(batch_limits_fit(&limits, kind, &lengths, 2e4, &error), SA_USAGE);
    expect_text(error.text, "workspace");
    expect_text(error.text, "--max-length");
    const char *least = strstr(error.text, "at least ");
    assert_non_null(least);
    fit(strtod(least + strlen("at least "), NULL) * 1e6);
}

static void tapes_take_no_more_than_the_workspace(void **state) {
    (void)state;
    const double bytes = 12e6;
    batch_limits limits = fit(bytes);
    model net;
    updater u;
    epoch e;
    memory_plan plan = {(size_t)(bytes / SHARDS), GEMM_PRODUCTS_MAX};
    expect_status(model_declare(&net, &options.model, &error), SA_OK);
    expect_status(params_allocate(&net.params, true, &error), SA_OK);
    expect_status(updater_init(&u, &options, &(ranks){.size = 1}, &net, SHARDS, &plan, &error), SA_OK);
    expect_status(epoch_make(&e, &text, 7, 0, limits, 20, &error), SA_OK);
    double most = 0;
    const size_t *batch;
    for (size_t i = 0, at = 0, n = 0; at < PAIRS && i < 40; i++, at += n) {
        update_result result;
        expect_status(epoch_batch(&e, at, &batch, &n, &error), SA_OK);
        expect_status(updater_run(&u, &text, batch, (size_t[]){0, n}, 1, 1, 0.1, &result, &error), SA_OK);
        double taken = 0;
        for (int k = 0; k < SHARDS; k++)
            taken += (double)arena_peak(u.tapes[k]->arena);
        batch_size size = batch_size_of(&text, batch, (int)n);
        taken += SHARDS * pass_scratch_of(&cost, true, SA_F32, size.B / (double)SHARDS, size.T);
        most = fmax(most, taken);
    }
    assert_true(most < 1.03 * bytes && most > 0.6 * bytes);
    epoch_free(&e);
    updater_clear(&u);
    model_clear(&net);
}

static sa_train_options fitted(toy_paths *path, const char *run) {
    sa_train_options o = forty_updates(path, run);
    o.mini_batch_fit = true;
    o.workspace = 3;
    return o;
}

static void a_resume_keeps_the_minibatches_that_were_made_to_fit(void **state) {
    (void)state;
    toy_paths path;
    watch w = {0};
    sa_train_options o = fitted(&path, "fit-whole");
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.messages, "minibatches: at most ");
    o = fitted(&path, "fit-killed");
    train_killed(&o, 23);
    o.resume = true;
    o.workspace = 700;
    o.threads = 2;
    w = (watch){0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.messages, "as the run began");
    expect_text(w.messages, "workspace stays 3");
    assert_null(strstr(w.messages, "mini_batch stays"));
    expect_same_run("fit-whole", "fit-killed");
}

static void a_limit_of_words_beside_the_fit_is_refused(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = fitted(&path, "fit-refused");
    o.mini_batch_words = 100;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text(error.text, "mini-batch-words");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_table_counts_pairs_and_knows_their_longest_source),
        cmocka_unit_test(minibatches_within_the_limits_fit_and_use_the_memory),
        cmocka_unit_test(many_short_sentences_stand_together_and_few_long_ones),
        cmocka_unit_test(what_holds_everything_needs_no_limit_of_words),
        cmocka_unit_test(a_workspace_that_holds_no_pair_is_refused),
        cmocka_unit_test(tapes_take_no_more_than_the_workspace),
        cmocka_unit_test(a_resume_keeps_the_minibatches_that_were_made_to_fit),
        cmocka_unit_test(a_limit_of_words_beside_the_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
