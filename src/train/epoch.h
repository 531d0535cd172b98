/* The order in which an epoch shows its pairs. */
#ifndef TRAIN_EPOCH_H
#define TRAIN_EPOCH_H

#include "text/corpus.h"

/* Minibatches of one epoch. Pairs are shuffled, cut into windows of `window` minibatches, sorted by length inside a
 * window and cut into minibatches (Bahdanau et al. 2015, B.2), whose order inside the window is shuffled again. All
 * of it depends on seed and epoch only. */
typedef struct epoch {
    size_t *pair;  /* indices into the corpus, minibatch after minibatch */
    size_t *start; /* minibatch i is pair[start[i] ... start[i + 1]) */
    size_t n;      /* minibatches */
} epoch;

/* number: from 0. mini_batch and window at least 1; the corpus is not empty. */
sa_status epoch_make(epoch *out, const corpus *c, uint64_t seed, int64_t number, int mini_batch, int window,
                     sa_error *error);
void epoch_free(epoch *e);

#endif
