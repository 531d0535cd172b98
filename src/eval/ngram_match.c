#include "eval/ngram_match.h"

#include <stdlib.h>

enum { ROOT = 0 }; /* ids of nodes count from 1 */

struct ngram_slot {
    size_t line, id;
    size_t parent, token; /* the n-gram is that of the parent and this token */
    size_t reference;     /* the one that `count` belongs to */
    size_t count, most;   /* times in that reference; most times in any so far */
    size_t used;          /* times in the hypothesis */
};

static uint64_t hash_pair(size_t parent, size_t token) {
    uint64_t h = (parent * 0x9e3779b97f4a7c15u ^ token) * 0xbf58476d1ce4e5b9u; /* constants of splitmix64 */
    return h ^ h >> 31;
}

static struct ngram_slot *ngram_place(const ngram_match *m, size_t parent, size_t token) {
    for (size_t i = hash_pair(parent, token) & (m->ngram_capacity - 1);; i = (i + 1) & (m->ngram_capacity - 1)) {
        struct ngram_slot *slot = &m->ngram[i];
        if (slot->line != m->line || (slot->parent == parent && slot->token == token))
            return slot;
    }
}

/* The table is kept at most half full. */
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

void ngram_match_begin(ngram_match *m) {
    m->line++;
    m->n_references = m->n_ngrams = 0;
    token_ids_begin(&m->tokens);
}

bool ngram_match_reference(ngram_match *m, const char *tokens, size_t length, int64_t *n_tokens) {
    if (!token_ids_read(&m->tokens, tokens, length, true))
        return false;
    const size_t *id = m->tokens.id;
    size_t n = m->tokens.n;
    *n_tokens = (int64_t)n;
    m->n_references++;
    for (size_t i = 0; i < n; i++) {
        size_t node = ROOT;
        for (size_t j = i; j < n && j < i + (size_t)m->max_order; j++) {
            if (!reserve_ngram(m))
                return false;
            struct ngram_slot *slot = ngram_place(m, node, id[j]);
            if (slot->line != m->line)
                *slot = (struct ngram_slot){.line = m->line, .id = ++m->n_ngrams, .parent = node, .token = id[j]};
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
    if (!token_ids_read(&m->tokens, tokens, length, false) || !reserve_ngram(m))
        return false;
    size_t n = m->tokens.n;
    *n_tokens = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        size_t node = ROOT;
        for (int order = 0; order < m->max_order && i + (size_t)order < n; order++) {
            struct ngram_slot *slot = ngram_place(m, node, m->tokens.id[i + (size_t)order]);
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
    token_ids_free(&m->tokens);
    free(m->ngram);
    *m = (ngram_match){0};
}
