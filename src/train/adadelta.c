#include "train/optimizer.h"

#include <math.h>

/* Zeiler 2012:  G = rho G + (1 - rho) g^2   d = -sqrt(D + eps) / sqrt(G + eps) g   x += rate d
 *               D = rho D + (1 - rho) d^2 */
static void update(const optimizer_step *step, real *value, const real *grad, real *const *slot, long n) {
    const real rho = step->options->adadelta_rho, epsilon = step->options->adadelta_epsilon;
    const real scale = (real)step->grad_scale, rate = (real)step->rate;
    real *restrict G = slot[0], *restrict D = slot[1];
#pragma omp simd
    for (long i = 0; i < n; i++) {
        real g = grad[i] * scale;
        G[i] = rho * G[i] + (1 - rho) * g * g;
        real d = -sqrtf(D[i] + epsilon) / sqrtf(G[i] + epsilon) * g;
        D[i] = rho * D[i] + (1 - rho) * d * d;
        value[i] += rate * d;
    }
}

const optimizer adadelta = {"adadelta", 1.0f, 2, update};
