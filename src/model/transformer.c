/* The Transformer (Vaswani et al. 2017): layers of attention and of a network on each position; positions are waves
 * that are added to the words. Training makes all steps of its targets at once, each seeing none behind it; search
 * makes one after the other and keeps keys and values of those before (decoder_state.memory). docs/equations.md. */
#include "model/transformer_parts.h"

typedef struct decoder_layer {
    attention_sublayer attention, look; /* to the target so far; to the source */
    forward_sublayer network;
} decoder_layer;

typedef struct transformer {
    transformer_encoder encoder;
    int n_decoder;
    decoder_layer decoder[MODEL_LAYERS_MAX];
} transformer;

static int decoder_layers(const sa_model_config *c) {
    return c->dec_layers ? c->dec_layers : c->layers;
}

static sa_status check(const sa_model_config *c, sa_error *error) {
    int layers = decoder_layers(c);
    SA_TRY(transformer_check(c, error));
    if (c->align_layer > layers || c->align_head > c->heads)
        return sa_fail(error, SA_USAGE, "no align-layer %d, align-head %d: the decoder has %d layers of %d heads",
                       c->align_layer, c->align_head, layers, c->heads);
    return SA_OK;
}

static void declare(model *m, const weight_scope *scope) {
    transformer *p = m->own;
    const sa_model_config *c = &m->config;
    p->n_decoder = decoder_layers(c);
    model_declare_source(m, scope, false);
    transformer_encoder_declare(&p->encoder, scope, c);
    model_declare_target(m, scope, false);
    for (int i = 0; i < p->n_decoder; i++) {
        transformer_declare_attention(&p->decoder[i].attention, scope, "decoder", i, "attention", c);
        transformer_declare_attention(&p->decoder[i].look, scope, "decoder", i, "look", c);
        transformer_declare_network(&p->decoder[i].network, scope, "decoder", i, c);
    }
    model_declare_output(m, scope);
}

/* ---- encoder ----------------------------------------------------------------------------------------- */

static void encode(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out) {
    const transformer *p = m->own;
    source_order order = source_order_make(t, source);
    x = transformer_encode(m, t, &p->encoder, source, x, order, r);
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
    tensor *x = transformer_words(m, t, words->e, r, SITE_DECODER, rows);
    out->n_memories = p->n_decoder;
    for (int i = 0; i < p->n_decoder; i++) {
        const decoder_layer *l = &p->decoder[i];
        unit_dropout first = transformer_dropout(r, SITE_DECODER, i + 1, PLACE_ATTENTION, rows);
        unit_dropout second = transformer_dropout(r, SITE_DECODER, i + 1, PLACE_LOOK, rows);
        unit_dropout third = transformer_dropout(r, SITE_DECODER, i + 1, PLACE_NETWORK, rows);
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
