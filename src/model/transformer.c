/* The Transformer (Vaswani et al. 2017): layers of attention and of a network on each position; positions are waves
 * that are added to the words. Training makes all steps of its targets at once, each seeing none behind it; search
 * makes one after the other and keeps keys and values of those before (decoder_state.memory). docs/equations.md. */
#include "model/family.h"

#include "layer/sublayer.h"
#include "op/position.h"
#include "op/shape.h"

#include <math.h>
#include <stdio.h>

typedef struct encoder_layer {
    attention_sublayer attention;
    forward_sublayer network;
} encoder_layer;

typedef struct decoder_layer {
    attention_sublayer attention, look; /* to the target so far; to the source */
    forward_sublayer network;
} decoder_layer;

typedef struct transformer {
    int n_encoder, n_decoder;
    encoder_layer encoder[MODEL_LAYERS_MAX];
    decoder_layer decoder[MODEL_LAYERS_MAX];
} transformer;

/* Where dropout happens in a layer; the words are layer 0. */
enum { PLACE_ATTENTION, PLACE_LOOK, PLACE_NETWORK, PLACES };

static int decoder_layers(const sa_model_config *c) {
    return c->dec_layers ? c->dec_layers : c->layers;
}

static sa_status check(const sa_model_config *c, sa_error *error) {
    int layers = decoder_layers(c);
    if (c->dim_emb % c->heads)
        return sa_fail(error, SA_USAGE, "dim-emb (%d) must be a multiple of heads (%d)", c->dim_emb, c->heads);
    if (c->align_layer > layers || c->align_head > c->heads)
        return sa_fail(error, SA_USAGE, "no align-layer %d, align-head %d: the decoder has %d layers of %d heads",
                       c->align_layer, c->align_head, layers, c->heads);
    return SA_OK;
}

static void declare_attention(attention_sublayer *s, const weight_scope *scope, const char *side, int layer,
                              const char *name, const sa_model_config *c) {
    char prefix[48];
    snprintf(prefix, sizeof prefix, "%s.%d.%s", side, layer + 1, name);
    attention_sublayer_declare(s, scope, prefix, c->dim_emb, c->heads);
}

static void declare_network(forward_sublayer *s, const weight_scope *scope, const char *side, int layer,
                            const sa_model_config *c) {
    char prefix[48];
    snprintf(prefix, sizeof prefix, "%s.%d.network", side, layer + 1);
    forward_sublayer_declare(s, scope, prefix, c->dim_emb, c->dim_ffn);
}

static void declare(model *m, const weight_scope *scope) {
    transformer *p = m->own;
    const sa_model_config *c = &m->config;
    p->n_encoder = c->layers;
    p->n_decoder = decoder_layers(c);
    model_declare_source(m, scope, false);
    for (int i = 0; i < p->n_encoder; i++) {
        declare_attention(&p->encoder[i].attention, scope, "encoder", i, "attention", c);
        declare_network(&p->encoder[i].network, scope, "encoder", i, c);
    }
    model_declare_target(m, scope, false);
    for (int i = 0; i < p->n_decoder; i++) {
        declare_attention(&p->decoder[i].attention, scope, "decoder", i, "attention", c);
        declare_attention(&p->decoder[i].look, scope, "decoder", i, "look", c);
        declare_network(&p->decoder[i].network, scope, "decoder", i, c);
    }
    model_declare_output(m, scope);
}

/* Of each row, for dropout; and where it stands. */
typedef struct row_list {
    const int *sentence, *position;
} row_list;

static unit_dropout drop(const regularisation *r, unsigned side, int layer, int place, row_list rows) {
    unsigned site = side + (unsigned)(PLACES * layer + place);
    return (unit_dropout){.rate = r->dropout, .site = site, .sentence = rows.sentence, .position = rows.position};
}

/* sqrt(d) E w + P, with dropout. */
static tensor *place_words(const model *m, tape *t, tensor *e, const regularisation *r, unsigned side,
                           row_list rows) {
    unit_dropout dropout = drop(r, side, 0, 0, rows);
    return op_dropout_units(t, op_position(t, e, sqrt(m->config.dim_emb), rows.position), &dropout);
}

/* ---- encoder ----------------------------------------------------------------------------------------- */

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

static void encode(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out) {
    const transformer *p = m->own;
    source_order order = source_order_make(t, source);
    row_list rows = {order.number, source_positions(t, source)};
    attention_groups groups = source_groups(t, source);
    if (t->failed)
        return;
    x = op_gather(t, x, NULL, source->steps.at[source->steps.T], order.row);
    x = place_words(m, t, x, r, SITE_ENCODER, rows);
    for (int i = 0; i < p->n_encoder; i++) {
        const encoder_layer *l = &p->encoder[i];
        unit_dropout first = drop(r, SITE_ENCODER, i + 1, PLACE_ATTENTION, rows);
        unit_dropout second = drop(r, SITE_ENCODER, i + 1, PLACE_NETWORK, rows);
        tensor *kv = attention_sublayer_keys(t, &l->attention, x);
        x = attention_sublayer_run(t, &l->attention, x, kv, NULL, &groups, &first, NULL);
        x = forward_sublayer_run(t, &l->network, x, &second);
    }
    out->h = (annotations){x, NULL, order.at, source->lengths, source->steps.T};
    for (int i = 0; i < p->n_decoder; i++)
        out->part[i] = attention_sublayer_keys(t, &p->decoder[i].look, x);
}

/* ---- decoder ----------------------------------------------------------------------------------------- */

/* There is no past yet. */
static void start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    (void)m, (void)t, (void)source, (void)n, (void)rows, (void)out;
}

/* A group for each row of the first step, with those of later steps behind it; each sees what lies before it, the
 * past first. Row k of the past is key k, row k of these steps key R + k, R: rows of the past. */
static attention_groups target_groups(tape *t, const steps *s, const decoder_state *in) {
    int N = s->at[s->T], past = in->length, R = past ? (int)tensor_rows(in->memory[0]) : 0, queries = 0, keys = 0;
    size_t lists = (size_t)s->B + 1;
    int *query_at = tape_bytes(t, lists * sizeof(int)), *key_at = tape_bytes(t, lists * sizeof(int));
    int *query = tape_bytes(t, (size_t)N * sizeof(int));
    int *key = tape_bytes(t, ((size_t)N + (size_t)s->B * (size_t)past) * sizeof(int));
    if (t->failed)
        return (attention_groups){0};
    for (int i = 0; i < s->B; i++) {
        query_at[i] = queries;
        key_at[i] = keys;
        for (int k = 0; k < past; k++)
            key[keys++] = in->trail[(long)i * past + k];
        for (int j = 0; j < s->T && i < s->n[j]; j++) {
            query[queries++] = s->at[j] + i;
            key[keys++] = R + s->at[j] + i;
        }
    }
    query_at[s->B] = queries;
    key_at[s->B] = keys;
    return (attention_groups){s->B, query, query_at, key, key_at, true};
}

/* A group for each source: all rows that read it, so that hypotheses of a beam are together. */
static attention_groups look_groups(tape *t, const step_words *words, const encoding *source) {
    const steps *s = &words->steps;
    int N = s->at[s->T], total = (int)tensor_rows(source->h.values), sources = source->n;
    int *next = tape_bytes(t, ((size_t)sources + 2) * sizeof(int));
    int *key_at = tape_bytes(t, ((size_t)sources + 1) * sizeof(int));
    int *query = tape_bytes(t, (size_t)N * sizeof(int)), *key = tape_bytes(t, (size_t)total * sizeof(int));
    if (t->failed)
        return (attention_groups){0};
    for (int k = 0; k < sources + 2; k++)
        next[k] = 0;
    /* Counted two places on, so that next[k + 1] becomes where source k begins, ... */
    for (int j = 0; j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            next[(words->source ? words->source[i] : i) + 2]++;
    for (int k = 0; k < sources; k++)
        next[k + 2] += next[k + 1];
    /* ... and, once its rows are in, where it ends: next[k] is where k begins. */
    for (int j = 0; j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            query[next[(words->source ? words->source[i] : i) + 1]++] = s->at[j] + i;
    for (int k = 0; k < sources; k++)
        key_at[k] = source->h.at[k];
    key_at[sources] = total;
    for (int k = 0; k < total; k++)
        key[k] = k;
    return (attention_groups){sources, query, next, key, key_at, false};
}

/* The layer whose attention is shown, from 0: the last but one unless another was asked for. */
static int shown_layer(const sa_model_config *c) {
    int layers = decoder_layers(c);
    return c->align_layer ? c->align_layer - 1 : layers > 1 ? layers - 2 : 0;
}

static void make_steps(const model *m, tape *t, const encoding *source, const step_words *words,
                       const regularisation *r, const decoder_state *in, decoder_state *out, step_output *output) {
    const transformer *p = m->own;
    row_list rows = {words->number, batch_row_positions(t, &words->steps, in->length)};
    attention_groups before = target_groups(t, &words->steps, in), looks = look_groups(t, words, source);
    if (t->failed)
        return;
    shown_weights shown = {m->config.align_head, source->h.longest, NULL};
    tensor *x = place_words(m, t, words->e, r, SITE_DECODER, rows);
    out->n_memories = p->n_decoder;
    for (int i = 0; i < p->n_decoder; i++) {
        const decoder_layer *l = &p->decoder[i];
        unit_dropout first = drop(r, SITE_DECODER, i + 1, PLACE_ATTENTION, rows);
        unit_dropout second = drop(r, SITE_DECODER, i + 1, PLACE_LOOK, rows);
        unit_dropout third = drop(r, SITE_DECODER, i + 1, PLACE_NETWORK, rows);
        tensor *kv = out->memory[i] = attention_sublayer_keys(t, &l->attention, x);
        x = attention_sublayer_run(t, &l->attention, x, kv, in->memory[i], &before, &first, NULL);
        x = attention_sublayer_run(t, &l->look, x, source->part[i], NULL, &looks, &second,
                                   i == shown_layer(&m->config) ? &shown : NULL);
        x = forward_sublayer_run(t, &l->network, x, &third);
    }
    *output = (step_output){.s = x, .weights = shown.weights};
}

static tensor *readout(const model *m, tape *t, const step_output *shown, const regularisation *r,
                       const int *number) {
    (void)m, (void)t, (void)r, (void)number;
    return shown->s;
}

static int width(const sa_model_config *c) {
    return c->dim_emb;
}

const family family_transformer = {
    .own = sizeof(transformer),
    .many_looks = true,
    .check = check,
    .declare = declare,
    .encode = encode,
    .start = start,
    .steps = make_steps,
    .readout = readout,
    .width = width,
    .width_option = "dim-emb",
};
