#include "worked_model.h"

#include "model/model_file.h"

#include <string.h>

/* clang-format off */
const worked_parameter worked_parameters[] = {
    {"source.embedding", {1, -0.5, 0, 0, -1, -2, -0.5, 1.5}},
    {"encoder.forward.W_zr", {-1.5, -0.5, 0.5, -1, 0.5, -0.5, -0.5, 0.5}},
    {"encoder.forward.U_zr", {1, 0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5}},
    {"encoder.forward.W", {-0.5, -1, -1, -0.5}},
    {"encoder.forward.U", {0.5, -0.5, -0.5, -0.5}},
    {"encoder.backward.W_zr", {-0.5, 1.5, -0.5, 0.5, -0.5, -0.5, -0.5, -0.5}},
    {"encoder.backward.U_zr", {-0.5, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 0.5}},
    {"encoder.backward.W", {-1, 0.5, 0.5, -0.5}},
    {"encoder.backward.U", {0.5, -0.5, 0.5, 0.5}},
    {"decoder.initial.W_s", {-1, 0.5, 1, -0.5}},
    {"attention.W_a", {1.5, -1, 1.5, 1}},
    {"attention.U_a", {1, 1, 1, -0.5, -1.5, -1, -0.5, 0.5}},
    {"attention.v_a", {-2, -2.5}},
    {"target.embedding", {0, 0, 0, 0, -1, -0.5, -0.5, -0.5}},
    {"decoder.gru.W_zr", {-0.5, -0.5, -0.5, -0.5, 0.5, -0.5, -0.5, -0.5}},
    {"decoder.gru.U_zr", {-0.5, 0.5, 0.5, -0.5, -0.5, 0.5, -0.5, -0.5}},
    {"decoder.gru.C_zr", {0.5, 0.5, 0.5, -0.5, 0.5, 0.5, 0.5, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 0.5, -0.5, -0.5}},
    {"decoder.gru.W", {0.5, 0.5, 0.5, 0.5}},
    {"decoder.gru.U", {-1, 0.5, -0.5, -0.5}},
    {"decoder.gru.C", {-0.5, -0.5, 0.5, -0.5, -0.5, -0.5, -0.5, -0.5}},
    {"readout.U_o", {-0.5, 0.5, -0.5, 0.5, -0.5, -0.5, -0.5, -1}},
    {"readout.V_o", {0.5, 0.5, -0.5, -0.5, -0.5, 0.5, -1, -0.5}},
    {"readout.C_o", {-1, -0.5, 0.5, -0.5, -1, -1.5, -0.5, 0.5, 0.5, -0.5, -0.5, 1, 0.5, -0.5, -0.5, 1}},
    {"output.W_o", {0.5, 1, -0.5, -0.5, 0.5, -1.5, -1.5, 0.5}},
};
/* clang-format on */
const int worked_parameter_count = sizeof worked_parameters / sizeof *worked_parameters;

const float *worked_values(const char *name) {
    for (int i = 0; i < worked_parameter_count; i++)
        if (strcmp(worked_parameters[i].name, name) == 0)
            return worked_parameters[i].value;
    return NULL;
}

/* The first word comes oftener: ids follow from how often words are seen. */
static sa_status make_vocab(vocab **out, const char *line, sa_error *error) {
    vocab_options options = {.type = SA_VOCAB_WORD, .size = 4};
    vocab_learner *learner;
    SA_TRY(vocab_learner_new(&learner, &options, error));
    sa_status status = vocab_learner_add(learner, line, strlen(line), error);
    if (status == SA_OK)
        status = vocab_learner_end(learner, out, error);
    vocab_learner_free(learner);
    return status;
}

static sa_status make_net(model *m, sa_order order, sa_error *error) {
    sa_model_config c;
    SA_TRY(sa_model_config_preset(&c, "rnnsearch", error));
    c.vocab_source = c.vocab_target = 4;
    c.dim_emb = c.dim_rnn = c.dim_dec = c.dim_att = c.dim_maxout = 2;
    c.order = order;
    SA_TRY(model_declare(m, &c, error));
    SA_TRY(params_allocate(&m->params, false, error)); /* zeros */
    for (int i = 0; i < worked_parameter_count; i++) {
        param *p = params_find(&m->params, worked_parameters[i].name);
        SA_ASSERT(p);
        memcpy(p->value, worked_parameters[i].value, (size_t)param_count(p) * sizeof *p->value);
    }
    return SA_OK;
}

sa_status worked_model_make(sa_model **out, sa_order order, sa_error *error) {
    sa_model *m;
    *out = NULL;
    SA_TRY(model_file_new(&m, error));
    sa_status status = make_net(&m->net, order, error);
    if (status == SA_OK)
        status = make_vocab(&m->source, "red red house", error);
    if (status == SA_OK)
        status = make_vocab(&m->target, "maison maison rouge", error);
    if (status == SA_OK)
        *out = m;
    else
        sa_model_free(m);
    return status;
}
