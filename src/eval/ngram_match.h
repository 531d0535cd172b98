/* Counts the n-grams of one line that hypothesis and references share, clipped as in Papineni et al. 2002:
 *   correct[n-1] = sum over n-grams g of min(times g is in the hypothesis, most times g is in one reference)
 * n-grams are nodes of a trie, found by hashing (parent, token): time and memory grow linearly with the text,
 * and no two n-grams are ever taken for one another. */
#ifndef EVAL_NGRAM_MATCH_H
#define EVAL_NGRAM_MATCH_H

#include "eval/token_ids.h"

#include <stdint.h>

struct ngram_slot;

/* {.max_order = n}, n >= 1, is ready for use, {.tokens.characters = true} beside it counts n-grams of characters.
 * Memory is kept from line to line. */
typedef struct ngram_match {
    int max_order;
    token_ids tokens;
    size_t line; /* what an older line left in the table counts as empty */
    size_t n_references;
    struct ngram_slot *ngram; /* open addressing */
    size_t n_ngrams, ngram_capacity;
} ngram_match;

/* Forgets the references. */
void ngram_match_begin(ngram_match *m);
/* The text is what token_ids_read takes. The number of tokens is returned through *n_tokens. False when memory ran
 * out. */
bool ngram_match_reference(ngram_match *m, const char *tokens, size_t length, int64_t *n_tokens);
/* Adds the matches of the hypothesis to correct[0 ... max_order-1]; once a line. */
bool ngram_match_hypothesis(ngram_match *m, const char *tokens, size_t length, int64_t *n_tokens, int64_t *correct);
void ngram_match_free(ngram_match *m);

#endif
