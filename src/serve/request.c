#include "serve/request.h"

#include "base/utf8.h"
#include "serve/server.h"

#include <stdlib.h>
#include <string.h>

bool request_object(exchange *x, json_t *body) {
    if (json_is_object(body))
        return true;
    answer_error(x, 400, "the body must be a JSON object");
    return false;
}

/* ---- texts ------------------------------------------------------------------------------------------- */

static bool count_text(exchange *x, const char *text) {
    const serve_limits *l = &x->server->options->limits;
    x->characters += utf8_count(text, strlen(text));
    if (x->characters <= (size_t)l->characters)
        return true;
    answer_error(x, 400, "the texts have more than %d characters (--max-characters)", l->characters);
    return false;
}

static bool take_list(exchange *x, json_t *value, const char *name, bool optional, text_list *out) {
    const serve_limits *l = &x->server->options->limits;
    size_t n = json_is_array(value) ? json_array_size(value) : 1;
    if (n > (size_t)l->items) {
        answer_error(x, 400, "\"%s\" has %zu texts, more than %d (--max-items)", name, n, l->items);
        return false;
    }
    out->single = !json_is_array(value);
    out->text = calloc(n + 1, sizeof *out->text);
    if (!out->text) {
        answer_error(x, 500, "%s", sa_status_text(SA_MEMORY));
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        json_t *item = out->single ? value : json_array_get(value, i);
        out->text[i] = json_string_value(item);
        if (!out->text[i] && !(optional && json_is_null(item))) {
            answer_error(x, 400, "\"%s\" must be a text, or a list of texts", name);
            return false;
        }
        if (out->text[i] && !count_text(x, out->text[i]))
            return false;
    }
    out->n = n;
    return true;
}

bool request_texts(exchange *x, json_t *object, const char *name, text_list *out) {
    *out = (text_list){0};
    json_t *value = json_object_get(object, name);
    if (!value)
        answer_error(x, 400, "\"%s\" is missing", name);
    bool ok = value && take_list(x, value, name, false, out);
    if (!ok) {
        free(out->text);
        out->text = NULL;
    }
    x->items = out->n;
    return ok;
}

bool request_optional_texts(exchange *x, json_t *object, const char *name, size_t n, text_list *out) {
    *out = (text_list){0};
    json_t *value = json_object_get(object, name);
    if (!value || json_is_null(value))
        return true;
    bool ok = take_list(x, value, name, true, out);
    if (ok && out->n != n) {
        answer_error(x, 400, "there are %zu texts of \"%s\", where %zu go with the others", out->n, name, n);
        ok = false;
    }
    if (!ok) {
        free(out->text);
        out->text = NULL;
    }
    return ok;
}

/* ---- models and options ------------------------------------------------------------------------------ */

const hosted_model *request_model(exchange *x, json_t *body) {
    json_t *name = json_object_get(body, "model");
    if (name && !json_is_string(name)) {
        answer_error(x, 400, "\"model\" must be the name of a model");
        return NULL;
    }
    const hosted_model *found = hosted_find(&x->server->models, json_string_value(name));
    if (!found)
        answer_error(x, 400, "there is no model \"%.100s\": GET /v1/models lists them", json_string_value(name));
    return found;
}

bool request_search(exchange *x, json_t *body, const field *table, sa_translate_options *out) {
    const sa_translate_options *usual = &x->server->options->search;
    const serve_limits *l = &x->server->options->limits;
    sa_error error;
    *out = *usual;
    if (fields_read(table, body, out, &error) != SA_OK) {
        answer_failure(x, &error);
        return false;
    }
    const struct {
        const char *name;
        int value, most;
        const char *option;
    } check[] = {{"beam_size", out->beam_size, l->beam_size, "max-beam-size"},
                 {"n_best", out->n_best, l->n_best, "max-n-best"},
                 {"max_length", out->max_length, usual->max_length, "max-length"}};
    for (size_t i = 0; i < sizeof check / sizeof *check; i++)
        if (check[i].value > check[i].most) {
            answer_error(x, 400, "\"%s\" is %d; it must be at most %d (--%s)", check[i].name, check[i].value,
                         check[i].most, check[i].option);
            return false;
        }
    return true;
}
