/* OpenNMT-py's REST server, for clients of it: POST [{"src": "...", "id": 0}, ...] gives a list for each of the n
 * best, with an object for each text in it. The number of a model is its place among those of GET
 * /translator/models. */
#include "serve/json_build.h"
#include "serve/request.h"
#include "serve/search_job.h"
#include "serve/server.h"

#include <stdlib.h>
#include <string.h>

/* {"src": ...} of all inputs as one list of texts. */
static json_t *sources_of(exchange *x, json_t *body) {
    json_t *object = json_object(), *list = json_array();
    bool ok = true;
    size_t n = json_is_array(body) ? json_array_size(body) : 0;
    if (n == 0)
        answer_error(x, 400, "the body must be a list of objects with a member \"src\"");
    for (size_t i = 0; i < n; i++) {
        json_t *text = json_object_get(json_array_get(body, i), "src");
        if (!json_is_string(text)) {
            answer_error(x, 400, "input %zu has no text \"src\"", i);
            n = 0;
        } else
            append(list, json_incref(text), &ok);
    }
    put(object, "src", list, &ok);
    if (!ok)
        answer_error(x, 500, "%s", sa_status_text(SA_MEMORY));
    return finished_json(object, ok && n > 0);
}

/* The first input names the model for all. */
static const hosted_model *model_of(exchange *x, json_t *body) {
    json_t *id = json_object_get(json_array_get(body, 0), "id");
    const hosted *h = &x->server->models;
    json_int_t number = json_is_integer(id) ? json_integer_value(id) : 0;
    if ((!id || json_is_integer(id)) && number >= 0 && number < h->n)
        return &h->model[number];
    answer_error(x, 400, "there is no model with this id: GET /translator/models lists them");
    return NULL;
}

void begin_onmt_translate(exchange *x, json_t *body) {
    text_list text = {0};
    search_job *j = NULL;
    sa_error error;
    const hosted_model *m;
    json_t *sources = sources_of(x, body);
    if (sources && (m = model_of(x, body)) && request_texts(x, sources, "src", &text)) {
        sa_status status = search_job_new(&j, &translate_kind, m, &x->server->options->search, text.n, &error);
        for (size_t i = 0; i < text.n && status == SA_OK; i++)
            status = search_job_set(j, i, text.text[i], NULL, NULL, &error);
        if (status == SA_OK) {
            x->job = &j->job;
        } else {
            answer_failure(x, &error);
            if (j)
                job_release(&j->job);
        }
    }
    free(text.text);
    json_decref(sources);
}

json_t *answer_onmt_translate(exchange *x, sa_error *error) {
    const search_job *j = (const search_job *)(const void *)x->job;
    json_t *lists = json_array();
    bool ok = true;
    for (int k = 0; k < j->options.n_best; k++) {
        json_t *list = json_array();
        for (size_t i = 0; i < j->job.n; i++) {
            const sa_translation *t = &j->result[i];
            const sa_hypothesis *h = &t->hypothesis[k < t->n ? k : t->n - 1];
            append(list,
                   json_pack("{s:s, s:s, s:i, s:o}", "src", j->text[i], "tgt", h->text, "n_best", j->options.n_best,
                             "pred_score", rounded(h->normalized, 6)),
                   &ok);
        }
        append(lists, list, &ok);
    }
    if (!ok) {
        error->status = SA_MEMORY;
        snprintf(error->text, sizeof error->text, "%s", sa_status_text(SA_MEMORY));
    }
    return finished_json(lists, ok);
}

void begin_onmt_models(exchange *x, json_t *body) {
    const hosted *h = &x->server->models;
    json_t *list = json_array();
    bool ok = true;
    (void)body;
    for (int i = 0; i < h->n; i++)
        append(list,
               json_pack("{s:i, s:s, s:s, s:b, s:n}", "model_id", i, "model", h->model[i].name, "status", "loaded",
                         "loaded", 1, "tokenizer_opt"),
               &ok);
    answer_json(x, 200, finished_json(list, ok));
}

void begin_onmt_health(exchange *x, json_t *body) {
    const server *s = x->server;
    (void)body;
    bool well = atomic_load(&s->ready) && !atomic_load(&s->stopping);
    answer_json(x, well ? 200 : 503, json_pack("{s:s}", "status", well ? "ok" : "error"));
}
