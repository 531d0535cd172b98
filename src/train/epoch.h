/* The order in which an epoch shows its pairs. */
#ifndef TRAIN_EPOCH_H
#define TRAIN_EPOCH_H

#include "text/corpus.h"

/* What a minibatch may hold; 0: any number, but one of them is positive. */
typedef struct batch_limits {
    int sentences;
    int words; /* target symbols with padding: sentences times the longest target, </s> counted. A sentence that is
                  longer is a minibatch by itself. */
} batch_limits;

/* Minibatches of one epoch. Pairs are shuffled, cut into windows of `window` minibatches, sorted by length inside a
 * window and cut into minibatches (Bahdanau et al. 2015, B.2), whose order inside the window is shuffled again. All
 * of it depends on seed and epoch only. */
typedef struct epoch {
    size_t *pair;  /* indices into the corpus, minibatch after minibatch */
    size_t *start; /* minibatch i is pair[start[i] ... start[i + 1]) */
    size_t n;      /* minibatches */
} epoch;

/* number: from 0. window: minibatches sorted together, as many pairs as they hold on average; 0: the whole corpus.
 * The corpus is not empty. */
sa_status epoch_make(epoch *out, const corpus *c, uint64_t seed, int64_t number, batch_limits limits, int window,
                     sa_error *error);
/* The minibatch that begins after `position` pairs of the epoch; e->n where none does. */
size_t epoch_find(const epoch *e, size_t position);
void epoch_free(epoch *e);

#endif
