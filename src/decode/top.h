/* A row of scores over a vocabulary: its normaliser and its best entries, found without sorting it. */
#ifndef DECODE_TOP_H
#define DECODE_TOP_H

#include "math/real.h"

#include <stdbool.h>

typedef struct score_row {
    real *x; /* n scores; -infinity: never chosen */
    int n;
    real *block;    /* score_blocks(n) maxima, each of SCORE_BLOCK scores */
    double log_sum; /* x[i] - log_sum is log p of word i, as long as it is not forbidden */
} score_row;

enum { SCORE_BLOCK = 128 };
static inline int score_blocks(int n) {
    return (n + SCORE_BLOCK - 1) / SCORE_BLOCK;
}

/* Fills block, not log_sum. Call it again when much of x has changed. */
void score_row_measure(score_row *row);
/* log sum exp x */
double score_row_log_sum(const score_row *row);
/* x[i] = -infinity */
void score_row_forbid(score_row *row, int i);
/* Whether anything is left that is not forbidden. */
bool score_row_allows_any(const score_row *row);

typedef struct scored {
    double score;
    int index;
} scored;
/* The best k of those above floor, best first, ties to the smaller index; returns how many there are. out has k
 * places. Reads about k blocks and the maxima of the others. */
int score_row_top(const score_row *row, int k, double floor, scored *out);

#endif
