/* How good translations and word alignments are: a part of softalign.h, which includes it. */
#ifndef SOFTALIGN_EVALUATION_H
#define SOFTALIGN_EVALUATION_H

#include <softalign.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Metrics have the definitions and, to the last digits, the values of sacreBLEU 2. In all of them hypotheses[i] is
 * line i and references[r][i] reference r of it; a NULL or blank reference is left out where a line has others.
 * Options NULL: sacreBLEU's defaults. Texts are given detokenised. */

#define SA_SIGNATURE_SIZE 160 /* "nrefs:1|case:mixed|...": how a score was made */

#define SA_BLEU_MAX_ORDER 8

typedef enum sa_bleu_tokenizer { SA_TOK_13A, SA_TOK_INTL, SA_TOK_CHAR, SA_TOK_NONE } sa_bleu_tokenizer;
typedef enum sa_bleu_smoothing {
    SA_SMOOTH_EXP,
    SA_SMOOTH_FLOOR,
    SA_SMOOTH_ADD_K,
    SA_SMOOTH_NONE
} sa_bleu_smoothing;

typedef struct sa_bleu_options {
    sa_bleu_tokenizer tokenizer;
    sa_bleu_smoothing smoothing;
    double smooth_value; /* negative: the method's usual one (floor 0.1, add-k 1) */
    bool lowercase;
    bool effective_order;
    int max_order; /* 4 */
} sa_bleu_options;

typedef struct sa_bleu_result {
    double bleu;                         /* 0 ... 100 */
    double precision[SA_BLEU_MAX_ORDER]; /* percent, smoothed */
    int64_t correct[SA_BLEU_MAX_ORDER], total[SA_BLEU_MAX_ORDER];
    double brevity_penalty;
    int64_t hypothesis_length, reference_length;
    char signature[SA_SIGNATURE_SIZE]; /* nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:... */
} sa_bleu_result;

/* 13a, exp, mixed case, order 4. */
SA_API void sa_bleu_options_init(sa_bleu_options *options);
/* Corpus BLEU (Papineni et al. 2002). */
SA_API sa_status sa_bleu(const char *const *hypotheses, size_t n, const char *const *const *references,
                         size_t n_references, const sa_bleu_options *options, sa_bleu_result *result,
                         sa_error *error);
/* From counts: correct, total, lengths and options in, bleu, precision and brevity penalty out. */
SA_API void sa_bleu_compute(sa_bleu_result *result, const sa_bleu_options *options);

#define SA_CHRF_MAX_ORDER 10

typedef struct sa_chrf_options {
    int char_order; /* 6: longest n-grams of characters, 1 ... SA_CHRF_MAX_ORDER */
    int word_order; /* 0: longest n-grams of words, 0 ... SA_CHRF_MAX_ORDER; 2 makes it chrF++ */
    int beta;       /* 2: how many times as much recall counts as precision; 0 ... 100 */
    bool lowercase;
    bool whitespace;    /* white space belongs to the n-grams of characters */
    bool eps_smoothing; /* every order counts, also one that a text is too short for, as in chrF++.py */
} sa_chrf_options;

typedef struct sa_chrf_result {
    double chrf;                       /* 0 ... 100 */
    char signature[SA_SIGNATURE_SIZE]; /* nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:... */
} sa_chrf_result;

SA_API void sa_chrf_options_init(sa_chrf_options *options);
/* Corpus chrF (Popovic 2015, 2017): with P and R the precision and recall of n-grams, averaged over the orders,
 *   chrF = 100 (1 + beta^2) P R / (beta^2 P + R)
 * from counts summed over the lines, each against the reference that gives the line its best score. */
SA_API sa_status sa_chrf(const char *const *hypotheses, size_t n, const char *const *const *references,
                         size_t n_references, const sa_chrf_options *options, sa_chrf_result *result,
                         sa_error *error);

typedef struct sa_ter_options {
    bool case_sensitive; /* else lower case */
    bool normalized;     /* punctuation is cut off the words */
    bool no_punct;       /* punctuation is taken out */
    bool asian_support;  /* the two above also for Chinese and Japanese; normalized: a word for each ideograph */
} sa_ter_options;

typedef struct sa_ter_result {
    double ter;                        /* from 0, less is better; above 100 when there are more edits than words */
    double edits, reference_length;    /* of all lines; the length is the mean over a line's references */
    char signature[SA_SIGNATURE_SIZE]; /* nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:... */
} sa_ter_result;

SA_API void sa_ter_options_init(sa_ter_options *options);
/* Translation edit rate (Snover et al. 2006): insertions, deletions and substitutions of words and shifts of
 * phrases that make the hypothesis the nearest reference, per 100 words of the references; found as Tercom finds
 * them, greedily and in a beam. */
SA_API sa_status sa_ter(const char *const *hypotheses, size_t n, const char *const *const *references,
                        size_t n_references, const sa_ter_options *options, sa_ter_result *result, sa_error *error);

/* Texts are links (sa_links_parse). Of a hypothesis all links count alike. */
typedef struct sa_aer_options {
    int base, reference_base; /* what hypotheses and references call the first word: 0 or 1 */
    bool swap;                /* hypotheses name the target word first */
} sa_aer_options;

typedef struct sa_aer_result {
    double aer;                        /* 0 ... 100, less is better */
    double precision, recall;          /* percent */
    int64_t links, sure;               /* of the hypotheses; of the references */
    char signature[SA_SIGNATURE_SIZE]; /* nrefs:1|base:0|refbase:1|swap:no|version:... */
} sa_aer_result;

SA_API void sa_aer_options_init(sa_aer_options *options);
/* Alignment error rate (Och and Ney 2003), A the links of the hypotheses, S and P the sure and the possible ones of
 * the references, every sure one also possible:
 *   precision = |A & P| / |A|   recall = |A & S| / |S|   AER = 1 - (|A & S| + |A & P|) / (|A| + |S|)
 * and 0 where there are neither links nor sure ones. Of several references sure is what all call sure, possible
 * what any has. SA_DATA for what is no links. */
SA_API sa_status sa_aer(const char *const *hypotheses, size_t n, const char *const *const *references,
                        size_t n_references, const sa_aer_options *options, sa_aer_result *result, sa_error *error);

typedef enum sa_metric_kind { SA_METRIC_BLEU, SA_METRIC_CHRF, SA_METRIC_TER, SA_METRIC_AER } sa_metric_kind;

/* A metric and its options; those of other kinds are not looked at. */
typedef struct sa_metric {
    sa_metric_kind kind;
    sa_bleu_options bleu;
    sa_chrf_options chrf;
    sa_ter_options ter;
    sa_aer_options aer;
} sa_metric;

/* The defaults of every kind. */
SA_API void sa_metric_init(sa_metric *metric, sa_metric_kind kind);

/* What a metric counts in each line of a translation. Counted once, it gives the score of the whole, of single
 * lines, and of texts that are drawn from it; it is constant, and the texts are needed no more. */
typedef struct sa_statistics sa_statistics;
SA_API sa_status sa_statistics_collect(sa_statistics **out, const sa_metric *metric, const char *const *hypotheses,
                                       size_t n, const char *const *const *references, size_t n_references,
                                       sa_error *error);
SA_API void sa_statistics_free(sa_statistics *statistics);
/* "BLEU", "chrF2++", "TER" or "AER", and how the scores are made; live as long as the statistics. */
SA_API const char *sa_statistics_name(const sa_statistics *statistics);
SA_API const char *sa_statistics_signature(const sa_statistics *statistics);

typedef struct sa_score {
    double score;
    union {
        sa_bleu_result bleu;
        sa_chrf_result chrf;
        sa_ter_result ter;
        sa_aer_result aer;
    } detail; /* of the metric's kind */
} sa_score;

/* The score of lines first ... first + n - 1: all of them are the corpus, one is a sentence (for which BLEU is
 * usually made with effective_order). Lines outside are the programmer's mistake. */
SA_API void sa_statistics_score(const sa_statistics *statistics, size_t first, size_t n, sa_score *score);

/* Resampling. The draws, and so the values, are those of sacreBLEU with the same seed. */
typedef struct sa_resampling {
    int samples; /* from 1 */
    uint64_t seed;
} sa_resampling;
/* What NULL stands for. */
#define SA_BOOTSTRAP_SAMPLES 1000
#define SA_RANDOMIZATION_SAMPLES 10000
#define SA_RESAMPLING_SEED 12345

typedef struct sa_interval {
    double mean; /* of the scores of the samples */
    double half; /* half the width of the interval that holds 95% of them */
} sa_interval;

/* The 95% confidence interval of a corpus score: it is computed again of samples of as many lines, drawn with
 * replacement (Koehn 2004). */
SA_API sa_status sa_bootstrap(const sa_statistics *statistics, const sa_resampling *resampling,
                              sa_interval *interval, sa_error *error);

typedef enum sa_paired_test_kind {
    SA_PAIRED_BOOTSTRAP,    /* lines are drawn with replacement, the same for both systems (Koehn 2004) */
    SA_PAIRED_RANDOMIZATION /* each line's translations change sides or do not (Riezler and Maxwell 2005) */
} sa_paired_test_kind;

/* How likely a difference of the corpus scores as large as that of the two would be if the systems were equally
 * good. d is the difference, d_i that of sample i, N the number of samples:
 *   bootstrap      p = (1 + number of i with |d_i| - mean_j |d_j| > |d|) / (N + 1)
 *   randomization  p = (1 + number of i with |d_i| > |d|) / (N + 1)
 * and 1 where d is 0.
 * SA_USAGE unless both are of one metric and of as many lines. */
SA_API sa_status sa_paired_test(const sa_statistics *baseline, const sa_statistics *system,
                                sa_paired_test_kind kind, const sa_resampling *resampling, double *p_value,
                                sa_error *error);

#ifdef __cplusplus
}
#endif
#endif
