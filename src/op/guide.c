#include "op/guide.h"

#include <math.h>

#define LEAST 1e-6 /* keeps the logarithm of a weight of 0 finite */

double op_guide(tape *t, tensor *weights, const guide_rows *rows, double scale) {
    if (!weights || t->failed) {
        tape_fail(t);
        return 0;
    }
    int S = tensor_cols(weights);
    double loss = 0;
    if (t->recording)
        tensor_grad_clear_once(weights);
    for (long i = 0; i < tensor_rows(weights); i++) {
        double share = 1.0 / (rows->at[i + 1] - rows->at[i]);
        for (int k = rows->at[i]; k < rows->at[i + 1]; k++) {
            long at = i * S + rows->column[k];
            double a = (double)weights->data[at] + LEAST;
            loss -= share * log(a);
            if (t->recording)
                weights->grad[at] -= (real)(scale * share / a);
        }
    }
    return loss;
}
