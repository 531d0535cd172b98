#include "decode/symbols.h"

#include "text/words.h"

#include <stdlib.h>
#include <string.h>

static sa_status point_at_texts(symbols *s, sa_error *error) {
    s->text = calloc(s->ids.n + 1, sizeof *s->text);
    if (!s->text)
        return sa_fail_memory(error, s->ids.n * sizeof *s->text);
    const char *at = s->bytes.data, *end = at + s->bytes.length;
    for (size_t i = 0; i < s->ids.n && at < end; i++, at += strlen(at) + 1)
        s->text[i] = at;
    return SA_OK;
}

sa_status symbols_encode(symbols *out, const vocab *v, const char *line, bool texts, sa_error *error) {
    *out = (symbols){0};
    sa_status status = vocab_encode_texts(v, line, strlen(line), &out->ids, texts ? &out->bytes : NULL, error);
    if (status == SA_OK && texts)
        status = point_at_texts(out, error);
    if (status != SA_OK)
        symbols_free(out);
    return status;
}

sa_status symbols_read(symbols *out, const vocab *v, const char *line, sa_error *error) {
    *out = (symbols){0};
    for (const char *at = line + strspn(line, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (!id_list_push(&out->ids, vocab_find(v, at, length))) {
            symbols_free(out);
            return sa_fail_memory(error, 0);
        }
        at += length;
    }
    return SA_OK;
}

sa_status symbols_number(symbols *s, const vocab *v, const char *encoded, size_t length, int first,
                         const int *origin, sa_error *error) {
    if (vocab_length(v))
        return SA_OK;
    s->word = calloc(s->ids.n + 1, sizeof *s->word);
    if (!s->word)
        return sa_fail_memory(error, s->ids.n * sizeof *s->word);
    SA_TRY(words_of_symbols(v, encoded, length, s->word, s->ids.n, error));
    for (size_t i = 0; i < s->ids.n; i++)
        s->word[i] = origin ? origin[first + s->word[i]] : first + s->word[i];
    return SA_OK;
}

void symbols_free(symbols *s) {
    id_list_free(&s->ids);
    free(s->word);
    free(s->text);
    strbuf_free(&s->bytes);
    *s = (symbols){0};
}

void symbols_free_all(symbols *s, size_t n) {
    for (size_t i = 0; s && i < n; i++)
        symbols_free(&s[i]);
    free(s);
}

static bool starts_word(const vocab *v, int id) {
    return strncmp(vocab_piece(v, id), VOCAB_SUBWORD_BLANK, strlen(VOCAB_SUBWORD_BLANK)) == 0;
}

/* Takes the pieces of the last word out of the fixed ones, if all of them are known. */
static sa_status open_last_word(forced_start *f, const vocab *v, sa_error *error) {
    const int *id = f->symbols.ids.id;
    int first = f->n - 1;
    while (first > 0 && !starts_word(v, id[first]))
        first--;
    strbuf open = {0};
    for (int i = first; i < f->n; i++) {
        if (id[i] == VOCAB_UNK) {
            strbuf_free(&open);
            return SA_OK;
        }
        strbuf_puts(&open, vocab_piece(v, id[i]));
    }
    f->n = first;
    f->open = strbuf_take(&open);
    return f->open ? SA_OK : sa_fail_memory(error, 0);
}

sa_status forced_start_read(forced_start *out, const vocab *target, const char *line, sa_error *error) {
    *out = (forced_start){0};
    SA_TRY(symbols_encode(&out->symbols, target, line, true, error));
    out->n = (int)out->symbols.ids.n;
    if (out->n == 0 || vocab_type(target) == SA_VOCAB_WORD)
        return SA_OK;
    if (!strchr(" \t", line[strlen(line) - 1]))
        return open_last_word(out, target, error);
    out->open = strdup(VOCAB_SUBWORD_BLANK);
    return out->open ? SA_OK : sa_fail_memory(error, 0);
}

void forced_start_free(forced_start *f) {
    symbols_free(&f->symbols);
    free(f->open);
    *f = (forced_start){0};
}
