#include "decode/output_part.h"

#include <stdlib.h>
#include <string.h>

/* Products are compiled by size: sizes are multiples of this. */
enum { BLOCK = 128 };

/* The words' rows, one behind the other. NULL numbers: no memory. */
static narrow gather(gemm *g, const narrow *W, const int *words, int n, int padded, float *scale) {
    size_t line = narrow_bytes(W->type, W->cols);
    char *rows = gemm_scratch(g, line * (size_t)padded);
    if (!rows)
        return (narrow){0};
    for (int i = 0; i < n; i++) {
        memcpy(rows + (size_t)i * line, (const char *)W->at + (size_t)words[i] * line, line);
        scale[i] = W->scale ? W->scale[words[i]] : 1;
    }
    memset(rows + (size_t)n * line, 0, (size_t)(padded - n) * line);
    memset(scale + n, 0, (size_t)(padded - n) * sizeof *scale);
    return (narrow){W->type, padded, W->cols, rows, W->scale ? scale : NULL};
}

bool output_part_make(output_part *out, const model *m, gemm *g, const int *words, int n) {
    const param *W = m->W_out;
    int padded = (n + BLOCK - 1) / BLOCK * BLOCK;
    narrow all = W->stored;
    if (!all.at)
        all = (narrow){GEMM_F32, W->dim[0], W->dim[1], W->value, NULL};
    *out = (output_part){.n = padded, .bias = calloc((size_t)padded, sizeof *out->bias)};
    float *scale = malloc((size_t)padded * sizeof *scale);
    gemm_precision before = gemm_get_precision(g);
    gemm_set_precision(g, W->precision);
    out->pack = gemm_pack_new(g, W->dim[1], padded);
    gemm_set_precision(g, before);
    bool ok = out->bias && scale && out->pack;
    if (ok) {
        narrow rows = gather(g, &all, words, n, padded, scale);
        ok = rows.at && gemm_pack_fill_narrow(g, out->pack, &rows);
    }
    for (int i = 0; ok && i < n; i++)
        out->bias[i] = m->b_out->value[words[i]];
    free(scale);
    return ok;
}

void output_part_free(output_part *p) {
    gemm_pack_free(p->pack);
    free(p->bias);
    *p = (output_part){0};
}

bool output_part_scores(const output_part *p, gemm *g, const tensor *hidden, int from, int n, real *scores) {
    int l = tensor_cols(hidden);
    return gemm_run_packed(g, matrix_of(hidden->data + (long)from * l, n, l, l), p->pack, p->bias,
                           matrix_of(scores, n, p->n, p->n), false);
}
