/* Sequence to sequence learning (Sutskever, Vinyals and Le 2014): a stack of long short-term memories reads the
 * source, usually backwards, and hands its last states over to another one that writes. docs/equations.md. */
#include "model/lstm_parts.h"

typedef struct seq2seq {
    lstm_stack encoder, decoder;
} seq2seq;

static void declare(model *m, const weight_scope *scope) {
    seq2seq *p = m->own;
    model_declare_source(m, scope, false);
    lstm_stack_declare(&p->encoder, scope, "encoder", &m->config, 0, false);
    model_declare_target(m, scope, false);
    lstm_stack_declare(&p->decoder, scope, "decoder", &m->config, 0, false);
    model_declare_output(m, scope);
}

static void encode(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out) {
    const seq2seq *p = m->own;
    out->states = lstm_encode(m, t, &p->encoder, source, x, r, out);
}

static void make_steps(const model *m, tape *t, const encoding *source, const step_words *words,
                       const regularisation *r, const decoder_state *in, decoder_state *out, step_output *output) {
    (void)source;
    const seq2seq *p = m->own;
    const steps *s = &words->steps;
    int layers = p->decoder.n;
    lstm_state before[LSTM_LAYERS_MAX], after[LSTM_LAYERS_MAX];
    lstm_run run[LSTM_LAYERS_MAX];
    lstm_states_get(in, layers, before);
    const stack_input stack = {.x = words->e, .over = s, .before = before};
    const stack_dropout dropout = {r->dropout, SITE_DECODER, words->number};
    output->s = lstm_stack_run(t, &p->decoder, 0, &stack, dropout, run);
    if (!output->s)
        return;
    for (int i = 0; i < layers; i++)
        after[i] = (lstm_state){run[i].h[s->T - 1], run[i].c[s->T - 1]};
    lstm_states_put(out, layers, after);
}

const family family_seq2seq = {
    .own = sizeof(seq2seq),
    .declare = declare,
    .encode = encode,
    .start = lstm_hand_over,
    .steps = make_steps,
    .readout = lstm_readout,
    .width = lstm_width,
    .width_option = "dim-rnn",
};
