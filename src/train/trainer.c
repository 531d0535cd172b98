/* sa_train: from options to a trained model. */
#include "train/distil.h"
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

/* The text that the epoch shows: the training text, or what was drawn of it. */
static const corpus *text_of(const run *r) {
    return r->options.subword_sampling > 0 ? &r->sampling.text : &r->train;
}

/* An update whose numbers are not finite changes nothing. A few in a row may be an accident of the data. */
enum { SKIPS_MAX = 10 };

/* Names all lines, in as many messages as they need. */
static void report_skip(run *r, const size_t *pairs, size_t n) {
    const char *what = "skipped: its loss or gradient is not finite; lines of the training text:";
    char lines[768];
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        length += (size_t)snprintf(lines + length, sizeof lines - length, " %zu",
                                   corpus_pair(text_of(r), pairs[i]).line + 1);
        if (i + 1 < n && length < sizeof lines - 32)
            continue;
        run_message(r, "update %lld %s%s", (long long)r->counters.update + 1, what, lines);
        what = "skipped, further lines:";
        length = 0;
    }
}

/* The minibatch of the epoch that begins at `position`. Where the file of ids turns out to be damaged, it is made
 * anew. */
static sa_status next_batch(run *r, epoch *e, size_t position, const size_t **pairs, size_t *n, sa_error *error) {
    sa_error fault;
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

/* Gathers the minibatches of an update, optimizer_delay of them or what the epoch has left, which may be of several
 * windows. */
static sa_status gather_batches(run *r, epoch *e, sa_error *error) {
    update_batches *b = &r->batches;
    size_t position = (size_t)r->counters.position, n;
    b->n = 0;
    if (!b->start && !(b->start = calloc((size_t)r->options.optimizer_delay + 1, sizeof *b->start)))
        return sa_fail_memory(error, 0);
    while (b->n < r->options.optimizer_delay && position < r->train.n) {
        const size_t *pairs;
        size_t at = b->start[b->n];
        SA_TRY(next_batch(r, e, position, &pairs, &n, error));
        if (at + n > b->capacity) {
            size_t *grown = realloc(b->pair, 2 * (at + n) * sizeof *grown);
            if (!grown)
                return sa_fail_memory(error, 2 * (at + n) * sizeof *grown);
            b->pair = grown;
            b->capacity = 2 * (at + n);
        }
        memcpy(b->pair + at, pairs, n * sizeof *pairs);
        b->start[++b->n] = at + n;
        position += n;
    }
    return b->n > 0 ? SA_OK
                    : sa_fail(error, SA_FORMAT, "%s: the counters of the run are damaged", r->options.output);
}

/* One update; *epoch_ended: it was the epoch's last. */
static sa_status run_update(run *r, epoch *e, double rate, bool *epoch_ended, sa_error *error) {
    run_counters *c = &r->counters;
    const update_batches *b = &r->batches;
    SA_TRY(gather_batches(r, e, error));
    size_t sentences = b->start[b->n];
    update_result result;
    sa_status status =
        updater_run(&r->updater, text_of(r), b->pair, b->start, b->n, c->update + 1, rate, &result, error);
    bool skipped = status == SA_NUMERIC && ++c->skipped <= SKIPS_MAX;
    if (status != SA_OK && !skipped)
        return status;
    if (skipped)
        report_skip(r, b->pair, sentences);
    else
        c->skipped = 0;
    c->update++;
    c->baseline = r->updater.baseline;
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

static const char *limit_reached(const run *r) {
    return run_fraction(r) >= 1 ? "the limit of updates, epochs or minutes was reached" : NULL;
}

/* Why a resumed run has nothing left to do, or NULL. */
static const char *ended_before(const run *r) {
    const run_counters *c = &r->counters;
    if (!r->options.resume || c->validated != c->update)
        return NULL;
    if (r->options.early_stopping > 0 && c->stalled >= r->options.early_stopping)
        return "nothing to do: early stopping had already ended the run (a larger --early-stopping goes on)";
    return run_fraction(r) >= 1 ? "nothing to do: the run had already reached its limit (a later --after goes on)"
                                : NULL;
}

/* Draws the epoch's text, each process its own, which are alike. */
static sa_status draw_text(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/epoch-%d.corpus", o->output, r->ranks.rank);
    if (n >= (int)sizeof path)
        return sa_fail(error, SA_IO, "%.200s...: the path is too long", path);
    if (!r->sampling.side[0] && !r->sampling.side[1])
        SA_TRY(sampling_open(&r->sampling, r->model->source, r->model->target, error));
    sampling_draw draw = {(double)o->subword_sampling, o->max_length, o->seed, r->counters.epoch};
    return sampling_make(&r->sampling, &r->train, &draw, r->updater.pool, path, error);
}

/* The same; where the file of ids turns out to be damaged, it is made anew. */
static sa_status draw_text_safely(run *r, sa_error *error) {
    sa_error fault;
    sa_status status = draw_text(r, &fault);
    if (status == SA_FORMAT) {
        run_message(r, "%s; it is made anew", fault.text);
        SA_TRY(run_load_training_text_again(r, error));
        status = draw_text(r, &fault);
    }
    return status == SA_OK ? SA_OK : sa_fail(error, status, "%s", fault.text);
}

static sa_status next_epoch(run *r, epoch *e, int64_t *made, sa_error *error) {
    epoch_free(e);
    *made = r->counters.epoch;
    batch_limits limits = {r->options.mini_batch, r->options.mini_batch_words};
    if (r->options.subword_sampling > 0)
        SA_TRY(draw_text_safely(r, error));
    return epoch_make(e, text_of(r), r->options.seed, *made, limits, r->options.window, error);
}

static const char ended_by_leader[] = "rank 0 ends the run";

/* Whether the run goes on is rank 0's to say, since its clock counts and it validates; so is the learning rate,
 * which may follow the clock too. Anyone may ask for a stop. */
static sa_status agree(run *r, sa_status mine, const char **why, double *rate, sa_error *error) {
    bool leads = run_leads(r);
    double say[] = {r->stop, leads && *why, leads ? learning_rate(r) : 0};
    SA_TRY(ranks_agree(&r->ranks, mine, say, 3, error));
    r->stop = say[0] > 0;
    if (!leads)
        *why = say[1] > 0 ? ended_by_leader : NULL;
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
    *why = run_leads(r) && limit_reached(r) ? "the run had already reached its limit" : NULL;
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
        if (status == SA_OK && !*why && run_leads(r))
            *why = limit_reached(r);
    }
    epoch_free(&e);
    return status == SA_OK ? finish(r, error) : status;
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
    const model *other = r->teacher.model ? &r->teacher.model->net : NULL;
    forecast_input in = {&r->options, &r->model->net, &r->train, &r->valid, threads, r->ranks.size, other};
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

/* All of a run but its folder. */
static sa_status load(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    int threads = o->threads > 0 ? o->threads : thread_cores();
    memory_plan plan;
    st_file *state = NULL;
    SA_TRY(model_file_new(&r->model, error));
    sa_status status = o->resume ? run_open_state(r, &state, error) : forecast_check_sizes(o, threads, error);
    if (status == SA_OK)
        status = run_accept_ranks(r, error);
    if (status == SA_OK)
        status = run_load_data(r, error);
    if (status == SA_OK && !o->resume)
        status = model_declare(&r->model->net, &o->model, error);
    if (status == SA_OK)
        status = teacher_open(&r->teacher, o, r->model, threads, error);
    if (status == SA_OK)
        status = tell_memory(r, threads, &plan, error);
    if (status == SA_OK)
        status = params_allocate(&r->model->net.params, true, error);
    if (status == SA_OK)
        status = updater_init(&r->updater, o, &r->ranks, &r->model->net, threads, &plan, error);
    r->updater.links = r->links.at ? &r->links : NULL;
    if (status == SA_OK && r->teacher.model)
        r->updater.teacher = &r->teacher;
    if (status == SA_OK)
        status =
            o->resume ? run_load_state(r, state, error) : params_initialise(&r->model->net.params, o->seed, error);
    if (status == SA_OK && o->start_from && !o->resume)
        status = teacher_hand_over(r->model, o->start_from, error);
    st_close(state);
    if (status == SA_OK && r->stop) /* asked while the texts were read */
        status = sa_fail(error, SA_STOPPED, "training had not begun; nothing was changed in %s", o->output);
    return status;
}

static sa_status begin(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    if (!o->resume)
        SA_TRY(run_replace_run(r, error));
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
    return leader_does(r, begin, error);
}

static void start_clock(run *r) {
    r->started = 0;
    r->started = run_seconds(r) - r->counters.seconds;
    r->shown_at = r->counters.seconds;
}

/* Of a run that had ended, all files that are there stay as they are. */
static sa_status open_and_train(run *r, const char **why, sa_error *error) {
    SA_TRY(leader_does(r, run_complete_models, error));
    start_clock(r);
    *why = run_leads(r) ? ended_before(r) : NULL;
    double say[] = {*why != NULL, r->stop};
    SA_TRY(ranks_agree(&r->ranks, SA_OK, say, 2, error));
    r->stop = say[1] > 0;
    if (say[0] > 0) {
        *why = run_leads(r) ? *why : ended_by_leader;
        return SA_OK;
    }
    SA_TRY(leader_does(r, run_open_logs, error));
    return train(r, why, error);
}

/* The last words of a run that came to its end. */
static void report_done(run *r, const char *why) {
    const run_counters *c = &r->counters;
    char text[512], patience[64] = "";
    if (r->options.early_stopping > 0)
        snprintf(patience, sizeof patience, ", patience %d", r->options.early_stopping);
    snprintf(text, sizeof text, "%s; best at update %lld (%s %.4f), %lld validation%s since%s", why,
             (long long)c->best_update,
             r->options.early_stopping_metric == SA_VALID_BLEU ? "BLEU" : "cross-entropy", fabs(c->best),
             (long long)c->stalled, c->stalled == 1 ? "" : "s", patience);
    run_report_done(r, text);
}

void run_clear(run *r) {
    run_close_logs(r);
    if (r->folder)
        closedir(r->folder);
    strbuf_free(&r->early);
    if (r->updater.pool)
        updater_clear(&r->updater);
    teacher_close(&r->teacher);
    corpus_free(&r->train);
    sampling_close(&r->sampling);
    link_table_free(&r->links);
    corpus_free(&r->valid);
    pair_text_free(&r->valid_text);
    free(r->batches.pair);
    free(r->batches.start);
    sa_model_free(r->model);
    ranks_finish(&r->ranks);
}

sa_status run_whole(const sa_train_options *options, sa_train_callback *callback, void *user, sa_error *error) {
    run r = {.options = *options, .callback = callback, .user = user};
    if (options->attention_from)
        r.options.model.attention_weights = SA_WEIGHTS_GIVEN;
    const char *why = NULL;
    start_clock(&r);
    sa_status status = ranks_start(&r.ranks, error);
    if (status == SA_OK)
        status = prepare(&r, error);
    if (status == SA_OK)
        status = open_and_train(&r, &why, error);
    else if (r.made_folder)
        run_remove_folder(&r);
    if (status == SA_OK && r.stop) {
        sa_fail(error, SA_STOPPED, "the run is saved in %s after update %lld; --resume goes on with it",
                options->output, (long long)r.counters.update);
        status = ranks_agree(&r.ranks, SA_STOPPED, NULL, 0, error);
    }
    if (status == SA_OK)
        report_done(&r, why);
    if ((status == SA_OK || status == SA_STOPPED) && r.log_error.status != SA_OK)
        status = sa_fail(error, r.log_error.status, "%s", r.log_error.text);
    run_clear(&r);
    return status;
}

sa_status sa_train(const sa_train_options *options, sa_train_callback *callback, void *user, sa_error *error) {
    if (options->self_distillation != 0)
        return distil_train(options, callback, user, error);
    if (options->resume && options->output && distil_began(options->output))
        return sa_fail(error, SA_USAGE, "%s: the run began with --self-distillation: give it again",
                       options->output);
    return run_whole(options, callback, user, error);
}
