#include "op/divergence.h"

#include "math/vecmath.h"
#include "op/linear.h"
#include "op/xent.h"

#include <math.h>

static void softmax(real *x, int n) {
    real scale = 1 / vec_exp_shift(x, x, vec_max(x, n), n);
    for (int i = 0; i < n; i++)
        x[i] *= scale;
}

/* Probabilities of n rows from `at` on. */
static bool fill(tape *t, output_rows o, long at, int n, real *p) {
    int l = tensor_cols(o.h), V = o.W->dim[0];
    if (!linear_product(t, matrix_of(o.h->data + at * l, n, l, l), o.W, o.b, matrix_of(p, n, V, V), false))
        return false;
    for (int i = 0; i < n; i++)
        softmax(p + (long)i * V, V);
    return true;
}

/* The distance of a row; where `slope`, p gives way to its gradient with respect to the scores: p (g - sum g p), g
 * = sign(p - q) scale / 2. */
static double finish_row(real *p, const real *q, int V, double scale, bool slope) {
    double sum = 0, mean = 0;
    real factor = (real)(scale / 2);
    for (int v = 0; v < V; v++) {
        double away = (double)p[v] - (double)q[v];
        sum += fabs(away);
        mean += away > 0 ? (double)p[v] : away < 0 ? -(double)p[v] : 0;
    }
    for (int v = 0; v < V && slope; v++)
        p[v] *= ((real)((p[v] > q[v]) - (p[v] < q[v])) - (real)mean) * factor;
    return sum / 2;
}

bool op_tvd(tape *t, output_rows p, tape *other, output_rows q, double scale, double *sum) {
    if (!p.h || !q.h || t->failed || other->failed) {
        tape_fail(t);
        return false;
    }
    long N = tensor_rows(p.h);
    int l = tensor_cols(p.h), V = p.W->dim[0], rows = (int)(N < XENT_CHUNK_ROWS ? N : XENT_CHUNK_ROWS);
    SA_ASSERT(tensor_rows(q.h) == N && q.W->dim[0] == V);
    real *own = tape_scratch(t, (long)rows * V), *others = tape_scratch(other, (long)rows * V);
    for (long at = 0; at < N && own && others && !t->failed; at += rows) {
        int n = (int)(N - at < rows ? N - at : rows);
        if (!fill(t, p, at, n, own) || !fill(other, q, at, n, others))
            tape_fail(t);
        for (int i = 0; i < n && !t->failed; i++)
            *sum += finish_row(own + (long)i * V, others + (long)i * V, V, scale, t->recording);
        matrix h = matrix_of(p.h->data + at * l, n, l, l);
        if (t->recording && !t->failed &&
            !output_gradients(t, h, matrix_of(p.h->grad + at * l, n, l, l), matrix_of(own, n, V, V), p.W, p.b))
            tape_fail(t);
    }
    if (!own || !others)
        tape_fail(t);
    if (t->recording)
        p.h->has_grad = true;
    return !t->failed;
}

void op_kl(tape *t, tensor *a, const tensor *b, double scale, double *sum) {
    static const double least = 1e-10;
    if (!a || !b || t->failed) {
        tape_fail(t);
        return;
    }
    SA_ASSERT(tensor_count(a) == tensor_count(b));
    if (t->recording)
        tensor_grad_clear_once(a);
    for (long i = 0; i < tensor_count(a); i++) {
        double x = (double)a->data[i], ratio = log((x + least) / ((double)b->data[i] + least));
        *sum += x * ratio;
        if (t->recording)
            a->grad[i] += (real)(scale * (ratio + x / (x + least)));
    }
}
