/* sa_bench_train: the speed of updates beside that of the products they are made of. */
#include "base/clock.h"
#include "base/memory.h"
#include "math/gemm_team.h"
#include "train/forecast.h"
#include "train/run.h"

#include <math.h>
#include <stdlib.h>

typedef struct bench {
    run r;
    epoch window; /* minibatches of the first window */
    int *batch;   /* which of them are measured */
    double *best; /* their best times */
    int n;
} bench;

static sa_status run_batch(bench *b, int i, int64_t update, double *seconds, sa_error *error) {
    const epoch *e = &b->window;
    update_result result;
    double start = clock_seconds();
    SA_TRY(
        updater_run(&b->r.updater, &b->r.train, e->pair, e->start + b->batch[i], 1, update, 1e-4, &result, error));
    *seconds = clock_seconds() - start;
    return SA_OK;
}

static void forget_uses(updater *u) {
    for (int i = 0; i < pool_threads(u->pool); i++)
        gemm_forget_uses(u->gemms[i]);
}

static sa_status prepare(bench *b, int batches, sa_error *error) {
    run *r = &b->r;
    sa_model_config asked = r->options.model;
    SA_TRY(model_file_new(&r->model, error));
    SA_TRY(run_load_data(r, error));
    asked.vocab_source =
        asked.vocab_source > vocab_size(r->model->source) ? asked.vocab_source : vocab_size(r->model->source);
    asked.vocab_target =
        asked.vocab_target > vocab_size(r->model->target) ? asked.vocab_target : vocab_size(r->model->target);
    SA_TRY(model_declare(&r->model->net, &asked, error));
    int threads = r->options.threads > 0 ? r->options.threads : thread_cores();
    forecast_input in = {&r->options, &r->model->net, &r->train, &r->valid, threads, r->ranks.size, NULL};
    forecast needed;
    SA_TRY(forecast_make(&needed, &in, error));
    SA_TRY(params_allocate(&r->model->net.params, true, error));
    const memory_plan plan = {16 << 20, GEMM_PRODUCTS_MAX};
    SA_TRY(updater_init(&r->updater, &r->options, &r->ranks, &r->model->net, threads, &plan, error));
    SA_TRY(params_initialise(&r->model->net.params, r->options.seed, error));
    batch_limits limits = {.sentences = r->options.mini_batch};
    SA_TRY(epoch_make(&b->window, &r->train, r->options.seed, 0, limits, r->options.window, error));
    SA_TRY(epoch_deal(&b->window, 0, error));
    int full = (int)(r->train.n / (size_t)r->options.mini_batch),
        window = r->options.window < full ? r->options.window : full;
    b->n = batches < window ? batches : window;
    if (b->n < 1)
        return sa_fail(error, SA_DATA, "the text has no full minibatch of %d pairs", r->options.mini_batch);
    b->batch = calloc((size_t)b->n, sizeof *b->batch);
    b->best = calloc((size_t)b->n, sizeof *b->best);
    if (!b->batch || !b->best)
        return sa_fail_memory(error, 0);
    for (int i = 0; i < b->n; i++)
        b->batch[i] = (int)((i + 0.5) * window / b->n);
    return SA_OK;
}

static sa_status measure(bench *b, int passes, sa_train_bench *out, sa_error *error) {
    updater *u = &b->r.updater;
    int64_t update = 0;
    double seconds, total = 0, words = 0, operations, alone;
    for (int pass = 0; pass <= passes; pass++) {
        if (pass == 1)
            forget_uses(u);
        for (int i = 0; i < b->n; i++) {
            SA_TRY(run_batch(b, i, ++update, &seconds, error));
            b->best[i] = pass <= 1 ? seconds : fmin(b->best[i], seconds);
        }
    }
    for (int i = 0; i < b->n; i++) {
        total += b->best[i];
        for (size_t k = b->window.start[b->batch[i]]; k < b->window.start[b->batch[i] + 1]; k++)
            words += corpus_pair(&b->r.train, b->window.pair[k]).target_length - 1;
    }
    out->peak_megabytes = memory_peak() / (1 << 20);
    out->pairs = (double)b->r.train.n;
    out->words = (double)b->r.train.target_symbols;
    SA_TRY(gemm_replay_team(u->gemms, pool_threads(u->pool), u->pool, &operations, &alone, error));
    out->parameters = (double)params_learned(&u->net->params);
    out->words_per_second = words / total;
    out->updates_per_second = b->n / total;
    out->gflops_done = operations / passes / total / 1e9;
    out->gflops_products = operations / alone / 1e9;
    out->share = out->gflops_done / out->gflops_products;
    return SA_OK;
}

sa_status sa_bench_train(const sa_train_options *options, int batches, int passes, sa_train_bench *out,
                         sa_error *error) {
    if (batches < 1 || passes < 1 || !options->train_source)
        return sa_fail(error, SA_USAGE, "a benchmark needs training text, and at least one minibatch and one pass");
    if (options->precision != SA_F32 && options->precision != SA_BF16)
        return sa_fail(error, SA_USAGE, "training knows the precisions f32 and bf16");
    bench b = {.r = {.options = *options, .ranks = {.size = 1}}};
    b.r.options.output = NULL; /* the text stays in memory */
    *out = (sa_train_bench){0};
    sa_status status = prepare(&b, batches, error);
    if (status == SA_OK)
        status = measure(&b, passes, out, error);
    epoch_free(&b.window);
    free(b.batch);
    free(b.best);
    run_clear(&b.r);
    return status;
}
