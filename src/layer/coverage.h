#ifndef LAYER_COVERAGE_H
#define LAYER_COVERAGE_H

#include "layer/weight.h"
#include "op/cover.h"
#include "op/gru.h"

/* Coverage (Tu et al. 2016): the decoder remembers, for each position j of the source, a vector C_j of width d that
 * says how much of it was looked at, and the next look knows it. C_0 = 0, and after a look with weights a:
 *   linguistic   C_j' = C_j + a_j                        d = 1
 *   fertility    C_j' = C_j + a_j / (2 sigmoid(U_f h_j))   d = 1
 *   neural       C_j' = a gated unit from state C_j, with input w a_j + H h_j + S s, s: the state that looked
 * The key of position j is that without coverage, plus V_a C_j. */
typedef struct coverage_unit {
    sa_coverage kind;
    int width;                                 /* d */
    param *V_a, *U_f;                          /* (A, d), (1, D) */
    param *w_zr, *w, *H_zr, *H, *b, *S_zr, *S; /* of neural: gates (2d rows) and candidate (d) */
    gru_weights step;
} coverage_unit;

/* What the annotations say about coverage, for all looks; NULLs where they say nothing. */
typedef struct coverage_source {
    tensor *fertility, *gates, *candidate; /* (N, 1), (N, 2d), (N, d) */
} coverage_source;

/* A: width of keys, D: of annotations, n: of the state that looks. */
void coverage_declare(coverage_unit *c, const weight_scope *scope, const sa_model_config *config, int A, int D,
                      int n);
coverage_source coverage_of_source(tape *t, const coverage_unit *c, tensor *h);

/* C_0 of n rows, (n, S d). */
tensor *coverage_start(tape *t, const coverage_unit *c, int n, const annotations *h);

/* attention(t, form, q, h, source, weights) that knows *C, which has rows enough, and changes it; s is the state
 * that looks. With kind SA_COVERAGE_NONE attention as it is; *C is not read. */
tensor *coverage_attention(tape *t, const coverage_unit *c, attention_form form, tensor *q, tensor *s,
                           const annotations *h, const coverage_source *known, const int *source, tensor **C,
                           tensor **weights);

#endif
