#include "model/lstm_parts.h"

#include "op/dropout.h"
#include "op/shape.h"

#include <stdio.h>

void lstm_stack_declare(lstm_stack *s, const weight_scope *scope, const char *side, const sa_model_config *c,
                        int context, bool looped) {
    *s = (lstm_stack){.n = c->layers};
    for (int i = 0; i < s->n; i++) {
        char prefix[40];
        snprintf(prefix, sizeof prefix, "%s.%d", side, i + 1);
        lstm_cell_declare(&s->cell[i], scope, prefix, i ? c->dim_rnn : c->dim_emb, i ? 0 : context, c->dim_rnn,
                          c->cell, looped);
    }
}

void lstm_end_put(tape *t, const source_batch *source, const lstm_run *run, bool reversed, encoding *out, int i) {
    const steps *s = &source->steps;
    int *last = reversed ? NULL : source_last_rows(t, source);
    out->part[2 * i] = reversed ? run->h[0] : op_gather(t, run->all, NULL, s->B, last);
    out->part[2 * i + 1] = reversed ? run->c[0] : op_gather(t, tape_joined(t, s, run->c), NULL, s->B, last);
}

tensor *lstm_encode(const model *m, tape *t, const lstm_stack *s, const source_batch *source, tensor *x,
                    const regularisation *r, encoding *out) {
    bool reversed = m->config.reverse_source;
    lstm_run run[LSTM_LAYERS_MAX];
    const stack_input in = {.x = x, .over = &source->steps, .reversed = reversed};
    const stack_dropout dropout = {r->dropout, SITE_ENCODER, batch_row_numbers(t, in.over, source->number)};
    tensor *top = lstm_stack_run(t, s, 0, &in, dropout, run);
    for (int i = 0; top && i < s->n; i++)
        lstm_end_put(t, source, &run[i], reversed, out, i);
    return top;
}

void lstm_hand_over(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    out->n = 2 * m->config.layers;
    for (int k = 0; k < out->n; k++)
        out->part[k] = rows ? op_gather(t, source->part[k], NULL, n, rows) : source->part[k];
}

void lstm_states_get(const decoder_state *s, int layers, lstm_state *out) {
    for (int i = 0; i < layers; i++)
        out[i] = (lstm_state){s->part[2 * i], s->part[2 * i + 1]};
}

void lstm_states_put(decoder_state *s, int layers, const lstm_state *from) {
    s->n = 2 * layers;
    for (int i = 0; i < layers; i++) {
        s->part[2 * i] = from[i].h;
        s->part[2 * i + 1] = from[i].c;
    }
}

tensor *lstm_readout(const model *m, tape *t, const step_output *shown, const regularisation *r,
                     const int *number) {
    (void)m;
    return op_dropout(t, shown->s, r->dropout, SITE_READOUT, number);
}

int lstm_width(const sa_model_config *c) {
    return c->dim_rnn;
}
