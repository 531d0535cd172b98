#include "model/config.h"

#include "base/strbuf.h"
#include "layer/gru_cell.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const char *const order_names[] = {
    [SA_LOOK_FIRST] = "look-first", [SA_UPDATE_FIRST] = "update-first", [SA_CONDITIONAL] = "conditional", NULL};
static const char *const start_names[] = {[SA_START_BACKWARD] = "backward", [SA_START_MEAN] = "mean", NULL};
static const char *const norm_names[] = {
    [SA_NORM_NONE] = "none", [SA_NORM_ENCODER] = "encoder", [SA_NORM_ALL] = "all", NULL};
static const char *const reset_names[] = {[SA_RESET_BEFORE] = "before", [SA_RESET_AFTER] = "after", NULL};
static const char *const init_names[] = {"paper", "glorot", "uniform", NULL};
static const char *const cell_names[] = {[SA_CELL_LSTM] = "lstm", [SA_CELL_LSTM_LINEAR] = "lstm-linear", NULL};

static const char *const attention_names[] = {
    [SA_ATTEND_GLOBAL] = "global", [SA_ATTEND_LOCAL_M] = "local-m", [SA_ATTEND_LOCAL_P] = "local-p", NULL};
static const char *const score_names[] = {[SA_SCORE_DOT] = "dot",
                                          [SA_SCORE_GENERAL] = "general",
                                          [SA_SCORE_CONCAT] = "concat",
                                          [SA_SCORE_LOCATION] = "location",
                                          NULL};
static const char *const coverage_names[] = {[SA_COVERAGE_NONE] = "none",
                                             [SA_COVERAGE_LINGUISTIC] = "linguistic",
                                             [SA_COVERAGE_FERTILITY] = "fertility",
                                             [SA_COVERAGE_NEURAL] = "neural",
                                             NULL};

static const char *const weights_names[] = {
    [SA_WEIGHTS_LEARNED] = "learned", [SA_WEIGHTS_UNIFORM] = "uniform", [SA_WEIGHTS_GIVEN] = "given", NULL};

enum { SIZE_MOST = 1 << 24 };

/* clang-format off */
#define NUMBER(id, type, name, least, most) [CONFIG_##id] = {#name, CONFIG_##type, offsetof(sa_model_config, name), least, most, NULL}
#define SIZE(id, name, least) NUMBER(id, INT, name, least, SIZE_MOST)
#define FLAG(id, name) NUMBER(id, BOOL, name, 0, 1)
#define NAMED(id, type, text, member, names) [CONFIG_##id] = {text, CONFIG_##type, offsetof(sa_model_config, member), 0, 0, names}
const config_field config_fields[CONFIG_FIELDS] = {
    SIZE(VOCAB_SOURCE, vocab_source, 3),
    SIZE(VOCAB_TARGET, vocab_target, 3),
    SIZE(DIM_EMB, dim_emb, 1),
    SIZE(DIM_RNN, dim_rnn, 1),
    SIZE(DIM_DEC, dim_dec, 1),
    SIZE(DIM_ATT, dim_att, 1),
    SIZE(DIM_MAXOUT, dim_maxout, 1),
    SIZE(OUTPUT_RANK, output_rank, 0),
    NAMED(ORDER, ENUM, "decoder_order", order, order_names),
    NAMED(RESET, ENUM, "reset", reset, reset_names),
    NAMED(DECODER_START, ENUM, "decoder_start", decoder_start, start_names),
    NAMED(LAYER_NORM, ENUM, "layer_norm", layer_norm, norm_names),
    NUMBER(ENCODER_TRANSITION, INT, encoder_transition, 0, GRU_TRANSITIONS_MAX),
    NUMBER(DECODER_TRANSITION, INT, decoder_transition, 0, GRU_TRANSITIONS_MAX),
    FLAG(TIED_TARGET, tied_target),
    FLAG(TIED_SOURCE, tied_source),
    NUMBER(LAYERS, INT, layers, 1, MODEL_LAYERS_MAX),
    NAMED(CELL, ENUM, "cell", cell, cell_names),
    NUMBER(RESIDUAL_FROM, INT, residual_from, 0, MODEL_LAYERS_MAX),
    FLAG(REVERSE_SOURCE, reverse_source),
    NAMED(ATTENTION, ENUM, "attention", attention, attention_names),
    SIZE(ATTENTION_WINDOW, attention_window, 1),
    NAMED(SCORE, ENUM, "score", score, score_names),
    SIZE(MAX_LOCATION, max_location, 1),
    FLAG(INPUT_FEEDING, input_feeding),
    NAMED(COVERAGE, ENUM, "coverage", coverage, coverage_names),
    SIZE(DIM_COVERAGE, dim_coverage, 1),
    FLAG(LEXICAL_MODEL, lexical_model),
    SIZE(HEADS, heads, 1),
    SIZE(DIM_FFN, dim_ffn, 1),
    NUMBER(DEC_LAYERS, INT, dec_layers, 0, MODEL_LAYERS_MAX),
    NUMBER(ALIGN_LAYER, INT, align_layer, 0, MODEL_LAYERS_MAX),
    SIZE(ALIGN_HEAD, align_head, 0),
    NAMED(ATTENTION_WEIGHTS, ENUM, "attention_weights", attention_weights, weights_names),
    FLAG(WORD_ENCODER, word_encoder),
    NUMBER(PICTURE_SIDE, INT, picture_side, 8, 1024),
    SIZE(FEATURES, features, 0),
    SIZE(DIM_FEATURE, dim_feature, 1),
    FLAG(HARD_ATTENTION, hard_attention),
    NAMED(INIT, NAME, "init", init, init_names),
    NUMBER(INIT_SCALE, FLOAT, init_scale, 1e-30, 1000),
};
/* clang-format on */

static double number_of(const sa_model_config *c, const config_field *f) {
    const void *at = (const char *)c + f->offset;
    return f->type == CONFIG_INT ? *(const int *)at : (double)*(const float *)at;
}

/* The name as users write it. */
static void option_name(const config_field *f, char *text, size_t size) {
    snprintf(text, size, "%s", f->name);
    for (char *at = text; *at; at++)
        *at = *at == '_' ? '-' : *at;
}

config_id config_find(const char *option) {
    for (int i = 0; i < CONFIG_FIELDS; i++) {
        char name[32];
        option_name(&config_fields[i], name, sizeof name);
        if (!strcmp(name, option))
            return (config_id)i;
    }
    return CONFIG_FIELDS;
}

static bool is_named(const config_field *f, const char *text) {
    for (const char *const *name = f->names; *name; name++)
        if (!strcmp(*name, text))
            return true;
    return false;
}

static sa_status refuse_name(const config_field *f, const char *text, sa_error *error) {
    strbuf list = {0};
    for (int i = 0; f->names[i]; i++)
        strbuf_printf(&list, "%s%s", i ? ", " : "", f->names[i]);
    sa_status status = list.failed
                           ? sa_fail_memory(error, list.length)
                           : sa_fail(error, SA_USAGE, "no %s \"%s\"; there are: %s", f->name, text, list.data);
    strbuf_free(&list);
    return status;
}

static sa_status check_field(const sa_model_config *c, const config_field *f, sa_error *error) {
    const char *at = (const char *)c + f->offset;
    char name[32];
    option_name(f, name, sizeof name);
    if (f->type == CONFIG_NAME && !is_named(f, at))
        return refuse_name(f, at, error);
    unsigned names = 0;
    while (f->type == CONFIG_ENUM && f->names[names])
        names++;
    if (f->type == CONFIG_ENUM && *(const unsigned *)(const void *)at >= names)
        return sa_fail(error, SA_USAGE, "%s is none of its %u values", name, names);
    bool is_number = f->type == CONFIG_INT || f->type == CONFIG_FLOAT;
    double value = is_number ? number_of(c, f) : 0;
    if (is_number && !(value >= f->least && value <= f->most))
        return sa_fail(error, SA_USAGE, "%s is %.9g; it must be from %.9g to %.9g", name, value, f->least, f->most);
    return SA_OK;
}

static bool is_unset(const sa_model_config *c, const config_field *f, const sa_model_config *defaults) {
    size_t size = f->type == CONFIG_BOOL ? sizeof(bool) : sizeof(int);
    const char *value = (const char *)c + f->offset, *usual = (const char *)defaults + f->offset;
    return !memcmp(value, usual, size) || !memcmp(value, &(int){0}, size);
}

sa_status config_check(const sa_model_config *c, uint64_t reads, const sa_model_config *defaults, sa_error *error) {
    for (int i = 0; i < CONFIG_FIELDS; i++) {
        const config_field *f = &config_fields[i];
        char name[32];
        option_name(f, name, sizeof name);
        if (reads >> i & 1)
            SA_TRY(check_field(c, f, error));
        else if (!is_unset(c, f, defaults))
            return sa_fail(error, SA_USAGE, "this %s model has no %s: leave it out", c->preset, name);
    }
    return SA_OK;
}
