/* One definition of the model: stepping word by word gives what the training pass gives, and what a row gives does
 * not depend on the rows beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "forms.h"
#include "math/gemm_library.h"
#include "model/kept_state.h"
#include "model/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCES = 13, MOST = 17, VOCAB = 61, SOURCE_MOST = 16 * 16 + 1 };

typedef struct fixture {
    model net;
    bool packed;
    tape *tape;
    kept_state kept;
    int source[SENTENCES][SOURCE_MOST], target[SENTENCES][MOST];
    int source_length[SENTENCES], target_length[SENTENCES];
} fixture;

static const regularisation none;

/* Bit for bit where oneDNN's products keep that: with packs, on AVX-512, unless it was told to use less. */
static bool rows_are_exact(const fixture *f) {
    return f->packed && strncmp(gemm_library_describe().isa, "avx512", strlen("avx512")) == 0;
}

static void begin(fixture *f, const model_form *form, bool packed) {
    static const form_widths widths = {.vocab_source = VOCAB,
                                       .vocab_target = VOCAB,
                                       .emb = 19,
                                       .rnn = 24,
                                       .dec = 37,
                                       .att = 21,
                                       .maxout = 23,
                                       .rank = 19,
                                       .model = 24,
                                       .ffn = 29};
    sa_error e;
    rng random = rng_at(21, 0, 0, 0);
    memset(f, 0, sizeof *f);
    f->packed = packed;
    const sa_model_config c = form_config(form, &widths);
    if (model_declare(&f->net, &c, &e) != SA_OK)
        fail_msg("%s", e.text);
    assert_int_equal(params_allocate(&f->net.params, false, &e), SA_OK);
    for (int i = 0; i < f->net.params.n; i++)
        for (long k = 0; k < param_count(f->net.params.at[i]); k++)
            f->net.params.at[i]->value[k] = (float)(0.8 * rng_uniform(&random) - 0.4);
    assert_int_equal(tape_new(&f->tape, f->net.params.n, 1 << 18, &e), SA_OK);
    if (packed) {
        pool *alone;
        assert_int_equal(pool_new(&alone, 1, NULL, &e), SA_OK);
        assert_int_equal(params_pack(&f->net.params, &f->tape->gemm, alone, &e), SA_OK);
        pool_free(alone);
    }
    for (int i = 0; i < SENTENCES; i++) {
        source_shape shape = model_source_shape(&c);
        int pixels = shape.length, first = shape.type == SA_VOCAB_FEATURES ? 0x3E0000 : 0; /* 1/8, then up to 1/2 */
        f->source_length[i] = pixels ? pixels : 1 + (int)rng_below(&random, MOST);
        f->target_length[i] = 1 + (int)rng_below(&random, MOST);
        for (int j = 0; j < f->source_length[i]; j++)
            f->source[i][j] = j + 1 == f->source_length[i] ? 0
                              : first                      ? first + (int)rng_below(&random, 1 << 16)
                                                           : (int)rng_below(&random, pixels ? 1 << 24 : VOCAB);
        for (int j = 0; j < MOST; j++)
            f->target[i][j] = j + 1 == f->target_length[i] ? 0 : (int)rng_below(&random, VOCAB);
    }
}

static void end(fixture *f) {
    kept_state_free(&f->kept);
    tape_free(f->tape);
    model_clear(&f->net);
}

static bool make_source(fixture *f, int first, int B, source_batch *out) {
    sentence sentences[SENTENCES];
    for (int i = 0; i < B; i++)
        sentences[i] = (sentence){f->source[first + i], f->source_length[first + i]};
    return source_batch_make(f->tape, B, sentences, out);
}

/* Training passes over B sentences from `first` on; nll[i][j]: word j of sentence i. */
static void pass(fixture *f, int first, int B, bool recording, double nll[SENTENCES][MOST]) {
    sentence targets[SENTENCES];
    for (int i = 0; i < B; i++)
        targets[i] = (sentence){f->target[first + i], f->target_length[first + i]};
    source_batch source;
    target_batch target;
    pass_result result = {0};
    tape_reset(f->tape, recording);
    assert_true(make_source(f, first, B, &source));
    assert_true(target_batch_make(f->tape, B, targets, &source, &target));
    assert_true(model_pass(&f->net, f->tape, &source, &target, &none, 1, &result));
    const steps *s = &target.steps;
    for (int j = 0; j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            nll[first + target.number[i]][j] = result.word_nll[s->at[j] + i];
}

/* One step of all rows, from which row i of the next one goes on at parent[i] (NULL: i): scores (rows, V). */
static tensor *step(fixture *f, const encoding *h, const int *rows, int n, const int *previous, const int *parent,
                    decoder_state *state) {
    static const int same[SENTENCES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    tape *t = f->tape;
    step_words words;
    step_output shown;
    decoder_state next;
    assert_true(model_words(&f->net, t, n, previous, &words));
    assert_true(model_step(&f->net, t, h, rows, words, state, &next, &shown));
    assert_true(kept_state_take(&f->kept, &next, parent ? parent : same, n));
    assert_true(kept_state_give(&f->kept, t, state));
    tensor *hidden = model_readout(&f->net, t, &shown, &none, NULL), *scores = tape_matrix(t, n, VOCAB);
    assert_true(hidden && scores && model_scores(&f->net, t, hidden, 0, n, scores->data));
    return scores;
}

static double nll_of(const float *scores, int word) {
    double sum = 0;
    for (int k = 0; k < VOCAB; k++)
        sum += exp((double)scores[k]);
    return log(sum) - (double)scores[word];
}

static void encode_one(fixture *f, int i, encoding *h, decoder_state *state) {
    source_batch source;
    kept_state_free(&f->kept);
    tape_reset(f->tape, false);
    assert_true(make_source(f, i, 1, &source) && model_encode(&f->net, f->tape, &source, &none, h));
    assert_true(model_start(&f->net, f->tape, h, 1, NULL, state));
}

static void for_every_model(void (*check)(fixture *f)) {
    for (int i = 0; i < MODEL_FORMS + PICTURE_FORMS; i++)
        for (int packed = 0; packed < 2; packed++) {
            fixture f;
            begin(&f, i < MODEL_FORMS ? &model_forms[i] : &picture_forms[i - MODEL_FORMS], packed);
            check(&f);
            end(&f);
        }
}

static void compare_steps(fixture *f) {
    double nll[SENTENCES][MOST];
    pass(f, 0, SENTENCES, true, nll);
    for (int i = 0; i < SENTENCES; i++) {
        encoding h;
        decoder_state state;
        encode_one(f, i, &h, &state);
        int previous[MOST + 1] = {-1};
        memcpy(previous + 1, f->target[i], sizeof f->target[i]);
        for (int j = 0; j < f->target_length[i]; j++) {
            tensor *scores = step(f, &h, NULL, 1, previous + j, NULL, &state);
            assert_true(fabs(nll_of(scores->data, f->target[i][j]) - nll[i][j]) < 1e-5);
        }
    }
}

static void stepping_word_by_word_gives_what_the_training_pass_gives(void **state) {
    (void)state;
    for_every_model(compare_steps);
}

static void compare_neighbours(fixture *f) {
    double together[SENTENCES][MOST], apart[SENTENCES][MOST];
    const double allowed = rows_are_exact(f) ? 0 : 1e-5;
    pass(f, 0, SENTENCES, false, together);
    for (int size = 1; size < SENTENCES; size += 3)
        for (int first = 0; first < SENTENCES; first += size) {
            pass(f, first, SENTENCES - first < size ? SENTENCES - first : size, false, apart);
            for (int i = first; i < first + size && i < SENTENCES; i++)
                for (int j = 0; j < f->target_length[i]; j++)
                    assert_true(fabs(apart[i][j] - together[i][j]) <= allowed);
        }
}

static void a_sentence_gives_the_same_in_any_batch(void **state) {
    (void)state;
    for_every_model(compare_neighbours);
}

static void compare_recording(fixture *f) {
    double recorded[SENTENCES][MOST], not_recorded[SENTENCES][MOST];
    pass(f, 0, SENTENCES, true, recorded);
    pass(f, 0, SENTENCES, false, not_recorded);
    for (int i = 0; i < SENTENCES; i++)
        for (int j = 0; j < f->target_length[i]; j++)
            assert_true(recorded[i][j] == not_recorded[i][j]);
}

static void recording_changes_no_result(void **state) {
    (void)state;
    for_every_model(compare_recording);
}

/* Hypotheses of two sources side by side, as in a beam: some go on, some die, some go on twice. */
static void compare_beam(fixture *f) {
    enum { ROWS = 5, STEPS = 5 };
    static const int number[ROWS] = {1, 0, 1, 1, 0};
    static const int parent[STEPS][ROWS] = {
        {0, 1, 2, 3, 4}, {2, 4, 2, 0, 1}, {3, 1, 3, 2, 4}, {0, 4, 3, 2, 4}, {2, 1, 3, 0, 4}};
    const float allowed = rows_are_exact(f) ? 0 : 1e-5f;
    int words[STEPS][ROWS][STEPS]; /* at a step: those before it, of every row */
    float together[STEPS][ROWS][VOCAB];
    source_batch source;
    encoding h;
    decoder_state state;
    int rows[ROWS], previous[ROWS];
    kept_state_free(&f->kept);
    tape_reset(f->tape, false);
    assert_true(make_source(f, 0, 2, &source) && model_encode(&f->net, f->tape, &source, &none, &h));
    for (int i = 0; i < ROWS; i++)
        rows[i] = source.row[number[i]];
    assert_true(model_start(&f->net, f->tape, &h, ROWS, rows, &state));
    for (int j = 0; j < STEPS; j++) {
        for (int i = 0; i < ROWS; i++) {
            if (j > 0)
                memcpy(words[j][i], words[j - 1][parent[j - 1][i]], sizeof words[j][i]);
            previous[i] = words[j][i][j] = j ? 3 + 7 * j + i : -1;
        }
        tensor *scores = step(f, &h, rows, ROWS, previous, parent[j], &state);
        memcpy(together[j], scores->data, sizeof together[j]);
    }
    for (int i = 0; i < ROWS; i++)
        for (int last = 0; last < STEPS; last++) {
            const float *alone = NULL;
            encode_one(f, number[i], &h, &state);
            for (int j = 0; j <= last; j++)
                alone = step(f, &h, NULL, 1, &words[last][i][j], NULL, &state)->data;
            for (int k = 0; k < VOCAB; k++)
                assert_true(fabsf(alone[k] - together[last][i][k]) <= allowed);
        }
}

static void a_hypothesis_gives_the_same_in_any_beam(void **state) {
    (void)state;
    for_every_model(compare_beam);
}

int main(void) {
    gemm_work_alone();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepping_word_by_word_gives_what_the_training_pass_gives),
        cmocka_unit_test(a_sentence_gives_the_same_in_any_batch),
        cmocka_unit_test(a_hypothesis_gives_the_same_in_any_beam),
        cmocka_unit_test(recording_changes_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
