/* Counts the n-grams of one line that hypothesis and references share, clipped as in Papineni et al. 2002:
 *   correct[n-1] = sum over n-grams g of min(times g is in the hypothesis, most times g is in one reference)
 * n-grams are nodes of a trie, found by hashing (parent, token): time and memory grow linearly with the text,
 * and no two n-grams are ever taken for one another. */
#ifndef EVAL_NGRAM_MATCH_H
#define EVAL_NGRAM_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct token_slot;
struct ngram_slot;

/* {.max_order = n}, n >= 1, is ready for use. Memory is kept from line to line. */
typedef struct ngram_match {
    int max_order;
    size_t line; /* what an older line left in the tables counts as empty */
    size_t n_references;
    strbuf text;              /* the references: tokens point into it */
    struct token_slot *token; /* open addressing */
    size_t n_tokens, token_capacity;
    struct ngram_slot *ngram;
    size_t n_ngrams, ngram_capacity;
    size_t *id; /* the tokens of the text read last */
    size_t id_capacity;
} ngram_match;

/* Forgets the references. */
void ngram_match_begin(ngram_match *m);
/* Tokens are given as a text with one blank between them. The number of them is returned through *n_tokens.
 * False when memory ran out. */
bool ngram_match_reference(ngram_match *m, const char *tokens, size_t length, int64_t *n_tokens);
/* Adds the matches of the hypothesis to correct[0 ... max_order-1]; once a line. */
bool ngram_match_hypothesis(ngram_match *m, const char *tokens, size_t length, int64_t *n_tokens, int64_t *correct);
void ngram_match_free(ngram_match *m);

#endif
