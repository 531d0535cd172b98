/* How far distributions are from each other. */
#ifndef EXPLAIN_DISTANCE_H
#define EXPLAIN_DISTANCE_H

#include "math/real.h"

/* Total variation distance, half the sum of |p - q|: 0 ... 1. */
double distance_tv(const real *p, const real *q, int n);
/* Jensen-Shannon divergence, KL(p || m) / 2 + KL(q || m) / 2 with m = (p + q) / 2, natural logarithm: 0 ... log 2.
 */
double distance_js(const real *p, const real *q, int n);
/* d JSD / dp[i] = log(p / m) / 2, with 1e-10 added in the logarithm. */
double distance_js_slope(double p, double q);

#endif
