#include "serve/routes.h"

#include "serve/json_build.h"
#include "serve/server.h"

#include <string.h>

const route routes[] = {
    {"POST", "/v1/translate", DIALECT_OWN, .waits = true, .begin = begin_translate, .answer = answer_translate},
    {"POST", "/v1/align", DIALECT_OWN, .waits = true, .begin = begin_align, .answer = answer_align},
    {"POST", "/v1/score", DIALECT_OWN, .waits = true, .begin = begin_score, .answer = answer_score},
    {"GET", "/v1/models", DIALECT_OWN, .waits = true, .begin = begin_models},
    {"POST", "/translate", DIALECT_LIBRE, .waits = true, .forms = true, .begin = begin_libre_translate,
     .answer = answer_libre_translate},
    {"GET", "/languages", DIALECT_LIBRE, .open = true, .begin = begin_languages},
    {"POST", "/detect", DIALECT_LIBRE, .waits = true, .forms = true, .begin = begin_detect},
    {"GET", "/frontend/settings", DIALECT_LIBRE, .open = true, .begin = begin_settings},
    {"POST", "/translator/translate", DIALECT_ONMT, .waits = true, .begin = begin_onmt_translate,
     .answer = answer_onmt_translate},
    {"GET", "/translator/models", DIALECT_ONMT, .waits = true, .begin = begin_onmt_models},
    {"GET", "/translator/health", DIALECT_ONMT, .open = true, .begin = begin_onmt_health},
    {"GET", "/health", DIALECT_OWN, .open = true, .begin = begin_health},
    {"GET", "/metrics", DIALECT_OWN, .open = true, .begin = begin_metrics},
    {"GET", "/openapi.json", DIALECT_OWN, .open = true, .begin = begin_page},
    {"GET", "/", DIALECT_OWN, .open = true, .begin = begin_page},
    {"GET", "/assets/", DIALECT_OWN, .open = true, .begin = begin_page},
    {"GET", "unknown", DIALECT_OWN, .open = true, .begin = begin_unknown},
};
const int n_routes = sizeof routes / sizeof *routes;

const char *const *route_names(void) {
    static const char *names[sizeof routes / sizeof *routes];
    for (int i = 0; i < n_routes; i++)
        names[i] = routes[i].path;
    return names;
}

static bool matches(const route *r, const char *path) {
    size_t n = strlen(r->path);
    return strcmp(r->path, path) == 0 || (n > 1 && r->path[n - 1] == '/' && strncmp(path, r->path, n) == 0);
}

const route *route_find(const char *method, const char *path, const char **allow) {
    *allow = NULL;
    for (int i = 0; i < n_routes - 1; i++) {
        const route *r = &routes[i];
        if (!matches(r, path))
            continue;
        bool gets = strcmp(r->method, "GET") == 0;
        if (strcmp(method, r->method) != 0 && !(gets && strcmp(method, "HEAD") == 0))
            *allow = gets ? "GET, HEAD" : r->method;
        return r;
    }
    return &routes[n_routes - 1];
}

/* ---- routes of no interface in particular ------------------------------------------------------------ */

void begin_unknown(exchange *x, json_t *body) {
    (void)body;
    answer_error(x, 404, "there is nothing at this path; /openapi.json lists what there is");
}

void begin_health(exchange *x, json_t *body) {
    (void)body;
    const server *s = x->server;
    const char *status = atomic_load(&s->stopping) ? "stopping" : atomic_load(&s->ready) ? "ok" : "loading";
    bool well = strcmp(status, "ok") == 0;
    x->retry_after = well ? 0 : 1;
    answer_json(x, well ? 200 : 503, json_pack("{s:s}", "status", status));
}

void begin_metrics(exchange *x, json_t *body) {
    (void)body;
    const server *s = x->server;
    bool ready = atomic_load(&s->ready);
    metrics_now now = {.waiting = ready ? queue_waiting(s->queue) : 0,
                       .jobs = ready ? queue_jobs(s->queue) : 0,
                       .connections = peers_count(s->peers),
                       .ready = ready};
    strbuf text = {0};
    metrics_write(s->metrics, &now, &text);
    answer_text(x, 200, "text/plain; version=0.0.4; charset=utf-8", strbuf_take(&text));
}
