#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char WANTED[] =
    "a model file, or SOURCE-TARGET=FILE with codes of languages, like en-fr=model.safetensors";

static bool is_code_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Copies a code of n characters; false where it is none. */
static bool copy_code(char *out, size_t size, const char *code, size_t n, bool hyphens) {
    if (n < 2 || n >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_code_character(code[i]) && !(hyphens && code[i] == '-'))
            return false;
    memcpy(out, code, n);
    out[n] = '\0';
    return true;
}

/* "en-fr", or "zh-Hans:en". */
static bool read_languages(serve_model *m, const char *text, size_t n) {
    const char *colon = memchr(text, ':', n), *between = colon != NULL ? colon : memchr(text, '-', n);
    if (between == NULL)
        return false;
    size_t first = (size_t)(between - text);
    return copy_code(m->source, sizeof m->source, text, first, colon != NULL) &&
           copy_code(m->target, sizeof m->target, between + 1, n - first - 1, colon != NULL);
}

static bool split_paths(serve_model *m, char *paths) {
    for (char *at = paths; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma = '\0';
        if (*at == '\0' || m->n == SA_ENSEMBLE_MAX)
            return false;
        m->path[m->n++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return true;
}

static void name_by_file(serve_model *m) {
    static const char ending[] = ".safetensors";
    const char *slash = strrchr(m->path[0], '/'), *file = slash != NULL ? slash + 1 : m->path[0];
    size_t n = strlen(file), cut = sizeof ending - 1;
    if (n > cut && strcmp(file + n - cut, ending) == 0)
        n -= cut;
    snprintf(m->name, sizeof m->name, "%.*s", (int)(n < sizeof m->name ? n : sizeof m->name - 1), file);
}

const char *serve_model_parse(serve_model *out, const char *text) {
    *out = (serve_model){0};
    const char *equals = strchr(text, '='), *slash = strchr(text, '/');
    /* A file may have = in its name: ./a=b is one. */
    bool named = equals != NULL && (slash == NULL || equals < slash);
    if (named && !read_languages(out, text, (size_t)(equals - text)))
        return WANTED;
    out->text = strdup(named ? equals + 1 : text);
    if (out->text == NULL)
        return "something that memory is left for";
    if (!split_paths(out, out->text)) {
        serve_model_free(out);
        return WANTED;
    }
    if (named)
        snprintf(out->name, sizeof out->name, "%s%s%s", out->source, strchr(text, ':') != NULL ? ":" : "-",
                 out->target);
    else
        name_by_file(out);
    return NULL;
}

void serve_model_free(serve_model *model) {
    free(model->text);
    *model = (serve_model){0};
}
