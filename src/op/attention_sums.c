#include "op/attention_sums.h"

#include "math/vecmath.h"

#include <string.h>

typedef struct sums_record {
    op_record record;
    tensor *weights;
    steps over; /* a copy: the caller's may be gone when backward runs */
    const int *source, *lengths;
    real *sums; /* (targets, S): what is missing, 1 - sum_t a */
    double factor;
} sums_record;

static void sums_backward(tape *t, op_record *record) {
    (void)t;
    sums_record *r = (sums_record *)record;
    int S = tensor_cols(r->weights);
    tensor_grad_clear_once(r->weights);
    for (int j = 0; j < r->over.T; j++)
        for (int i = 0; i < r->over.n[j]; i++) {
            int length = r->lengths[r->source[i]];
            vec_axpy(r->weights->grad + (long)(r->over.at[j] + i) * S, (real)(-2 * r->factor / length),
                     r->sums + (long)i * S, length);
        }
}

double attention_sums(tape *t, tensor *weights, const steps *over, const int *source, const int *lengths,
                      double factor, double scale) {
    if (!weights) {
        tape_fail(t);
        return 0;
    }
    int S = tensor_cols(weights);
    real *sums = tape_reals(t, (long)over->B * S);
    if (!sums)
        return 0;
    for (long k = 0; k < (long)over->B * S; k++)
        sums[k] = 1;
    for (int j = 0; j < over->T; j++)
        for (int i = 0; i < over->n[j]; i++)
            vec_axpy(sums + (long)i * S, -1, weights->data + (long)(over->at[j] + i) * S, S);
    double loss = 0;
    for (int i = 0; i < over->B; i++) {
        int length = lengths[source[i]];
        loss += factor / length * vec_sum_squares(sums + (long)i * S, length);
    }
    sums_record *r = tape_record(t, sizeof *r, sums_backward);
    if (r)
        *r = (sums_record){r->record, weights, *over, source, lengths, sums, factor * scale};
    return loss;
}
