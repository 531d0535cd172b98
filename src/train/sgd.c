#include "train/optimizer.h"

static void update(const optimizer_step *step, real *value, const real *grad, real *const *slot, long n) {
    (void)slot;
    const real rate = (real)(step->rate * step->grad_scale);
#pragma omp simd
    for (long i = 0; i < n; i++)
        value[i] -= rate * grad[i];
}

const optimizer sgd = {"sgd", 0.5f, 0, update};
