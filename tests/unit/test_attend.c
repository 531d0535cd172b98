/* docs/learn/attend.c, the attention in 25 lines, computes what sa_attention does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

#include <math.h>
#include <softalign.h>

void attend(int S, int D, int N, int A, const float *s, const float *h, const float *W, const float *U,
            const float *v, float *a, float *c);
#include "../../docs/learn/attend.c"

enum { S = 7, D = 6, N = 5, A = 4 };

static void fill(rng *random, float *x, int n, float scale) {
    for (int i = 0; i < n; i++)
        x[i] = scale * (float)(2 * rng_uniform(random) - 1);
}

static void it_is_the_attention_of_the_library(void **state) {
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        float s[N], h[S * D], W[A * N], U[A * D], v[A], a[2][S], c[2][D];
        rng random = rng_at(7, (uint64_t)trial, 0, 0);
        fill(&random, s, N, 1);
        fill(&random, h, S * D, 1);
        fill(&random, W, A * N, 2);
        fill(&random, U, A * D, 2);
        fill(&random, v, A, trial % 2 ? 2 : 200); /* exp of 200 is no float */
        attend(S, D, N, A, s, h, W, U, v, a[0], c[0]);
        const sa_attention_shape shape = {.T = S, .d_dec = N, .d_enc = D, .d_att = A};
        assert_int_equal(sa_attention(shape, s, h, W, U, v, c[1], a[1], NULL), SA_OK);
        for (int j = 0; j < S; j++)
            if (!(fabsf(a[0][j] - a[1][j]) < 2e-4f))
                fail_msg("trial %d: weight %d is %g, not %g", trial, j, (double)a[0][j], (double)a[1][j]);
        for (int i = 0; i < D; i++)
            assert_true(fabsf(c[0][i] - c[1][i]) < 2e-4f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_the_attention_of_the_library)};
    return cmocka_run_group_tests_name("attend", tests, NULL, NULL);
}
