#include "base/rng.h"

#include "base/error.h"

#include <math.h>

void rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * c0, p1 = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

rng rng_at(uint64_t seed, uint64_t update, uint64_t sentence, uint64_t site) {
    /* Four coordinates do not fit beside a running block number. Update and sentence are turned into 128 bits h by
     * one block under the seed (one to one); half of h is the key of the sequence, half of it plus the site the
     * fixed part of its counter. Sites of one sentence are thus distinct for certain, other pairs but for 2^-64. */
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t place[4] = {(uint32_t)update, (uint32_t)(update >> 32), (uint32_t)sentence,
                               (uint32_t)(sentence >> 32)};
    uint32_t h[4];
    rng_philox(h, place, key);
    uint64_t lane = (h[2] | (uint64_t)h[3] << 32) + site;
    return (rng){.key = {h[0], h[1]}, .counter = {0, 0, (uint32_t)lane, (uint32_t)(lane >> 32)}, .used = 4};
}

uint32_t rng_u32(rng *r) {
    if (r->used == 4) {
        rng_philox(r->block, r->counter, r->key);
        if (!++r->counter[0])
            ++r->counter[1];
        r->used = 0;
    }
    return r->block[r->used++];
}

uint64_t rng_u64(rng *r) {
    uint64_t low = rng_u32(r);
    return low | (uint64_t)rng_u32(r) << 32;
}

uint64_t rng_below(rng *r, uint64_t n) {
    SA_ASSERT(n > 0);
    uint64_t spare = -n % n; /* 2^64 mod n: so many values too many to share out evenly */
    for (;;) {
        uint64_t value = rng_u64(r);
        if (value >= spare)
            return value % n;
    }
}

double rng_uniform(rng *r) {
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* c[0] + c[1] x + ... + c[7] x^7 */
static double polynomial(const double c[8], double x) {
    double sum = c[7];
    for (int i = 6; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* The quantile of the normal distribution at 1/2 + q, |q| < 1/2: algorithm AS 241, PPND16 (Wichura 1988), relative
 * error about 1e-16. */
static double normal_quantile(double q) {
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    if (fabs(q) <= 0.425) {
        double x = 0.180625 - q * q;
        return q * polynomial(a, x) / polynomial(b, x);
    }
    double x = sqrt(-log(0.5 - fabs(q)));
    double value = x <= 5.0 ? polynomial(c, x - 1.6) / polynomial(d, x - 1.6)
                            : polynomial(e, x - 5.0) / polynomial(f, x - 5.0);
    return q < 0 ? -value : value;
}

double rng_normal(rng *r) {
    /* Odd multiples of 2^-54 from -1/2 to 1/2: exact, symmetric, and never the ends, where the value is infinite.
     */
    int64_t odd = (int64_t)(rng_u64(r) >> 11) * 2 + 1 - ((int64_t)1 << 53);
    return normal_quantile((double)odd * 0x1p-54);
}

void rng_shuffle(rng *r, size_t *index, size_t n) {
    for (size_t left = n; left > 1; left--) {
        size_t other = (size_t)rng_below(r, left), kept = index[other];
        index[other] = index[left - 1];
        index[left - 1] = kept;
    }
}
