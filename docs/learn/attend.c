#include <math.h>

/* e_j = v . tanh(W s + U h_j), a = softmax(e), c = sum_j a_j h_j; s (N), h (S x D), W (A x N), U (A x D), v (A) */
void attend(int S, int D, int N, int A, const float *s, const float *h, const float *W, const float *U,
            const float *v, float *a, float *c) {
    float most = -INFINITY, sum = 0;
    for (int j = 0; j < S; j++) {
        a[j] = 0;
        for (int k = 0; k < A; k++) {
            float x = 0;
            for (int i = 0; i < N; i++)
                x += W[k * N + i] * s[i];
            for (int i = 0; i < D; i++)
                x += U[k * D + i] * h[j * D + i];
            a[j] += v[k] * tanhf(x);
        }
        most = fmaxf(most, a[j]);
    }
    for (int j = 0; j < S; j++)
        sum += a[j] = expf(a[j] - most);
    for (int j = 0; j < S; j++)
        a[j] /= sum;
    for (int i = 0; i < D; i++) {
        c[i] = 0;
        for (int j = 0; j < S; j++)
            c[i] += a[j] * h[j * D + i];
    }
}
