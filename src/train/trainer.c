/* sa_train: from options to a trained model. */
#include "train/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double learning_rate(const run *r) {
    const sa_train_options *o = &r->options;
    double rate = o->learning_rate > 0 ? (double)o->learning_rate : (double)r->updater.optimizer->usual_rate;
    if (o->warmup > 0)
        rate *= fmin(1, (double)(r->counters.update + 1) / (double)o->warmup);
    if (o->schedule == SA_SCHEDULE_LINEAR)
        rate *= 1 - run_fraction(r);
    return rate;
}

static bool validation_due(const run *r, bool epoch_ended) {
    int64_t every = r->options.valid_freq;
    return every > 0 ? r->counters.update % every == 0 : epoch_ended;
}

/* An update whose numbers are not finite changes nothing. A few in a row may be an accident of the data. */
enum { SKIPS_MAX = 10 };

static void report_skip(run *r, const size_t *pairs, size_t n) {
    char lines[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < n && length < sizeof lines - 32; i++)
        length += (size_t)snprintf(lines + length, sizeof lines - length, " %zu",
                                   corpus_pair(&r->train, pairs[i]).line + 1);
    run_message(r, "update %lld skipped: its loss or gradient is not finite; lines of the training text:%s%s",
                (long long)r->counters.update + 1, lines, length < sizeof lines - 32 ? "" : " ...");
}

/* The next minibatch of the epoch. Where the file of ids turns out to be damaged, it is made anew. */
static sa_status next_batch(run *r, epoch *e, const size_t **pairs, size_t *n, sa_error *error) {
    sa_error fault;
    size_t position = (size_t)r->counters.position;
    sa_status status = epoch_batch(e, position, pairs, n, &fault);
    if (status == SA_FORMAT) {
        run_message(r, "%s; it is made anew", fault.text);
        SA_TRY(run_load_training_text_again(r, error));
        status = epoch_batch(e, position, pairs, n, &fault);
    }
    if (status != SA_OK)
        return sa_fail(error, status, "%s", fault.text);
    return *n ? SA_OK : sa_fail(error, SA_FORMAT, "%s: the counters of the run are damaged", r->options.output);
}

/* One update; *epoch_ended: it was the epoch's last. */
static sa_status run_update(run *r, epoch *e, bool *epoch_ended, sa_error *error) {
    run_counters *c = &r->counters;
    const size_t *pairs;
    size_t n;
    SA_TRY(next_batch(r, e, &pairs, &n, error));
    double rate = learning_rate(r);
    update_result result;
    sa_status status = updater_run(&r->updater, &r->train, pairs, (int)n, c->update + 1, rate, &result, error);
    bool skipped = status == SA_NUMERIC && ++r->skipped <= SKIPS_MAX;
    if (status != SA_OK && !skipped)
        return status;
    if (skipped)
        report_skip(r, pairs, n);
    else
        r->skipped = 0;
    c->update++;
    c->position += (int64_t)n;
    *epoch_ended = (size_t)c->position == r->train.n;
    if (*epoch_ended) {
        c->epoch++;
        c->position = 0;
    }
    if (!skipped) {
        c->shown_ends += (int64_t)n; /* one </s> a sentence */
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

static sa_status prepare(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    st_file *state = NULL;
    SA_TRY(run_prepare_folder(r, error));
    SA_TRY(model_file_new(&r->model, error));
    sa_status status = o->resume ? run_open_state(r, &state, error) : SA_OK;
    if (status == SA_OK)
        status = run_load_data(r, error);
    if (status == SA_OK && !o->resume)
        status = model_declare(&r->model->net, &o->model, error);
    if (status == SA_OK)
        status = params_allocate(&r->model->net.params, true, error);
    if (status == SA_OK)
        status = updater_init(&r->updater, o, &r->model->net, o->threads > 0 ? o->threads : thread_cores(), error);
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
        run_remove_folder(&r);
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
