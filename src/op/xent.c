#include "op/xent.h"

#include "math/vecmath.h"
#include "op/linear.h"

#include <math.h>
#include <string.h>

/* What the losses of a call have in common. */
typedef struct row_loss {
    int V;
    double smoothing, agreement, scale;
    bool gradient;
    xent_sums *sums;
} row_loss;

/* p becomes exp(x - its largest), whose sum goes to *sum; adds the loss of a row of scores x and returns
 * -log p(target). */
static double exponentials(const row_loss *f, const real *x, real *p, int target, real *sum) {
    real largest = vec_max(x, f->V), gold = x[target];
    double mean = f->smoothing > 0 ? (double)vec_sum(x, f->V) / f->V : 0;
    *sum = vec_exp_shift(p, x, largest, f->V);
    double log_sum = (double)largest + log((double)*sum), nll = log_sum - (double)gold;
    f->sums->nll += nll;
    f->sums->loss += (1 - f->smoothing) * nll + f->smoothing * (log_sum - mean);
    return nll;
}

/* Turns a row of scores into scale * d loss / d scores; adds the row's losses. */
static double finish_row(const row_loss *f, real *x, int target) {
    real sum;
    double nll = exponentials(f, x, x, target, &sum);
    if (!f->gradient)
        return nll;
    real factor = (real)(f->scale / (double)sum), spread = (real)(f->scale * f->smoothing / f->V);
#pragma omp simd
    for (int k = 0; k < f->V; k++)
        x[k] = x[k] * factor - spread;
    x[target] -= (real)(f->scale * (1 - f->smoothing));
    return nll;
}

/* The same of two rows that shall agree. p: room for two rows. With d_k = log p_k - log q_k:
 *   d KL(p || q) / dx_k = p_k (d_k - KL(p || q))   d KL(q || p) / dx_k = p_k - q_k */
static void finish_pair(const row_loss *f, real *x, int target, real *p, double nll[2]) {
    real *y = x + f->V, *q = p + f->V, sum[2];
    double gold[2] = {(double)x[target], (double)y[target]};
    nll[0] = exponentials(f, x, p, target, &sum[0]);
    nll[1] = exponentials(f, y, q, target, &sum[1]);
    real shift = (real)(nll[1] + gold[1] - nll[0] - gold[0]), x_factor = 1 / sum[0], y_factor = 1 / sum[1];
    real pq = 0, qp = 0;
#pragma omp simd reduction(+ : pq, qp)
    for (int k = 0; k < f->V; k++) {
        real d = x[k] - y[k] + shift;
        p[k] *= x_factor;
        q[k] *= y_factor;
        pq += p[k] * d;
        qp -= q[k] * d;
    }
    f->sums->loss += f->agreement / 2 * ((double)pq + (double)qp);
    if (!f->gradient)
        return;
    real scale = (real)f->scale, half = (real)(f->scale * f->agreement / 2);
    real spread = (real)(f->scale * f->smoothing / f->V);
#pragma omp simd
    for (int k = 0; k < f->V; k++) {
        real d = x[k] - y[k] + shift, between = half * (p[k] - q[k]);
        x[k] = p[k] * (scale + half * (d - pq)) + between - spread;
        y[k] = q[k] * (scale - half * (d + qp)) - between - spread;
    }
    x[target] -= (real)(f->scale * (1 - f->smoothing));
    y[target] -= (real)(f->scale * (1 - f->smoothing));
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

bool op_xent(tape *t, tensor *h, param *W, param *b, const int *targets, float smoothing, float agreement,
             double scale, xent_sums *sums, double *row_nll) {
    if (!h || t->failed) {
        tape_fail(t);
        return false;
    }
    long N = tensor_rows(h);
    int l = tensor_cols(h), V = W->dim[0], rows = (int)(N < XENT_CHUNK_ROWS ? N : XENT_CHUNK_ROWS);
    bool pairs = agreement > 0;
    SA_ASSERT(W->dim[1] == l && b->dim[0] == V && (!pairs || N % 2 == 0));
    row_loss f = {V, (double)smoothing, (double)agreement, scale, t->recording, sums};
    real *scores = tape_scratch(t, (long)(rows + (pairs ? 2 : 0)) * V);
    if (!scores)
        return false;
    real *p = scores + (long)rows * V;
    for (long at = 0; at < N; at += rows) {
        int n = (int)(N - at < rows ? N - at : rows);
        matrix x = matrix_of(scores, n, V, V), part = matrix_of(h->data + at * l, n, l, l);
        if (!linear_product(t, part, W, b, x, false))
            tape_fail(t);
        for (int i = 0; i < n && !t->failed; i += pairs ? 2 : 1) {
            double nll[2];
            if (pairs)
                finish_pair(&f, scores + (long)i * V, targets[at + i], p, nll);
            else
                nll[0] = finish_row(&f, scores + (long)i * V, targets[at + i]);
            if (row_nll)
                memcpy(row_nll + at + i, nll, (pairs ? 2 : 1) * sizeof *nll);
        }
        if (t->recording && !t->failed && !output_gradients(t, part, matrix_of(h->grad + at * l, n, l, l), x, W, b))
            tape_fail(t);
    }
    if (t->recording)
        h->has_grad = true;
    return !t->failed;
}
