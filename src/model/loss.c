#include "model/loss.h"

#include "op/attention_sums.h"

/* Zeros, where somebody may learn from them. */
static double *sentence_losses(tape *t, int n) {
    double *nll = t->recording ? tape_bytes(t, (size_t)n * sizeof *nll) : NULL;
    for (int i = 0; nll && i < n; i++)
        nll[i] = 0;
    return nll;
}

bool model_pass(const model *m, tape *t, const source_batch *source, const target_batch *target,
                const regularisation *r, double scale, pass_result *result) {
    const steps *s = &target->steps;
    int N = s->at[s->T];
    result->word_nll = tape_bytes(t, (size_t)N * sizeof *result->word_nll);
    double *nll = sentence_losses(t, s->B);
    encoding h;
    step_words words;
    decoder_state state, end;
    step_output shown;
    if (!result->word_nll || !model_encode(m, t, source, r, &h) || !model_target_words(m, t, target, r, &words))
        return false;
    words.nll = nll;
    words.nll_scale = scale;
    if (!model_start(m, t, &h, s->B, target->source, &state) ||
        !model_steps(m, t, &h, &words, r, &state, &end, &shown))
        return false;
    tensor *hidden = model_readout(m, t, &shown, r, words.number);
    result->words += N;
    result->weights = shown.weights;
    if (r->doubly_stochastic > 0 && shown.weights)
        result->sums.loss +=
            attention_sums(t, shown.weights, s, target->source, h.h.lengths, (double)r->doubly_stochastic, scale);
    bool ok = op_xent(t, hidden, m->W_out, m->b_out, target->ids, r->label_smoothing, scale, &result->sums,
                      result->word_nll);
    for (int i = 0; ok && words.nll && i < N; i++)
        nll[words.number[i]] += result->word_nll[i];
    return ok;
}
