/* What the library behind gemm.h is, and what it makes of this processor. */
#ifndef MATH_GEMM_LIBRARY_H
#define MATH_GEMM_LIBRARY_H

typedef struct gemm_library {
    int major, minor, patch;
    const char *isa; /* the most that it generates code for: "avx512_core_bf16"; DNNL_MAX_CPU_ISA can lower it */
} gemm_library;

gemm_library gemm_library_describe(void);

#endif
