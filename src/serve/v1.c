/* Our own interface: what the program's subcommands do, a request at a time. */
#include "serve/answers.h"
#include "serve/json_build.h"
#include "serve/request.h"
#include "serve/server.h"

#include <stdlib.h>

/* Options that a route has beside its tables. */
static bool only_known(exchange *x, json_t *body, const field *table, const char *const *names) {
    const field *const tables[] = {table, alignment_fields};
    sa_error error;
    if (fields_known(body, tables, 2, names, &error) == SA_OK)
        return true;
    answer_failure(x, &error);
    return false;
}

static bool read_links(exchange *x, json_t *body, bool alignment, sa_alignment_options *out) {
    sa_error error;
    *out = (sa_alignment_options){0};
    if (fields_read(alignment_fields, body, out, &error) != SA_OK)
        answer_failure(x, &error);
    else if (!alignment && (out->shift || out->subwords || out->threshold > 0))
        answer_error(x, 400, "\"align_shift\", \"align_subwords\" and \"align_threshold\" go with \"alignment\"");
    else if (out->shift < 0 || out->shift > 1)
        answer_error(x, 400, "\"align_shift\" must be 0 or 1");
    else if (!(out->threshold >= 0 && out->threshold <= 1))
        answer_error(x, 400, "\"align_threshold\" must be from 0 to 1");
    else
        return true;
    return false;
}

/* The texts into a new job. */
static void set_job(exchange *x, const job_kind *kind, const hosted_model *model, const sa_translate_options *o,
                    const sa_alignment_options *links, const text_list *text, const text_list *target,
                    const text_list *prefix) {
    sa_error error;
    search_job *j;
    sa_status status = search_job_new(&j, kind, model, o, text->n, &error);
    for (size_t i = 0; i < text->n && status == SA_OK; i++)
        status = search_job_set(j, i, text->text[i], target ? target->text[i] : NULL,
                                prefix && prefix->text ? prefix->text[i] : NULL, &error);
    if (status != SA_OK) {
        answer_failure(x, &error);
        if (j)
            job_release(&j->job);
        return;
    }
    j->links = *links;
    x->job = &j->job;
}

/* ---- /v1/translate ----------------------------------------------------------------------------------- */

/* Options that go together or do not; `protect` is a member of three states. */
static bool check_search(exchange *x, json_t *body, sa_translate_options *o) {
    json_t *protect = json_object_get(body, "protect");
    if (protect && !json_is_boolean(protect))
        answer_error(x, 400, "\"protect\" must be true or false");
    else if (o->symbols && o->replace_unk)
        answer_error(x, 400, "\"replace_unk\" changes text; \"symbols\" asks for none");
    else if (!o->sample && (json_object_get(body, "temperature") || json_object_get(body, "top_k") ||
                            json_object_get(body, "seed")))
        answer_error(x, 400, "\"temperature\", \"top_k\" and \"seed\" go with \"sample\"");
    else {
        if (protect)
            o->protect = json_is_true(protect) ? SA_PROTECT_ON : SA_PROTECT_OFF;
        return true;
    }
    return false;
}

void begin_translate(exchange *x, json_t *body) {
    static const char *const names[] = {"text", "model", "prefix", "protect", NULL};
    sa_translate_options o;
    sa_alignment_options links;
    text_list text = {0}, prefix = {0};
    const hosted_model *model;
    if (request_object(x, body) && only_known(x, body, search_fields, names) && (model = request_model(x, body)) &&
        request_search(x, body, search_fields, &o) && check_search(x, body, &o) &&
        read_links(x, body, o.attention, &links) && request_texts(x, body, "text", &text) &&
        request_optional_texts(x, body, "prefix", text.n, &prefix))
        set_job(x, &translate_kind, model, &o, &links, &text, NULL, &prefix);
    free(text.text);
    free(prefix.text);
}

json_t *answer_translate(exchange *x, sa_error *error) {
    return answer_translations((const search_job *)(const void *)x->job, error);
}

/* ---- /v1/align, /v1/score ---------------------------------------------------------------------------- */

static void begin_pairs(exchange *x, json_t *body, bool alignment) {
    static const char *const names[] = {"source", "target", "model", NULL};
    sa_translate_options o;
    sa_alignment_options links;
    text_list source = {0}, target = {0};
    const hosted_model *model;
    if (request_object(x, body) && only_known(x, body, score_fields, names) && (model = request_model(x, body)) &&
        request_search(x, body, score_fields, &o) && read_links(x, body, alignment, &links) &&
        request_texts(x, body, "source", &source) && request_texts(x, body, "target", &target)) {
        o.attention = alignment;
        if (source.n != target.n)
            answer_error(x, 400, "there are %zu sources and %zu targets", source.n, target.n);
        else
            set_job(x, &score_kind, model, &o, &links, &source, &target, NULL);
    }
    free(source.text);
    free(target.text);
}

void begin_align(exchange *x, json_t *body) {
    begin_pairs(x, body, true);
}

json_t *answer_align(exchange *x, sa_error *error) {
    return answer_alignments((const search_job *)(const void *)x->job, error);
}

void begin_score(exchange *x, json_t *body) {
    begin_pairs(x, body, false);
}

json_t *answer_score(exchange *x, sa_error *error) {
    return answer_scores((const search_job *)(const void *)x->job, error);
}

/* ---- /v1/models -------------------------------------------------------------------------------------- */

void begin_models(exchange *x, json_t *body) {
    (void)body;
    bool ok = true;
    json_t *object = json_object(), *list = json_array();
    for (int i = 0; i < x->server->models.n; i++)
        append(list, hosted_describe(&x->server->models.model[i]), &ok);
    put(object, "models", list, &ok);
    answer_json(x, 200, finished_json(object, ok));
}
