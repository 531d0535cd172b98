/* The order in which an epoch shows its pairs. */
#ifndef TRAIN_EPOCH_H
#define TRAIN_EPOCH_H

#include "base/permutation.h"
#include "text/corpus.h"

/* What a minibatch may hold; 0: any number, but one of them is positive. */
typedef struct batch_limits {
    int sentences;
    int words; /* target symbols with padding: sentences times the longest target, </s> counted. A sentence that is
                  longer is a minibatch by itself. */
} batch_limits;

/* All pairs are shuffled; windows, stretches of that order, are sorted by length and cut into minibatches (Bahdanau
 * et al. 2015, B.2), whose order inside the window is shuffled again. All of it depends on the corpus, its seed,
 * epoch, limits and window only. One window is held at a time: memory does not grow with the corpus. The shuffle is
 * one of all pairs, not of blocks, although it makes a mapped file be read all over: that costs little where memory
 * holds the file, and corpus_expect asks for a window's pairs at once where it does not. */
typedef struct epoch {
    const corpus *corpus;
    uint64_t seed, number;
    batch_limits limits;
    permutation order;
    size_t span;   /* pairs of a window; the last has fewer */
    size_t first;  /* place in the order of the window that is held */
    size_t *pair;  /* its pairs, minibatch after minibatch */
    size_t *start; /* minibatch i of the window is pair[start[i] ... start[i + 1]) */
    size_t n;      /* minibatches of the window; 0: none is held */
    struct sort_key *key;
    size_t *shuffled;
} epoch;

/* number: from 0. window: minibatches sorted together, as many pairs as they hold on average; 0: the whole corpus.
 * The corpus is not empty, and stays in place. */
sa_status epoch_make(epoch *out, const corpus *c, uint64_t seed, int64_t number, batch_limits limits, int window,
                     sa_error *error);
/* Holds the window of the order's place `at`. SA_FORMAT when one of its pairs is damaged (corpus_check). */
sa_status epoch_deal(epoch *e, size_t at, sa_error *error);
/* The minibatch that begins after `position` pairs of the epoch, valid until the next call; *n is 0 where none
 * does. Deals the window when it is not held. */
sa_status epoch_batch(epoch *e, size_t position, const size_t **pairs, size_t *n, sa_error *error);
void epoch_free(epoch *e);

#endif
