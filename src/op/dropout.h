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

/* Dropout with a mask for every row by itself: of its units (Srivastava et al. 2014), or one number for the row, so
 * that words are dropped whole (Gal and Ghahramani 2016, 3.2; Sennrich et al. 2016). What stays is scaled by
 * 1 / (1 - rate). The draw of a row depends on the tape's seed and update, the number of its sentence in the
 * minibatch, the site and its position, on nothing else. */
typedef struct unit_dropout {
    float rate;
    unsigned site;
    const int *sentence, *position; /* of each row, from 0, kept by the caller until tape_reset */
    bool whole;
} unit_dropout;
tensor *op_dropout_units(tape *t, tensor *x, const unit_dropout *d);
/* For operations that have it inside: row i, x (n), dropped in place; where nothing is dropped it stays. */
void unit_dropout_row(const tape *t, const unit_dropout *d, long i, real *x, int n);

#endif
