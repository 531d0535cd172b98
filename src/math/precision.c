#include "math/precision.h"

#include "math/vecmath.h"

#include <string.h>

static void read_f32(float *row, const void *at, float scale, int n) {
    (void)scale;
    memcpy(row, at, (size_t)n * sizeof *row);
}

static void write_f32(void *at, const float *row, float scale, int n) {
    (void)scale;
    memcpy(at, row, (size_t)n * sizeof *row);
}

static void read_bf16(float *row, const void *at, float scale, int n) {
    (void)scale;
    vec_from_bf16(row, at, n);
}

static void write_bf16(void *at, const float *row, float scale, int n) {
    (void)scale;
    vec_to_bf16(at, row, n);
}

static void read_int8(float *row, const void *at, float scale, int n) {
    vec_from_int8(row, at, scale, n);
}

static void write_int8(void *at, const float *row, float scale, int n) {
    vec_to_int8(at, row, scale, n);
}

static const struct {
    size_t bytes; /* of a number */
    bool scaled;
    void (*read)(float *row, const void *at, float scale, int n);
    void (*write)(void *at, const float *row, float scale, int n);
} types[] = {
    [GEMM_F32] = {4, false, read_f32, write_f32},
    [GEMM_BF16] = {2, false, read_bf16, write_bf16},
    [GEMM_INT8] = {1, true, read_int8, write_int8},
};

size_t narrow_bytes(gemm_precision type, int cols) {
    return types[type].bytes * (size_t)cols;
}

bool narrow_scaled(gemm_precision type) {
    return types[type].scaled;
}

void narrow_read(const narrow *m, int i, float *row) {
    const char *at = (const char *)m->at + (size_t)i * narrow_bytes(m->type, m->cols);
    types[m->type].read(row, at, m->scale ? m->scale[i] : 1, m->cols);
}

static float scale_of(gemm_precision type, const float *row, int n) {
    return types[type].scaled ? vec_max_abs(row, n) / 127 : 1;
}

float narrow_write(gemm_precision type, const float *row, int n, void *at) {
    float scale = scale_of(type, row, n);
    types[type].write(at, row, scale, n);
    return scale;
}

void narrow_round(gemm_precision type, float *row, int n) {
    enum { CHUNK = 256 };
    float chunk[CHUNK]; /* enough for any type */
    float scale = scale_of(type, row, n);
    for (int i = 0; i < n; i += CHUNK) {
        int part = n - i < CHUNK ? n - i : CHUNK;
        types[type].write(chunk, row + i, scale, part);
        types[type].read(row + i, chunk, scale, part);
    }
}
