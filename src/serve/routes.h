/* What the server answers: a row for each path. */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "serve/exchange.h"

/* How errors look. */
typedef enum dialect {
    DIALECT_OWN,   /* {"error": {"code": "bad_request", "message": "..."}} */
    DIALECT_LIBRE, /* {"error": "..."}, LibreTranslate's */
    DIALECT_ONMT   /* {"error": "...", "status": "error"}, OpenNMT's */
} dialect;

struct route {
    const char *method; /* "GET", which allows HEAD too, or "POST" */
    const char *path;   /* one that ends with / and is longer stands for all that begin with it */
    dialect dialect;
    bool open;  /* needs no API key, and counts for no rate */
    bool waits; /* needs models */
    bool forms; /* takes forms as well as JSON */
    /* Sets the answer, or x->job, which is then submitted. body: what a POST had; NULL with a GET. On
     * libmicrohttpd's thread: it must not take long. */
    void (*begin)(exchange *x, json_t *body);
    /* The answer of a job that ended well, made on the thread that ended it: NULL with *error where there is none.
     */
    json_t *(*answer)(exchange *x, sa_error *error);
};

/* n_routes of them; the last stands for paths that none is for. */
extern const route routes[];
extern const int n_routes;
/* The paths, for statistics. */
extern const char *const *route_names(void);

/* The route for a path; *allow: "GET, HEAD" or such where the path is known, but not with that method, NULL else.
 */
const route *route_find(const char *method, const char *path, const char **allow);

/* What routes of several files begin with. */
void begin_translate(exchange *x, json_t *body); /* /v1/translate */
json_t *answer_translate(exchange *x, sa_error *error);
void begin_align(exchange *x, json_t *body);
json_t *answer_align(exchange *x, sa_error *error);
void begin_score(exchange *x, json_t *body);
json_t *answer_score(exchange *x, sa_error *error);
void begin_models(exchange *x, json_t *body);

void begin_libre_translate(exchange *x, json_t *body); /* LibreTranslate's */
json_t *answer_libre_translate(exchange *x, sa_error *error);
void begin_languages(exchange *x, json_t *body);
void begin_detect(exchange *x, json_t *body);
void begin_settings(exchange *x, json_t *body);

void begin_onmt_translate(exchange *x, json_t *body); /* OpenNMT's */
json_t *answer_onmt_translate(exchange *x, sa_error *error);
void begin_onmt_models(exchange *x, json_t *body);
void begin_onmt_health(exchange *x, json_t *body);

void begin_health(exchange *x, json_t *body);
void begin_metrics(exchange *x, json_t *body);
void begin_page(exchange *x, json_t *body);
void begin_unknown(exchange *x, json_t *body);

#endif
