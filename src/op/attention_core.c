/* sa_attention: the paper's core as a function by itself, on the same kernel as training and search. */
#include "op/attention.h"

#include <stdlib.h>

#ifndef SA_REAL_DOUBLE

sa_status sa_attention(sa_attention_shape shape, const float *s, const float *h, const float *W_a, const float *U_a,
                       const float *v_a, float *context, float *weights, sa_error *error) {
    int T = shape.T, A = shape.d_att, D = shape.d_enc;
    if (T < 1 || A < 1 || D < 1 || shape.d_dec < 1)
        return sa_fail(error, SA_USAGE,
                       "attention over %d annotations of width %d, query %d, hidden %d: each must be at "
                       "least 1",
                       T, D, shape.d_dec, A);
    float *query = malloc((size_t)A * sizeof *query), *keys = malloc((size_t)A * (size_t)T * sizeof *keys);
    sa_status status = query && keys ? SA_OK : sa_fail_memory(error, (size_t)A * (size_t)T * sizeof *keys);
    if (status == SA_OK) {
        gemm_plain(matrix_of(s, 1, shape.d_dec, shape.d_dec),
                   matrix_transposed(matrix_of(W_a, A, shape.d_dec, shape.d_dec)), matrix_of(query, 1, A, A),
                   false);
        gemm_plain(matrix_of(h, T, D, D), matrix_transposed(matrix_of(U_a, A, D, D)), matrix_of(keys, T, A, A),
                   false);
        attention_additive_row(&(attention_row){query, keys, h, v_a, T, A, D}, weights, context);
    }
    free(query);
    free(keys);
    return status;
}

#endif
