#include "align/count_stems.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "text/unicode_class.h"

#include <stdlib.h>
#include <string.h>

/* Texts seen so far, by number; open addressing. */
typedef struct numbering {
    strbuf texts;  /* zero-terminated, one behind the other */
    size_t *start; /* of each text */
    int *slot;     /* its number + 1, or 0 */
    size_t slots;  /* a power of two, at least twice what there will be */
    int n;
} numbering;

static sa_status numbering_make(numbering *m, size_t most, sa_error *error) {
    *m = (numbering){.slots = 2};
    while (m->slots < 2 * most)
        m->slots *= 2;
    m->start = calloc(most + 1, sizeof *m->start);
    m->slot = calloc(m->slots, sizeof *m->slot);
    return m->start && m->slot ? SA_OK : sa_fail_memory(error, m->slots * sizeof *m->slot);
}

static void numbering_free(numbering *m) {
    strbuf_free(&m->texts);
    free(m->start);
    free(m->slot);
}

/* The number of a text, a new one for a new text. */
static int number_of(numbering *m, const char *text) {
    size_t i = hash_string(text) & (m->slots - 1);
    for (; m->slot[i]; i = (i + 1) & (m->slots - 1))
        if (!strcmp(m->texts.data + m->start[m->slot[i] - 1], text))
            return m->slot[i] - 1;
    m->start[m->n] = m->texts.length;
    strbuf_append(&m->texts, text, strlen(text) + 1);
    m->slot[i] = ++m->n;
    return m->n - 1;
}

/* The whole word where it has a digit. */
static void write_stem(strbuf *out, const char *word) {
    strbuf_clear(out);
    unicode_append_lower(out, word, strlen(word));
    if (out->failed || strpbrk(word, "0123456789"))
        return;
    size_t at = 0;
    uint32_t code;
    for (int letters = 0; at < out->length && letters < COUNT_STEM_LETTERS; letters++)
        at += utf8_decode(out->data + at, out->length - at, &code);
    if (at < out->length)
        out->data[at] = 0;
}

/* </s> and <unk> have texts that no word has, for there is a blank in them. */
static const char *stem_of(strbuf *out, const vocab *v, int id) {
    static const char *const specials[] = {" </s>", " <unk>"};
    if (id <= VOCAB_UNK)
        return specials[id];
    write_stem(out, vocab_piece(v, id));
    return out->data;
}

static sa_status number_side(count_stems *s, int d, const vocab *v, numbering *m, sa_error *error) {
    strbuf stem = {0};
    int n = vocab_size(v);
    size_t room = (size_t)m->n + (size_t)n;
    bool *seen = calloc(room, sizeof *seen), failed = !seen;
    for (int id = 0; id < n && !failed; id++) {
        const char *text = stem_of(&stem, v, id);
        failed = stem.failed;
        if (failed)
            break;
        int number = number_of(m, text);
        failed = m->texts.failed;
        s->of[d][id] = number;
        s->kinds[d] += !seen[number];
        seen[number] = true;
    }
    free(seen);
    strbuf_free(&stem);
    s->n = m->n;
    return failed ? sa_fail_memory(error, room) : SA_OK;
}

/* share[word] = n(word) / n(stem of word) */
static sa_status count_shares(count_stems *s, const corpus *c, sa_error *error) {
    size_t *of_stem = malloc(((size_t)s->n + 1) * sizeof *of_stem);
    if (!of_stem)
        return sa_fail_memory(error, (size_t)s->n * sizeof *of_stem);
    for (int d = 0; d < 2; d++) {
        size_t words = (size_t)c->vocab_size[d];
        size_t *of_word = calloc(words + 1, sizeof *of_word);
        if (!of_word) {
            free(of_stem);
            return sa_fail_memory(error, words * sizeof *of_word);
        }
        for (size_t i = 0; i < c->n; i++) {
            pair p = corpus_pair(c, i);
            const int *id = d == SA_SOURCE ? p.source : p.target;
            int n = (d == SA_SOURCE ? p.source_length : p.target_length) - 1;
            for (int k = 0; k < n; k++)
                of_word[id[k]]++;
        }
        memset(of_stem, 0, (size_t)s->n * sizeof *of_stem);
        for (size_t w = 0; w < words; w++)
            of_stem[s->of[d][w]] += of_word[w];
        for (size_t w = 0; w < words; w++)
            s->share[d][w] = of_word[w] ? (float)((double)of_word[w] / (double)of_stem[s->of[d][w]]) : 0;
        free(of_word);
    }
    free(of_stem);
    return SA_OK;
}

sa_status count_stems_make(count_stems *out, const corpus *c, const vocab *const side[2], sa_error *error) {
    *out = (count_stems){0};
    numbering m = {0};
    sa_status status = numbering_make(&m, (size_t)c->vocab_size[0] + (size_t)c->vocab_size[1], error);
    for (int d = 0; d < 2 && status == SA_OK; d++) {
        size_t words = (size_t)c->vocab_size[d];
        SA_ASSERT(vocab_size(side[d]) == c->vocab_size[d]);
        out->of[d] = malloc(words * sizeof *out->of[d]);
        out->share[d] = malloc(words * sizeof *out->share[d]);
        if (!out->of[d] || !out->share[d])
            status = sa_fail_memory(error, words * (sizeof *out->of[d] + sizeof *out->share[d]));
        else
            status = number_side(out, d, side[d], &m, error);
    }
    numbering_free(&m);
    if (status == SA_OK)
        status = count_shares(out, c, error);
    if (status != SA_OK)
        count_stems_free(out);
    return status;
}

void count_stems_free(count_stems *s) {
    for (int d = 0; d < 2; d++) {
        free(s->of[d]);
        free(s->share[d]);
    }
    *s = (count_stems){0};
}
