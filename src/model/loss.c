#include "model/loss.h"

bool model_forward(const model *m, tape *t, const source_batch *source, const target_batch *target,
                   const regularisation *r, tensor **hidden, tensor **weights) {
    encoding h;
    step_words words;
    decoder_state state, end;
    step_output shown;
    if (!model_encode(m, t, source, r, &h) || !model_target_words(m, t, target, r, &words) ||
        !model_start(m, t, &h, target->steps.B, target->source, &state) ||
        !model_steps(m, t, &h, &words, r, &state, &end, &shown))
        return false;
    *hidden = model_readout(m, t, &shown, r, words.number);
    *weights = shown.weights;
    return !t->failed;
}

bool model_pass(const model *m, tape *t, const source_batch *source, const target_batch *target,
                const regularisation *r, double scale, pass_result *result) {
    const steps *s = &target->steps;
    int N = s->at[s->T];
    tensor *hidden;
    result->word_nll = tape_bytes(t, (size_t)N * sizeof *result->word_nll);
    if (!result->word_nll || !model_forward(m, t, source, target, r, &hidden, &result->weights))
        return false;
    result->words += N;
    return op_xent(t, hidden, m->W_out, m->b_out, target->ids, r->label_smoothing, scale, &result->sums,
                   result->word_nll);
}
