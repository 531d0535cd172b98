/* softalign: how far attention explains what a model writes, by the tests of Jain and Wallace (2019) and of
 * Wiegreffe and Pinter (2019), carried over to translation. Errors, ownership, threads and text are as in
 * softalign.h.
 *
 * For each symbol y_i of a given translation, p_i is p(. | y_<i, source), the distribution over all symbols. TVD(p,
 * q) = sum |p - q| / 2; JSD is the Jensen-Shannon divergence, at most log 2. What the tests show is in
 * docs/explain.md.
 */
#ifndef SOFTALIGN_EXPLANATION_H
#define SOFTALIGN_EXPLANATION_H

#include <softalign.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Measures of how much source symbol j matters to y_i. */
typedef enum sa_importance {
    SA_IMPORTANCE_ATTENTION,     /* a_ij, the weight of attention */
    SA_IMPORTANCE_GRADIENT,      /* |x_j . d log p_i(y_i) / d x_j|, x_j its embedding, attention held; sums to 1 */
    SA_IMPORTANCE_LEAVE_ONE_OUT, /* TVD of p_i and the p_i of the source without it; NaN for </s>, which stays */
    SA_IMPORTANCE_CARRIED,       /* a_ij |h_j|: attention times the norm of the annotation that it carries */
    SA_IMPORTANCES
} sa_importance;
/* "attention", "gradient", "leave-one-out", "carried". */
SA_API const char *sa_importance_name(sa_importance importance);

/* Kendall's tau-b, and how likely one as far from 0 is by chance; NaN where it is undefined. */
typedef struct sa_correlation {
    double tau, p;
} sa_correlation;
/* Pairs of measures, attention with each first; the two of pair k are sa_tau_pair[k]. */
#define SA_TAU_PAIRS 6
SA_API extern const sa_importance sa_tau_pair[SA_TAU_PAIRS][2];

typedef struct sa_explain_options {
    int permutations;    /* random orders of the weights of a symbol; 0: none */
    int adversaries;     /* weights sought together for each symbol; 0: none. One symbol takes about as long as
                            translating thousands */
    int adversary_steps; /* of the search */
    double epsilon;      /* the TVD that an adversary may have */
    uint64_t seed;       /* what is drawn follows from it, the line's number and the symbol's place */
    uint64_t first_line; /* number of the first pair */
    int max_length;      /* symbols, either side: longer pairs are left out */
    int threads;         /* 0: all cores. The result does not depend on it */
    bool symbols;        /* targets are symbols with blanks between */
    sa_protect protect;
    /* Asked now and then, on the threads that work; false: nobody wants the answer any more, and the work ends with
     * SA_STOPPED. NULL: it goes on to its end. */
    bool (*wanted)(void *user);
    void *wanted_user;
} sa_explain_options;
/* 100 permutations, no adversaries (500 steps, epsilon 0.05), seed 1, 200 symbols. */
SA_API void sa_explain_options_init(sa_explain_options *options);

/* What was found out about a pair. T x S numbers are of target symbol i and source symbol j at i * S + j. */
typedef struct sa_explanation {
    int source_length,
        target_length; /* S, T: symbols, </s> counted. 0: the pair was left out, and all else is NULL */
    bool too_long;     /* because a side is longer than max_length; else because one is blank */
    char **source_symbol, **target_symbol;
    double *log_p;   /* (T) of y_i */
    double *largest; /* (T) largest weight of a source symbol, </s> not counted; 0 if there is none */
    float *importance[SA_IMPORTANCES]; /* (T x S) */
    sa_correlation *tau;               /* (T x SA_TAU_PAIRS), over the source symbols without </s> */
    double *permuted; /* (T) median TVD over permutations of the weights; NaN with less than two source symbols.
                         NULL unless asked for */
    /* The weights farthest from a_i, by JSD, that were found among those with a TVD of at most epsilon;
     * permutations are tried too. NULL unless asked for. */
    double *adversary_jsd, *adversary_tvd; /* (T) */
    float *adversary;                      /* (T x S) */
    int others;
    double *other_jsd, *other_tvd; /* (others x T) of weights and p_i of other models and this one's */
} sa_explanation;

/* Explains n given translations; (*out)[i] belongs to pair i, always. In permutations and adversaries the weights
 * of one symbol change, those of words of the source alone, and their sum stays; states, annotations and other
 * symbols are as they were. others: models of the same vocabularies (of other seeds, say, or trained to look
 * elsewhere) to compare with; NULL: none. SA_USAGE where one has no attention, or looks more than once for a word.
 * Free with sa_explanations_free. */
SA_API sa_status sa_explain(const sa_model *model, const sa_model *const *others, int n_others,
                            const char *const *sources, const char *const *targets, size_t n,
                            const sa_explain_options *options, sa_explanation **out, sa_error *error);
SA_API void sa_explanations_free(sa_explanation *explanations, size_t n);
/* One as an object of JSON: "line", the symbols of both sides, and an object for each symbol of the target; or, of
 * a pair that was left out, "left_out" with the reason. What is not a number is null. max_length: that of the
 * options. The caller frees *out. */
SA_API sa_status sa_explanation_json(const sa_explanation *explanation, uint64_t line, int max_length, char **out,
                                     sa_error *error);

/* Numbers of many target symbols. */
typedef struct sa_spread {
    int64_t n; /* those that are NaN are not counted */
    double mean;
    double squares;      /* sum of squared differences from the mean: see sa_spread_deviation */
    int64_t significant; /* of correlations: those with p < 0.05 */
} sa_spread;
/* Standard deviation, of n - 1; 0 with less than two numbers. */
SA_API double sa_spread_deviation(const sa_spread *spread);

/* Of all target symbols, and of those whose largest weight lies in a quarter of 0 ... 1. */
#define SA_EXPLAIN_BINS 5
typedef struct sa_explain_bin {
    double from, to;
    int64_t symbols;
    sa_spread log_p, tau[SA_TAU_PAIRS], permuted, adversary_jsd, adversary_tvd;
    sa_spread other_jsd[SA_ENSEMBLE_MAX], other_tvd[SA_ENSEMBLE_MAX];
} sa_explain_bin;
typedef struct sa_explain_summary {
    int64_t pairs, left_out;
    sa_explain_bin bin[SA_EXPLAIN_BINS]; /* the first is of all */
} sa_explain_summary;
SA_API void sa_explain_summary_init(sa_explain_summary *summary);
SA_API void sa_explain_summary_add(sa_explain_summary *summary, const sa_explanation *explanation);

#ifdef __cplusplus
}
#endif
#endif
