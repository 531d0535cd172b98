/* Ranks: the processes that train one model together, on one machine or several, as mpirun started them.
 *
 * What is computed from their numbers is summed in order of ranks: the same number of ranks gives the same bits.
 * Apart from ranks_environment and ranks_start every function is called by all ranks in the same order. Alone, they
 * cost nothing. */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include "base/error.h"
#include "math/real.h"
#include "ranks/transport.h"

/* Long arrays are shared out in pieces of RANKS_BLOCK numbers: the first piece is rank 0's, the next rank 1's, and
 * so on in turn. */
enum { RANKS_MAX = 256, RANKS_NUMBERS = 4, RANKS_BLOCK = 1 << 18 };

typedef struct ranks {
    int rank, size; /* this one, from 0, and how many: 0 and 1 when alone */
    const transport *via;
    void *self;  /* of the transport */
    real *parts; /* what the ranks have of a block of this one's */
} ranks;

static inline int ranks_blocks(long n) {
    return (int)((n + RANKS_BLOCK - 1) / RANKS_BLOCK);
}
/* How many of the blocks are this rank's, and the number of its i-th. */
static inline int ranks_own_blocks(const ranks *r, long n) {
    return (ranks_blocks(n) - r->rank + r->size - 1) / r->size;
}
static inline int ranks_own_block(const ranks *r, int i) {
    return i * r->size + r->rank;
}

/* Meets the other ranks, if there are some by sa_train_ranks. SA_USAGE when this build cannot. */
sa_status ranks_start(ranks *out, sa_error *error);
/* Parts with the others. Fine for one that is zero or was not started. */
void ranks_finish(ranks *r);

/* SA_OK when that is the status of all ranks; then sum[0 ... n), at most RANKS_NUMBERS, becomes the sum over them.
 * Otherwise the status of the first that failed, everywhere, and its text on rank 0 only: elsewhere the text is
 * empty, for nothing need be said twice. sum may be NULL when n is 0. */
sa_status ranks_agree(const ranks *r, sa_status mine, double *sum, int n, sa_error *error);
/* Adds up the ranks' arrays of n numbers: every rank gets the sums of its own blocks, and what is in the others has
 * no meaning any more. */
void ranks_sum(const ranks *r, real *array, long n);
/* Everyone gets every block from the rank whose it is. */
void ranks_share(const ranks *r, real *array, long n);
/* Everyone gets the bytes of that rank. */
void ranks_broadcast(const ranks *r, int from, void *data, long bytes);

#endif
