#include "train/run.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double run_seconds(const run *r) {
    return now() - r->started;
}

double run_epochs(const run *r) {
    double part = r->train.n ? (double)r->counters.position / (double)r->train.n : 0;
    return (double)r->counters.epoch + (part < 1 ? part : 1);
}

double run_fraction(const run *r) {
    const sa_train_options *o = &r->options;
    double used = 0;
    if (o->after_updates > 0)
        used = fmax(used, (double)r->counters.update / (double)o->after_updates);
    if (o->after_epochs > 0)
        used = fmax(used, run_epochs(r) / o->after_epochs);
    if (o->after_minutes > 0)
        used = fmax(used, run_seconds(r) / (60 * o->after_minutes));
    return used < 1 ? used : 1;
}

/* Opens name in the run's folder for appending, cut back to the lines of updates that the state knows. */
static sa_status open_log(run *r, const char *name, FILE **out, sa_error *error) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", r->options.output, name);
    *out = fopen(path, r->options.resume ? "a+" : "w");
    if (!*out)
        return sa_fail(error, SA_IO, "%s: cannot write: %s", path, strerror(errno));
    return SA_OK;
}

/* Whether a resumed run will write that line of metrics.jsonl again. */
static bool is_to_come(const run *r, const char *line) {
    json_t *entry = json_loads(line, 0, NULL);
    const char *kind = json_string_value(json_object_get(entry, "kind"));
    bool validation = kind && !strcmp(kind, "validation");
    json_int_t update = json_integer_value(json_object_get(entry, "update"));
    bool to_come = !entry || update > (validation ? r->counters.validated : r->counters.update);
    json_decref(entry);
    return to_come;
}

static sa_status cut_metrics(run *r, sa_error *error) {
    char *line = NULL;
    size_t capacity = 0;
    long keep = 0;
    struct stat status;
    if (!fstat(fileno(r->metrics), &status) && !S_ISREG(status.st_mode))
        return SA_OK; /* a device or a pipe holds no lines of before */
    rewind(r->metrics);
    while (getline(&line, &capacity, r->metrics) > 0 && !is_to_come(r, line))
        keep = ftell(r->metrics);
    free(line);
    if (ftruncate(fileno(r->metrics), keep))
        return sa_fail(error, SA_IO, "%s/metrics.jsonl: cannot cut back: %s", r->options.output, strerror(errno));
    fseek(r->metrics, 0, SEEK_END);
    return SA_OK;
}

/* What cannot be logged may mean that the state cannot be saved either: the run stops while there is less to lose.
 */
static void flush_log(run *r, FILE *file, const char *name) {
    if (fflush(file) == 0 && !ferror(file))
        return;
    if (r->log_error.status == SA_OK)
        sa_fail(&r->log_error, SA_IO, "%s/%s: cannot be written: %s", r->options.output, name, strerror(errno));
    r->stop = true;
}

sa_status run_open_logs(run *r, sa_error *error) {
    if (r->early.failed)
        return sa_fail_memory(error, 0);
    SA_TRY(open_log(r, "metrics.jsonl", &r->metrics, error));
    SA_TRY(open_log(r, "train.log", &r->log, error));
    if (r->early.length > 0)
        fputs(r->early.data, r->log);
    flush_log(r, r->log, "train.log");
    return r->options.resume ? cut_metrics(r, error) : SA_OK;
}

void run_close_logs(run *r) {
    if (r->metrics)
        fclose(r->metrics);
    if (r->log)
        fclose(r->log);
    r->metrics = r->log = NULL;
}

/* Rank 0 speaks for all. The others' callbacks hear of updates only, for they too may want to stop. */
static void tell(run *r, const sa_train_event *event) {
    bool heard = run_leads(r) || event->kind == SA_EVENT_UPDATE;
    if (heard && r->callback && r->callback(event, r->user))
        r->stop = true;
}

static sa_train_event event_of(const run *r, sa_train_event_kind kind) {
    return (sa_train_event){.kind = kind,
                            .text = "",
                            .update = r->counters.update,
                            .epoch = run_epochs(r),
                            .seconds = run_seconds(r),
                            .seconds_left = -1};
}

static void log_line(run *r, const char *text) {
    if (r->log) {
        fprintf(r->log, "%s\n", text);
        flush_log(r, r->log, "train.log");
    } else if (run_leads(r))
        strbuf_printf(&r->early, "%s\n", text);
}

void run_message(run *r, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_line(r, text);
    sa_train_event event = event_of(r, SA_EVENT_MESSAGE);
    event.text = text;
    tell(r, &event);
}

void run_report_done(run *r, const char *why) {
    log_line(r, why);
    sa_train_event event = event_of(r, SA_EVENT_DONE);
    event.text = why;
    tell(r, &event);
}

static void write_metrics(run *r, json_t *entry) {
    char *line = json_dumps(entry, JSON_COMPACT | JSON_REAL_PRECISION(7));
    if (line && r->metrics) {
        fprintf(r->metrics, "%s\n", line);
        flush_log(r, r->metrics, "metrics.jsonl");
    }
    free(line);
    json_decref(entry);
}

static double seconds_left(const run *r) {
    double used = run_fraction(r);
    return used > 0 ? run_seconds(r) * (1 / used - 1) : -1;
}

void run_report_update(run *r, const update_result *result, double rate, bool last) {
    run_counters *c = &r->counters;
    c->shown_loss += result->nll;
    c->shown_words += result->words;
    double time = run_seconds(r), since = time - r->shown_at;
    int64_t every = r->options.progress_freq;
    sa_train_event event = event_of(r, SA_EVENT_UPDATE);
    event.text = NULL;
    if (!run_leads(r) || (!last && (every > 0 ? c->update % every != 0 : since < 10))) {
        tell(r, &event);
        return;
    }
    event.kind = SA_EVENT_PROGRESS;
    event.loss = c->shown_loss / (double)c->shown_words;
    event.learning_rate = rate;
    event.gradient_norm = result->gradient_norm;
    event.words_per_second = (double)(c->shown_words - c->shown_ends) / fmax(since, 1e-9);
    event.seconds_left = seconds_left(r);
    char text[256];
    snprintf(text, sizeof text, "epoch %.2f update %lld loss %.4f words/s %.0f rate %.3g gradient %.3g",
             event.epoch, (long long)event.update, event.loss, event.words_per_second, rate, result->gradient_norm);
    log_line(r, text);
    write_metrics(r, json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "kind", "progress", "update",
                               (json_int_t)event.update, "epoch", event.epoch, "loss", event.loss, "learning_rate",
                               rate, "gradient_norm", result->gradient_norm, "words_per_second",
                               event.words_per_second, "seconds", event.seconds));
    r->shown_at = time;
    c->shown_loss = 0;
    c->shown_words = c->shown_ends = 0;
    tell(r, &event);
}

static sa_train_event validation_event(const run *r) {
    const run_counters *c = &r->counters;
    sa_train_event event = event_of(r, SA_EVENT_VALIDATION);
    event.cross_entropy = c->cross_entropy;
    event.perplexity = exp(c->cross_entropy);
    event.bleu = c->bleu;
    event.improved = c->best_update == c->update;
    return event;
}

void run_log_validation(run *r) {
    sa_train_event event = validation_event(r);
    char text[256];
    snprintf(text, sizeof text, "validation: epoch %.2f update %lld cross-entropy %.4f perplexity %.3f BLEU %.2f%s",
             event.epoch, (long long)event.update, event.cross_entropy, event.perplexity, event.bleu,
             event.improved ? " (best)" : "");
    log_line(r, text);
    /* JSON has no infinity */
    json_t *perplexity = isfinite(event.perplexity) ? json_real(event.perplexity) : json_null();
    write_metrics(r, json_pack("{s:s, s:I, s:f, s:f, s:o, s:f, s:b, s:f}", "kind", "validation", "update",
                               (json_int_t)event.update, "epoch", event.epoch, "cross_entropy", event.cross_entropy,
                               "perplexity", perplexity, "bleu", event.bleu, "improved", event.improved, "seconds",
                               event.seconds));
}

void run_tell_validation(run *r) {
    sa_train_event event = validation_event(r);
    tell(r, &event);
}
