#include "train/optimizer.h"

#include <math.h>

/* Kingma and Ba 2015:  m = b1 m + (1 - b1) g   v = b2 v + (1 - b2) g^2
 *   x -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) */
static void update(const optimizer_step *step, real *value, const real *grad, real *const *slot, long n) {
    const sa_train_options *o = step->options;
    const real b1 = o->adam_beta1, b2 = o->adam_beta2, epsilon = o->adam_epsilon, scale = (real)step->grad_scale;
    const real rate = (real)(step->rate / (1 - pow((double)b1, (double)step->update)));
    const real correct = (real)(1 / sqrt(1 - pow((double)b2, (double)step->update)));
    real *restrict m = slot[0], *restrict v = slot[1];
#pragma omp simd
    for (long i = 0; i < n; i++) {
        real g = grad[i] * scale;
        m[i] = b1 * m[i] + (1 - b1) * g;
        v[i] = b2 * v[i] + (1 - b2) * g * g;
        value[i] -= rate * m[i] / (sqrtf(v[i]) * correct + epsilon);
    }
}

const optimizer adam = {"adam", 0.001f, 2, update};
