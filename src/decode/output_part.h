/* The output layer for some words of the target vocabulary. */
#ifndef DECODE_OUTPUT_PART_H
#define DECODE_OUTPUT_PART_H

#include "model/model.h"

typedef struct output_part {
    int n;           /* columns: as many as words, and some that mean nothing */
    gemm_pack *pack; /* of the words' rows of W_out, as the model's own pack has them */
    real *bias;      /* n */
} output_part;

/* False without memory; output_part_free is due either way. */
bool output_part_make(output_part *out, const model *m, gemm *g, const int *words, int n);
void output_part_free(output_part *p);
/* As model_scores, of these words: scores (n, p->n). */
bool output_part_scores(const output_part *p, gemm *g, const tensor *hidden, int from, int n, real *scores);

#endif
