/* One definition of the model: stepping word by word gives what the training pass gives, and what a row gives does
 * not depend on the rows beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCES = 13, MOST = 17, VOCAB = 61 };

typedef struct fixture {
    model net;
    tape *tape;
    int source[SENTENCES][MOST], target[SENTENCES][MOST];
    int source_length[SENTENCES], target_length[SENTENCES];
} fixture;

static const regularisation none;

/* Bit for bit where oneDNN's products keep that: on AVX-512, unless it was told to use less. */
static bool rows_are_exact(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && !getenv("DNNL_MAX_CPU_ISA") && !getenv("ONEDNN_MAX_CPU_ISA");
#else
    return false;
#endif
}

static void begin(fixture *f, const char *family, int way, bool packed) {
    sa_error e;
    sa_model_config c;
    rng random = rng_at(21, 0, 0, 0);
    memset(f, 0, sizeof *f);
    assert_int_equal(sa_model_config_preset(&c, family, &e), SA_OK);
    c.vocab_source = c.vocab_target = VOCAB;
    c.dim_emb = 19;
    c.dim_rnn = 24;
    c.dim_dec = 37;
    c.dim_att = 21;
    c.dim_maxout = 23;
    c.order = way & 1 ? SA_UPDATE_FIRST : SA_LOOK_FIRST;
    c.reset = way & 2 ? SA_RESET_AFTER : SA_RESET_BEFORE;
    c.tied_target = way & 4;
    c.output_rank = way & 4 ? 19 : 0;
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
        f->source_length[i] = 1 + (int)rng_below(&random, MOST);
        f->target_length[i] = 1 + (int)rng_below(&random, MOST);
        for (int j = 0; j < MOST; j++) {
            f->source[i][j] = j + 1 == f->source_length[i] ? 0 : (int)rng_below(&random, VOCAB);
            f->target[i][j] = j + 1 == f->target_length[i] ? 0 : (int)rng_below(&random, VOCAB);
        }
    }
}

static void end(fixture *f) {
    tape_free(f->tape);
    model_clear(&f->net);
}

/* Training passes over B sentences from `first` on; nll[i][j]: word j of sentence i. */
static void pass(fixture *f, int first, int B, bool recording, double nll[SENTENCES][MOST]) {
    int S = 0, T = 0, ids[MOST * SENTENCES];
    const int *words[SENTENCES];
    for (int i = first; i < first + B; i++) {
        words[i - first] = f->target[i];
        S = f->source_length[i] > S ? f->source_length[i] : S;
        T = f->target_length[i] > T ? f->target_length[i] : T;
    }
    for (int j = 0; j < S; j++)
        for (int i = 0; i < B; i++)
            ids[j * B + i] = f->source[first + i][j];
    const source_batch source = {B, S, ids, f->source_length + first};
    const target_batch target = {B, T, words, f->target_length + first};
    pass_result result = {0};
    tape_reset(f->tape, recording);
    assert_true(model_pass(&f->net, f->tape, &source, &target, &none, 1, &result));
    long at = 0;
    for (int j = 0; j < T; j++)
        for (int i = first; i < first + B; i++)
            if (j < f->target_length[i])
                nll[i][j] = result.word_nll[at++];
}

/* One step of all rows: scores (rows, V). */
static tensor *step(fixture *f, const encoding *h, const int *rows, int n, int j, const int *previous,
                    decoder_state *state) {
    tape *t = f->tape;
    word_block words;
    step_output shown;
    decoder_state next;
    assert_true(model_words(&f->net, t, previous, 1, n, &none, &words));
    assert_true(model_step(&f->net, t, h, rows, j == 0, model_words_at(t, &words, 0), state, &next, &shown));
    *state = next;
    tensor *scores = model_scores(&f->net, t, model_readout(&f->net, t, shown.s, shown.c, shown.e, &none, NULL));
    assert_non_null(scores);
    return scores;
}

static double nll_of(const float *scores, int word) {
    double sum = 0;
    for (int k = 0; k < VOCAB; k++)
        sum += exp((double)scores[k]);
    return log(sum) - (double)scores[word];
}

static void encode_one(fixture *f, int i, encoding *h, decoder_state *state) {
    const source_batch source = {1, f->source_length[i], f->source[i], &f->source_length[i]};
    tape_reset(f->tape, false);
    assert_true(model_encode(&f->net, f->tape, &source, &none, h) && model_start(&f->net, f->tape, h, state));
}

static void for_every_model(void (*check)(fixture *f)) {
    for (int way = 0; way < 16; way++)
        for (int packed = 0; packed < 2; packed++) {
            fixture f;
            begin(&f, way & 8 ? "rnnencdec" : "rnnsearch", way & 7, packed);
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
            tensor *scores = step(f, &h, NULL, 1, j, previous + j, &state);
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
    const double allowed = rows_are_exact() ? 0 : 1e-5;
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

/* Hypotheses of two sources side by side, as in a beam: rows 0, 2, 3 of source 1, rows 1, 4 of source 0. */
static void compare_beam(fixture *f) {
    enum { ROWS = 5, STEPS = 4 };
    static const int rows[ROWS] = {1, 0, 1, 1, 0};
    static const int words[STEPS][ROWS] = {
        {-1, -1, -1, -1, -1}, {3, 4, 5, 6, 7}, {8, 9, 10, 11, 12}, {1, 1, 2, 2, 3}};
    const float allowed = rows_are_exact() ? 0 : 1e-5f;
    float together[STEPS][ROWS][VOCAB];
    int ids[2 * MOST], S = f->source_length[0] > f->source_length[1] ? f->source_length[0] : f->source_length[1];
    for (int j = 0; j < S; j++) {
        ids[2 * j] = f->source[0][j];
        ids[2 * j + 1] = f->source[1][j];
    }
    const source_batch source = {2, S, ids, f->source_length};
    encoding h;
    decoder_state start, state = {0};
    tape_reset(f->tape, false);
    assert_true(model_encode(&f->net, f->tape, &source, &none, &h) && model_start(&f->net, f->tape, &h, &start));
    state.n = start.n;
    for (int k = 0; k < start.n; k++) {
        int D = tensor_cols(start.part[k]);
        assert_non_null(state.part[k] = tape_matrix(f->tape, ROWS, D));
        for (int i = 0; i < ROWS; i++)
            memcpy(state.part[k]->data + i * D, start.part[k]->data + rows[i] * D, (size_t)D * sizeof(float));
    }
    for (int j = 0; j < STEPS; j++)
        memcpy(together[j], step(f, &h, rows, ROWS, j, words[j], &state)->data, sizeof together[j]);
    for (int i = 0; i < ROWS; i++) {
        encode_one(f, rows[i], &h, &state);
        for (int j = 0; j < STEPS; j++) {
            const float *alone = step(f, &h, NULL, 1, j, &words[j][i], &state)->data;
            for (int k = 0; k < VOCAB; k++)
                assert_true(fabsf(alone[k] - together[j][i][k]) <= allowed);
        }
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
