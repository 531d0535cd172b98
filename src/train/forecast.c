#include "train/forecast.h"

#include "base/memory.h"
#include "train/batch_fit.h"

#include <math.h>
#include <stdio.h>

/* Of a tape's arena, for what rounding adds to many small allocations. Only addresses, unless used. */
enum { ARENA_SPARE = 1 << 20 };
/* Products that translating a validation text takes, as seen with 500 sentences. */
enum { TRANSLATION_PRODUCTS = 600 };

/* "1.53 GB", "20.4 MB": three digits or more. */
static void show_bytes(double bytes, char text[16]) {
    static const char *const unit[] = {"MB", "GB", "TB"};
    int k = 0;
    double value = bytes / 1e6;
    for (; value >= 1000 && k < 2; k++)
        value /= 1000;
    snprintf(text, 16, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit[k]);
}

static double sum_of(const forecast *f) {
    double sum = 0;
    for (int i = 0; i < FORECAST_PARTS; i++)
        sum += f->part[i];
    return sum;
}

void forecast_describe(const forecast *f, char *text, size_t size) {
    static const char *const names[FORECAST_PARTS] = {
        [FORECAST_PARAMETERS] = "parameters",     [FORECAST_GRADIENTS] = "gradients",
        [FORECAST_OPTIMIZER] = "optimizer",       [FORECAST_AVERAGE] = "average",
        [FORECAST_PACKS] = "packed weights",      [FORECAST_PASSES] = "largest minibatch",
        [FORECAST_VALIDATION] = "validation",     [FORECAST_TEACHER] = "the other model",
        [FORECAST_PRODUCTS] = "compiled products"};
    char number[16];
    show_bytes(sum_of(f), number);
    size_t at = (size_t)snprintf(text, size, "%s", number);
    for (int i = 0; i < FORECAST_PARTS && at < size; i++) {
        if (f->part[i] <= 0)
            continue;
        show_bytes(f->part[i], number);
        at += (size_t)snprintf(text + at, size - at, "%s%s %s", i ? ", " : ": ", names[i], number);
    }
}

/* oneDNN rounds the columns of a packed weight up. */
enum { PACK_COLUMNS = 64 };

static double pack_bytes(long rows, long cols, sa_precision precision) {
    long padded = (cols + PACK_COLUMNS - 1) / PACK_COLUMNS * PACK_COLUMNS;
    return (double)rows * (double)padded * (precision == SA_BF16 ? 2 : 4);
}

/* What there is one of per parameter. */
static void count_parameters(forecast *f, const forecast_input *in) {
    const params *p = &in->net->params;
    double block = (double)p->count * (double)sizeof(real);
    f->part[FORECAST_PARAMETERS] = f->part[FORECAST_GRADIENTS] = block;
    f->part[FORECAST_OPTIMIZER] = block * optimizer_of(in->options->optimizer)->slots;
    f->part[FORECAST_AVERAGE] = in->options->average > 0 ? block : 0;
    for (int i = 0; i < p->n; i++) {
        const param *q = p->at[i];
        if (q->rank == 1 || q->use == USE_LOOKUP)
            continue;
        f->part[FORECAST_PACKS] += pack_bytes(q->dim[1], q->dim[0], in->options->precision);
        if (q->use == USE_STEP || in->options->precision != SA_F32)
            f->part[FORECAST_PACKS] += pack_bytes(q->dim[0], q->dim[1], in->options->precision);
    }
}

/* The largest of the minibatches that the validation text is measured in. */
static sa_status largest_measured(const pass_cost *cost, const forecast_input *in, batch_limits limits,
                                  double *bytes, sa_error *error) {
    epoch batches;
    *bytes = 0;
    SA_TRY(measure_order(&batches, in->valid, limits, error));
    for (size_t i = 0; i < batches.n; i++) {
        batch_size size = batch_size_of(in->valid, batches.pair + batches.start[i],
                                        (int)(batches.start[i + 1] - batches.start[i]));
        *bytes = fmax(*bytes, pass_cost_of(cost, false, size.B, size.S, size.T));
    }
    epoch_free(&batches);
    return SA_OK;
}

/* Translation for BLEU: the annotations of a minibatch, one step of its hypotheses at a time, and its products. */
static double translation_bytes(const pass_cost *cost, const forecast_input *in) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    double B = fmin(o.mini_batch, (double)in->valid->n);
    int S = 0;
    for (size_t i = 0; i < in->valid->n; i++)
        S = in->valid->entry[i].source_length > S ? in->valid->entry[i].source_length : S;
    return pass_cost_of(cost, false, B, S, 1) + pass_cost_of(cost, false, B * in->options->valid_beam, 0, 1) +
           TRANSLATION_PRODUCTS * (double)GEMM_PRODUCT_BYTES;
}

/* Shards whose passes this rank has in memory at a time. */
static int tapes_of(const forecast_input *in) {
    int own_shards = (in->options->shards + in->ranks - 1) / in->ranks;
    return in->threads < own_shards ? in->threads : own_shards;
}

/* The teacher's values and packs, and the same minibatches: at most what they would take in training. */
static sa_status count_teacher(forecast *f, const forecast_input *in, const length_table *lengths,
                               sa_error *error) {
    pass_cost cost;
    const int shards = in->options->shards;
    SA_TRY(pass_cost_measure(&cost, &in->teacher->config, &(regularisation){0}, error));
    f->part[FORECAST_TEACHER] =
        2.0 * (double)in->teacher->params.count * (double)sizeof(real) +
        largest_minibatch((pass_kind){&cost, shards, SA_F32}, lengths, f->limits, NULL) * tapes_of(in) / shards;
    return SA_OK;
}

/* The limits of minibatches, what the largest within them takes, and of that the arena of one shard. */
static sa_status count_training(forecast *f, const forecast_input *in, const pass_cost *cost, double *shard_arena,
                                sa_error *error) {
    const sa_train_options *o = in->options;
    const pass_kind kind = {cost, o->shards, o->precision};
    length_table lengths;
    sa_status status = SA_OK;
    /* Of what will be drawn no more is known than how long it may be. */
    int least = o->subword_sampling > 0 ? o->max_length + 1 : 0;
    SA_TRY(length_table_make(&lengths, in->train, least, error));
    f->limits = (batch_limits){o->mini_batch, o->mini_batch_words};
    if (o->mini_batch_fit && !o->resume)
        status = batch_limits_fit(&f->limits, kind, &lengths, o->workspace * 1e6, error);
    if (status == SA_OK)
        f->part[FORECAST_PASSES] =
            largest_minibatch(kind, &lengths, f->limits, shard_arena) * tapes_of(in) / o->shards;
    /* The first shard adds the output layer's gradient up in its place; where rounds follow each other, a later
     * shard has the same tape and needs room. */
    if (status == SA_OK && tapes_of(in) == o->shards)
        f->part[FORECAST_PASSES] -= cost->vocabulary * cost->symbols;
    *shard_arena /= o->shards;
    if (status == SA_OK && in->teacher)
        status = count_teacher(f, in, &lengths, error);
    length_table_free(&lengths);
    return status;
}

/* A tape for each thread, in training as in validation. */
static sa_status count_passes(forecast *f, const forecast_input *in, sa_error *error) {
    const sa_train_options *o = in->options;
    pass_cost cost;
    regularisation r = regularisation_of(o, 0);
    double measured, shard;
    SA_TRY(pass_cost_measure(&cost, &in->net->config, &r, error));
    SA_TRY(count_training(f, in, &cost, &shard, error));
    SA_TRY(largest_measured(&cost, in, f->limits, &measured, error));
    f->part[FORECAST_VALIDATION] = in->threads * translation_bytes(&cost, in);
    for (int i = 0; i < in->threads; i++)
        f->part[FORECAST_VALIDATION] += fmax(0, measured - (i < tapes_of(in) ? shard : 0));
    f->plan.arena = (size_t)fmax(shard, measured) + ARENA_SPARE;
    return SA_OK;
}

/* Addresses that are taken and not used: what arenas of equal size have more than they need, and what the C library
 * reserves for a thread (its stack, 64 MB for its small allocations), of which translation has as many again. */
static double idle_addresses(const forecast *f, const forecast_input *in) {
    enum { THREAD_ADDRESSES = 72 << 20 };
    double arenas = (double)f->plan.arena * in->threads;
    double products = TRANSLATION_PRODUCTS * (double)(GEMM_PRODUCT_ADDRESSES - GEMM_PRODUCT_BYTES);
    return fmax(0, arenas - f->part[FORECAST_PASSES]) + in->threads * products +
           2.0 * (in->threads - 1) * THREAD_ADDRESSES;
}

/* Whether all of it fits, with as many compiled products as do; some hundred are what one update needs. */
static sa_status fit_products(forecast *f, const forecast_input *in, sa_error *error) {
    enum { PRODUCTS_MIN = 256 };
    const memory_room room[2] = {memory_pages_left(""), memory_addresses_left("")};
    const double stores = 1 + in->threads; /* 1: oneDNN's own */
    const double each[2] = {stores * GEMM_PRODUCT_BYTES, stores * GEMM_PRODUCT_ADDRESSES};
    f->part[FORECAST_PRODUCTS] = 0;
    const double rest[2] = {sum_of(f), sum_of(f) + idle_addresses(f, in)};
    double kept = GEMM_PRODUCTS_MAX;
    int tight = 0;
    for (int k = 0; k < 2; k++)
        if ((room[k].bytes - rest[k]) / each[k] < kept) {
            kept = (room[k].bytes - rest[k]) / each[k];
            tight = k;
        }
    f->plan.products = (int)fmax(kept, PRODUCTS_MIN);
    f->part[FORECAST_PRODUCTS] = f->plan.products * each[0];
    if (kept >= PRODUCTS_MIN)
        return SA_OK;
    char parts[512], needed[16], left[16], idle[64] = "", number[16];
    double all = rest[tight] + PRODUCTS_MIN * each[tight];
    forecast_describe(f, parts, sizeof parts);
    show_bytes(all, needed);
    show_bytes(room[tight].bytes, left);
    show_bytes(all - sum_of(f), number);
    if (tight == 1)
        snprintf(idle, sizeof idle, ", beside %s that are reserved only", number);
    return sa_fail(
        error, SA_MEMORY,
        "not enough memory: this run needs %s%s, and %s are left (%s). It takes %s%s%s. The model is smaller "
        "with --dim-emb, --dim-rnn, --dim-dec, --dim-att, --dim-maxout and --vocab-size, minibatches with "
        "--mini-batch, --mini-batch-words, --mini-batch-fit and --max-length; fewer --shards and --threads also "
        "take less",
        needed, tight == 1 ? " of addresses" : "", left, room[tight].limit, parts,
        f->plan.arena > 0 ? "" : ", and the minibatches", idle);
}

sa_status forecast_check_sizes(const sa_train_options *o, int threads, sa_error *error) {
    enum { FEWEST_SYMBOLS = 3 };
    sa_model_config config = o->model;
    config.vocab_source = config.vocab_target = FEWEST_SYMBOLS;
    model net;
    forecast f = {0};
    SA_TRY(model_declare(&net, &config, error));
    forecast_input in = {.options = o, .net = &net, .threads = threads, .ranks = 1};
    count_parameters(&f, &in);
    sa_status status = fit_products(&f, &in, error);
    model_clear(&net);
    return status;
}

sa_status forecast_make(forecast *out, const forecast_input *in, sa_error *error) {
    *out = (forecast){0};
    count_parameters(out, in);
    SA_TRY(fit_products(out, in, error)); /* before passes are tried on a model that may be far too large */
    SA_TRY(count_passes(out, in, error));
    return fit_products(out, in, error);
}
