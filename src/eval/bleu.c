#include "eval/bleu_tokenizer.h"
#include "eval/metric.h"
#include "eval/ngram_match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_SMOOTH_VALUE 1e9

typedef struct smoothing_method {
    const char *name;
    double usual_value; /* Chen and Cherry 2014 */
    bool has_value;
} smoothing_method;

static const smoothing_method smoothings[] = {
    [SA_SMOOTH_EXP] = {"exp", 0, false},
    [SA_SMOOTH_FLOOR] = {"floor", 0.1, true},
    [SA_SMOOTH_ADD_K] = {"add-k", 1, true},
    [SA_SMOOTH_NONE] = {"none", 0, false},
};

void sa_bleu_options_init(sa_bleu_options *options) {
    *options =
        (sa_bleu_options){.tokenizer = SA_TOK_13A, .smoothing = SA_SMOOTH_EXP, .smooth_value = -1, .max_order = 4};
}

static double smooth_value_of(const sa_bleu_options *options) {
    return options->smooth_value < 0 ? smoothings[options->smoothing].usual_value : options->smooth_value;
}

static double brevity_penalty(double hypothesis_length, double reference_length) {
    if (hypothesis_length >= reference_length)
        return 1;
    return hypothesis_length > 0 ? exp(1 - reference_length / hypothesis_length) : 0;
}

static bool has_match(const sa_bleu_result *result, int max_order) {
    for (int i = 0; i < max_order; i++)
        if (result->correct[i])
            return true;
    return false;
}

void sa_bleu_compute(sa_bleu_result *result, const sa_bleu_options *options) {
    int max_order = options->max_order, order = max_order;
    SA_ASSERT(max_order >= 1 && max_order <= SA_BLEU_MAX_ORDER);
    double value = smooth_value_of(options), denominator = 1;

    result->bleu = 0;
    result->brevity_penalty = brevity_penalty((double)result->hypothesis_length, (double)result->reference_length);
    for (int i = 0; i < SA_BLEU_MAX_ORDER; i++)
        result->precision[i] = 0;
    /* No word in common is 0, whatever the smoothing makes of it. */
    if (!has_match(result, max_order))
        return;

    for (int i = 0; i < max_order; i++) {
        double added = options->smoothing == SA_SMOOTH_ADD_K && i > 0 ? value : 0;
        double correct = (double)result->correct[i] + added, total = (double)result->total[i] + added;
        if (total == 0)
            break;
        if (options->effective_order)
            order = i + 1;
        if (correct > 0) {
            result->precision[i] = 100 * correct / total;
        } else if (options->smoothing == SA_SMOOTH_EXP) {
            denominator *= 2;
            result->precision[i] = 100 / (denominator * total);
        } else if (options->smoothing == SA_SMOOTH_FLOOR) {
            result->precision[i] = 100 * value / total;
        }
    }
    double log_sum = 0;
    for (int i = 0; i < order; i++)
        log_sum += log(result->precision[i]); /* log 0 is -inf, and exp of that the 0 it should be */
    result->bleu = result->brevity_penalty * exp(log_sum / order);
}

static sa_status check(const sa_metric *metric, sa_error *error) {
    const sa_bleu_options *options = &metric->bleu;
    if (options->max_order < 1 || options->max_order > SA_BLEU_MAX_ORDER)
        return sa_fail(error, SA_USAGE, "BLEU: max_order is %d; give 1 to %d", options->max_order,
                       SA_BLEU_MAX_ORDER);
    if (!bleu_tokenizer_name(options->tokenizer))
        return sa_fail(error, SA_USAGE, "BLEU: there is no tokenizer number %d", (int)options->tokenizer);
    if ((size_t)options->smoothing >= sizeof smoothings / sizeof smoothings[0])
        return sa_fail(error, SA_USAGE, "BLEU: there is no smoothing method number %d", (int)options->smoothing);
    if (!(options->smooth_value <= LARGEST_SMOOTH_VALUE))
        return sa_fail(error, SA_USAGE,
                       "BLEU: the smoothing value is too large or not a number; give 0 to %.0f, or a negative one "
                       "for the usual value",
                       LARGEST_SMOOTH_VALUE);
    return SA_OK;
}

static void name(const sa_metric *metric, char text[METRIC_NAME_SIZE]) {
    (void)metric;
    snprintf(text, METRIC_NAME_SIZE, "BLEU");
}

/* Two decimals with a point whatever the locale; 0 <= value <= LARGEST_SMOOTH_VALUE. */
static void print_smooth_value(char *text, size_t size, double value) {
    char number[32];
    int n = snprintf(number, sizeof number, "%.2f", value);
    snprintf(text, size, "[%.*s.%s]", (int)strspn(number, "0123456789"), number, number + n - 2);
}

static void describe(const sa_metric *metric, char *text, size_t size) {
    const sa_bleu_options *options = &metric->bleu;
    const smoothing_method *smoothing = &smoothings[options->smoothing];
    char value[32] = "";
    if (smoothing->has_value)
        print_smooth_value(value, sizeof value, smooth_value_of(options));
    snprintf(text, size, "case:%s|eff:%s|tok:%s|smooth:%s%s", options->lowercase ? "lc" : "mixed",
             options->effective_order ? "yes" : "no", bleu_tokenizer_name(options->tokenizer), smoothing->name,
             value);
}

/* ---- lines ------------------------------------------------------------------------------------------- */

/* The numbers of a line: */
enum { HYPOTHESIS_LENGTH, REFERENCE_LENGTH, CORRECT /* of each order, then as many totals */ };

typedef struct bleu_state {
    bleu_tokenizer tokenizer;
    ngram_match match;
    int64_t *reference_length; /* of the line at hand */
} bleu_state;

static int width(const sa_metric *metric) {
    return CORRECT + 2 * metric->bleu.max_order;
}

static bool open_state(void *state, const sa_metric *metric, size_t most_references) {
    bleu_state *s = state;
    s->tokenizer.kind = metric->bleu.tokenizer;
    s->tokenizer.lowercase = metric->bleu.lowercase;
    s->match.max_order = metric->bleu.max_order;
    s->reference_length = calloc(most_references, sizeof *s->reference_length);
    return s->reference_length != NULL;
}

static void close_state(void *state) {
    bleu_state *s = state;
    bleu_tokenizer_free(&s->tokenizer);
    ngram_match_free(&s->match);
    free(s->reference_length);
}

/* The length nearest to that of the hypothesis; of two as near, the shorter. */
static int64_t closest_length(const int64_t *reference_length, size_t n, int64_t length) {
    int64_t best = reference_length[0];
    for (size_t i = 1; i < n; i++) {
        int64_t candidate = reference_length[i];
        int64_t distance = candidate > length ? candidate - length : length - candidate;
        int64_t least = best > length ? best - length : length - best;
        if (distance < least || (distance == least && candidate < best))
            best = candidate;
    }
    return best;
}

static bool count(void *state, const char *hypothesis, const char *const *references, size_t n_references,
                  double *numbers) {
    bleu_state *s = state;
    int max_order = s->match.max_order;
    int64_t length, correct[SA_BLEU_MAX_ORDER] = {0};
    size_t bytes;
    ngram_match_begin(&s->match);
    for (size_t r = 0; r < n_references; r++) {
        const char *tokens = bleu_tokenize(&s->tokenizer, references[r], &bytes);
        if (!tokens || !ngram_match_reference(&s->match, tokens, bytes, &s->reference_length[r]))
            return false;
    }
    const char *tokens = bleu_tokenize(&s->tokenizer, hypothesis, &bytes);
    if (!tokens || !ngram_match_hypothesis(&s->match, tokens, bytes, &length, correct))
        return false;
    numbers[HYPOTHESIS_LENGTH] = (double)length;
    numbers[REFERENCE_LENGTH] = (double)closest_length(s->reference_length, n_references, length);
    for (int i = 0; i < max_order; i++) {
        numbers[CORRECT + i] = (double)correct[i];
        numbers[CORRECT + max_order + i] = i < length ? (double)(length - i) : 0;
    }
    return true;
}

static void score(const sa_metric *metric, const double *sums, sa_score *out) {
    sa_bleu_result *result = &out->detail.bleu;
    int max_order = metric->bleu.max_order;
    result->hypothesis_length = (int64_t)sums[HYPOTHESIS_LENGTH];
    result->reference_length = (int64_t)sums[REFERENCE_LENGTH];
    for (int i = 0; i < max_order; i++) {
        result->correct[i] = (int64_t)sums[CORRECT + i];
        result->total[i] = (int64_t)sums[CORRECT + max_order + i];
    }
    sa_bleu_compute(result, &metric->bleu);
    out->score = result->bleu;
}

const metric_class bleu_metric = {
    .label = "BLEU",
    .check = check,
    .width = width,
    .name = name,
    .describe = describe,
    .state_size = sizeof(bleu_state),
    .open = open_state,
    .close = close_state,
    .count = count,
    .score = score,
    .signature_offset = offsetof(sa_score, detail.bleu.signature),
};

sa_status sa_bleu(const char *const *hypotheses, size_t n, const char *const *const *references,
                  size_t n_references, const sa_bleu_options *options, sa_bleu_result *result, sa_error *error) {
    sa_metric metric;
    sa_score total;
    sa_metric_init(&metric, SA_METRIC_BLEU);
    if (options)
        metric.bleu = *options;
    sa_status status = metric_score_texts(&metric, hypotheses, n, references, n_references, &total, error);
    *result = total.detail.bleu;
    return status;
}
