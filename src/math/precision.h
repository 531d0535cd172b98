/* Numbers in fewer bits: what products round their operands to, and how weights lie in a model file. */
#ifndef MATH_PRECISION_H
#define MATH_PRECISION_H

#include <stdbool.h>
#include <stddef.h>

/* bfloat16 keeps 8 bits of a mantissa. int8 keeps whole numbers from -127 to 127 and one float for each row, by
 * which they are multiplied: the largest magnitude of a row becomes 127. */
typedef enum gemm_precision { GEMM_F32, GEMM_BF16, GEMM_INT8, GEMM_PRECISIONS } gemm_precision;

/* A matrix in one of them, row by row without gaps: float, uint16_t (the upper half of a float) or int8_t. */
typedef struct narrow {
    gemm_precision type;
    int rows, cols;
    const void *at;     /* NULL: nothing */
    const float *scale; /* rows; NULL unless the type has scales */
} narrow;

/* Bytes of a row of so many numbers; whether rows have a scale. */
size_t narrow_bytes(gemm_precision type, int cols);
bool narrow_scaled(gemm_precision type);

/* Row i as floats. */
void narrow_read(const narrow *m, int i, float *row);
/* Writes a row of n floats at *at; returns its scale, 1 where there is none. NaN stays NaN: in int8 it is the
 * scale. */
float narrow_write(gemm_precision type, const float *row, int n, void *at);
/* Rounds the row as writing and reading it would. */
void narrow_round(gemm_precision type, float *row, int n);

#endif
