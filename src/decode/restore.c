#include "decode/restore.h"

#include <stdlib.h>
#include <string.h>

typedef struct candidate_pair {
    float weight;
    int word;
    size_t item;
} candidate_pair;

typedef struct restoring {
    const vocab *target;
    const hypothesis *h;
    int words, source_length;
    const held_item *items;
    size_t n;
    bool *used;        /* of each item */
    const char **text; /* of each word */
    int *behind;       /* of each item that is not used: the word it follows; -1: none */
} restoring;

static int kind_of(const vocab *v, int id) {
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        if (id == vocab_placeholder(v, (protect_kind)kind))
            return kind;
    return -1;
}

static float weight_of(const restoring *r, int word, const held_item *item) {
    const float *a = r->h->attention;
    return a && item->at >= 0 ? a[(size_t)word * (size_t)r->source_length + (size_t)item->at] : 0;
}

static int compare_pairs(const void *left, const void *right) {
    const candidate_pair *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->word != b->word)
        return a->word - b->word;
    return (a->item > b->item) - (a->item < b->item);
}

/* All pairs of a symbol and an item of its kind. NULL without memory. */
static candidate_pair *list_pairs(const restoring *r, size_t *n) {
    size_t symbols = 0;
    for (int i = 0; i < r->words; i++)
        symbols += kind_of(r->target, r->h->ids[i]) >= 0;
    candidate_pair *pairs = malloc((symbols * r->n + 1) * sizeof *pairs);
    *n = 0;
    for (int i = 0; pairs && i < r->words; i++) {
        int kind = kind_of(r->target, r->h->ids[i]);
        for (size_t k = 0; kind >= 0 && k < r->n; k++)
            if ((int)r->items[k].kind == kind)
                pairs[(*n)++] = (candidate_pair){weight_of(r, i, &r->items[k]), i, k};
    }
    return pairs;
}

static sa_status fill_symbols(restoring *r, sa_error *error) {
    size_t n;
    candidate_pair *pairs = list_pairs(r, &n);
    if (!pairs)
        return sa_fail_memory(error, 0);
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < n; i++) {
        const candidate_pair *p = &pairs[i];
        if (r->used[p->item] || r->text[p->word])
            continue;
        r->used[p->item] = true;
        r->text[p->word] = r->items[p->item].text;
    }
    free(pairs);
    return SA_OK;
}

static bool starts_word(const vocab *v, int id) {
    return strncmp(vocab_piece(v, id), VOCAB_SUBWORD_BLANK, strlen(VOCAB_SUBWORD_BLANK)) == 0;
}

/* The word that looked at the item most, then the end of the whole word that it is a piece of. */
static int place_of(const restoring *r, const held_item *item) {
    int best = r->words - 1;
    if (r->h->attention && item->at >= 0) {
        best = 0;
        for (int i = 1; i < r->words; i++)
            best = weight_of(r, i, item) > weight_of(r, best, item) ? i : best;
    }
    while (best + 1 < r->words && !starts_word(r->target, r->h->ids[best + 1]))
        best++;
    return best < r->words ? best : r->words - 1;
}

/* Returns the word of the symbol. */
static int add(const restoring *r, written *out, word_counter *words, int id, const char *text) {
    out->ids[out->n] = id;
    out->text[out->n++] = text;
    return words_take_symbol(words, r->target, id, text);
}

/* Items that follow a word, in their order in the source. A blank is a symbol of its own: "▁". */
static void add_missing(const restoring *r, int word, written *out, word_counter *words) {
    int any = vocab_placeholder(r->target, PROTECT_NUMBER);
    for (size_t k = 0; k < r->n; k++)
        if (!r->used[k] && r->behind[k] == word) {
            add(r, out, words, any, " "); /* ids whose own text does not matter */
            add(r, out, words, any, r->items[k].text);
            out->added++;
        }
}

static void write_all(const restoring *r, const char *const *texts, written *out) {
    word_counter words = {0};
    add_missing(r, -1, out, &words);
    for (int i = 0; i < r->words; i++) {
        bool symbol = kind_of(r->target, r->h->ids[i]) >= 0;
        const char *text = symbol ? (r->text[i] ? r->text[i] : "") : texts[i];
        out->word[i] = add(r, out, &words, r->h->ids[i], text);
        add_missing(r, i, out, &words);
    }
}

sa_status restore_items(written *out, const vocab *target, const hypothesis *h, int source_length,
                        const char *const *texts, const held_item *items, size_t n, sa_error *error) {
    restoring r = {target, h, h->length - 1, source_length, items, n, NULL, NULL, NULL};
    size_t room = (size_t)h->length + 2 * n;
    *out = (written){0};
    r.used = calloc(n + 1, sizeof *r.used);
    r.text = calloc((size_t)h->length, sizeof *r.text);
    r.behind = calloc(n + 1, sizeof *r.behind);
    out->ids = calloc(room, sizeof *out->ids);
    out->text = calloc(room, sizeof *out->text);
    out->word = calloc((size_t)h->length, sizeof *out->word);
    bool ok = r.used && r.text && r.behind && out->ids && out->text && out->word;
    sa_status status = ok ? fill_symbols(&r, error) : sa_fail_memory(error, room * sizeof *out->text);
    for (size_t k = 0; k < n && status == SA_OK; k++)
        r.behind[k] = place_of(&r, &items[k]);
    if (status == SA_OK)
        write_all(&r, texts, out);
    free(r.used);
    free(r.behind);
    out->shown = r.text;
    if (status != SA_OK)
        written_free(out);
    return status;
}

void written_free(written *w) {
    free(w->ids);
    free(w->text);
    free(w->shown);
    free(w->word);
    *w = (written){0};
}
