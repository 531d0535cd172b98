/* Small random models and sentences for tests of search. Include cmocka first. */
#ifndef RANDOM_MODELS_H
#define RANDOM_MODELS_H

#include "base/rng.h"
#include "decode/ranking.h"
#include "decode/search.h"
#include "model/loss.h"
#include "sentences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SENTENCES = 6, SOURCE_MOST = 9, MOST_LENGTH = 64 };

static sa_error error;

#define MARK VOCAB_SUBWORD_BLANK

/* Two models, random but not vague, with one vocabulary, and sentences. */
typedef struct fixture {
    model net[2];
    ensemble one, two;
    vocab *target;
    tape *tape;
    int ids[SENTENCES][SOURCE_MOST];
    source_sentence sentence[SENTENCES];
} fixture;

static inline void make_model(model *m, int V, const char *family, rng *random) {
    sa_model_config c;
    assert_int_equal(sa_model_config_preset(&c, family, &error), SA_OK);
    c.vocab_source = 11;
    c.vocab_target = V;
    c.dim_emb = c.dim_maxout = c.dim_att = 8;
    c.dim_rnn = c.dim_dec = 10;
    c.output_rank = 0;
    c.tied_target = false;
    if (model_declare(m, &c, &error) != SA_OK)
        fail_msg("%s", error.text);
    assert_int_equal(params_allocate(&m->params, false, &error), SA_OK);
    for (int i = 0; i < m->params.n; i++)
        for (long k = 0; k < param_count(m->params.at[i]); k++)
            m->params.at[i]->value[k] = (float)(2.4 * rng_uniform(random) - 1.2);
}

/* f->target is there. */
static inline void begin_with_vocab(fixture *f, uint64_t seed, const char *family) {
    rng random = rng_at(seed, 0, 0, 0);
    int V = vocab_size(f->target);
    make_model(&f->net[0], V, family, &random);
    make_model(&f->net[1], V, family, &random);
    f->one = (ensemble){.n = 1, .model = {&f->net[0]}};
    f->two = (ensemble){.n = 2, .model = {&f->net[0], &f->net[1]}};
    assert_int_equal(tape_new(&f->tape, f->net[0].params.n, 1 << 18, &error), SA_OK);
    for (int i = 0; i < SENTENCES; i++) {
        int length = 1 + (int)rng_below(&random, SOURCE_MOST);
        for (int j = 0; j < length - 1; j++)
            f->ids[i][j] = 1 + (int)rng_below(&random, 10);
        f->ids[i][length - 1] = VOCAB_EOS;
        f->sentence[i] = (source_sentence){.ids = f->ids[i], .length = length, .number = (uint64_t)(10 + i)};
    }
}

static inline void begin(fixture *f, uint64_t seed, int V, const char *family) {
    char words[64] = "", *at = words;
    memset(f, 0, sizeof *f);
    for (int i = 2; i < V; i++)
        at += sprintf(at, "%c ", 'a' + i);
    assert_int_equal(train_on(&f->target, SA_VOCAB_WORD, V, NULL, (const char *const[]){words, NULL}, 1, &error),
                     SA_OK);
    assert_int_equal(vocab_size(f->target), V);
    begin_with_vocab(f, seed, family);
}

static inline void end(fixture *f) {
    tape_free(f->tape);
    vocab_free(f->target);
    model_clear(&f->net[0]);
    model_clear(&f->net[1]);
}

static inline sa_translate_options usual(void) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.max_length_factor = 0.01f; /* ten symbols */
    return o;
}

static inline void search(fixture *f, const ensemble *models, int n, const sa_translate_options *o,
                          hypotheses *out) {
    sa_status status = search_translate(models, f->target, f->tape, f->sentence, n, o, out, &error);
    if (status != SA_OK)
        fail_msg("%s", error.text);
}

static inline void forget(hypotheses *h, int n) {
    for (int i = 0; i < n; i++)
        hypotheses_free(&h[i]);
}

/* log p of each of n targets of sentence i by the training pass. */
static inline void score_targets(fixture *f, const model *m, int i, const int *const *words, const int *lengths,
                                 int n, double *sum) {
    const source_sentence *s = &f->sentence[i];
    sentence *source = calloc((size_t)n, sizeof *source), *target = calloc((size_t)n, sizeof *target);
    assert_non_null(source);
    assert_non_null(target);
    for (int k = 0; k < n; k++) {
        source[k] = (sentence){s->ids, s->length};
        target[k] = (sentence){words[k], lengths[k]};
    }
    source_batch from;
    target_batch to;
    pass_result result = {0};
    tape_reset(f->tape, false);
    assert_true(source_batch_make(f->tape, n, source, &from) && target_batch_make(f->tape, n, target, &from, &to));
    assert_true(model_pass(m, f->tape, &from, &to, &(regularisation){0}, 1, &result));
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int j = 0; j < to.steps.T; j++)
        for (int r = 0; r < to.steps.n[j]; r++)
            sum[to.number[r]] -= result.word_nll[to.steps.at[j] + r];
    free(source);
    free(target);
}

static inline double score_one(fixture *f, const model *m, int i, const hypothesis *h) {
    double sum;
    score_targets(f, m, i, (const int *const[]){h->ids}, &h->length, 1, &sum);
    return sum;
}

static inline bool same_words(const hypothesis *a, const hypothesis *b) {
    return a->length == b->length && memcmp(a->ids, b->ids, (size_t)a->length * sizeof *a->ids) == 0;
}

#endif
