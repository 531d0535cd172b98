#include "model/family.h"

#include "base/strbuf.h"

#include <string.h>

/* Fields that every preset reads. */
#define EVERY                                                                                                      \
    (CONFIG_BIT(VOCAB_SOURCE) | CONFIG_BIT(VOCAB_TARGET) | CONFIG_BIT(DIM_EMB) | CONFIG_BIT(OUTPUT_RANK) |         \
     CONFIG_BIT(TIED_TARGET) | CONFIG_BIT(TIED_SOURCE) | CONFIG_BIT(INIT) | CONFIG_BIT(INIT_SCALE))
#define RNNENCDEC                                                                                                  \
    (EVERY | CONFIG_BIT(DIM_RNN) | CONFIG_BIT(DIM_DEC) | CONFIG_BIT(DIM_MAXOUT) | CONFIG_BIT(ORDER) |              \
     CONFIG_BIT(RESET) | CONFIG_BIT(LAYER_NORM) | CONFIG_BIT(ENCODER_TRANSITION) | CONFIG_BIT(DECODER_TRANSITION))
/* Of decoders that look once a step. */
#define LOOK (CONFIG_BIT(COVERAGE) | CONFIG_BIT(DIM_COVERAGE) | CONFIG_BIT(LEXICAL_MODEL))
#define RNNSEARCH                                                                                                  \
    (RNNENCDEC | LOOK | CONFIG_BIT(DIM_ATT) | CONFIG_BIT(ATTENTION_WEIGHTS) | CONFIG_BIT(WORD_ENCODER) |           \
     CONFIG_BIT(DECODER_START) | CONFIG_BIT(LAYERS))

#define HYBRID                                                                                                     \
    (EVERY | LOOK | CONFIG_BIT(DIM_DEC) | CONFIG_BIT(DIM_ATT) | CONFIG_BIT(DIM_MAXOUT) | CONFIG_BIT(ORDER) |       \
     CONFIG_BIT(RESET) | CONFIG_BIT(LAYER_NORM) | CONFIG_BIT(DECODER_TRANSITION) | CONFIG_BIT(ATTENTION_WEIGHTS) | \
     CONFIG_BIT(LAYERS) | CONFIG_BIT(HEADS) | CONFIG_BIT(DIM_FFN))

#define SEQ2SEQ (EVERY | CONFIG_BIT(DIM_RNN) | CONFIG_BIT(LAYERS) | CONFIG_BIT(CELL) | CONFIG_BIT(REVERSE_SOURCE))

#define LUONG                                                                                                      \
    (SEQ2SEQ | LOOK | CONFIG_BIT(ATTENTION) | CONFIG_BIT(ATTENTION_WINDOW) | CONFIG_BIT(SCORE) |                   \
     CONFIG_BIT(MAX_LOCATION) | CONFIG_BIT(DIM_ATT) | CONFIG_BIT(INPUT_FEEDING) | CONFIG_BIT(ATTENTION_WEIGHTS))

#define GNMT                                                                                                       \
    (EVERY | LOOK | CONFIG_BIT(DIM_RNN) | CONFIG_BIT(DIM_ATT) | CONFIG_BIT(LAYERS) | CONFIG_BIT(CELL) |            \
     CONFIG_BIT(RESIDUAL_FROM) | CONFIG_BIT(ATTENTION_WEIGHTS))

#define TRANSFORMER                                                                                                \
    (EVERY | CONFIG_BIT(LAYERS) | CONFIG_BIT(DEC_LAYERS) | CONFIG_BIT(HEADS) | CONFIG_BIT(DIM_FFN) |               \
     CONFIG_BIT(ALIGN_LAYER) | CONFIG_BIT(ALIGN_HEAD))

#define CAPTION                                                                                                    \
    ((EVERY & ~CONFIG_BIT(TIED_SOURCE)) | CONFIG_BIT(DIM_RNN) | CONFIG_BIT(DIM_ATT) | CONFIG_BIT(PICTURE_SIDE) |   \
     CONFIG_BIT(FEATURES) | CONFIG_BIT(DIM_FEATURE) | CONFIG_BIT(HARD_ATTENTION))

#define PAPER_SIZES                                                                                                \
    .vocab_source = 30000, .vocab_target = 30000, .dim_emb = 620, .dim_rnn = 1000, .dim_dec = 1000,                \
    .dim_maxout = 500, .order = SA_LOOK_FIRST, .reset = SA_RESET_BEFORE, .init = "paper"

static const preset presets[] = {
    /* RNNsearch at the size that 30,000 sentence pairs and an ordinary computer can fill, with the unit of dl4mt
     * and Nematus: what small texts are translated best with (docs/recipes.md). */
    {"small",
     &family_rnnsearch,
     true,
     RNNSEARCH,
     {.preset = "small",
      .vocab_source = 4000,
      .vocab_target = 4000,
      .dim_emb = 256,
      .dim_rnn = 256,
      .dim_dec = 512,
      .dim_att = 256,
      .dim_maxout = 256,
      .layers = 1,
      .order = SA_CONDITIONAL,
      .reset = SA_RESET_AFTER,
      .decoder_start = SA_START_MEAN,
      .layer_norm = SA_NORM_ENCODER,
      .dim_coverage = 10,
      .tied_target = true,
      .init = "glorot"}},
    /* Bahdanau, Cho and Bengio 2015 */
    {"rnnsearch",
     &family_rnnsearch,
     true,
     RNNSEARCH,
     {.preset = "rnnsearch", PAPER_SIZES, .layers = 1, .dim_att = 1000, .dim_coverage = 10}},
    /* Cho et al. 2014, as run in the former */
    {"rnnencdec", &family_rnnsearch, false, RNNENCDEC, {.preset = "rnnencdec", PAPER_SIZES}},
    /* Sutskever, Vinyals and Le 2014 */
    {"seq2seq",
     &family_seq2seq,
     false,
     SEQ2SEQ,
     {.preset = "seq2seq",
      .vocab_source = 160000,
      .vocab_target = 80000,
      .dim_emb = 1000,
      .dim_rnn = 1000,
      .layers = 4,
      .cell = SA_CELL_LSTM,
      .reverse_source = true,
      .init = "uniform",
      .init_scale = 0.08f}},
    /* Luong, Pham and Manning 2015 */
    {"luong",
     &family_luong,
     true,
     LUONG,
     {.preset = "luong",
      .vocab_source = 50000,
      .vocab_target = 50000,
      .dim_emb = 1000,
      .dim_rnn = 1000,
      .dim_att = 1000,
      .layers = 4,
      .cell = SA_CELL_LSTM,
      .reverse_source = true,
      .attention = SA_ATTEND_GLOBAL,
      .attention_window = 10,
      .score = SA_SCORE_GENERAL,
      .max_location = 50,
      .input_feeding = true,
      .dim_coverage = 10,
      .init = "uniform",
      .init_scale = 0.1f}},
    /* Wu et al. 2016 */
    {"gnmt",
     &family_gnmt,
     true,
     GNMT,
     {.preset = "gnmt",
      .vocab_source = 32000,
      .vocab_target = 32000,
      .dim_emb = 1024,
      .dim_rnn = 1024,
      .dim_att = 1024,
      .layers = 8,
      .cell = SA_CELL_LSTM_LINEAR,
      .residual_from = 3,
      .dim_coverage = 10,
      .init = "uniform",
      .init_scale = 0.04f}},
    /* Vaswani et al. 2017: base */
    {"transformer",
     &family_transformer,
     true,
     TRANSFORMER,
     {.preset = "transformer",
      .vocab_source = 37000,
      .vocab_target = 37000,
      .dim_emb = 512,
      .layers = 6,
      .heads = 8,
      .dim_ffn = 2048,
      .tied_target = true,
      .tied_source = true,
      .init = "glorot"}},
    /* The same at a size for 30,000 sentence pairs. */
    {"transformer-small",
     &family_transformer,
     true,
     TRANSFORMER,
     {.preset = "transformer-small",
      .vocab_source = 8000,
      .vocab_target = 8000,
      .dim_emb = 256,
      .layers = 3,
      .heads = 4,
      .dim_ffn = 1024,
      .tied_target = true,
      .init = "glorot"}},
    /* A Transformer's encoder under RNNsearch's decoder (Chen et al. 2018), at the same size. */
    {"hybrid",
     &family_hybrid,
     true,
     HYBRID,
     {.preset = "hybrid",
      .vocab_source = 8000,
      .vocab_target = 8000,
      .dim_emb = 256,
      .dim_dec = 512,
      .dim_att = 256,
      .dim_maxout = 256,
      .layers = 3,
      .heads = 4,
      .dim_ffn = 1024,
      .order = SA_CONDITIONAL,
      .reset = SA_RESET_AFTER,
      .decoder_start = SA_START_MEAN,
      .dim_coverage = 10,
      .tied_target = true,
      .init = "glorot"}},
    /* Xu et al. 2015, with an encoder and sizes for a thousand pictures. */
    {"caption",
     &family_caption,
     true,
     CAPTION,
     {.preset = "caption",
      .vocab_source = 1 << 24, /* colours */
      .vocab_target = 4000,
      .dim_emb = 128,
      .dim_rnn = 256,
      .dim_att = 128,
      .picture_side = 64,
      .dim_feature = 128,
      .init = "glorot"}},
};

/* The first is what training takes when nothing is said. */
static const char *const preset_names[] = {"small",  "rnnsearch", "rnnencdec",   "seq2seq",
                                           "luong",  "gnmt",      "transformer", "transformer-small",
                                           "hybrid", "caption",   NULL};

const preset *preset_find(const char *name) {
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (!strcmp(presets[i].name, name))
            return &presets[i];
    return NULL;
}

const char *const *sa_model_presets(void) {
    return preset_names;
}

uint64_t preset_reads(const preset *p, const sa_model_config *c) {
    uint64_t idle = p->family->idle ? p->family->idle(c) : 0;
    if (c->coverage != SA_COVERAGE_NEURAL)
        idle |= CONFIG_BIT(DIM_COVERAGE);
    if (strcmp(c->init, "uniform"))
        idle |= CONFIG_BIT(INIT_SCALE);
    return p->fields & ~idle;
}

bool sa_model_config_has(const sa_model_config *config, const char *option) {
    const preset *p = preset_find(config->preset);
    config_id id = config_find(option);
    return p && id != CONFIG_FIELDS && preset_reads(p, config) >> id & 1;
}

const char *sa_model_config_choice(const sa_model_config *config, const char *option) {
    if (!sa_model_config_has(config, option))
        return NULL;
    const config_field *f = &config_fields[config_find(option)];
    if (f->type != CONFIG_ENUM)
        return NULL;
    unsigned chosen = *(const unsigned *)(const void *)((const char *)config + f->offset);
    for (unsigned i = 0; f->names[i]; i++)
        if (i == chosen)
            return f->names[i];
    return NULL;
}

sa_status sa_model_config_preset(sa_model_config *config, const char *name, sa_error *error) {
    const preset *p = preset_find(name);
    if (p) {
        *config = p->defaults;
        return SA_OK;
    }
    strbuf list = {0};
    for (int i = 0; preset_names[i]; i++)
        strbuf_printf(&list, "%s%s", i ? ", " : "", preset_names[i]);
    sa_status status = list.failed ? sa_fail_memory(error, list.length)
                                   : sa_fail(error, SA_USAGE, "no preset \"%s\"; there are: %s", name, list.data);
    strbuf_free(&list);
    return status;
}
