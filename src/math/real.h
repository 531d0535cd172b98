/* The number type of tensors. The rooms math, tape, op, layer and model compile a second time with
 * SA_REAL_DOUBLE for gradient checks: central differences say nothing in float. */
#ifndef MATH_REAL_H
#define MATH_REAL_H

#ifdef SA_REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#endif
