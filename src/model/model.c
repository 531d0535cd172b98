#include "model/model.h"

#include <string.h>

static sa_status check_sizes(const sa_model_config *c, const preset *p, sa_error *error) {
    enum { SIZE_MAX_ALLOWED = 1 << 24 };
    const struct {
        const char *name;
        int value, least;
    } size[] = {{"vocabulary size (source)", c->vocab_source, 3},
                {"vocabulary size (target)", c->vocab_target, 3},
                {"dim-emb", c->dim_emb, 1},
                {"dim-rnn", c->dim_rnn, 1},
                {"dim-dec", c->dim_dec, 1},
                {"dim-att", c->dim_att, p->attends ? 1 : 0},
                {"dim-maxout", c->dim_maxout, 1},
                {"output-rank", c->output_rank, 0}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (size[i].value < size[i].least || size[i].value > SIZE_MAX_ALLOWED)
            return sa_fail(error, SA_USAGE, "%s is %d; it must be from %d to %d", size[i].name, size[i].value,
                           size[i].least, SIZE_MAX_ALLOWED);
    int width = c->output_rank ? c->output_rank : c->dim_maxout;
    if (c->tied_target && width != c->dim_emb)
        return sa_fail(error, SA_USAGE,
                       "tied target embeddings need a readout as wide as the embeddings: set %s (%d) equal to "
                       "dim-emb (%d)",
                       c->output_rank ? "output-rank" : "dim-maxout", width, c->dim_emb);
    if (strcmp(c->init, "paper") && strcmp(c->init, "glorot"))
        return sa_fail(error, SA_USAGE, "no initialisation \"%s\"; there are: paper, glorot", c->init);
    return SA_OK;
}

static void declare_encoder(model *m, const weight_scope *scope) {
    const sa_model_config *c = &m->config;
    m->source_embedding =
        weight_declare(scope, "source", "embedding", WEIGHT_EMBEDDING, 1, c->vocab_source, c->dim_emb, USE_LOOKUP);
    m->source_embedding_b =
        weight_declare(scope, "source", "embedding.b", WEIGHT_BIAS, 1, c->dim_emb, 0, USE_PRODUCT);
    gru_cell_declare(&m->forward, scope, "encoder.forward", c->dim_emb, 0, c->dim_rnn, c->reset);
    if (m->preset->attends)
        gru_cell_declare(&m->backward, scope, "encoder.backward", c->dim_emb, 0, c->dim_rnn, c->reset);
}

static void declare_decoder(model *m, const weight_scope *scope) {
    const sa_model_config *c = &m->config;
    int D = m->preset->attends ? 2 * c->dim_rnn : c->dim_rnn, l2 = 2 * c->dim_maxout;
    m->W_s = weight_declare(scope, "decoder.initial", "W_s", WEIGHT_MATRIX, 1, c->dim_dec, c->dim_rnn, USE_PRODUCT);
    m->b_s = weight_declare(scope, "decoder.initial", "b", WEIGHT_BIAS, 1, c->dim_dec, 0, USE_PRODUCT);
    if (m->preset->attends) {
        m->W_a = weight_declare(scope, "attention", "W_a", WEIGHT_ALIGNMENT, 1, c->dim_att, c->dim_dec, USE_STEP);
        m->U_a = weight_declare(scope, "attention", "U_a", WEIGHT_ALIGNMENT, 1, c->dim_att, D, USE_PRODUCT);
        m->v_a = weight_declare(scope, "attention", "v_a", WEIGHT_ALIGNMENT_VECTOR, 1, c->dim_att, 0, USE_PRODUCT);
    }
    m->target_embedding = weight_declare(scope, "target", "embedding", WEIGHT_EMBEDDING, 1, c->vocab_target,
                                         c->dim_emb, c->tied_target ? USE_PRODUCT : USE_LOOKUP);
    m->target_embedding_b =
        weight_declare(scope, "target", "embedding.b", WEIGHT_BIAS, 1, c->dim_emb, 0, USE_PRODUCT);
    gru_cell_declare(&m->decoder, scope, "decoder.gru", c->dim_emb, D, c->dim_dec, c->reset);
    m->U_o = weight_declare(scope, "readout", "U_o", WEIGHT_MATRIX, 1, l2, c->dim_dec, USE_PRODUCT);
    m->V_o = weight_declare(scope, "readout", "V_o", WEIGHT_MATRIX, 1, l2, c->dim_emb, USE_PRODUCT);
    m->C_o = weight_declare(scope, "readout", "C_o", WEIGHT_MATRIX, 1, l2, D, USE_PRODUCT);
    m->b_o = weight_declare(scope, "readout", "b", WEIGHT_BIAS, 1, l2, 0, USE_PRODUCT);
    if (c->output_rank)
        m->W_1 =
            weight_declare(scope, "output", "W_1", WEIGHT_MATRIX, 1, c->output_rank, c->dim_maxout, USE_PRODUCT);
    m->W_out = m->target_embedding;
    if (!c->tied_target)
        m->W_out = weight_declare(scope, "output", "W_o", WEIGHT_MATRIX, 1, c->vocab_target,
                                  c->output_rank ? c->output_rank : c->dim_maxout, USE_PRODUCT);
    m->b_out = weight_declare(scope, "output", "b", WEIGHT_BIAS, 1, c->vocab_target, 0, USE_PRODUCT);
}

sa_status model_declare(model *m, const sa_model_config *config, sa_error *error) {
    *m = (model){.config = *config};
    m->preset = preset_find(config->preset);
    if (!m->preset)
        return sa_model_config_preset(&m->config, config->preset, error);
    SA_TRY(check_sizes(config, m->preset, error));
    weight_scope scope = {&m->params, m->config.init};
    declare_encoder(m, &scope);
    declare_decoder(m, &scope);
    if (m->params.failed) {
        model_clear(m);
        return sa_fail_memory(error, 0);
    }
    return SA_OK;
}

void model_clear(model *m) {
    params_free(&m->params);
    *m = (model){0};
}
