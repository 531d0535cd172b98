#include "explain/distance.h"

#include <math.h>

double distance_tv(const real *p, const real *q, int n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += fabs((double)p[i] - (double)q[i]);
    return fmin(1, sum / 2);
}

/* p log(p / m), 0 where p is. */
static double term(double p, double m) {
    return p > 0 ? p * log(p / m) : 0;
}

double distance_js(const real *p, const real *q, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double a = (double)p[i], b = (double)q[i], m = (a + b) / 2;
        sum += term(a, m) + term(b, m);
    }
    return fmax(0, sum / 2);
}

double distance_js_slope(double p, double q) {
    const double least = 1e-10;
    return log((p + least) / ((p + q) / 2 + least)) / 2;
}
