#include "model/loss.h"

#include "op/attention_sums.h"

/* Zeros, where somebody may learn from them. */
static double *sentence_losses(tape *t, int n) {
    double *nll = t->recording ? tape_bytes(t, (size_t)n * sizeof *nll) : NULL;
    for (int i = 0; nll && i < n; i++)
        nll[i] = 0;
    return nll;
}

/* What a forward pass leaves. */
typedef struct forward_pass {
    encoding source;
    step_words words;
    step_output shown;
    tensor *hidden;
} forward_pass;

/* nll: of each sentence, which will be filled; NULL: nobody learns from it. */
static bool forward(const model *m, tape *t, const source_batch *source, const target_batch *target,
                    const regularisation *r, const double *nll, double scale, forward_pass *out) {
    decoder_state state, end;
    if (!model_encode(m, t, source, r, &out->source) || !model_target_words(m, t, target, r, &out->words))
        return false;
    out->words.nll = nll;
    out->words.nll_scale = scale;
    if (!model_start(m, t, &out->source, target->steps.B, target->source, &state) ||
        !model_steps(m, t, &out->source, &out->words, r, &state, &end, &out->shown))
        return false;
    out->hidden = model_readout(m, t, &out->shown, r, out->words.number);
    return !t->failed;
}

bool model_forward(const model *m, tape *t, const source_batch *source, const target_batch *target,
                   const regularisation *r, tensor **hidden, tensor **weights) {
    forward_pass f;
    if (!forward(m, t, source, target, r, NULL, 0, &f))
        return false;
    *hidden = f.hidden;
    *weights = f.shown.weights;
    return true;
}

bool model_pass(const model *m, tape *t, const source_batch *source, const target_batch *target,
                const regularisation *r, double scale, pass_result *result) {
    const steps *s = &target->steps;
    int N = s->at[s->T];
    forward_pass f;
    result->word_nll = tape_bytes(t, (size_t)N * sizeof *result->word_nll);
    double *nll = sentence_losses(t, s->B);
    if (!result->word_nll || !forward(m, t, source, target, r, nll, scale, &f))
        return false;
    result->words += N;
    result->weights = f.shown.weights;
    if (r->doubly_stochastic > 0 && result->weights)
        result->sums.loss += attention_sums(t, result->weights, s, target->source, f.source.h.lengths,
                                            (double)r->doubly_stochastic, scale);
    if (target->guide.at)
        result->sums.loss +=
            (double)r->guide * op_guide(t, result->weights, &target->guide, scale * (double)r->guide);
    bool ok = op_xent(t, f.hidden, m->W_out, m->b_out, target->ids, r->label_smoothing, r->r_drop, scale,
                      &result->sums, result->word_nll);
    for (int i = 0; ok && nll && i < N; i++)
        nll[f.words.number[i]] += result->word_nll[i];
    return ok;
}
