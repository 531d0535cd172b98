/* Other attention with the same outcome (Jain and Wallace 2019): weights of one step are changed, annotations,
 * states and all other steps stay. Only weights of words that were looked at change, and their sum stays: the end
 * mark keeps its own, and so do positions outside a window of local attention. */
#ifndef EXPLAIN_ALTERNATIVE_H
#define EXPLAIN_ALTERNATIVE_H

#include "explain/forced.h"

typedef struct alternative_options {
    int permutations; /* of each step; 0: none */
    int adversaries;  /* of each step; 0: none */
    int steps;        /* of the search for them */
    double epsilon;   /* the largest TVD of p that an adversary may have */
    uint64_t seed, line;
    bool (*wanted)(void *user); /* asked now and then: false gives up; NULL: nobody asks */
    void *user;
} alternative_options;

/* What is found for each step. */
typedef struct alternative_result {
    double *permuted;  /* (T) median of TVD(p with permuted weights, p); NaN with less than two words to permute */
    double *jsd, *tvd; /* (T) of the adversary from the model's weights, and of its p */
    float *adversary;  /* (T, S) */
} alternative_result;

/* permuted: the weights in random orders, all alike.
 *
 * adversary: the weights a' with the largest JSD(a', a) found among those with TVD(p', p) <= epsilon. a' is sought
 * by Adam with the largest second moment so far (AMSGrad), rate 0.01, from random starts, several together, that
 * maximise sum_i JSD(a_i, a) + 1 / (k (k - 1)) sum_{i<j} JSD(a_i, a_j) - 500 sum_i max(0, TVD(p_i, p) - epsilon /
 * 5) Every point on the way is a candidate, and so are the permutations and a itself; what is found is a lower
 * bound of the largest there is. Follows from seed, line and step, nothing else. Fields of *out that are not asked
 * for may be NULL. False once the tape has failed, or when nobody wants it. */
bool alternative_find(const forced *f, const alternative_options *o, const alternative_result *out);

#endif
