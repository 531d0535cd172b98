#include "base/permutation.h"

#include "base/error.h"
#include "base/rng.h"

/* Four rounds are what the proof asks of large halves. Of small ones it takes more, and halves of two bits, whose
 * network makes even permutations only, never give all orders alike. */
enum { ROUNDS = 8, SMALLEST_HALF = 4 };

permutation permutation_at(uint64_t seed, uint64_t number, uint64_t site, uint64_t n) {
    SA_ASSERT(n > 0 && n <= (uint64_t)1 << 62);
    rng random = rng_at(seed, number, 0, site);
    permutation p = {.n = n, .half = SMALLEST_HALF};
    p.key[0] = rng_u32(&random);
    p.key[1] = rng_u32(&random);
    while (n > (uint64_t)1 << 2 * p.half)
        p.half++;
    return p;
}

static uint64_t network(const permutation *p, uint64_t value) {
    uint32_t mask = (uint32_t)(((uint64_t)1 << p->half) - 1);
    uint32_t left = (uint32_t)(value >> p->half), right = (uint32_t)value & mask;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t out[4];
        const uint32_t counter[4] = {right, round, 0, 0};
        rng_philox(out, counter, p->key);
        uint32_t kept = right;
        right = left ^ (out[0] & mask);
        left = kept;
    }
    return (uint64_t)left << p->half | right;
}

uint64_t permutation_of(const permutation *p, uint64_t i) {
    SA_ASSERT(i < p->n);
    do /* i lies on a cycle of the network, which so returns below n at last */
        i = network(p, i);
    while (i >= p->n);
    return i;
}
