#include "model/lstm_parts.h"

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

/* At the first word when it reads backwards, else at each sentence's last. */
static lstm_state last_state(tape *t, const source_batch *source, const lstm_run *run, bool reversed) {
    const steps *s = &source->steps;
    if (reversed)
        return (lstm_state){run->h[0], run->c[0]};
    int *last = source_last_rows(t, source);
    return (lstm_state){op_gather(t, run->all, NULL, s->B, last),
                        op_gather(t, tape_joined(t, s, run->c), NULL, s->B, last)};
}

tensor *lstm_encode(const model *m, tape *t, const lstm_stack *s, const source_batch *source, tensor *x,
                    const regularisation *r, encoding *out) {
    bool reversed = m->config.reverse_source;
    lstm_run run[LSTM_LAYERS_MAX];
    const stack_input in = {.x = x, .over = &source->steps, .reversed = reversed};
    const stack_dropout dropout = {r->dropout, SITE_ENCODER, batch_row_numbers(t, in.over, source->number)};
    tensor *top = lstm_stack_run(t, s, 0, &in, dropout, run);
    for (int i = 0; top && i < s->n; i++) {
        lstm_state end = last_state(t, source, &run[i], reversed);
        out->part[2 * i] = end.h;
        out->part[2 * i + 1] = end.c;
    }
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
