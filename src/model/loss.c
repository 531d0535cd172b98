#include "model/loss.h"

#include "op/shape.h"

/* Inputs of the readout at each step. */
typedef struct readings {
    tensor **s, **c, **weights;
} readings;

/* The words before each step, and what they give to the decoder's update: to all steps but the first where that
 * does not update. */
typedef struct word_rows {
    tensor *e;
    gru_input x;
    int from; /* row of e that row 0 of x belongs to */
} word_rows;

static word_rows embed_words(const model *m, tape *t, const target_batch *target, const regularisation *r,
                             const int *number) {
    const steps *s = &target->steps;
    int N = s->at[s->T], from = m->config.order == SA_LOOK_FIRST ? s->at[1] : 0;
    tensor *e = model_embed_words(m, t, N, target->previous, r, number);
    return (word_rows){e, gru_cell_input(t, &m->decoder, tape_rows(t, e, from, N - from)), from};
}

static step_words words_at(tape *t, const word_rows *w, const steps *s, int j) {
    step_words out = {.e = tape_step(t, w->e, s, j)};
    if (s->at[j] >= w->from)
        out.x = (gru_input){tape_rows(t, w->x.gates, s->at[j] - w->from, s->n[j]),
                            tape_rows(t, w->x.candidate, s->at[j] - w->from, s->n[j])};
    return out;
}

static bool run_steps(const model *m, tape *t, const encoding *source, const target_batch *target,
                      const word_rows *words, readings *read) {
    const steps *s = &target->steps;
    decoder_state state, next;
    if (!model_start(m, t, source, s->B, target->source, &state))
        return false;
    tape_loop_begin(t, s, false);
    for (int i = 0; i < s->T && !t->failed; i++) {
        step_output out;
        int j = tape_loop_next(t);
        model_step(m, t, source, target->source, j == 0, words_at(t, words, s, j), &state, &next, &out);
        read->s[j] = out.s;
        read->c[j] = out.c;
        read->weights[j] = out.weights;
        state = next;
    }
    tape_loop_end(t);
    return !t->failed;
}

static bool make_readings(tape *t, int T, readings *read) {
    tensor ***list[] = {&read->s, &read->c, &read->weights};
    for (int k = 0; k < 3; k++)
        if (!(*list[k] = tape_bytes(t, (size_t)T * sizeof **list[k])))
            return false;
    return true;
}

/* The contexts of all steps as one matrix; without attention each sentence's fixed one, again and again. */
static tensor *contexts(const model *m, tape *t, const steps *s, const readings *read) {
    if (m->preset->attends)
        return tape_joined(t, s, read->c);
    int *row = tape_bytes(t, (size_t)s->at[s->T] * sizeof *row);
    for (int j = 0; row && j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            row[s->at[j] + i] = i;
    return op_gather(t, read->c[0], NULL, s->at[s->T], row);
}

bool model_pass(const model *m, tape *t, const source_batch *source, const target_batch *target,
                const regularisation *r, double scale, pass_result *result) {
    const steps *s = &target->steps;
    int N = s->at[s->T], *number = batch_row_numbers(t, s, target->number);
    result->word_nll = tape_bytes(t, (size_t)N * sizeof *result->word_nll);
    encoding h;
    readings read;
    if (!number || !result->word_nll || !make_readings(t, s->T, &read) || !model_encode(m, t, source, r, &h))
        return false;
    word_rows words = embed_words(m, t, target, r, number);
    if (!run_steps(m, t, &h, target, &words, &read))
        return false;
    tensor *hidden = model_readout(m, t, tape_joined(t, s, read.s), contexts(m, t, s, &read), words.e, r, number);
    result->words += N;
    result->weights = m->preset->attends ? read.weights : NULL;
    return op_xent(t, hidden, m->W_out, m->b_out, target->ids, r->label_smoothing, scale, &result->sums,
                   result->word_nll);
}
