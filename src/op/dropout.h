#ifndef OP_DROPOUT_H
#define OP_DROPOUT_H

#include "tape/tape.h"

/* y = x * mask, mask in {0, 1 / (1 - rate)}, one mask per sentence for all its rows (Gal and Ghahramani 2016).
 * sentence[i]: sentence of row i, from 0, kept by the caller until tape_reset. The draw depends on the tape's seed
 * and update, the sentence's number in the minibatch and `site`, on nothing else. Returns x itself when the rate is
 * 0 or the tape does not record. */
tensor *op_dropout(tape *t, tensor *x, float rate, unsigned site, const int *sentence);

/* The same for several steps, with masks drawn once: (sentences, D) of them; NULL where nothing is dropped, or no
 * memory is left. A mask of NULL returns x itself. */
const real *dropout_draw(tape *t, int sentences, int D, float rate, unsigned site);
tensor *op_dropout_drawn(tape *t, tensor *x, const real *mask, const int *sentence);

#endif
