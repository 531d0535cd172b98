/* What the files of vectorised arithmetic share: how a function is compiled for several instruction sets, and
 * functions of one number, inlined into their loops. */
#ifndef MATH_VECMATH_INLINE_H
#define MATH_VECMATH_INLINE_H

#include "math/vecmath.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* One function, compiled for three levels of x86-64; the loader picks. Elsewhere plain: clang (14) gives the
 * function that picks a name which callers in other files do not know, and with sanitizers it runs before they are
 * ready. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(SA_REAL_DOUBLE) &&            \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MULTI __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MULTI
#endif
#define INLINE static inline __attribute__((always_inline))

#ifdef SA_REAL_DOUBLE

INLINE real tanh_of(real x) {
    return tanh(x);
}
INLINE real exp_of(real x) {
    return exp(x);
}
INLINE real log_of(real x) {
    return log(x);
}

#else

/* Rational minimax approximation of degree 13/6 on [-7.9, 7.9]; beyond it tanh is 1 in float. Coefficients as
 * published with Eigen's generic_fast_tanh_float. */
INLINE float tanh_of(float x) {
    const float limit = 7.90531110763549805f;
    x = x > limit ? limit : x;
    x = x < -limit ? -limit : x;
    float s = x * x;
    float p = -2.76076847742355e-16f;
    p = p * s + 2.00018790482477e-13f;
    p = p * s + -8.60467152213735e-11f;
    p = p * s + 5.12229709037114e-08f;
    p = p * s + 1.48572235717979e-05f;
    p = p * s + 6.37261928875436e-04f;
    p = p * s + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * s + 1.18534705686654e-04f;
    q = q * s + 2.26843463243900e-03f;
    q = q * s + 4.89352518554385e-03f;
    return x * p / q;
}

/* exp(x) = 2^k exp(r), |r| <= ln 2 / 2, a degree-6 polynomial (Cephes expf); 0 below -87. */
INLINE float exp_of(float x) {
    x = x > 88.0f ? 88.0f : x;
    float low = x < -87.0f ? 0.0f : 1.0f;
    x = x < -87.0f ? -87.0f : x;
    float shifted = x * 1.44269504088896341f + 12582912.0f; /* k, rounded to nearest, in its last bits */
    float k = shifted - 12582912.0f;
    float r = x - k * 0.693359375f;
    r = r - k * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    uint32_t bits; /* of 2^k; not by way of an int, which k is not when x is NaN */
    float scale;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale * low;
}

/* log(m 2^e) = e ln 2 + log m, m from sqrt(1/2) to sqrt(2), log m a degree-9 polynomial (Cephes logf). */
INLINE float log_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t shifted = bits - 0x3F3504F3u; /* of sqrt(1/2): what is above its exponent now counts from there */
    int32_t exponent = (int32_t)shifted >> 23;
    bits -= (uint32_t)exponent << 23;
    float m, e = (float)exponent;
    memcpy(&m, &bits, sizeof m);
    m -= 1.0f;
    float s = m * m;
    float p = 7.0376836292e-2f;
    p = p * m + -1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m + -1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m + -1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m + -2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    float y = m * s * p + e * -2.12194440e-4f - 0.5f * s;
    y = m + y + e * 0.693359375f;
    return x < FLT_MIN ? -INFINITY : y;
}

#endif

INLINE real sigmoid_of(real x) {
    return (real)0.5 + (real)0.5 * tanh_of((real)0.5 * x);
}

#endif
