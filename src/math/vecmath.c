#include "math/vecmath_inline.h"

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

MULTI void vec_normalise_backward(real *x, const real *dy, const real *gain, real scale, real *dgain, int n) {
    real sum = 0, along = 0;
#pragma omp simd reduction(+ : sum, along)
    for (int i = 0; i < n; i++) {
        real d = dy[i] * gain[i];
        sum += d;
        along += d * x[i];
        dgain[i] += dy[i] * x[i];
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
