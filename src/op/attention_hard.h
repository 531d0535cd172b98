/* Hard attention (Xu et al. 2015, 4.1): each look goes to one place. */
#ifndef OP_ATTENTION_HARD_H
#define OP_ATTENTION_HARD_H

#include "op/attention.h"

/* How the weights, from which a place cannot be differentiated, learn all the same: by REINFORCE (Williams 1992).
 * With the place s drawn by a row of a sentence of loss nll, they get
 *   scale (reward (nll - baseline) d log a_s + entropy d sum_j a_j log a_j)
 * which, with reward 1 and entropy 0, is in the mean over all draws what is missing of the gradient of the expected
 * loss. */
typedef struct hard_form {
    bool draws; /* else the place with the largest weight is taken, the first of equal ones, and weights learn
                   nothing */
    double
        expected; /* probability that a sentence gets the soft context at all its steps, and learns as that does */
    double reward, entropy, baseline, scale;
    const double *nll; /* of each sentence; read by backward */
    const int *number; /* sentence of each row */
    int step; /* number of the step that the rows are of: its draw depends on seed, update, sentence, step */
    unsigned site;
} hard_form;

/* z[i] = values of the place that row i looks at. soft (rows, D) and weights (rows, S) are those of attention();
 * source: row -> source; NULL: k = i. */
tensor *attention_hard(tape *t, const hard_form *form, tensor *soft, tensor *weights, const annotations *h,
                       const int *source);

#endif
