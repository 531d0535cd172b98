/* Scores of lines by the length of their source: how well do systems do with long sentences (Bahdanau et al. 2015,
 * figure 2)? */
#ifndef CLI_EVALUATE_LENGTHS_H
#define CLI_EVALUATE_LENGTHS_H

#include <jansson.h>

#include "evaluate.h"

/* Lines whose source has first ... last words. */
typedef struct length_group {
    int first, last;
    size_t n;
    double mean_words;
    double *score;         /* (n_systems x n_metrics) */
    sa_interval *interval; /* the same; NULL: not asked for */
} length_group;

/* Sets e->group to the groups of `step` words that have lines, shortest first: 1 ... step, step + 1 ... 2 step, and
 * so on; lines without words are a group of their own. Scores have intervals when resampling is not NULL. source
 * has as many lines as the systems. Returns the exit status. */
int lengths_score(evaluation *e, const lines *source, int step, const sa_resampling *resampling);
void lengths_free(evaluation *e);

/* A table on standard output. */
void lengths_print(const evaluation *e);
/* [{"first": 1, "last": 10, "lines": 34, "mean_words": 7.1, "score": 41.2, "confidence": {...}}, ...]; NULL without
 * memory. */
json_t *lengths_json(const evaluation *e, int system, int metric);

#endif
