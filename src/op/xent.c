#include "op/xent.h"

#include "math/vecmath.h"
#include "op/linear.h"

#include <math.h>
#include <string.h>

/* Turns a row of scores into scale * d loss / d scores; adds the row's losses. */
static double finish_row(real *x, int V, int target, float smoothing, double scale, bool gradient,
                         xent_sums *sums) {
    real largest = vec_max(x, V), gold = x[target];
    double mean = smoothing > 0 ? (double)vec_sum(x, V) / V : 0;
    real sum = vec_exp_shift(x, x, largest, V);
    double log_sum = (double)largest + log((double)sum), nll = log_sum - (double)gold;
    sums->nll += nll;
    sums->loss += (1 - (double)smoothing) * nll + (double)smoothing * (log_sum - mean);
    if (!gradient)
        return nll;
    real factor = (real)(scale / (double)sum), spread = (real)(scale * (double)smoothing / V);
#pragma omp simd
    for (int k = 0; k < V; k++)
        x[k] = x[k] * factor - spread;
    x[target] -= (real)(scale * (1 - (double)smoothing));
    return nll;
}

bool output_gradients(tape *t, matrix h, matrix dh, matrix dx, param *W, param *b) {
    real *dW = tape_direct_grad(t, W), *db = tape_direct_grad(t, b);
    if (!dW || !db)
        return false;
    for (int i = 0; i < dx.rows; i++)
        vec_add(db, dx.at + (long)i * dx.stride, dx.cols);
    gemm_hold(t->gemm, dx);
    bool ok = linear_product_back(t, dx, W, dh, false) &&
              gemm_outer(t->gemm, 1, &dx, &h, matrix_of(dW, W->dim[0], W->dim[1], W->dim[1]), true);
    gemm_release(t->gemm);
    return ok;
}

bool op_xent(tape *t, tensor *h, param *W, param *b, const int *targets, float smoothing, double scale,
             xent_sums *sums, double *row_nll) {
    if (!h || t->failed) {
        tape_fail(t);
        return false;
    }
    long N = tensor_rows(h);
    int l = tensor_cols(h), V = W->dim[0], rows = (int)(N < XENT_CHUNK_ROWS ? N : XENT_CHUNK_ROWS);
    SA_ASSERT(W->dim[1] == l && b->dim[0] == V);
    real *scores = tape_scratch(t, (long)rows * V);
    if (!scores)
        return false;
    for (long at = 0; at < N; at += rows) {
        int n = (int)(N - at < rows ? N - at : rows);
        matrix x = matrix_of(scores, n, V, V), part = matrix_of(h->data + at * l, n, l, l);
        if (!linear_product(t, part, W, b, x, false))
            tape_fail(t);
        for (int i = 0; i < n && !t->failed; i++) {
            double nll = finish_row(scores + (long)i * V, V, targets[at + i], smoothing, scale, t->recording, sums);
            if (row_nll)
                row_nll[at + i] = nll;
        }
        if (t->recording && !t->failed && !output_gradients(t, part, matrix_of(h->grad + at * l, n, l, l), x, W, b))
            tape_fail(t);
    }
    if (t->recording)
        h->has_grad = true;
    return !t->failed;
}
