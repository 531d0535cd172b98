#include "decode/top.h"

#include "math/vecmath.h"

#include <math.h>

enum { BLOCK = 256 };

/* Most blocks hold nothing better than the k-th so far: their maximum, which vectorises, decides that. */
int top_of(const real *x, int n, int k, scored *out) {
    int found = 0;
    for (int start = 0; start < n; start += BLOCK) {
        int end = start + BLOCK < n ? start + BLOCK : n;
        if (found == k && (double)vec_max(x + start, end - start) <= out[k - 1].score)
            continue;
        for (int i = start; i < end; i++) {
            double score = (double)x[i];
            if (found == k && score <= out[k - 1].score)
                continue;
            int at = found < k ? found++ : k - 1;
            while (at > 0 && out[at - 1].score < score) {
                out[at] = out[at - 1];
                at--;
            }
            out[at] = (scored){score, i};
        }
    }
    return found;
}

double log_sum_exp(const real *x, int n, real *scratch) {
    real largest = vec_max(x, n);
    return (double)largest + log((double)vec_exp_shift(scratch, x, largest, n));
}
