/* Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy
 * as 1, 2, 3"). A draw depends on its coordinates only, never on the thread or the order of work. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* A sequence of 2^66 numbers of 32 bits. Plain integers without padding: may be copied, saved and restored. */
typedef struct rng {
    uint32_t key[2];
    uint32_t counter[4]; /* of the next block; the first two words run */
    uint32_t block[4];
    uint32_t used; /* numbers of block that are spent, 0 ... 4 */
} rng;

/* The block function: out = Philox4x32-10(counter, key). */
void rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* The sequence that belongs to these coordinates; each other quadruple has one of its own, unrelated. What the
 * coordinates mean is the caller's: usually the update, the sentence in it and the place of the draw in the model.
 */
rng rng_at(uint64_t seed, uint64_t update, uint64_t sentence, uint64_t site);

uint32_t rng_u32(rng *r);
uint64_t rng_u64(rng *r);
/* Uniform in 0 ... n - 1, without bias; n > 0. */
uint64_t rng_below(rng *r, uint64_t n);
/* Uniform in [0, 1), 53 bits. */
double rng_uniform(rng *r);
/* Normal, mean 0, variance 1, by the inverse of the distribution function: |value| < 8.3. Plain arithmetic for 85%
 * of the draws, log and sqrt of the C library in the tails. */
double rng_normal(rng *r);
/* All orders of index[0 ... n-1] are equally likely. */
void rng_shuffle(rng *r, size_t *index, size_t n);

#endif
