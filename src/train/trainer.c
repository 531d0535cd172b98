/* sa_train: from options to a trained model. */
#include "train/forecast.h"
#include "train/run.h"
#include "train/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double learning_rate(const run *r) {
    const sa_train_options *o = &r->options;
    double base = o->learning_rate > 0 ? (double)o->learning_rate : (double)r->updater.optimizer->usual_rate;
    schedule_place at = {r->counters.update + 1, run_fraction(r), r->counters.rate_cuts};
    return schedule_rate(o, base, &at);
}

static bool validation_due(const run *r, bool epoch_ended) {
    int64_t every = r->options.valid_freq;
    return every > 0 ? r->counters.update % every == 0 : epoch_ended;
}

/* An update whose numbers are not finite changes nothing. A few in a row may be an accident of the data. */
enum { SKIPS_MAX = 10 };

/* Names all lines, in as many messages as they need. */
static void report_skip(run *r, const size_t *pairs, size_t n) {
    const char *what = "skipped: its loss or gradient is not finite; lines of the training text:";
    char lines[768];
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        length += (size_t)snprintf(lines + length, sizeof lines - length, " %zu", r->train.pair[pairs[i]].line + 1);
        if (i + 1 < n && length < sizeof lines - 32)
            continue;
        run_message(r, "update %lld %s%s", (long long)r->counters.update + 1, what, lines);
        what = "skipped, further lines:";
        length = 0;
    }
}

/* One update, from optimizer_delay minibatches, or what the epoch has left; *epoch_ended: it was the epoch's last.
 */
static sa_status run_update(run *r, const epoch *e, bool *epoch_ended, sa_error *error) {
    run_counters *c = &r->counters;
    size_t i = epoch_find(e, (size_t)c->position);
    if (i == e->n)
        return sa_fail(error, SA_FORMAT, "%s: the counters of the run are damaged", r->options.output);
    int delay = r->options.optimizer_delay, n = e->n - i < (size_t)delay ? (int)(e->n - i) : delay;
    size_t sentences = e->start[i + (size_t)n] - e->start[i];
    double rate = learning_rate(r);
    update_result result;
    sa_status status =
        updater_run(&r->updater, &r->train, e->pair, e->start + i, n, c->update + 1, rate, &result, error);
    bool skipped = status == SA_NUMERIC && ++r->skipped <= SKIPS_MAX;
    if (status != SA_OK && !skipped)
        return status;
    if (skipped)
        report_skip(r, e->pair + e->start[i], sentences);
    else
        r->skipped = 0;
    c->update++;
    c->position += (int64_t)sentences;
    *epoch_ended = (size_t)c->position == r->train.n;
    if (*epoch_ended) {
        c->epoch++;
        c->position = 0;
    }
    if (!skipped) {
        c->shown_ends += (int64_t)sentences; /* one </s> a sentence */
        run_report_update(r, &result, rate, false);
    }
    return SA_OK;
}

/* The run until something ends it; *why says what. */
static sa_status train(run *r, const char **why, sa_error *error) {
    epoch e = {0};
    int64_t made = -1;
    sa_status status = SA_OK;
    *why = run_fraction(r) >= 1 ? "nothing to do: the run had already reached its limit" : NULL;
    while (status == SA_OK && !*why && !r->stop) {
        if (made != r->counters.epoch) {
            epoch_free(&e);
            made = r->counters.epoch;
            batch_limits limits = {r->options.mini_batch, r->options.mini_batch_words};
            status = epoch_make(&e, &r->train, r->options.seed, made, limits, r->options.window, error);
            if (status != SA_OK)
                break;
        }
        bool epoch_ended = false;
        status = run_update(r, &e, &epoch_ended, error);
        if (status == SA_OK && validation_due(r, epoch_ended))
            status = run_validate(r, why, error);
        if (status == SA_OK && !*why && run_fraction(r) >= 1)
            *why = "the limit of updates, epochs or minutes was reached";
    }
    epoch_free(&e);
    if (status != SA_OK)
        return status;
    if (r->stop) {
        r->counters.seconds = run_seconds(r);
        return run_save_state(r, error);
    }
    const char *ignored;
    return r->counters.validated == r->counters.update ? SA_OK : run_validate(r, &ignored, error);
}

/* A resumed run goes on in the middle of an epoch, whose order is that of the text it began with. */
static sa_status check_same_text(run *r, sa_error *error) {
    run_counters *c = &r->counters;
    int64_t pairs = (int64_t)r->train.n, symbols = (int64_t)(r->train.source_symbols + r->train.target_symbols);
    if (r->options.resume && c->pairs > 0 && (c->pairs != pairs || c->symbols != symbols))
        return sa_fail(error, SA_DATA,
                       "%s: the run began with another training text: %lld pairs of %lld symbols, now %lld of %lld",
                       r->options.train_source, (long long)c->pairs, (long long)c->symbols, (long long)pairs,
                       (long long)symbols);
    c->pairs = pairs;
    c->symbols = symbols;
    return SA_OK;
}

static void tell_limits(run *r, batch_limits limits) {
    char words[64] = "";
    if (limits.words > 0)
        snprintf(words, sizeof words, " and %d target symbols", limits.words);
    run_message(r, "minibatches: at most %d sentences%s%s", limits.sentences, words,
                r->options.resume ? ", as the run began" : "");
}

/* Tells what memory the run will take, before it takes it, and plans for that. Sizes of minibatches that were to
 * fit become options like those that are given: a resume has them of its state, wherever it runs. */
static sa_status tell_memory(run *r, int threads, memory_plan *plan, sa_error *error) {
    forecast_input in = {&r->options, &r->model->net, &r->train, &r->valid, threads};
    forecast f;
    char text[512];
    SA_TRY(forecast_make(&f, &in, error));
    r->options.mini_batch = f.limits.sentences;
    r->options.mini_batch_words = f.limits.words;
    if (r->options.mini_batch_fit)
        tell_limits(r, f.limits);
    forecast_describe(&f, text, sizeof text);
    run_message(r, "memory: at most %s", text);
    *plan = f.plan;
    return SA_OK;
}

static sa_status prepare(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    int threads = o->threads > 0 ? o->threads : thread_cores();
    memory_plan plan;
    st_file *state = NULL;
    SA_TRY(run_prepare_folder(r, error));
    SA_TRY(model_file_new(&r->model, error));
    sa_status status = o->resume ? run_open_state(r, &state, error) : forecast_check_sizes(o, threads, error);
    if (status == SA_OK)
        status = run_load_data(r, error);
    if (status == SA_OK)
        status = check_same_text(r, error);
    if (status == SA_OK && !o->resume)
        status = model_declare(&r->model->net, &o->model, error);
    if (status == SA_OK)
        status = tell_memory(r, threads, &plan, error);
    if (status == SA_OK)
        status = params_allocate(&r->model->net.params, true, error);
    if (status == SA_OK)
        status = updater_init(&r->updater, o, &r->model->net, threads, &plan, error);
    if (status == SA_OK)
        status =
            o->resume ? run_load_state(r, state, error) : params_initialise(&r->model->net.params, o->seed, error);
    st_close(state);
    if (status == SA_OK && !o->resume)
        status = run_clear_folder(r, error);
    if (status == SA_OK)
        status = run_open_logs(r, error);
    if (status == SA_OK)
        run_message(r, "%s: %.2fM parameters; %zu training pairs, %d shards, %d threads",
                    r->model->net.config.preset, (double)params_learned(&r->model->net.params) / 1e6, r->train.n,
                    o->shards, pool_threads(r->updater.pool));
    if (status == SA_OK && o->resume)
        run_message(r, "resumed after update %lld, epoch %.2f", (long long)r->counters.update, run_epochs(r));
    return status;
}

static void start_clock(run *r) {
    r->started = 0;
    r->started = run_seconds(r) - r->counters.seconds;
    r->shown_at = r->counters.seconds;
}

void run_clear(run *r) {
    run_close_logs(r);
    strbuf_free(&r->early);
    if (r->updater.pool)
        updater_clear(&r->updater);
    corpus_free(&r->train);
    corpus_free(&r->valid);
    pair_text_free(&r->valid_text);
    sa_model_free(r->model);
}

sa_status sa_train(const sa_train_options *options, sa_train_callback *callback, void *user, sa_error *error) {
    run r = {.options = *options, .callback = callback, .user = user};
    const char *why = NULL;
    SA_TRY(run_check_options(options, error));
    start_clock(&r);
    sa_status status = prepare(&r, error);
    if (status == SA_OK) {
        start_clock(&r);
        status = train(&r, &why, error);
    } else if (r.made_folder)
        rmdir(options->output); /* still empty */
    if (status == SA_OK && r.stop)
        status = sa_fail(error, SA_STOPPED, "stopped on request after update %lld; the state is saved in %s",
                         (long long)r.counters.update, options->output);
    if (status == SA_OK) {
        char text[512];
        const run_counters *c = &r.counters;
        snprintf(text, sizeof text, "%s; best at update %lld (%s %.4f), %lld validations since", why,
                 (long long)c->best_update,
                 r.options.early_stopping_metric == SA_VALID_BLEU ? "BLEU" : "cross-entropy", fabs(c->best),
                 (long long)c->stalled);
        run_report_done(&r, text);
    }
    run_clear(&r);
    return status;
}
