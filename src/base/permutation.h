/* A shuffled order of 0 ... n - 1 without a list of it: any place can be asked for, at a cost that does not depend
 * on n. A Feistel network (Luby and Rackoff 1988) whose rounds are Philox permutes the smallest power of four that
 * holds n, 256 at least; from a value that is n or more it goes on from there until one below n comes (Black and
 * Rogaway 2002, "cycle walking"), which for n above 64 takes fewer than four steps on average. */
#ifndef BASE_PERMUTATION_H
#define BASE_PERMUTATION_H

#include <stdint.h>

typedef struct permutation {
    uint64_t n;
    uint32_t key[2];
    int half; /* bits of each of the network's two halves */
} permutation;

/* The order that belongs to these coordinates, as rng_at has them; n from 1 to 2^62. */
permutation permutation_at(uint64_t seed, uint64_t number, uint64_t site, uint64_t n);
/* What stands at place i < n. */
uint64_t permutation_of(const permutation *p, uint64_t i);

#endif
