/* Sequence to sequence learning (Sutskever, Vinyals and Le 2014): a stack of long short-term memories reads the
 * source, usually backwards, and hands its last states over to another one that writes. docs/equations.md. */
#include "model/family.h"

#include "layer/lstm_stack.h"
#include "op/dropout.h"
#include "op/shape.h"

#include <stdio.h>

typedef struct seq2seq {
    lstm_stack encoder, decoder;
} seq2seq;

static void declare_stack(lstm_stack *stack, const weight_scope *scope, const char *side,
                          const sa_model_config *c) {
    stack->n = c->layers;
    for (int i = 0; i < stack->n; i++) {
        char prefix[40];
        snprintf(prefix, sizeof prefix, "%s.%d", side, i + 1);
        lstm_cell_declare(&stack->cell[i], scope, prefix, i ? c->dim_rnn : c->dim_emb, 0, c->dim_rnn, c->cell,
                          false);
    }
}

static void declare(model *m, const weight_scope *scope) {
    seq2seq *p = m->own;
    model_declare_source(m, scope, false);
    declare_stack(&p->encoder, scope, "encoder", &m->config);
    model_declare_target(m, scope, false);
    declare_stack(&p->decoder, scope, "decoder", &m->config);
    model_declare_output(m, scope);
}

/* The states that the encoder ends with: at the first word when it reads backwards, else at each sentence's last.
 */
static void encode(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out) {
    const seq2seq *p = m->own;
    const steps *s = &source->steps;
    bool reversed = m->config.reverse_source;
    lstm_run run[LSTM_LAYERS_MAX];
    const stack_input in = {.x = x, .over = s, .reversed = reversed};
    const stack_dropout dropout = {r->dropout, SITE_ENCODER, batch_row_numbers(t, s, source->number)};
    if (!lstm_stack_run(t, &p->encoder, 0, &in, dropout, run))
        return;
    int *last = source_last_rows(t, source);
    for (int i = 0; i < p->encoder.n; i++) {
        tensor **c = run[i].c;
        out->part[2 * i] = reversed ? run[i].h[0] : op_gather(t, run[i].all, NULL, s->B, last);
        out->part[2 * i + 1] = reversed ? c[0] : op_gather(t, tape_joined(t, s, c), NULL, s->B, last);
    }
}

static void start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    out->n = 2 * m->config.layers;
    for (int k = 0; k < out->n; k++)
        out->part[k] = rows ? op_gather(t, source->part[k], NULL, n, rows) : source->part[k];
}

static void make_steps(const model *m, tape *t, const encoding *source, const step_words *words,
                       const regularisation *r, const decoder_state *in, decoder_state *out, step_output *output) {
    (void)source;
    const seq2seq *p = m->own;
    const steps *s = &words->steps;
    lstm_state before[LSTM_LAYERS_MAX];
    lstm_run run[LSTM_LAYERS_MAX];
    for (int i = 0; i < p->decoder.n; i++)
        before[i] = (lstm_state){in->part[2 * i], in->part[2 * i + 1]};
    const stack_input stack = {.x = words->e, .over = s, .before = before};
    const stack_dropout dropout = {r->dropout, SITE_DECODER, words->number};
    output->s = lstm_stack_run(t, &p->decoder, 0, &stack, dropout, run);
    if (!output->s)
        return;
    out->n = in->n;
    for (int i = 0; i < p->decoder.n; i++) {
        out->part[2 * i] = run[i].h[s->T - 1];
        out->part[2 * i + 1] = run[i].c[s->T - 1];
    }
}

static tensor *readout(const model *m, tape *t, const step_output *shown, const regularisation *r,
                       const int *number) {
    (void)m;
    return op_dropout(t, shown->s, r->dropout, SITE_READOUT, number);
}

static int width(const sa_model_config *c) {
    return c->dim_rnn;
}

const family family_seq2seq = {
    .own = sizeof(seq2seq),
    .declare = declare,
    .encode = encode,
    .start = start,
    .steps = make_steps,
    .readout = readout,
    .width = width,
    .width_option = "dim-rnn",
};
