/* Scores over the target vocabulary of the rows of a step, of one model or the average of several, of all words or
 * of those that a shortlist has for a row's sentence. */
#ifndef DECODE_ROW_SCORES_H
#define DECODE_ROW_SCORES_H

#include "decode/ensemble.h"
#include "decode/output_part.h"
#include "decode/selection.h"
#include "decode/top.h"

typedef struct row_member {
    const model *model;
    output_part part; /* unless all words are scored */
    tensor *hidden;   /* of the step's readout */
    real *scores;     /* of some rows of it */
    double log_sum;   /* of the row that row_scores_get gave last */
} row_member;

typedef struct row_scores {
    tape *tape;
    int n, vocab;
    row_member member[SA_ENSEMBLE_MAX];
    bool selects;
    selection chosen;
    int most;          /* rows that are scored together */
    int *sentence;     /* of each row of the step */
    int rows;          /* of the step */
    int first, scored; /* the first row that has scores, and how many have */
    int row;           /* that row_scores_get gave last */
    real *x;           /* of that row: its words' scores, where they are selected */
    real *average;     /* with several models: log of their mean probability */
    real *scratch;
    real *spread;  /* scores of all words, those that are not the sentence's at -infinity */
    int spread_of; /* the sentence whose words have scores there; -1: none do */
    real *block;   /* maxima of blocks */
} row_scores;

/* For steps of at most rows_max rows. list NULL: all words. False without memory; row_scores_end is due either way.
 */
bool row_scores_begin(row_scores *r, const ensemble *models, tape *t, const sa_shortlist *list, const vocab *target,
                      const struct source_sentence *sentences, int n, int rows_max);
void row_scores_end(row_scores *r);
/* Begins a step, the sentence of each row given; member[].hidden are set by the caller. */
void row_scores_step(row_scores *r, const int *of, int rows);
/* Scores of a row, to choose by (-infinity: not the sentence's word; of several models, where log p is below -87).
 * Valid, and the caller's to change, until the next call. They are made some rows at a time, of which as many stay
 * in the cache: ask for rows in order. False when the models' scores are not finite, or when the tape has failed.
 */
bool row_scores_get(row_scores *r, int row, score_row *out);
/* log p, at most 0, of a word of the row that row_scores_get gave last, unless it was forbidden there. */
double row_scores_log_prob(const row_scores *r, int word);

#endif
