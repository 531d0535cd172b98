#include "model/family.h"

#include "op/dropout.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/shape.h"

#include <stdlib.h>

static sa_status check_tied_source(const sa_model_config *c, sa_error *error) {
    if (c->tied_source && c->vocab_source != c->vocab_target)
        return sa_fail(
            error, SA_USAGE,
            "tied source embeddings need one vocabulary for both sides: of %d and %d symbols they are two",
            c->vocab_source, c->vocab_target);
    return SA_OK;
}

/* Whether the readout is as wide as the embeddings that are to be its output matrix. */
static sa_status check_tied(const sa_model_config *c, const family *f, sa_error *error) {
    int width = c->output_rank ? c->output_rank : f->width(c);
    if (c->tied_target && width != c->dim_emb)
        return sa_fail(error, SA_USAGE,
                       "tied target embeddings need a readout as wide as the embeddings: set %s (%d) equal to "
                       "dim-emb (%d)",
                       c->output_rank ? "output-rank" : f->width_option, width, c->dim_emb);
    return SA_OK;
}

sa_status model_check(const sa_model_config *c, sa_error *error) {
    const preset *p = preset_find(c->preset);
    sa_model_config unused;
    if (!p)
        return sa_model_config_preset(&unused, c->preset, error);
    SA_TRY(config_check(c, preset_reads(p, c), &p->defaults, error));
    SA_TRY(check_tied_source(c, error));
    SA_TRY(check_tied(c, p->family, error));
    return p->family->check ? p->family->check(c, error) : SA_OK;
}

sa_status model_declare(model *m, const sa_model_config *config, sa_error *error) {
    *m = (model){0};
    SA_TRY(model_check(config, error));
    const preset *p = preset_find(config->preset);
    *m = (model){.config = *config, .preset = p};
    m->own = calloc(1, p->family->own);
    if (m->own)
        p->family->declare(m, &(weight_scope){&m->params, m->config.init, (double)m->config.init_scale});
    if (!m->own || m->params.failed) {
        model_clear(m);
        return sa_fail_memory(error, 0);
    }
    return SA_OK;
}

void model_clear(model *m) {
    params_free(&m->params);
    free(m->own);
    *m = (model){0};
}

/* Columns of W_lex, which stand behind the output matrix' own. */
static int lexical_width(const sa_model_config *c) {
    return c->lexical_model ? c->dim_emb : 0;
}

static param *declare_embedding(const model *m, const weight_scope *scope, const char *side, int vocabulary,
                                bool multiplied) {
    int width = m->config.dim_emb + (multiplied ? lexical_width(&m->config) : 0);
    return weight_declare(scope, side, "embedding", WEIGHT_EMBEDDING, 1, vocabulary, width,
                          multiplied ? USE_PRODUCT : USE_LOOKUP);
}

static param *declare_embedding_bias(const model *m, const weight_scope *scope, const char *side) {
    return weight_declare(scope, side, "embedding.b", WEIGHT_BIAS, 1, m->config.dim_emb, 0, USE_PRODUCT);
}

void model_declare_source(model *m, const weight_scope *scope, bool biased) {
    const sa_model_config *c = &m->config;
    if (c->tied_source) /* comes first in the file then */
        m->target_embedding = declare_embedding(m, scope, "target", c->vocab_target, c->tied_target);
    m->source_embedding =
        c->tied_source ? m->target_embedding : declare_embedding(m, scope, "source", c->vocab_source, false);
    m->source_embedding_b = biased ? declare_embedding_bias(m, scope, "source") : NULL;
}

void model_declare_target(model *m, const weight_scope *scope, bool biased) {
    const sa_model_config *c = &m->config;
    if (!c->tied_source)
        m->target_embedding = declare_embedding(m, scope, "target", c->vocab_target, c->tied_target);
    m->target_embedding_b = biased ? declare_embedding_bias(m, scope, "target") : NULL;
}

void model_declare_output(model *m, const weight_scope *scope) {
    const sa_model_config *c = &m->config;
    int width = m->preset->family->width(c), last = c->output_rank ? c->output_rank : width;
    if (c->lexical_model)
        lexical_declare(&m->lexical, scope, c->dim_emb);
    if (c->output_rank)
        m->W_1 = weight_declare(scope, "output", "W_1", WEIGHT_MATRIX, 1, c->output_rank, width, USE_PRODUCT);
    m->W_out = m->target_embedding;
    if (!c->tied_target)
        m->W_out = weight_declare(scope, "output", "W_o", WEIGHT_MATRIX, 1, c->vocab_target,
                                  last + lexical_width(c), USE_PRODUCT);
    m->b_out = weight_declare(scope, "output", "b", WEIGHT_BIAS, 1, c->vocab_target, 0, USE_PRODUCT);
}

source_shape model_source_shape(const sa_model_config *c) {
    const preset *p = preset_find(c->preset);
    return p && p->family->source ? p->family->source(c) : (source_shape){0};
}

int model_positions(const sa_model_config *c, int length) {
    source_shape shape = model_source_shape(c);
    return shape.length ? shape.positions : length;
}

bool model_weights_learn(const sa_model_config *c) {
    const preset *p = preset_find(c->preset);
    return p && p->attends && !p->family->many_looks;
}

/* ---- what every family does alike -------------------------------------------------------------------- */

static const regularisation none;

tensor *first_rows(tape *t, tensor *x, int n) {
    return !x || tensor_rows(x) == n ? x : tape_rows(t, x, 0, n);
}

/* Embedded words, rows of all steps, some of them dropped whole; number: the sentence of each row. */
static tensor *drop_words(tape *t, tensor *e, const steps *s, const int *number, float rate, unsigned site) {
    unit_dropout words = {rate, site, number, batch_row_positions(t, s, 0), .whole = true};
    return op_dropout_units(t, e, &words);
}

/* The embedded words, source after source, to look at as at annotations. */
static annotations words_in_order(tape *t, const source_batch *source, tensor *x) {
    source_order order = source_order_make(t, source);
    tensor *words = op_gather(t, x, NULL, source->steps.at[source->steps.T], order.row);
    return (annotations){words, NULL, order.at, source->lengths, source->steps.T};
}

bool model_encode(const model *m, tape *t, const source_batch *source, const regularisation *r, encoding *out) {
    const steps *s = &source->steps;
    *out = (encoding){.n = s->B};
    tensor *x = NULL;
    if (m->source_embedding) {
        x = embed(t, m->source_embedding, m->config.dim_emb, m->source_embedding_b, s->at[s->T], source->ids);
        const int *number = batch_row_numbers(t, s, source->number);
        x = drop_words(t, x, s, number, r->dropout_src, SITE_SOURCE_WORD);
        x = op_dropout(t, x, r->dropout_emb, SITE_SOURCE_EMBEDDING, number);
    }
    out->x = x;
    if (!t->failed)
        m->preset->family->encode(m, t, source, x, r, out);
    if (m->lexical.W)
        out->words = words_in_order(t, source, x);
    return !t->failed;
}

bool model_start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    *out = (decoder_state){0};
    m->preset->family->start(m, t, source, n, rows, out);
    return !t->failed;
}

bool model_target_words(const model *m, tape *t, const target_batch *target, const regularisation *r,
                        step_words *out) {
    const steps *s = &target->steps;
    const int *number = batch_row_numbers(t, s, target->number);
    *out = (step_words){.steps = *s, .source = target->source, .number = number};
    out->e = embed(t, m->target_embedding, m->config.dim_emb, m->target_embedding_b, s->at[s->T], target->previous);
    out->e = drop_words(t, out->e, s, number, r->dropout_trg, SITE_TARGET_WORD);
    out->e = op_dropout(t, out->e, r->dropout_emb, SITE_TARGET_EMBEDDING, number);
    return !t->failed;
}

bool model_words(const model *m, tape *t, int n, const int *ids, step_words *out) {
    int *rows = tape_bytes(t, sizeof *rows), *at = tape_bytes(t, 2 * sizeof *at);
    if (!rows || !at)
        return false;
    *rows = at[1] = n;
    at[0] = 0;
    *out = (step_words){.steps = {n, 1, rows, at}};
    out->e = embed(t, m->target_embedding, m->config.dim_emb, m->target_embedding_b, n, ids);
    return !t->failed;
}

/* The source of each row of all steps. */
static const int *sources_of_rows(tape *t, const step_words *words) {
    const steps *s = &words->steps;
    int *out = tape_bytes(t, (size_t)s->at[s->T] * sizeof *out);
    for (int j = 0; out && j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            out[s->at[j] + i] = words->source ? words->source[i] : i;
    return out;
}

bool model_steps(const model *m, tape *t, const encoding *source, const step_words *words, const regularisation *r,
                 const decoder_state *in, decoder_state *out, step_output *output) {
    static const attention_control uniform = {.uniform = true};
    const attention_control *outer = t->attention;
    *out = (decoder_state){.length = in->length + words->steps.T};
    *output = (step_output){0};
    if (m->config.attention_weights == SA_WEIGHTS_UNIFORM && !(outer && outer->given))
        t->attention = &uniform;
    m->preset->family->steps(m, t, source, words, r, in, out, output);
    t->attention = outer;
    if (m->lexical.W)
        output->words = op_weigh(t, output->weights, &source->words, sources_of_rows(t, words));
    return !t->failed;
}

bool model_step(const model *m, tape *t, const encoding *source, const int *rows, step_words words,
                const decoder_state *in, decoder_state *out, step_output *output) {
    words.source = rows;
    return model_steps(m, t, source, &words, &none, in, out, output);
}

tensor *model_readout(const model *m, tape *t, const step_output *shown, const regularisation *r,
                      const int *number) {
    tensor *hidden = m->preset->family->readout(m, t, shown, r, number);
    if (m->W_1)
        hidden = linear(t, hidden, m->W_1, NULL);
    if (!m->lexical.W)
        return hidden;
    tensor *l = lexical_read(t, &m->lexical, shown->words);
    return op_join(t, hidden, op_dropout(t, l, r->dropout, SITE_LEXICAL, number));
}

bool model_scores(const model *m, tape *t, const tensor *hidden, int from, int n, real *scores) {
    int l = tensor_cols(hidden), V = m->W_out->dim[0];
    return linear_product(t, matrix_of(hidden->data + (long)from * l, n, l, l), m->W_out, m->b_out,
                          matrix_of(scores, n, V, V), false);
}
