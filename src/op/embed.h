#ifndef OP_EMBED_H
#define OP_EMBED_H

#include "tape/tape.h"

/* y[i] = E[ids[i]] + b, or the zero vector where ids[i] < 0 ("no word yet").
 * ids: T x B of them, kept by the caller until tape_reset. E (V, m), b (m). Returns (T, B, m). */
tensor *embed(tape *t, param *E, param *b, const int *ids, int T, int B);

#endif
