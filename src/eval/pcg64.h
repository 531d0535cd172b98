/* The generator PCG64 (O'Neill 2014: 128-bit linear congruence, output XSL-RR), seeded and drawn from as by
 * numpy.random.default_rng(seed): resampling with it draws the lines that sacreBLEU draws. */
#ifndef EVAL_PCG64_H
#define EVAL_PCG64_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pcg64 {
    unsigned __int128 state, increment;
    uint32_t half; /* of a draw of 64 bits, not yet given out */
    bool has_half;
    uint32_t bits; /* of a draw of 32, not yet given out */
    int n_bits;
} pcg64;

pcg64 pcg64_seed(uint64_t seed);
uint64_t pcg64_u64(pcg64 *r);
/* Uniform in 0 ... n - 1, as integers(n) and choice(n) give it; 2 <= n <= 2^32 - 1. */
uint32_t pcg64_below(pcg64 *r, uint32_t n);
/* As integers(2, dtype=bool). */
bool pcg64_bit(pcg64 *r);

#endif
