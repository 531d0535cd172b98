#include "eval/ngram_match.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { ROOT = 0, UNKNOWN = 0 }; /* ids of tokens and nodes count from 1 */

struct token_slot {
    size_t line, id;
    size_t offset, length; /* in text */
    uint64_t hash;
};

struct ngram_slot {
    size_t line, id;
    size_t parent, token; /* the n-gram is that of the parent and this token */
    size_t reference;     /* the one that `count` belongs to */
    size_t count, most;   /* times in that reference; most times in any so far */
    size_t used;          /* times in the hypothesis */
};

/* Mixed once more since the table uses the low bits. */
static uint64_t hash_token(const char *bytes, size_t n) {
    uint64_t h = hash_bytes(bytes, n);
    return h ^ h >> 32;
}

static uint64_t hash_pair(size_t parent, size_t token) {
    uint64_t h = (parent * 0x9e3779b97f4a7c15u ^ token) * 0xbf58476d1ce4e5b9u; /* constants of splitmix64 */
    return h ^ h >> 31;
}

/* The slot of the token, or the empty one where it belongs. */
static struct token_slot *token_place(const ngram_match *m, const char *bytes, size_t n, uint64_t hash) {
    for (size_t i = hash & (m->token_capacity - 1);; i = (i + 1) & (m->token_capacity - 1)) {
        struct token_slot *slot = &m->token[i];
        if (slot->line != m->line)
            return slot;
        if (slot->hash == hash && slot->length == n && !memcmp(m->text.data + slot->offset, bytes, n))
            return slot;
    }
}

static struct ngram_slot *ngram_place(const ngram_match *m, size_t parent, size_t token) {
    for (size_t i = hash_pair(parent, token) & (m->ngram_capacity - 1);; i = (i + 1) & (m->ngram_capacity - 1)) {
        struct ngram_slot *slot = &m->ngram[i];
        if (slot->line != m->line || (slot->parent == parent && slot->token == token))
            return slot;
    }
}

/* Tables are kept at most half full. */
static bool reserve_token(ngram_match *m) {
    if (m->n_tokens + 1 <= m->token_capacity / 2)
        return true;
    ngram_match larger = *m;
    larger.token_capacity = m->token_capacity ? 2 * m->token_capacity : 256;
    larger.token = calloc(larger.token_capacity, sizeof *larger.token);
    if (!larger.token)
        return false;
    for (size_t i = 0; i < m->token_capacity; i++) {
        const struct token_slot *slot = &m->token[i];
        if (slot->line == m->line)
            *token_place(&larger, m->text.data + slot->offset, slot->length, slot->hash) = *slot;
    }
    free(m->token);
    *m = larger;
    return true;
}

static bool reserve_ngram(ngram_match *m) {
    if (m->n_ngrams + 1 <= m->ngram_capacity / 2)
        return true;
    ngram_match larger = *m;
    larger.ngram_capacity = m->ngram_capacity ? 2 * m->ngram_capacity : 1024;
    larger.ngram = calloc(larger.ngram_capacity, sizeof *larger.ngram);
    if (!larger.ngram)
        return false;
    for (size_t i = 0; i < m->ngram_capacity; i++) {
        const struct ngram_slot *slot = &m->ngram[i];
        if (slot->line == m->line)
            *ngram_place(&larger, slot->parent, slot->token) = *slot;
    }
    free(m->ngram);
    *m = larger;
    return true;
}

static bool append_id(ngram_match *m, size_t at, size_t id) {
    if (at == m->id_capacity) {
        size_t capacity = at ? 2 * at : 64;
        size_t *grown = realloc(m->id, capacity * sizeof *grown);
        if (!grown)
            return false;
        m->id = grown;
        m->id_capacity = capacity;
    }
    m->id[at] = id;
    return true;
}

/* Fills m->id. A token that is new is added to the table when `add`, with its bytes at m->text.data + base + its
 * place in tokens; else it is UNKNOWN. */
static bool read_tokens(ngram_match *m, const char *tokens, size_t length, bool add, size_t base,
                        int64_t *n_tokens) {
    size_t n = 0, end;
    for (size_t start = 0; start < length; start = end + 1) {
        const char *blank = memchr(tokens + start, ' ', length - start);
        end = blank ? (size_t)(blank - tokens) : length;
        if (!reserve_token(m))
            return false;
        uint64_t hash = hash_token(tokens + start, end - start);
        struct token_slot *slot = token_place(m, tokens + start, end - start, hash);
        bool known = slot->line == m->line;
        if (!known && add)
            *slot = (struct token_slot){m->line, ++m->n_tokens, base + start, end - start, hash};
        if (!append_id(m, n++, known || add ? slot->id : UNKNOWN))
            return false;
    }
    *n_tokens = (int64_t)n;
    return true;
}

void ngram_match_begin(ngram_match *m) {
    m->line++;
    m->n_references = m->n_tokens = m->n_ngrams = 0;
    strbuf_clear(&m->text);
}

bool ngram_match_reference(ngram_match *m, const char *tokens, size_t length, int64_t *n_tokens) {
    size_t base = m->text.length;
    strbuf_append(&m->text, tokens, length);
    if (m->text.failed || !read_tokens(m, tokens, length, true, base, n_tokens))
        return false;
    m->n_references++;
    size_t n = (size_t)*n_tokens;
    for (size_t i = 0; i < n; i++) {
        size_t node = ROOT;
        for (size_t j = i; j < n && j < i + (size_t)m->max_order; j++) {
            if (!reserve_ngram(m))
                return false;
            struct ngram_slot *slot = ngram_place(m, node, m->id[j]);
            if (slot->line != m->line)
                *slot =
                    (struct ngram_slot){.line = m->line, .id = ++m->n_ngrams, .parent = node, .token = m->id[j]};
            if (slot->reference != m->n_references) {
                slot->reference = m->n_references;
                slot->count = 0;
            }
            if (++slot->count > slot->most)
                slot->most = slot->count;
            node = slot->id;
        }
    }
    return true;
}

bool ngram_match_hypothesis(ngram_match *m, const char *tokens, size_t length, int64_t *n_tokens,
                            int64_t *correct) {
    if (!read_tokens(m, tokens, length, false, 0, n_tokens) || !reserve_ngram(m))
        return false;
    size_t n = (size_t)*n_tokens;
    for (size_t i = 0; i < n; i++) {
        size_t node = ROOT;
        for (int order = 0; order < m->max_order && i + (size_t)order < n; order++) {
            struct ngram_slot *slot = ngram_place(m, node, m->id[i + (size_t)order]);
            if (slot->line != m->line) /* in no reference, nor is a longer one that begins with it */
                break;
            if (++slot->used <= slot->most)
                correct[order]++;
            node = slot->id;
        }
    }
    return true;
}

void ngram_match_free(ngram_match *m) {
    strbuf_free(&m->text);
    free(m->token);
    free(m->ngram);
    free(m->id);
    *m = (ngram_match){0};
}
