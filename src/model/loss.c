#include "model/loss.h"

#include "op/shape.h"

#include <string.h>

/* The word before each step, time-major: -1 before the first. */
static int *previous_words(tape *t, const target_batch *target) {
    int *ids = tape_bytes(t, (size_t)target->T * (size_t)target->B * sizeof *ids);
    for (int j = 0; ids && j < target->T; j++)
        for (int i = 0; i < target->B; i++)
            ids[(long)j * target->B + i] = j == 0 ? -1 : j <= target->lengths[i] ? target->words[i][j - 1] : 0;
    return ids;
}

/* Inputs of the readout at each step. */
typedef struct readings {
    tensor **s, **c, **e, **weights;
} readings;

static bool run_steps(const model *m, tape *t, const encoding *source, const word_block *words, int T,
                      readings *read) {
    decoder_state state, next;
    if (!model_start(m, t, source, &state))
        return false;
    for (int j = 0; j < T && !t->failed; j++) {
        if (j == 1) /* the first step differs from the others: they form the loop */
            tape_loop_begin(t, T - 1);
        if (j > 0)
            tape_loop_next(t);
        step_output out;
        model_step(m, t, source, NULL, j == 0, model_words_at(t, words, j), &state, &next, &out);
        read->s[j] = out.s;
        read->c[j] = out.c;
        read->e[j] = out.e;
        read->weights[j] = out.weights;
        state = next;
    }
    tape_loop_end(t);
    return !t->failed;
}

static bool make_readings(tape *t, int T, readings *read) {
    tensor ***list[] = {&read->s, &read->c, &read->e, &read->weights};
    for (int k = 0; k < 4; k++)
        if (!(*list[k] = tape_bytes(t, (size_t)T * sizeof **list[k])))
            return false;
    return true;
}

bool model_pass(const model *m, tape *t, const source_batch *source, const target_batch *target,
                const regularisation *r, double scale, pass_result *result) {
    int T = target->T, B = target->B;
    long N = 0;
    for (int i = 0; i < B; i++)
        N += target->lengths[i];
    int *ids = previous_words(t, target);
    int *gold = tape_bytes(t, (size_t)N * sizeof *gold), *sentence = tape_bytes(t, (size_t)N * sizeof *sentence);
    result->word_nll = tape_bytes(t, (size_t)N * sizeof *result->word_nll);
    encoding h;
    word_block words;
    readings read;
    if (!ids || !gold || !sentence || !result->word_nll || !make_readings(t, T, &read) ||
        !model_encode(m, t, source, r, &h) || !model_words(m, t, ids, T, B, r, &words) ||
        !run_steps(m, t, &h, &words, T, &read))
        return false;
    long at = 0;
    for (int j = 0; j < T; j++)
        for (int i = 0; i < B; i++)
            if (j < target->lengths[i]) {
                gold[at] = target->words[i][j];
                sentence[at++] = i;
            }
    tensor *hidden = model_readout(m, t, op_pack_steps(t, T, read.s, target->lengths),
                                   op_pack_steps(t, T, read.c, target->lengths),
                                   op_pack_steps(t, T, read.e, target->lengths), r, sentence);
    result->words += N;
    result->weights = m->preset->attends ? read.weights : NULL;
    return op_xent(t, hidden, m->W_out, m->b_out, gold, r->label_smoothing, scale, &result->sums, result->word_nll);
}
