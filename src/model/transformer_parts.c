#include "model/transformer_parts.h"

#include "op/position.h"
#include "op/shape.h"

#include <math.h>
#include <stdio.h>

sa_status transformer_check(const sa_model_config *c, sa_error *error) {
    if (c->dim_emb % c->heads)
        return sa_fail(error, SA_USAGE, "dim-emb (%d) must be a multiple of heads (%d)", c->dim_emb, c->heads);
    return SA_OK;
}

void transformer_declare_attention(attention_sublayer *s, const weight_scope *scope, const char *side, int layer,
                                   const char *name, const sa_model_config *c) {
    char prefix[48];
    snprintf(prefix, sizeof prefix, "%s.%d.%s", side, layer + 1, name);
    attention_sublayer_declare(s, scope, prefix, c->dim_emb, c->heads);
}

void transformer_declare_network(forward_sublayer *s, const weight_scope *scope, const char *side, int layer,
                                 const sa_model_config *c) {
    char prefix[48];
    snprintf(prefix, sizeof prefix, "%s.%d.network", side, layer + 1);
    forward_sublayer_declare(s, scope, prefix, c->dim_emb, c->dim_ffn);
}

void transformer_encoder_declare(transformer_encoder *e, const weight_scope *scope, const sa_model_config *c) {
    e->n = c->layers;
    for (int i = 0; i < e->n; i++) {
        transformer_declare_attention(&e->layer[i].attention, scope, "encoder", i, "attention", c);
        transformer_declare_network(&e->layer[i].network, scope, "encoder", i, c);
    }
}

unit_dropout transformer_dropout(const regularisation *r, unsigned side, int layer, int place, row_list rows) {
    unsigned site = side + (unsigned)(PLACES * layer + place);
    return (unit_dropout){.rate = r->dropout, .site = site, .sentence = rows.sentence, .position = rows.position};
}

tensor *transformer_words(const model *m, tape *t, tensor *e, const regularisation *r, unsigned side,
                          row_list rows) {
    unit_dropout dropout = transformer_dropout(r, side, 0, 0, rows);
    return op_dropout_units(t, op_position(t, e, sqrt(m->config.dim_emb), rows.position), &dropout);
}

/* All positions of a source see each other; rows are source after source. */
static attention_groups source_groups(tape *t, const source_batch *source) {
    int B = source->steps.B, N = source->steps.at[source->steps.T];
    int *at = tape_bytes(t, ((size_t)B + 1) * sizeof *at), *row = tape_bytes(t, (size_t)N * sizeof *row);
    if (t->failed)
        return (attention_groups){0};
    at[0] = 0;
    for (int i = 0; i < B; i++)
        at[i + 1] = at[i] + source->lengths[i];
    for (int i = 0; i < N; i++)
        row[i] = i;
    return (attention_groups){.n = B, .query = row, .query_at = at, .key = row, .key_at = at};
}

static int *source_positions(tape *t, const source_batch *source) {
    int *out = tape_bytes(t, (size_t)source->steps.at[source->steps.T] * sizeof *out), at = 0;
    for (int i = 0; out && i < source->steps.B; i++)
        for (int j = 0; j < source->lengths[i]; j++)
            out[at++] = j;
    return out;
}

tensor *transformer_encode(const model *m, tape *t, const transformer_encoder *e, const source_batch *source,
                           tensor *x, source_order order, const regularisation *r) {
    row_list rows = {order.number, source_positions(t, source)};
    attention_groups groups = source_groups(t, source);
    if (t->failed)
        return NULL;
    x = op_gather(t, x, NULL, source->steps.at[source->steps.T], order.row);
    x = transformer_words(m, t, x, r, SITE_ENCODER, rows);
    for (int i = 0; i < e->n; i++) {
        const encoder_layer *l = &e->layer[i];
        unit_dropout first = transformer_dropout(r, SITE_ENCODER, i + 1, PLACE_ATTENTION, rows);
        unit_dropout second = transformer_dropout(r, SITE_ENCODER, i + 1, PLACE_NETWORK, rows);
        tensor *kv = attention_sublayer_keys(t, &l->attention, x);
        x = attention_sublayer_run(t, &l->attention, x, kv, NULL, &groups, &first, NULL);
        x = forward_sublayer_run(t, &l->network, x, &second);
    }
    return x;
}
