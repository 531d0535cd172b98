/* Defaults and checks of a training run. */
#include "math/gemm.h"
#include "model/model.h"
#include "train/run.h"
#include "train/schedule.h"

#include <string.h>

/* What Bahdanau et al. 2015 did (B.2). */
static void paper_recipe(sa_train_options *o) {
    o->vocab_type = SA_VOCAB_WORD;
    o->optimizer = SA_ADADELTA;
    o->mini_batch = 80;
    o->max_length = 50;
}

/* What Sutskever et al. 2014 did (3.4), but for the rate, which they halved every half epoch after the fifth. */
static void seq2seq_recipe(sa_train_options *o) {
    o->vocab_type = SA_VOCAB_WORD;
    o->optimizer = SA_SGD;
    o->learning_rate = 0.7f;
    o->clip_norm = 5;
    o->mini_batch = 128;
    o->max_length = 100;
}

/* What Luong et al. 2015 did (4.1), but for the rate, which they halved every epoch after the eighth. */
static void luong_recipe(sa_train_options *o) {
    seq2seq_recipe(o);
    o->learning_rate = 1;
    o->dropout = o->dropout_emb = 0.2f;
    o->max_length = 50;
    o->after_epochs = 12;
}

/* What Wu et al. 2016 began with (8.3): wordpieces for both languages, Adam. */
static void gnmt_recipe(sa_train_options *o) {
    o->vocab_type = SA_VOCAB_BPE;
    o->joint_vocab = true;
    o->optimizer = SA_ADAM;
    o->learning_rate = 2e-4f;
    o->clip_norm = 5;
    o->dropout = o->dropout_emb = 0.2f;
    o->mini_batch = 128;
    o->max_length = 100;
}

/* What Vaswani et al. 2017 did (5): rates of 512^-1/2 min(u^-1/2, u 4000^-3/2) at update u, some 25,000 words an
 * update. */
static void transformer_recipe(sa_train_options *o) {
    o->vocab_type = SA_VOCAB_BPE;
    o->joint_vocab = true;
    o->optimizer = SA_ADAM;
    o->adam_beta2 = 0.98f;
    o->adam_epsilon = 1e-9f;
    o->learning_rate = 7e-4f;
    o->warmup = 4000;
    o->schedule = SA_SCHEDULE_INV_SQRT;
    o->clip_norm = 0;
    o->loss_per_word = true;
    o->dropout = 0.1f;
    o->label_smoothing = 0.1f;
    o->mini_batch = 250;
    o->optimizer_delay = 4;
    o->max_length = 100;
}

/* What small texts need with any model: subwords, Adam, an average of the parameters. */
static void few_pairs(sa_train_options *o) {
    o->vocab_type = SA_VOCAB_BPE;
    o->dropout = 0.3f;
    o->dropout_emb = 0.2f;
    o->label_smoothing = 0.1f;
    o->optimizer = SA_ADAM;
    o->warmup = 200;
    o->schedule = SA_SCHEDULE_LINEAR;
    o->loss_per_word = true;
    o->average = 0.999f;
    o->mini_batch = 64;
    o->max_length = 100;
    o->after_epochs = 20;
}

/* The best that is known for 30,000 sentence pairs (docs/results.md): much is dropped, and that for long. */
static void small_recipe(sa_train_options *o) {
    few_pairs(o);
    o->dropout = 0.4f;
    o->dropout_emb = 0.3f;
    o->dropout_src = o->dropout_trg = 0.1f;
    o->after_epochs = 40;
}

/* A Transformer wants a longer warm-up, and dropout inside its layers only. */
static void small_transformer_recipe(sa_train_options *o) {
    few_pairs(o);
    o->dropout = 0.2f;
    o->dropout_emb = 0;
    o->adam_beta2 = 0.98f;
    o->warmup = 2000;
}

/* For a thousand pictures with a short caption each: what Xu et al. 2015 did with a hundred thousand, and all that
 * keeps a model from learning pictures by heart. */
static void caption_recipe(sa_train_options *o) {
    few_pairs(o);
    o->mini_batch = 32;
    o->vocab_type = SA_VOCAB_WORD;
    o->dropout = 0.2f;
    o->learning_rate = 0.002f;
    o->doubly_stochastic = 1;
    o->picture_shift = 4;
    o->held_out = 50;
    o->early_stopping_metric = SA_VALID_CROSS_ENTROPY;
    o->early_stopping = 0; /* the cross-entropy rises and falls again */
    o->after_epochs = 250;
}

static const struct {
    const char *preset;
    void (*apply)(sa_train_options *o);
} recipes[] = {{"small", small_recipe},
               {"rnnsearch", paper_recipe},
               {"rnnencdec", paper_recipe},
               {"seq2seq", seq2seq_recipe},
               {"luong", luong_recipe},
               {"gnmt", gnmt_recipe},
               {"transformer", transformer_recipe},
               {"transformer-small", small_transformer_recipe},
               {"hybrid", small_transformer_recipe},
               {"caption", caption_recipe}};

/* bf16 costs nothing that was ever measured, and takes half of the time. */
sa_status run_fastest_precision(sa_precision *out, sa_error *error) {
    gemm *g;
    SA_TRY(gemm_new(&g, error));
    *out = gemm_has(g, GEMM_BF16) ? SA_BF16 : SA_F32;
    gemm_free(g);
    return SA_OK;
}

sa_status sa_train_options_init(sa_train_options *o, const char *preset_name, sa_error *error) {
    memset(o, 0, sizeof *o);
    SA_TRY(sa_model_config_preset(&o->model, preset_name, error));
    o->held_out = 500;
    o->normalization = "identity";
    o->adadelta_rho = 0.95f;
    o->adadelta_epsilon = 1e-6f;
    o->adam_beta1 = 0.9f;
    o->adam_beta2 = 0.999f;
    o->adam_epsilon = 1e-8f;
    o->guided_alignment_weight = 0.1f;
    o->plateau_factor = 0.5f;
    o->plateau_patience = 3;
    o->clip_norm = 1;
    o->optimizer_delay = 1;
    o->workspace = 512;
    o->window = 20;
    o->early_stopping_metric = SA_VALID_BLEU;
    o->early_stopping = 10;
    o->valid_beam = 1;
    o->seed = 1;
    o->shards = 2;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (strcmp(preset_name, recipes[i].preset) == 0)
            recipes[i].apply(o);
    return run_fastest_precision(&o->precision, error);
}

/* Options that name other models. */
static sa_status check_teacher(const sa_train_options *o, sa_error *error) {
    if (o->attention_from && o->adversary_of)
        return sa_fail(error, SA_USAGE, "attention-from and adversary-of exclude each other");
    if (!(o->adversary_lambda >= 0 && o->adversary_lambda <= 1e6f))
        return sa_fail(error, SA_USAGE, "adversary-lambda is %g; it must be from 0 to 1e6",
                       (double)o->adversary_lambda);
    if ((o->adversary_lambda > 0) != (o->adversary_of != NULL))
        return sa_fail(error, SA_USAGE,
                       "adversary-of and an adversary-lambda above 0 go together, also when a run is resumed");
    if (o->r_drop > 0 && (o->attention_from || o->adversary_of))
        return sa_fail(error, SA_USAGE, "r-drop does not go together with attention-from or adversary-of");
    if (o->attention_from && o->early_stopping_metric == SA_VALID_BLEU)
        return sa_fail(error, SA_USAGE,
                       "a model that looks where another does cannot translate by itself: with attention-from say "
                       "--early-stopping-metric cross-entropy");
    return SA_OK;
}

static sa_status check_guided(const sa_train_options *o, sa_error *error) {
    const preset *p = preset_find(o->model.preset);
    if (!o->guided_alignment)
        return SA_OK;
    if (p && !p->attends)
        return sa_fail(error, SA_USAGE, "guided-alignment needs attention, which a %s model has not", p->name);
    if (model_source_shape(&o->model).length)
        return sa_fail(error, SA_USAGE,
                       "guided-alignment is for links of words: this model's sources are pictures");
    if (o->attention_from || o->adversary_of)
        return sa_fail(error, SA_USAGE, "guided-alignment and %s exclude each other",
                       o->attention_from ? "attention-from" : "adversary-of");
    return SA_OK;
}

static sa_status check_sampling(const sa_train_options *o, sa_error *error) {
    if (!(o->subword_sampling >= 0 && o->subword_sampling <= 1000))
        return sa_fail(error, SA_USAGE, "subword-sampling is %g; it must be from 0 to 1000",
                       (double)o->subword_sampling);
    if (o->subword_sampling == 0)
        return SA_OK;
    if (o->vocab_type == SA_VOCAB_WORD)
        return sa_fail(error, SA_USAGE, "subword-sampling is for subwords: --vocab-type bpe or unigram");
    if (o->vocab_type == SA_VOCAB_BPE && o->subword_sampling >= 1)
        return sa_fail(error, SA_USAGE, "subword-sampling of bpe is a probability, below 1, not %g",
                       (double)o->subword_sampling);
    if (o->guided_alignment)
        return sa_fail(error, SA_USAGE,
                       "subword-sampling and guided-alignment exclude each other: links are of fixed symbols");
    return SA_OK;
}

sa_status run_check_options(const sa_train_options *o, sa_error *error) {
    if (!o->train_source)
        return sa_fail(error, SA_USAGE, "no training text: give two files, or one TSV file");
    if (!o->output)
        return sa_fail(error, SA_USAGE, "no output folder for the run");
    if (o->model.tied_source && !o->joint_vocab)
        return sa_fail(error, SA_USAGE, "tied source embeddings need one vocabulary for both sides: --joint-vocab");
    if (model_source_shape(&o->model).length && (o->joint_vocab || o->protect))
        return sa_fail(error, SA_USAGE, "%s is for two sides of text: this model's sources are none",
                       o->joint_vocab ? "joint-vocab" : "protect");
    if (o->doubly_stochastic > 0 && !model_weights_learn(&o->model))
        return sa_fail(error, SA_USAGE, "doubly-stochastic is a loss of one attention, and a %s model has not one",
                       o->model.preset);
    if (o->dropout_src > 0 && model_source_shape(&o->model).length)
        return sa_fail(error, SA_USAGE, "dropout-src is for words, and the sources of a %s model are pictures",
                       o->model.preset);
    if (o->picture_shift > 0 && !model_source_shape(&o->model).length)
        return sa_fail(error, SA_USAGE, "picture-shift is for pictures, and a %s model reads text",
                       o->model.preset);
    if (o->resume && o->overwrite)
        return sa_fail(error, SA_USAGE, "resume and overwrite exclude each other");
    SA_TRY(check_teacher(o, error));
    SA_TRY(check_guided(o, error));
    SA_TRY(check_sampling(o, error));
    const struct {
        const char *name;
        double value, least, most;
    } range[] = {{"mini-batch", o->mini_batch, o->mini_batch_words > 0 ? 0 : 1, 1e6},
                 {"mini-batch-words", o->mini_batch_words, 0, 1e9},
                 {"optimizer-delay", o->optimizer_delay, 1, 1e6},
                 {"workspace", o->workspace, 1, 1e9},
                 {"window", o->window, 1, 1e6},
                 {"self-distillation", o->self_distillation, 0, SA_ENSEMBLE_MAX},
                 {"shards", o->shards, 1, 256},
                 {"threads", o->threads, 0, 1024},
                 {"max-length", o->max_length, 1, 1e6},
                 {"held-out", o->held_out, 0, 1e9},
                 {"dropout", (double)o->dropout, 0, 0.99},
                 {"dropout-emb", (double)o->dropout_emb, 0, 0.99},
                 {"dropout-src", (double)o->dropout_src, 0, 0.99},
                 {"dropout-trg", (double)o->dropout_trg, 0, 0.99},
                 {"label-smoothing", (double)o->label_smoothing, 0, 0.99},
                 {"r-drop", (double)o->r_drop, 0, 1e6},
                 {"guided-alignment-weight", (double)o->guided_alignment_weight, 0, 1e9},
                 {"doubly-stochastic", (double)o->doubly_stochastic, 0, 1e6},
                 {"picture-shift", o->picture_shift, 0, 1024},
                 {"average", (double)o->average, 0, 0.999999},
                 {"learning-rate", (double)o->learning_rate, 0, 1e9},
                 {"clip-norm", (double)o->clip_norm, 0, 1e9},
                 {"warmup", o->warmup, 0, 1e9},
                 {"plateau-factor", (double)o->plateau_factor, 1e-6, 0.999999},
                 {"plateau-patience", o->plateau_patience, 1, 1e9},
                 {"valid-beam", o->valid_beam, 1, 1000},
                 {"keep", o->keep, 0, KEEP_MOST},
                 {"early-stopping", o->early_stopping, 0, 1e9},
                 {"adam-beta1", (double)o->adam_beta1, 0, 0.999999},
                 {"adam-beta2", (double)o->adam_beta2, 0, 0.9999999},
                 {"adadelta-rho", (double)o->adadelta_rho, 0, 0.999999},
                 {"adam-epsilon", (double)o->adam_epsilon, 1e-30, 1e9},
                 {"adadelta-epsilon", (double)o->adadelta_epsilon, 1e-30, 1e9},
                 {"vocab-type", o->vocab_type, SA_VOCAB_WORD, SA_VOCAB_UNIGRAM},
                 {"precision", o->precision, SA_F32, SA_BF16},
                 {"optimizer", o->optimizer, SA_ADADELTA, SA_SGD},
                 {"schedule", o->schedule, SA_SCHEDULE_CONSTANT, SA_SCHEDULE_PLATEAU},
                 {"early-stopping-metric", o->early_stopping_metric, SA_VALID_CROSS_ENTROPY, SA_VALID_BLEU}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (!(range[i].value >= range[i].least && range[i].value <= range[i].most))
            return sa_fail(error, SA_USAGE, "%s is %g; it must be from %g to %g", range[i].name, range[i].value,
                           range[i].least, range[i].most);
    if (o->mini_batch_fit && o->mini_batch_words > 0 && !o->resume)
        return sa_fail(error, SA_USAGE, "mini-batch-fit finds what mini-batch-words says: give one of them");
    bool limited = o->after_updates > 0 || o->after_epochs > 0 || o->after_minutes > 0;
    if (!limited && o->early_stopping == 0)
        return sa_fail(error, SA_USAGE, "nothing would ever end this run: say --after or --early-stopping");
    return schedule_check(o, error);
}
