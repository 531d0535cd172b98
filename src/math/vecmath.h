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
