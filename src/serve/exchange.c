#include "serve/exchange.h"

#include "base/clock.h"
#include "base/error.h"
#include "serve/json_build.h"
#include "serve/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void exchange_hold(exchange *x) {
    atomic_fetch_add(&x->references, 1);
}

void exchange_release(exchange *x) {
    if (atomic_fetch_sub(&x->references, 1) > 1)
        return;
    server *s = x->server;
    if (x->cut)
        x->status = 0;
    metrics_request(s->metrics, (int)(x->route - routes), x->status, x->ended - x->begun);
    access_log_write(s->log, x);
    job_release(x->job);
    strbuf_free(&x->body);
    strbuf_free(&x->stream);
    free(x->text);
    free(x->own);
    free(x);
}

/* ---- answers ----------------------------------------------------------------------------------------- */

static char *dump(json_t *value) {
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(value);
    return text;
}

void answer_text(exchange *x, unsigned status, const char *type, char *text) {
    static const char last_resort[] = "{\"error\":\"not enough memory\"}";
    free(x->text);
    x->status = text ? status : 500;
    x->type = text ? type : "application/json";
    x->text = text ? text : strdup(last_resort);
    x->length = x->text ? strlen(x->text) : 0;
}

void answer_json(exchange *x, unsigned status, json_t *value) {
    answer_text(x, status, "application/json", dump(value));
}

/* What our own errors are called, by status. */
static const struct {
    unsigned status;
    const char *code;
} codes[] = {{400, "bad_request"},       {401, "unauthorized"},       {403, "forbidden"},
             {404, "not_found"},         {405, "method_not_allowed"}, {413, "too_large"},
             {429, "too_many_requests"}, {500, "internal"},           {503, "unavailable"}};

static const char *code_of(unsigned status) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            return codes[i].code;
    return "error";
}

static json_t *own_error(unsigned status, const char *text) {
    return json_pack("{s:{s:s, s:s}}", "error", "code", code_of(status), "message", text);
}

static json_t *libre_error(unsigned status, const char *text) {
    (void)status;
    return json_pack("{s:s}", "error", text);
}

static json_t *onmt_error(unsigned status, const char *text) {
    (void)status;
    return json_pack("{s:s, s:s}", "error", text, "status", "error");
}

static json_t *(*const error_writers[])(unsigned status, const char *text) = {
    [DIALECT_OWN] = own_error, [DIALECT_LIBRE] = libre_error, [DIALECT_ONMT] = onmt_error};

void answer_error(exchange *x, unsigned status, const char *format, ...) {
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    answer_json(x, status, error_writers[x->route->dialect](status, text));
}

void answer_failure(exchange *x, const sa_error *error) {
    bool asked_wrongly = error->status == SA_USAGE || error->status == SA_DATA;
    answer_error(x, asked_wrongly ? 400 : 500, "%s", error->text);
}

/* ---- work -------------------------------------------------------------------------------------------- */

/* Whoever waits for the exchange's next bytes. Under the lock. */
static void wake(exchange *x) {
    if (x->suspended && x->attached)
        MHD_resume_connection(x->connection);
    x->suspended = false;
}

static void append_event(exchange *x, const char *event, const char *data) {
    strbuf_printf(&x->stream, "event: %s\ndata: %s\n\n", event, data);
}

void stream_event(exchange *x, const char *event, json_t *data) {
    char *text = dump(data);
    peers_lock(x->server->peers);
    if (text && x->attached) {
        append_event(x, event, text);
        wake(x);
    }
    peers_unlock(x->server->peers);
    free(text);
}

static void answer_job(exchange *x, const job *j) {
    sa_error error;
    if (x->late)
        answer_error(x, 503, "the answer took longer than %g seconds (--max-time)",
                     x->server->options->limits.time);
    else if (j->cancelled)
        answer_error(x, 503, "the server is stopping");
    else if (j->error.status != SA_OK)
        answer_failure(x, &j->error);
    else {
        json_t *value = x->route->answer(x, &error);
        if (value)
            answer_json(x, 200, value);
        else
            answer_failure(x, &error);
    }
}

/* On the thread that did the last of the work. */
static void finish_exchange(job *j, void *user) {
    exchange *x = user;
    peers *p = x->server->peers;
    peers_lock(p);
    bool wanted = x->attached && !x->gone;
    peers_unlock(p);
    for (size_t i = 0; i < j->n; i++)
        x->words += j->unit[i].words;
    if (wanted)
        answer_job(x, j);
    peers_lock(p);
    if (x->streaming && x->attached) {
        append_event(x, x->status == 200 ? "done" : "error", x->text ? x->text : "{}");
        x->sent_all = true;
    }
    x->working = false;
    wake(x);
    peers_unlock(p);
    exchange_release(x);
}

bool exchange_submit(exchange *x) {
    server *s = x->server;
    x->job->done = finish_exchange;
    x->job->user = x;
    x->working = true;
    x->submitted = clock_seconds();
    exchange_hold(x);
    if (queue_submit(s->queue, x->job, &x->retry_after))
        return true;
    x->working = x->streaming = false;
    exchange_release(x);
    answer_error(x, 503, "%zu texts wait already, and with these there would be more than %d (--max-queue)",
                 queue_waiting(s->queue), s->options->limits.queue);
    return false;
}

void exchange_left(exchange *x) {
    peers_lock(x->server->peers);
    x->gone = true;
    peers_unlock(x->server->peers);
    queue_cancel(x->server->queue, x->job);
}

void exchange_late(exchange *x) {
    peers_lock(x->server->peers);
    x->late = true;
    peers_unlock(x->server->peers);
    queue_cancel(x->server->queue, x->job);
}

void exchange_stop(exchange *x) {
    queue_cancel(x->server->queue, x->job);
}
