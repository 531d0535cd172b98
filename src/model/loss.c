#include "model/loss.h"

bool model_pass(const model *m, tape *t, const source_batch *source, const target_batch *target,
                const regularisation *r, double scale, pass_result *result) {
    const steps *s = &target->steps;
    int N = s->at[s->T];
    result->word_nll = tape_bytes(t, (size_t)N * sizeof *result->word_nll);
    encoding h;
    step_words words;
    decoder_state state, end;
    step_output shown;
    if (!result->word_nll || !model_encode(m, t, source, r, &h) || !model_target_words(m, t, target, r, &words) ||
        !model_start(m, t, &h, s->B, target->source, &state) ||
        !model_steps(m, t, &h, &words, r, &state, &end, &shown))
        return false;
    tensor *hidden = model_readout(m, t, &shown, r, words.number);
    result->words += N;
    result->weights = shown.weights;
    if (target->guide.at)
        result->sums.loss +=
            (double)r->guide * op_guide(t, shown.weights, &target->guide, scale * (double)r->guide);
    return op_xent(t, hidden, m->W_out, m->b_out, target->ids, r->label_smoothing, scale, &result->sums,
                   result->word_nll);
}
