/* Arithmetic on rows of numbers, written so that the compiler vectorises it; the instruction set is picked when
 * the program is loaded. Call these per row of a tensor, never across rows: then a row's result does not depend
 * on its neighbours. y may be x everywhere. Sums have a fixed order for a given n. */
#ifndef MATH_VECMATH_H
#define MATH_VECMATH_H

#include "math/real.h"

#include <stdbool.h>
#include <stdint.h>

/* In float tanh is within 7 ulp, sigmoid within 2^-22 absolute, exp and log below within 2 ulp; in double they are
 * the C library's. */
void vec_tanh(real *y, const real *x, int n);
void vec_sigmoid(real *y, const real *x, int n);

real vec_dot(const real *x, const real *y, int n);
real vec_sum(const real *x, int n);
real vec_max(const real *x, int n);
double vec_sum_squares(const real *x, long n);
void vec_add(real *y, const real *x, int n);                    /* y += x */
void vec_axpy(real *y, real a, const real *x, int n);           /* y += a x */
void vec_mul_add(real *y, const real *a, const real *b, int n); /* y += a b */

void vec_mul(real *y, const real *a, const real *b, int n); /* y = a b */
void vec_relu(real *y, const real *x, int n);               /* y = max(x, 0) */
void vec_relu_backward(real *dy, const real *y, int n);     /* dy = 0 where y is 0 */

/* A gated recurrent unit between its products (op/gru.h), s NULL: a state of zeros.
 * mix:    c = tanh(c)   y = s + z (c - s)
 * unmix:  from dy, with the values in z and c: ds += dy (1 - z), then z and c give way to the gradients of what
 * went into them, dy (c - s) z (1 - z) and dy z (1 - c^2); s and ds both NULL: zeros */
void vec_gru_mix(real *y, real *c, const real *z, const real *s, int n);
void vec_gru_unmix(real *ds, real *z, real *c, const real *dy, const real *s, int n);
/* The reset gate r gives way to the gradient of what went into it.
 * before: d is the gradient of r s: ds += d r, r = d s r (1 - r)
 * after:  dc is that of the candidate's, u = U s, which gives way to its gradient: u = dc r, r = dc u r (1 - r) */
void vec_gru_reset_before(real *ds, real *r, const real *d, const real *s, int n);
void vec_gru_reset_after(real *r, real *u, const real *dc, int n);

/* A gated unit whose products are normalised (op/gru_norm.h): of a row, the normalised shares of the input (x_zr
 * and x NULL: there is none) and of the state, gains and biases. n numbers each, 2 n of those of the gates z and r.
 * mix:    z, q = sigmoid(gain_x_zr x_zr + gain_u_zr u_zr + b_zr)   c = tanh(gain_x x + q (gain_u u + b_u) + b)
 *         y = s + z (c - s)
 * unmix:  from dy: ds += dy (1 - z), and in d (4 n) the gradients of what went into z, q and c and of what q
 * multiplies s NULL: a state of zeros; then ds is NULL too. */
typedef struct vec_gru_norm {
    const real *x_zr, *x, *u_zr, *u;
    const real *gain_x_zr, *gain_x, *gain_u_zr, *gain_u, *b_zr, *b, *b_u;
} vec_gru_norm;
void vec_gru_norm_mix(real *y, const vec_gru_norm *r, const real *s, int n);
void vec_gru_norm_unmix(real *ds, real *d, const vec_gru_norm *r, const real *dy, const real *s, int n);

/* A long short-term memory between its products (op/lstm.h). x: what goes into the gates i, f and o and the
 * candidate g, n of each, one behind the other; c: the memory before, NULL: zeros; squash: whether tanh reads the
 * memory. mix:    i, f, o = sigmoid, g = tanh, in x's place   memory = f c + i g   h = o tanh(memory), or o memory
 * unmix:  from dh and dmemory, with the values in x: dc += its share, then x gives way to the gradients of what
 * went into it; c and dc both NULL: zeros */
void vec_lstm_mix(real *h, real *memory, real *x, const real *c, bool squash, int n);
void vec_lstm_unmix(real *dc, real *x, const real *dh, const real *dmemory, const real *memory, const real *c,
                    bool squash, int n);

/* y[j] = sum_i x[i] m[i * stride + j], j < n: a row times a matrix. Each sum runs over i in order, whatever n is.
 */
void vec_row_times(real *y, const real *x, const real *m, long stride, int rows, int n);

/* x = (x - mean) / sqrt(variance + 1e-5); returns 1 / sqrt(...), `scale` below.
 * Backward of y = gain x with that x: dgain += dy x, and x gives way to the gradient of what was normalised,
 * scale (d - mean(d) - x mean(d x)) with d = dy gain. */
real vec_normalise(real *x, int n);
void vec_normalise_backward(real *x, const real *dy, const real *gain, real scale, real *dgain, int n);
/* y = gain x + bias */
void vec_scale(real *y, const real *x, const real *gain, const real *bias, int n);

/* y[i] = keep x[i], or 0 where a number of 32 bits that belongs to (key, i) is below limit. */
void vec_drop(real *y, const real *x, uint64_t key, uint32_t limit, real keep, int n);

/* y[i] = max(x[2i], x[2i+1]), n of them; its gradient in x's place, from the values there: dy[i] for the larger of
 * a pair (the first at a tie), 0 for the other. */
void vec_maxout(real *y, const real *x, int n);
void vec_maxout_backward(real *x, const real *dy, int n);

/* y = exp(x - shift); returns the sum of y. */
real vec_exp_shift(real *y, const real *x, real shift, int n);
/* The sum alone. */
real vec_sum_exp(const real *x, real shift, int n);
/* y = log(x), -infinity below the least normal number; x at least 0 and finite. */
void vec_log(real *y, const real *x, int n);

/* y = x rounded to bfloat16, to nearest, ties to even; NaN stays NaN. And back. */
void vec_to_bf16(uint16_t *y, const float *x, long n);
void vec_from_bf16(float *y, const uint16_t *x, long n);

/* The largest |x|; NaN if one is NaN. */
float vec_max_abs(const float *x, int n);
/* y = x / scale, rounded to nearest, ties to even, within -127 ... 127; 0 where scale is 0. And y = scale x. */
void vec_to_int8(int8_t *y, const float *x, float scale, int n);
void vec_from_int8(float *y, const int8_t *x, float scale, int n);
/* y = factor x + 128, rounded to nearest; factor x must be within -128 ... 127. */
void vec_to_uint8(uint8_t *y, const float *x, float factor, int n);
/* y = (x - offset) (scale row_scale) + plus (NULL: 0). x are int32_t, and may lie where y is; plus may be y. */
void vec_from_int32(float *y, const void *x, const int32_t *offset, const float *scale, float row_scale,
                    const float *plus, int n);

/* v . tanh(q + k) */
real vec_tanh_dot(const real *v, const real *q, const real *k, int n);
/* Its gradient for energy gradient de: with h = tanh(q + k), g = de v (1 - h^2):
 * dv += de h, dq += g, dk += g. */
void vec_tanh_dot_backward(real de, const real *v, const real *q, const real *k, real *dv, real *dq, real *dk,
                           int n);

/* Gradients of y = tanh(x) and y = sigmoid(x), from y: dx += dy (1 - y^2), dx += dy y (1 - y). */
void vec_tanh_backward(real *dx, const real *dy, const real *y, int n);
void vec_sigmoid_backward(real *dx, const real *dy, const real *y, int n);

#endif
