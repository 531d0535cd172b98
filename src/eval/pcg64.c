#include "eval/pcg64.h"

#define MULTIPLIER ((unsigned __int128)2549297995355413924u << 64 | 4865540595714422341u)

/* numpy's SeedSequence, after O'Neill's seed_seq_fe: hashes the seed into a pool of four words and the pool into as
 * many words as are needed. */
enum { POOL = 4, WORDS = 8 };

static uint32_t hash_step(uint32_t value, uint32_t *constant, uint32_t multiplier) {
    value ^= *constant;
    *constant *= multiplier;
    value *= *constant;
    return value ^ value >> 16;
}

static void seed_words(uint64_t seed, uint32_t word[WORDS]) {
    uint32_t entropy[POOL] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, pool[POOL];
    uint32_t constant = 0x43b0d7e5;
    for (int i = 0; i < POOL; i++)
        pool[i] = hash_step(entropy[i], &constant, 0x931e8875);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++)
            if (from != to) {
                uint32_t hashed = hash_step(pool[from], &constant, 0x931e8875);
                uint32_t mixed = 0xca01f9dd * pool[to] - 0x4973f715 * hashed;
                pool[to] = mixed ^ mixed >> 16;
            }
    constant = 0x8b51f9dd;
    for (int i = 0; i < WORDS; i++)
        word[i] = hash_step(pool[i % POOL], &constant, 0x58f38ded);
}

static void step(pcg64 *r) {
    r->state = r->state * MULTIPLIER + r->increment;
}

/* Words are 64-bit halves, the higher half first, each half's lower 32 bits first. */
static unsigned __int128 join(const uint32_t word[4]) {
    uint64_t high = word[0] | (uint64_t)word[1] << 32, low = word[2] | (uint64_t)word[3] << 32;
    return (unsigned __int128)high << 64 | low;
}

pcg64 pcg64_seed(uint64_t seed) {
    uint32_t word[WORDS];
    seed_words(seed, word);
    pcg64 r = {.increment = join(word + 4) << 1 | 1};
    step(&r);
    r.state += join(word);
    step(&r);
    return r;
}

uint64_t pcg64_u64(pcg64 *r) {
    step(r);
    uint64_t folded = (uint64_t)(r->state >> 64) ^ (uint64_t)r->state;
    unsigned turn = (unsigned)(r->state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

static uint32_t draw_u32(pcg64 *r) {
    if (r->has_half) {
        r->has_half = false;
        return r->half;
    }
    uint64_t draw = pcg64_u64(r);
    r->half = (uint32_t)(draw >> 32);
    r->has_half = true;
    return (uint32_t)draw;
}

uint32_t pcg64_below(pcg64 *r, uint32_t n) {
    /* Lemire 2019: the high half of a product; draws whose low half is below 2^32 mod n are too many. */
    uint64_t product = (uint64_t)draw_u32(r) * n;
    if ((uint32_t)product < n) {
        uint32_t spare = -n % n;
        while ((uint32_t)product < spare)
            product = (uint64_t)draw_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

bool pcg64_bit(pcg64 *r) {
    if (r->n_bits == 0) {
        r->bits = draw_u32(r);
        r->n_bits = 32;
    }
    bool bit = r->bits & 1;
    r->bits >>= 1;
    r->n_bits--;
    return bit;
}
