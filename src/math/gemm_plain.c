#include "math/gemm.h"

#include <string.h>

static inline real element(matrix m, int i, int j) {
    return m.transposed ? m.at[(long)j * m.stride + i] : m.at[(long)i * m.stride + j];
}

void gemm_plain(matrix A, matrix B, matrix C, bool accumulate) {
    SA_ASSERT(A.cols == B.rows && C.rows == A.rows && C.cols == B.cols && !C.transposed);
    for (int i = 0; i < C.rows; i++) {
        real *c = C.at + (long)i * C.stride;
        if (!accumulate)
            memset(c, 0, (size_t)C.cols * sizeof *c);
        for (int k = 0; k < A.cols; k++) {
            real a = element(A, i, k);
            if (B.transposed)
                for (int j = 0; j < C.cols; j++)
                    c[j] += a * B.at[(long)j * B.stride + k];
            else
                for (int j = 0; j < C.cols; j++)
                    c[j] += a * B.at[(long)k * B.stride + j];
        }
    }
}
