/* LibreTranslate's interface, for tools that speak it: the same members, errors and codes, as far as models go.
 * Texts are plain, in and out; HTML is refused. Its texts may be paragraphs, so their sentences are translated one
 * by one. */
#include "serve/answers.h"
#include "serve/detector.h"
#include "serve/json_build.h"
#include "serve/languages.h"
#include "serve/request.h"
#include "serve/server.h"

#include <stdlib.h>
#include <string.h>

/* What the answer needs to know of the question. */
typedef struct libre_request {
    bool single, detected;
    int alternatives;
    guess guess;
} libre_request;

/* ---- members ----------------------------------------------------------------------------------------- */

/* A member that is there and not empty, as LibreTranslate asks for. */
static const char *wanted(exchange *x, json_t *body, const char *name) {
    const char *text = json_string_value(json_object_get(body, name));
    if (text && *text)
        return text;
    answer_error(x, 400, "Invalid request: missing %s parameter", name);
    return NULL;
}

/* A list of texts may be empty, a text may not. */
static bool read_texts(exchange *x, json_t *body, text_list *text) {
    json_t *q = json_object_get(body, "q");
    if (!q || json_is_null(q) || (json_is_string(q) && json_string_length(q) == 0)) {
        answer_error(x, 400, "Invalid request: missing q parameter");
        return false;
    }
    return request_texts(x, body, "q", text);
}

/* A number, or in forms its digits. */
static bool read_alternatives(exchange *x, json_t *body, int *out) {
    json_t *value = json_object_get(body, "alternatives");
    const char *text = json_string_value(value);
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : json_is_integer(value) ? (long)json_integer_value(value) : 0;
    bool fine = !value || json_is_integer(value) || (text && *text && *end == '\0');
    int most = x->server->options->limits.n_best - 1;
    *out = (int)n;
    if (!fine || n < 0)
        answer_error(x, 400, "Invalid request: alternatives parameter is not a number");
    else if (n > most)
        answer_error(x, 400, "Invalid request: alternatives (%ld) exceeds limit (%d, --max-n-best less 1)", n,
                     most);
    else
        return true;
    return false;
}

static bool read_format(exchange *x, json_t *body) {
    const char *format = json_string_value(json_object_get(body, "format"));
    if (!format || strcmp(format, "text") == 0)
        return true;
    answer_error(x, 400, "%.40s format is not supported", format);
    return false;
}

static bool known_language(const exchange *x, const char *code) {
    const hosted *h = &x->server->models;
    for (int i = 0; i < h->n; i++)
        if (strcmp(h->model[i].is->source, code) == 0 || strcmp(h->model[i].is->target, code) == 0)
            return true;
    return false;
}

/* The model, of the language that the text seems to be in where that is "auto". */
static const hosted_model *choose_model(exchange *x, const char *source, const char *target, const text_list *text,
                                        libre_request *r) {
    const hosted *h = &x->server->models;
    guess guesses[2 * SERVE_MODELS_MOST];
    r->detected = strcmp(source, "auto") == 0;
    if (r->detected) {
        int n = detector_guess(x->server->detector, text->n > 0 ? text->text[0] : "", target, guesses);
        r->guess = n > 0 ? guesses[0] : (guess){"auto", 0};
        source = n > 0 ? guesses[0].language : source;
    }
    const hosted_model *m = hosted_between(h, source, target);
    if (!m && !known_language(x, source))
        answer_error(x, 400, "%.24s is not supported", source);
    else if (!m && !known_language(x, target))
        answer_error(x, 400, "%.24s is not supported", target);
    else if (!m)
        answer_error(x, 400, "%.24s (%.24s) is not available as a target language from %.24s (%.24s)",
                     language_name(target), target, language_name(source), source);
    return m;
}

/* ---- /translate -------------------------------------------------------------------------------------- */

static void set_job(exchange *x, const hosted_model *m, const text_list *text, const libre_request *r) {
    sa_translate_options o = x->server->options->search;
    sa_error error;
    search_job *j = NULL;
    o.split_sentences = true;
    o.n_best = r->alternatives + 1;
    o.beam_size = o.beam_size > o.n_best ? o.beam_size : o.n_best;
    libre_request *kept = malloc(sizeof *kept);
    sa_status status = search_job_new(&j, &translate_kind, m, &o, text->n, &error);
    for (size_t i = 0; i < text->n && status == SA_OK; i++)
        status = search_job_set(j, i, text->text[i], NULL, NULL, &error);
    if (status == SA_OK && kept) {
        *kept = *r;
        x->own = kept;
        x->job = &j->job;
        return;
    }
    if (status != SA_OK)
        answer_failure(x, &error);
    else
        answer_error(x, 500, "%s", sa_status_text(SA_MEMORY));
    free(kept);
    if (j)
        job_release(&j->job);
}

void begin_libre_translate(exchange *x, json_t *body) {
    libre_request r = {0};
    text_list text = {0};
    const char *source, *target;
    const hosted_model *m;
    if (!json_is_object(body))
        answer_error(x, 400, "Invalid JSON format");
    else if (read_texts(x, body, &text) && (source = wanted(x, body, "source")) &&
             (target = wanted(x, body, "target")) && read_format(x, body) &&
             read_alternatives(x, body, &r.alternatives) && (m = choose_model(x, source, target, &text, &r))) {
        r.single = text.single;
        set_job(x, m, &text, &r);
    }
    free(text.text);
}

static json_t *guess_json(const guess *g) {
    return json_pack("{s:o, s:s}", "confidence", rounded(g->confidence, 1), "language", g->language);
}

/* The other hypotheses of a text. */
static json_t *alternatives_of(const sa_translation *t, bool *ok) {
    json_t *list = json_array();
    for (int k = 1; k < t->n; k++)
        append(list, json_string(t->hypothesis[k].text), ok);
    return list;
}

/* A list, or of a single text what it holds. */
static json_t *one_or_all(json_t *list, bool single) {
    if (!single)
        return list;
    json_t *one = json_incref(json_array_get(list, 0));
    json_decref(list);
    return one;
}

json_t *answer_libre_translate(exchange *x, sa_error *error) {
    const search_job *j = (const search_job *)(const void *)x->job;
    const libre_request *r = x->own;
    bool ok = true;
    json_t *object = json_object(), *texts = json_array(), *guesses = json_array(), *others = json_array();
    for (size_t i = 0; i < j->job.n; i++) {
        append(texts, json_string(j->result[i].hypothesis[0].text), &ok);
        if (r->detected)
            append(guesses, guess_json(&r->guess), &ok);
        append(others, alternatives_of(&j->result[i], &ok), &ok);
    }
    put(object, "translatedText", one_or_all(texts, r->single), &ok);
    if (r->detected)
        put(object, "detectedLanguage", one_or_all(guesses, r->single), &ok);
    else
        json_decref(guesses);
    if (r->alternatives > 0)
        put(object, "alternatives", one_or_all(others, r->single), &ok);
    else
        json_decref(others);
    if (!ok) {
        error->status = SA_MEMORY;
        snprintf(error->text, sizeof error->text, "%s", sa_status_text(SA_MEMORY));
    }
    return finished_json(object, ok);
}

/* ---- /languages, /detect, /frontend/settings --------------------------------------------------------- */

static const char *code_at(const serve_options *o, int i) {
    return i % 2 == 0 ? o->model[i / 2].source : o->model[i / 2].target;
}

/* Of what the options name, so that it can be asked before models are loaded. */
void begin_languages(exchange *x, json_t *body) {
    const serve_options *o = x->server->options;
    json_t *list = json_array();
    bool ok = true;
    (void)body;
    for (int i = 0; i < 2 * o->n_models; i++) {
        bool known = *code_at(o, i) == '\0';
        for (int k = 0; k < i; k++)
            known = known || strcmp(code_at(o, k), code_at(o, i)) == 0;
        if (known)
            continue;
        json_t *targets = json_array();
        for (int k = 0; k < o->n_models; k++)
            if (strcmp(o->model[k].source, code_at(o, i)) == 0)
                append(targets, json_string(o->model[k].target), &ok);
        append(list,
               json_pack("{s:s, s:s, s:o}", "code", code_at(o, i), "name", language_name(code_at(o, i)), "targets",
                         targets),
               &ok);
    }
    answer_json(x, 200, finished_json(list, ok));
}

void begin_detect(exchange *x, json_t *body) {
    guess guesses[2 * SERVE_MODELS_MOST];
    text_list text = {0};
    if (!json_is_object(body))
        answer_error(x, 400, "Invalid JSON format");
    else if (read_texts(x, body, &text)) {
        int n = detector_guess(x->server->detector, text.n > 0 ? text.text[0] : "", NULL, guesses);
        bool ok = n >= 0;
        json_t *list = json_array();
        for (int i = 0; i < n; i++)
            append(list, guess_json(&guesses[i]), &ok);
        answer_json(x, 200, finished_json(list, ok));
    }
    free(text.text);
}

void begin_settings(exchange *x, json_t *body) {
    const serve_options *o = x->server->options;
    bool keys = gate_needs_key(x->server->gate);
    const char *target = o->model[0].target;
    (void)body;
    answer_json(x, 200,
                json_pack("{s:b, s:i, s:i, s:b, s:b, s:b, s:[], s:{s:{s:s, s:s}, s:{s:s, s:s}}}", "apiKeys", keys,
                          "charLimit", o->limits.characters, "frontendTimeout", 500, "keyRequired", keys,
                          "suggestions", 0, "filesTranslation", 0, "supportedFilesFormat", "language", "source",
                          "code", "auto", "name", "Auto Detect", "target", "code", target, "name",
                          language_name(target)));
}
