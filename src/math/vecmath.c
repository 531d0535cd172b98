#include "math/vecmath.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
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

MULTI void vec_tanh(real *y, const real *x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = tanh_of(x[i]);
}

MULTI void vec_sigmoid(real *y, const real *x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = sigmoid_of(x[i]);
}

MULTI real vec_dot(const real *x, const real *y, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

MULTI real vec_sum(const real *x, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

MULTI real vec_max(const real *x, int n) {
    real best = x[0];
#pragma omp simd reduction(max : best)
    for (int i = 0; i < n; i++)
        best = x[i] > best ? x[i] : best;
    return best;
}

MULTI double vec_sum_squares(const real *x, long n) {
    double sum = 0;
    for (long i = 0; i < n; i += 4096) { /* float inside a block, double across blocks */
        long end = i + 4096 < n ? i + 4096 : n;
        real block = 0;
#pragma omp simd reduction(+ : block)
        for (long j = i; j < end; j++)
            block += x[j] * x[j];
        sum += (double)block;
    }
    return sum;
}

MULTI void vec_add(real *y, const real *x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] += x[i];
}

MULTI void vec_axpy(real *y, real a, const real *x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

MULTI void vec_mul_add(real *y, const real *a, const real *b, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] += a[i] * b[i];
}

MULTI void vec_mul(real *y, const real *a, const real *b, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

MULTI void vec_gru_mix(real *y, real *c, const real *z, const real *s, int n) {
    if (!s) {
#pragma omp simd
        for (int i = 0; i < n; i++) {
            c[i] = tanh_of(c[i]);
            y[i] = z[i] * c[i];
        }
        return;
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        c[i] = tanh_of(c[i]);
        y[i] = s[i] + z[i] * (c[i] - s[i]);
    }
}

MULTI void vec_gru_unmix(real *ds, real *z, real *c, const real *dy, const real *s, int n) {
    if (!s) {
#pragma omp simd
        for (int i = 0; i < n; i++) {
            real gate = z[i], value = c[i];
            c[i] = dy[i] * gate * (1 - value * value);
            z[i] = dy[i] * value * gate * (1 - gate);
        }
        return;
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real gate = z[i], value = c[i];
        ds[i] += dy[i] * (1 - gate);
        c[i] = dy[i] * gate * (1 - value * value);
        z[i] = dy[i] * (value - s[i]) * gate * (1 - gate);
    }
}

MULTI void vec_gru_reset_before(real *ds, real *r, const real *d, const real *s, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real value = r[i];
        ds[i] += d[i] * value;
        r[i] = d[i] * s[i] * value * (1 - value);
    }
}

MULTI void vec_gru_reset_after(real *r, real *u, const real *dc, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real value = r[i];
        r[i] = dc[i] * u[i] * value * (1 - value);
        u[i] = dc[i] * value;
    }
}

INLINE void lstm_mix(real *h, real *memory, real *x, const real *c, bool squash, int n) {
    real *i = x, *f = x + n, *o = x + 2 * n, *g = x + 3 * n;
#pragma omp simd
    for (int k = 0; k < n; k++) {
        i[k] = sigmoid_of(i[k]);
        f[k] = sigmoid_of(f[k]);
        o[k] = sigmoid_of(o[k]);
        g[k] = tanh_of(g[k]);
        memory[k] = i[k] * g[k] + (c ? f[k] * c[k] : 0);
        h[k] = o[k] * (squash ? tanh_of(memory[k]) : memory[k]);
    }
}

INLINE void lstm_unmix(real *dc, real *x, const real *dh, const real *dmemory, const real *memory, const real *c,
                       bool squash, int n) {
    real *i = x, *f = x + n, *o = x + 2 * n, *g = x + 3 * n;
#pragma omp simd
    for (int k = 0; k < n; k++) {
        real in = i[k], forget = f[k], out = o[k], new = g[k], seen = squash ? tanh_of(memory[k]) : memory[k];
        real d = dmemory[k] + dh[k] * out * (squash ? 1 - seen * seen : 1);
        i[k] = d * new *in *(1 - in);
        f[k] = c ? d * c[k] * forget * (1 - forget) : 0;
        o[k] = dh[k] * seen * out * (1 - out);
        g[k] = d * in * (1 - new *new);
        if (dc)
            dc[k] += d * forget;
    }
}

/* One loop for each form, so that none asks inside. */
MULTI void vec_lstm_mix(real *h, real *memory, real *x, const real *c, bool squash, int n) {
    if (squash && c)
        lstm_mix(h, memory, x, c, true, n);
    else if (squash)
        lstm_mix(h, memory, x, NULL, true, n);
    else if (c)
        lstm_mix(h, memory, x, c, false, n);
    else
        lstm_mix(h, memory, x, NULL, false, n);
}

MULTI void vec_lstm_unmix(real *dc, real *x, const real *dh, const real *dmemory, const real *memory, const real *c,
                          bool squash, int n) {
    if (squash && c)
        lstm_unmix(dc, x, dh, dmemory, memory, c, true, n);
    else if (squash)
        lstm_unmix(NULL, x, dh, dmemory, memory, NULL, true, n);
    else if (c)
        lstm_unmix(dc, x, dh, dmemory, memory, c, false, n);
    else
        lstm_unmix(NULL, x, dh, dmemory, memory, NULL, false, n);
}

MULTI void vec_relu(real *y, const real *x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

MULTI void vec_relu_backward(real *dy, const real *y, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

/* Some columns of the product, whose sums stay in registers where their number is known to the compiler. */
enum { COLUMNS_MOST = 64 };
INLINE void row_times_columns(real *y, const real *x, const real *m, long stride, int rows, int n) {
    real sum[COLUMNS_MOST] = {0};
    for (int i = 0; i < rows; i++) {
        real xi = x[i];
        const real *row = m + i * stride;
#pragma omp simd
        for (int j = 0; j < n; j++)
            sum[j] += xi * row[j];
    }
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] = sum[j];
}

MULTI void vec_row_times(real *y, const real *x, const real *m, long stride, int rows, int n) {
    int j = 0;
    for (; j + 64 <= n; j += 64)
        row_times_columns(y + j, x, m + j, stride, rows, 64);
    for (; j + 16 <= n; j += 16)
        row_times_columns(y + j, x, m + j, stride, rows, 16);
    if (j < n)
        row_times_columns(y + j, x, m + j, stride, rows, n - j);
}

MULTI real vec_normalise(real *x, int n) {
    real sum = 0, square = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i];
    real mean = sum / (real)n;
#pragma omp simd reduction(+ : square)
    for (int i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean);
    real scale = (real)(1 / sqrt((double)square / n + 1e-5));
#pragma omp simd
    for (int i = 0; i < n; i++)
        x[i] = (x[i] - mean) * scale;
    return scale;
}

MULTI void vec_normalise_backward(real *x, const real *dy, const real *gain, real scale, real *dgain, real *dbias,
                                  int n) {
    real sum = 0, along = 0;
#pragma omp simd reduction(+ : sum, along)
    for (int i = 0; i < n; i++) {
        real d = dy[i] * gain[i];
        sum += d;
        along += d * x[i];
        dgain[i] += dy[i] * x[i];
        dbias[i] += dy[i];
    }
    real mean = sum / (real)n, slope = along / (real)n;
#pragma omp simd
    for (int i = 0; i < n; i++)
        x[i] = scale * (dy[i] * gain[i] - mean - x[i] * slope);
}

MULTI void vec_scale(real *y, const real *x, const real *gain, const real *bias, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = gain[i] * x[i] + bias[i];
}

/* A counter, mixed by the finaliser of MurmurHash3 (Appleby), with half of the key on either side of the first
 * multiplication. */
MULTI void vec_drop(real *y, const real *x, uint64_t key, uint32_t limit, real keep, int n) {
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
#pragma omp simd
    for (int i = 0; i < n; i++) {
        uint32_t h = low + (uint32_t)i * 0x9E3779B1u;
        h = ((h ^ h >> 16) * 0x85EBCA6Bu) ^ high;
        h = (h ^ h >> 13) * 0xC2B2AE35u;
        h ^= h >> 16;
        y[i] = h < limit ? 0 : keep * x[i];
    }
}

MULTI void vec_maxout(real *y, const real *x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = x[2 * i + 1] > x[2 * i] ? x[2 * i + 1] : x[2 * i];
}

MULTI void vec_maxout_backward(real *x, const real *dy, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        bool second = x[2 * i + 1] > x[2 * i];
        x[2 * i] = second ? 0 : dy[i];
        x[2 * i + 1] = second ? dy[i] : 0;
    }
}

MULTI real vec_exp_shift(real *y, const real *x, real shift, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        real e = exp_of(x[i] - shift);
        y[i] = e;
        sum += e;
    }
    return sum;
}

MULTI real vec_sum_exp(const real *x, real shift, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += exp_of(x[i] - shift);
    return sum;
}

MULTI void vec_log(real *y, const real *x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = log_of(x[i]);
}

MULTI void vec_to_bf16(uint16_t *y, const float *x, long n) {
    const uint32_t *bits = (const uint32_t *)(const void *)x;
#pragma omp simd
    for (long i = 0; i < n; i++) {
        uint32_t u = bits[i], rounded = (u + 0x7FFF + (u >> 16 & 1)) >> 16;
        y[i] = (uint16_t)((u & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC0 : rounded);
    }
}

MULTI void vec_from_bf16(float *y, const uint16_t *x, long n) {
#pragma omp simd
    for (long i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)x[i] << 16;
        memcpy(&y[i], &bits, sizeof bits);
    }
}

/* Of numbers without a sign the bits are in the order of the values, NaN above all. */
MULTI float vec_max_abs(const float *x, int n) {
    uint32_t best = 0;
#pragma omp simd reduction(max : best)
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= 0x7FFFFFFF;
        best = bits > best ? bits : best;
    }
    float value;
    memcpy(&value, &best, sizeof value);
    return value;
}

/* x, rounded to a whole number, in the low bits; |x| below 2^21. What NaN gives is not undefined, but not known. */
INLINE uint32_t whole_bits(float x) {
    float shifted = x + 12582912.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits;
}

MULTI void vec_to_int8(int8_t *y, const float *x, float scale, int n) {
    if (scale == 0) {
        memset(y, 0, (size_t)n);
        return;
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float q = x[i] / scale;
        q = q > 127 ? 127 : q;
        q = q < -127 ? -127 : q;
        y[i] = (int8_t)(uint8_t)whole_bits(q);
    }
}

MULTI void vec_from_int8(float *y, const int8_t *x, float scale, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = scale * (float)x[i];
}

MULTI void vec_to_uint8(uint8_t *y, const float *x, float factor, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] = (uint8_t)(whole_bits(factor * x[i]) + 128);
}

MULTI void vec_from_int32(float *y, const void *x, const int32_t *offset, const float *scale, float row_scale,
                          const float *plus, int n) {
    const char *at = x;
    if (plus) {
#pragma omp simd
        for (int i = 0; i < n; i++) {
            int32_t sum;
            memcpy(&sum, at + (long)i * 4, sizeof sum);
            y[i] = (float)(sum - offset[i]) * (scale[i] * row_scale) + plus[i];
        }
        return;
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        int32_t sum;
        memcpy(&sum, at + (long)i * 4, sizeof sum);
        y[i] = (float)(sum - offset[i]) * (scale[i] * row_scale);
    }
}

MULTI real vec_tanh_dot(const real *v, const real *q, const real *k, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += v[i] * tanh_of(q[i] + k[i]);
    return sum;
}

MULTI void vec_tanh_dot_backward(real de, const real *v, const real *q, const real *k, real *dv, real *dq, real *dk,
                                 int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        real h = tanh_of(q[i] + k[i]);
        real g = de * v[i] * (1 - h * h);
        dv[i] += de * h;
        dq[i] += g;
        dk[i] += g;
    }
}

MULTI void vec_tanh_backward(real *dx, const real *dy, const real *y, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        dx[i] += dy[i] * (1 - y[i] * y[i]);
}

MULTI void vec_sigmoid_backward(real *dx, const real *dy, const real *y, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++)
        dx[i] += dy[i] * y[i] * (1 - y[i]);
}
