#ifndef OP_EMBED_H
#define OP_EMBED_H

#include "tape/tape.h"

/* y[i] = E[ids[i]] + b, or the zero vector where ids[i] < 0 ("no word yet").
 * n ids, kept by the caller until tape_reset. E (V, m or more), of whose rows the first m numbers are the
 * embedding; b (m), NULL: without. Returns (n, m). */
tensor *embed(tape *t, param *E, int m, param *b, int n, const int *ids);

#endif
