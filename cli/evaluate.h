/* What the sources of `softalign evaluate` share: cmd_evaluate.c has the options and the order of work,
 * evaluate_texts.c reads the texts, evaluate_report.c writes the scores. */
#ifndef CLI_EVALUATE_H
#define CLI_EVALUATE_H

#include "cli.h"

/* The lines of a file. */
typedef struct lines {
    const char *name; /* for messages */
    char **line;
    size_t n, capacity;
} lines;

/* What was read is in *l whether it fails or not. */
int lines_read(lines *l, const char *path, bool strict, bool quiet);
void lines_free(lines *l);
/* Warnings about texts that BLEU's tokenizer of that name is not made for. */
void warn_tokenised(const lines *hypotheses);
void warn_unspaced(const lines *reference, const char *tokenizer);

int out_of_memory(void);

enum { MOST_METRICS = 5 };

/* Arrays per score are (n_systems x n_metrics). */
typedef struct evaluation {
    int n_systems, n_references, n_metrics;
    lines *system, *reference;
    sa_metric metric[MOST_METRICS];
    sa_statistics **statistics;
    sa_interval *interval; /* NULL: not asked for */
    double *p_value;       /* NULL: not asked for; those of the first system, which is the baseline, are not set */
    /* What resampling adds to signatures, "bs:1000|seed:12345|", and the test's name; empty or NULL without. */
    char resampling[64];
    const char *test;
    int width; /* decimals */
    bool sentence, score_only, json;
    /* Lines by the length of their source; 0: not asked for. */
    int n_groups;
    struct length_group *group;
} evaluation;

static inline size_t cell_of(const evaluation *e, int system, int metric) {
    return (size_t)system * (size_t)e->n_metrics + (size_t)metric;
}

/* Characters of a text, each a column wide. */
int columns_of(const char *text);
/* Writes the scores to standard output; returns the exit status. */
int evaluation_report(const evaluation *e);

#endif
