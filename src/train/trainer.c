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
        length += (size_t)snprintf(lines + length, sizeof lines - length, " %zu", r->train.pair[pairs[i]].line + 1);
    run_message(r, "update %lld skipped: its loss or gradient is not finite; lines of the training text:%s%s",
                (long long)r->counters.update + 1, lines, length < sizeof lines - 32 ? "" : " ...");
}

/* One update; *epoch_ended: it was the epoch's last. */
static sa_status run_update(run *r, const epoch *e, double rate, bool *epoch_ended, sa_error *error) {
    run_counters *c = &r->counters;
    size_t i = (size_t)c->minibatch;
    const size_t *pairs = e->pair + e->start[i];
    size_t n = e->start[i + 1] - e->start[i];
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
    c->minibatch++;
    *epoch_ended = (size_t)c->minibatch == e->n;
    if (*epoch_ended) {
        c->epoch++;
        c->minibatch = 0;
    }
    if (!skipped) {
        c->shown_ends += (int64_t)n; /* one </s> a sentence */
        run_report_update(r, &result, rate, false);
    }
    return SA_OK;
}

static sa_status next_epoch(run *r, epoch *e, int64_t *made, sa_error *error) {
    epoch_free(e);
    *made = r->counters.epoch;
    SA_TRY(epoch_make(e, &r->train, r->options.seed, *made, r->options.mini_batch, r->options.window, error));
    if ((size_t)r->counters.minibatch >= e->n)
        return sa_fail(error, SA_FORMAT, "%s: the counters of the run are damaged", r->options.output);
    return SA_OK;
}

/* Whether the run goes on is rank 0's to say, since its clock counts and it validates; so is the learning rate,
 * which may follow the clock too. Anyone may ask for a stop. */
static sa_status agree(run *r, sa_status mine, const char **why, double *rate, sa_error *error) {
    bool leads = run_leads(r);
    double say[] = {r->stop, leads && *why, leads ? learning_rate(r) : 0};
    SA_TRY(ranks_agree(&r->ranks, mine, say, 3, error));
    r->stop = say[0] > 0;
    if (!leads)
        *why = say[1] > 0 ? "rank 0 ends the run" : NULL;
    *rate = say[2];
    return SA_OK;
}

/* What is left to do when the updates have ended. */
static sa_status finish(run *r, sa_error *error) {
    const char *ignored;
    sa_status status = SA_OK;
    if (r->stop) {
        r->counters.seconds = run_seconds(r);
        updater_share(&r->updater);
        status = run_leads(r) ? run_save_state(r, error) : SA_OK;
    } else if (r->counters.validated != r->counters.update)
        status = run_validate(r, &ignored, error);
    double stop = r->stop;
    SA_TRY(ranks_agree(&r->ranks, status, &stop, 1, error));
    r->stop = stop > 0;
    return SA_OK;
}

/* The run until something ends it; *why says what. */
static sa_status train(run *r, const char **why, sa_error *error) {
    epoch e = {0};
    int64_t made = -1;
    sa_status status = SA_OK;
    *why = run_fraction(r) >= 1 ? "nothing to do: the run had already reached its limit" : NULL;
    for (;;) {
        double rate;
        if (status == SA_OK && !*why && made != r->counters.epoch)
            status = next_epoch(r, &e, &made, error);
        status = agree(r, status, why, &rate, error);
        if (status != SA_OK || *why || r->stop)
            break;
        bool epoch_ended = false;
        status = run_update(r, &e, rate, &epoch_ended, error);
        if (status == SA_OK && validation_due(r, epoch_ended))
            status = run_validate(r, why, error);
        if (status == SA_OK && !*why && run_fraction(r) >= 1)
            *why = "the limit of updates, epochs or minutes was reached";
    }
    epoch_free(&e);
    return status == SA_OK ? finish(r, error) : status;
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

/* All of a run but its folder. */
static sa_status load(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    st_file *state = NULL;
    SA_TRY(model_file_new(&r->model, error));
    sa_status status = o->resume ? run_open_state(r, &state, error) : SA_OK;
    if (status == SA_OK)
        status = run_accept_ranks(r, error);
    if (status == SA_OK)
        status = run_load_data(r, error);
    if (status == SA_OK)
        status = check_same_text(r, error);
    if (status == SA_OK && !o->resume)
        status = model_declare(&r->model->net, &o->model, error);
    if (status == SA_OK)
        status = params_allocate(&r->model->net.params, true, error);
    if (status == SA_OK)
        status = updater_init(&r->updater, o, &r->ranks, &r->model->net,
                              o->threads > 0 ? o->threads : thread_cores(), error);
    if (status == SA_OK)
        status =
            o->resume ? run_load_state(r, state, error) : params_initialise(&r->model->net.params, o->seed, error);
    st_close(state);
    return status;
}

static sa_status open_folder(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    if (!o->resume)
        SA_TRY(run_clear_folder(r, error));
    SA_TRY(run_open_logs(r, error));
    char processes[64] = "";
    if (r->ranks.size > 1)
        snprintf(processes, sizeof processes, "%d processes, each with ", r->ranks.size);
    run_message(r, "%s: %.2fM parameters; %zu training pairs, %d shards, %s%d threads", r->model->net.config.preset,
                (double)params_learned(&r->model->net.params) / 1e6, r->train.n, o->shards, processes,
                pool_threads(r->updater.pool));
    if (o->resume)
        run_message(r, "resumed after update %lld, epoch %.2f", (long long)r->counters.update, run_epochs(r));
    return SA_OK;
}

/* Rank 0 does it, and all learn how it went. */
static sa_status leader_does(run *r, sa_status (*what)(run *r, sa_error *error), sa_error *error) {
    return ranks_agree(&r->ranks, run_leads(r) ? what(r, error) : SA_OK, NULL, 0, error);
}

static sa_status prepare(run *r, sa_error *error) {
    SA_TRY(ranks_agree(&r->ranks, run_check_options(&r->options, error), NULL, 0, error));
    SA_TRY(leader_does(r, run_prepare_folder, error));
    SA_TRY(ranks_agree(&r->ranks, load(r, error), NULL, 0, error));
    SA_TRY(run_compare_ranks(r, error));
    return leader_does(r, open_folder, error);
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
    ranks_finish(&r->ranks);
}

sa_status sa_train(const sa_train_options *options, sa_train_callback *callback, void *user, sa_error *error) {
    run r = {.options = *options, .callback = callback, .user = user};
    const char *why = NULL;
    start_clock(&r);
    sa_status status = ranks_start(&r.ranks, error);
    if (status == SA_OK)
        status = prepare(&r, error);
    if (status == SA_OK) {
        start_clock(&r);
        status = train(&r, &why, error);
    } else if (r.made_folder)
        rmdir(options->output); /* still empty */
    if (status == SA_OK && r.stop) {
        sa_fail(error, SA_STOPPED, "stopped on request after update %lld; the state is saved in %s",
                (long long)r.counters.update, options->output);
        status = ranks_agree(&r.ranks, SA_STOPPED, NULL, 0, error);
    }
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
