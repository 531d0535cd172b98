/* One model, or several with the same vocabularies that decide together.
 *   p(word | ...) = mean over models of p_m(word | ...)
 * The mean is arithmetic, and scores are logarithms of it: the result is a distribution again, so they mean what
 * they mean with one model. (A mean of logarithms is none.) Attention is averaged over the models that attend. */
#ifndef DECODE_ENSEMBLE_H
#define DECODE_ENSEMBLE_H

#include "model/model_file.h"

typedef struct ensemble {
    int n;                 /* 1 ... SA_ENSEMBLE_MAX */
    const sa_model *owner; /* the first: its vocabularies and workspaces serve all */
    const model *model[SA_ENSEMBLE_MAX];
} ensemble;

/* SA_USAGE when there are too many, one was only planned, or vocabularies differ. */
sa_status ensemble_make(ensemble *out, const sa_model *const *models, int n, sa_error *error);
/* SA_USAGE, and which side's, unless the vocabularies of two models are the same. */
sa_status ensemble_compare(const sa_model *a, const sa_model *b, sa_error *error);
/* Whether any of them attends. */
bool ensemble_attends(const ensemble *e);
/* log p of a word, given those of n models. At most 0: rounding can leave a little more of a word that is certain.
 */
double ensemble_log_prob(const double *log_p, int n);

#endif
