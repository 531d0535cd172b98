/* Arithmetic on rows of numbers, written so that the compiler vectorises it; the instruction set is picked when
 * the program is loaded. Call these per row of a tensor, never across rows: then a row's result does not depend
 * on its neighbours. y may be x everywhere. Sums have a fixed order for a given n. */
#ifndef MATH_VECMATH_H
#define MATH_VECMATH_H

#include "math/real.h"

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

/* y = x rounded to bfloat16, to nearest, ties to even; NaN stays NaN. */
void vec_to_bf16(uint16_t *y, const float *x, long n);

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
