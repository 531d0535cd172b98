/* What a metric is to those who score and resample: it counts some numbers in each line, and makes a score of their
 * sums. A metric is one file with one metric_class, and a line in metrics[] of statistics.c. */
#ifndef EVAL_METRIC_H
#define EVAL_METRIC_H

#include "base/error.h"

enum { METRIC_NAME_SIZE = 32, METRIC_MAX_WIDTH = 64, METRIC_COLUMNS = 4 };

typedef struct metric_class {
    const char *label; /* in messages */
    sa_status (*check)(const sa_metric *metric, sa_error *error);
    /* What may be wrong with a text; NULL: nothing. */
    sa_status (*check_text)(const sa_metric *metric, const char *text, bool is_reference, sa_error *error);
    /* How many numbers are counted in a line, at most METRIC_MAX_WIDTH. */
    int (*width)(const sa_metric *metric);
    /* "chrF2", and the signature between nrefs and version: "case:mixed|eff:yes". */
    void (*name)(const sa_metric *metric, char text[METRIC_NAME_SIZE]);
    void (*describe)(const sa_metric *metric, char *text, size_t size);
    /* The working memory of a text: zero, opened (false when memory ran out), then closed in either case. *metric
     * stays where it is between. */
    size_t state_size;
    bool (*open)(void *state, const sa_metric *metric, size_t most_references);
    void (*close)(void *state);
    /* Writes the numbers of a line, which has one reference at least. False when memory ran out. */
    bool (*count)(void *state, const char *hypothesis, const char *const *references, size_t n_references,
                  double *numbers);
    /* All but the signature, which is written behind it to that place in *score. */
    void (*score)(const sa_metric *metric, const double *sums, sa_score *score);
    size_t signature_offset;
} metric_class;

extern const metric_class bleu_metric, chrf_metric, ter_metric, aer_metric;

struct sa_statistics {
    const metric_class *class;
    sa_metric metric;
    size_t n;
    int width;
    size_t stride;   /* width, rounded up to a multiple of METRIC_COLUMNS */
    double *numbers; /* (n x stride), zero behind the width */
    char name[METRIC_NAME_SIZE], signature[SA_SIGNATURE_SIZE];
};

/* Statistics and score in one call: what sa_bleu and its like do. *score is zero after an error. */
sa_status metric_score_texts(const sa_metric *metric, const char *const *hypotheses, size_t n,
                             const char *const *const *references, size_t n_references, sa_score *score,
                             sa_error *error);

#endif
