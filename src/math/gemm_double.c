/* Products in double, where gradients are checked: by three loops, rounding nothing. */
#include "base/block.h"
#include "math/gemm.h"

#ifdef SA_REAL_DOUBLE

#include <stdlib.h>
#include <string.h>

struct gemm {
    buffer scratch;
};
struct gemm_pack {
    matrix B;
};

sa_status gemm_new(gemm **out, sa_error *error) {
    *out = calloc(1, sizeof **out);
    return *out ? SA_OK : sa_fail_memory(error, sizeof **out);
}
void gemm_free(gemm *g) {
    if (g)
        free(g->scratch.data);
    free(g);
}
void gemm_work_alone(void) {
}
void gemm_keep(gemm *g, int products) {
    (void)g, (void)products;
}
void gemm_forget_compiled(void) {
}
void gemm_set_precision(gemm *g, gemm_precision precision) {
    (void)g, (void)precision;
}
gemm_precision gemm_get_precision(const gemm *g) {
    (void)g;
    return GEMM_F32;
}
bool gemm_has(gemm *g, gemm_precision precision) {
    (void)g;
    return precision == GEMM_F32;
}
bool gemm_run(gemm *g, matrix A, matrix B, matrix C, bool accumulate) {
    (void)g;
    gemm_plain(A, B, C, accumulate);
    return true;
}
gemm_pack *gemm_pack_new(gemm *g, int rows, int cols) {
    (void)g, (void)rows, (void)cols;
    return calloc(1, sizeof(gemm_pack));
}
gemm_pack *gemm_pack_plan(gemm *g, int rows, int cols) {
    return gemm_pack_new(g, rows, cols);
}
size_t gemm_pack_bytes(const gemm_pack *pack) {
    (void)pack;
    return 0;
}
bool gemm_pack_place(gemm_pack *pack, void *memory) {
    (void)pack, (void)memory;
    return true;
}
bool gemm_pack_fill(gemm *g, gemm_pack *pack, matrix B) {
    (void)g;
    pack->B = B;
    return true;
}
/* What a file has in fewer bits is read in float only. */
bool gemm_pack_fill_narrow(gemm *g, gemm_pack *pack, const narrow *B_transposed) {
    (void)g, (void)pack, (void)B_transposed;
    return false;
}
void gemm_pack_free(gemm_pack *pack) {
    free(pack);
}
bool gemm_run_packed(gemm *g, matrix A, const gemm_pack *B, const real *bias, matrix C, bool accumulate) {
    for (long i = 0; bias && i < C.rows; i++)
        memcpy(C.at + i * C.stride, bias, (size_t)C.cols * sizeof *bias);
    return gemm_run(g, A, B->B, C, accumulate || bias);
}
void *gemm_scratch(gemm *g, size_t bytes) {
    return block_reserve(&g->scratch, bytes) ? g->scratch.data : NULL;
}
void gemm_hold(gemm *g, matrix A) {
    (void)g, (void)A;
}
void gemm_release(gemm *g) {
    (void)g;
}
bool gemm_outer(gemm *g, int n, const matrix *dy, const matrix *x, matrix C, bool accumulate) {
    (void)g;
    for (int i = 0; i < n; i++)
        gemm_plain(matrix_transposed(dy[i]), x[i], C, accumulate || i > 0);
    return true;
}
void gemm_forget_uses(gemm *g) {
    (void)g;
}
bool gemm_replay(gemm *g, double *operations, double *seconds) {
    (void)g;
    *operations = *seconds = 0;
    return true;
}

#endif
