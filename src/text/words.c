#include "text/words.h"

#include "text/vocab_kind.h"

#include <stdlib.h>
#include <string.h>

int words_take(word_counter *c, const char *text, size_t length) {
    int first = -1;
    for (size_t i = 0; i < length; i++) {
        bool blank = vocab_is_blank(text[i]);
        c->n += !blank && !c->open;
        c->open = !blank;
        if (!blank && first < 0)
            first = c->n - 1;
    }
    return first;
}

int words_take_symbol(word_counter *c, const vocab *v, int id, const char *text) {
    bool subword = vocab_type(v) != SA_VOCAB_WORD;
    bool apart = !subword || (id == VOCAB_UNK && !text);
    c->open = c->open && !apart;
    if (!text) {
        size_t mark = strlen(VOCAB_SUBWORD_BLANK);
        text = vocab_piece(v, id);
        if (subword && !strncmp(text, VOCAB_SUBWORD_BLANK, mark)) {
            c->open = false;
            text += mark;
        }
    }
    int word = words_take(c, text, strlen(text));
    c->open = c->open && !apart;
    return word;
}

/* How many symbols a word becomes. */
static sa_status count_symbols(const vocab *v, const char *word, size_t length, id_list *ids, size_t *n,
                               sa_error *error) {
    *n = 1;
    if (vocab_type(v) == SA_VOCAB_WORD)
        return SA_OK;
    ids->n = 0;
    sa_status status = vocab_encode(v, word, length, ids, error);
    *n = ids->n;
    return status;
}

sa_status words_of_symbols(const vocab *v, const char *text, size_t length, int *word, size_t n, sa_error *error) {
    id_list ids = {0};
    size_t at = 0;
    int number = -1;
    sa_status status = SA_OK;
    for (size_t i = 0, end; i < length && status == SA_OK; i = end) {
        while (i < length && vocab_is_blank(text[i]))
            i++;
        for (end = i; end < length && !vocab_is_blank(text[end]);)
            end++;
        size_t symbols = 0;
        if (end > i) {
            number++;
            status = count_symbols(v, text + i, end - i, &ids, &symbols, error);
        }
        for (; symbols > 0 && at < n; symbols--)
            word[at++] = number;
    }
    for (; at < n; at++) /* of a normalization that reaches over blanks */
        word[at] = number;
    id_list_free(&ids);
    return status;
}

/* ---- protected texts --------------------------------------------------------------------------------- */

static bool is_symbol(const char *s) {
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        if (!strncmp(s, protect_symbol((protect_kind)kind), 3))
            return true;
    return false;
}

/* Walks both texts at once: they differ only where one has a symbol and the other an item. */
static void walk(int *out, const char *text, const char *protected, const protected_items *items) {
    word_counter own = {0}, other = {0};
    size_t o = 0, k = 0;
    for (size_t p = 0, step; protected[p]; p += step) {
        while (k < items->n && items->at[k].start < o)
            k++;
        bool item = is_symbol(protected + p) && k < items->n && items->at[k].start == o;
        size_t length = item ? items->at[k].length : 1;
        step = item ? 3 : 1;
        int before = other.n, word = words_take(&own, text + o, length);
        words_take(&other, protected + p, step);
        if (other.n > before)
            out[other.n - 1] = word < 0 ? 0 : word;
        o += length;
    }
}

sa_status words_under_protection(int **out, const char *text, const char *protected, sa_error *error) {
    protected_items items = {0};
    word_counter count = {0};
    words_take(&count, protected, strlen(protected));
    *out = calloc((size_t)count.n + 1, sizeof **out);
    bool ok = *out && protect_find(&items, text, strlen(text));
    if (ok)
        walk(*out, text, protected, &items);
    protected_items_free(&items);
    if (ok)
        return SA_OK;
    free(*out);
    *out = NULL;
    return sa_fail_memory(error, 0);
}
