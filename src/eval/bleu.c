#include "base/error.h"
#include "eval/bleu_tokenizer.h"
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

/* The working state of one call of sa_bleu. */
typedef struct scorer {
    bleu_tokenizer tokenizer;
    ngram_match match;
    int64_t *reference_length;                 /* of the line at hand */
    size_t fewest_references, most_references; /* a line has, of those that are not left out */
} scorer;

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

static sa_status check_options(const sa_bleu_options *options, sa_error *error) {
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

static sa_status add_reference(scorer *s, const char *text, int64_t *length, sa_error *error) {
    size_t bytes;
    const char *tokens = bleu_tokenize(&s->tokenizer, text, &bytes);
    if (!tokens || !ngram_match_reference(&s->match, tokens, bytes, length))
        return sa_fail_memory(error, 0);
    return SA_OK;
}

static sa_status score_line(scorer *s, const char *hypothesis, const char *const *const *references,
                            size_t n_references, size_t line, sa_bleu_result *result, sa_error *error) {
    size_t n = 0;
    ngram_match_begin(&s->match);
    for (size_t r = 0; r < n_references; r++) {
        if (!references[r][line])
            continue;
        SA_TRY(add_reference(s, references[r][line], &s->reference_length[n], error));
        n += s->reference_length[n] > 0;
    }
    if (n == 0) /* none but empty ones: one of them counts */
        s->reference_length[n++] = 0;

    int64_t length;
    size_t bytes;
    const char *tokens = bleu_tokenize(&s->tokenizer, hypothesis, &bytes);
    if (!tokens || !ngram_match_hypothesis(&s->match, tokens, bytes, &length, result->correct))
        return sa_fail_memory(error, 0);
    for (int i = 0; i < s->match.max_order && i < length; i++)
        result->total[i] += length - i;
    result->hypothesis_length += length;
    result->reference_length += closest_length(s->reference_length, n, length);
    if (n < s->fewest_references)
        s->fewest_references = n;
    if (n > s->most_references)
        s->most_references = n;
    return SA_OK;
}

/* Two decimals with a point whatever the locale; 0 <= value <= LARGEST_SMOOTH_VALUE. */
static void print_smooth_value(char *text, size_t size, double value) {
    char number[32];
    int n = snprintf(number, sizeof number, "%.2f", value);
    snprintf(text, size, "[%.*s.%s]", (int)strspn(number, "0123456789"), number, number + n - 2);
}

static void write_signature(const scorer *s, const sa_bleu_options *options, sa_bleu_result *result) {
    char number[24] = "var", value[32] = "";
    if (s->fewest_references == s->most_references)
        snprintf(number, sizeof number, "%zu", s->most_references);
    const smoothing_method *smoothing = &smoothings[options->smoothing];
    if (smoothing->has_value)
        print_smooth_value(value, sizeof value, smooth_value_of(options));
    snprintf(result->signature, sizeof result->signature,
             "nrefs:%s|case:%s|eff:%s|tok:%s|smooth:%s%s|version:softalign-" SA_VERSION, number,
             options->lowercase ? "lc" : "mixed", options->effective_order ? "yes" : "no",
             bleu_tokenizer_name(options->tokenizer), smoothing->name, value);
}

static sa_status check_texts(const char *const *hypotheses, size_t n, const char *const *const *references,
                             size_t n_references, sa_error *error) {
    if (n == 0)
        return sa_fail(error, SA_DATA, "BLEU: there is no line to score");
    if (n_references == 0)
        return sa_fail(error, SA_USAGE, "BLEU: there is no reference; give one at least");
    for (size_t i = 0; i < n; i++) {
        if (!hypotheses[i])
            return sa_fail(error, SA_USAGE, "BLEU: hypothesis %zu is NULL; give an empty text instead", i + 1);
        if (n_references == 1 && !references[0][i])
            return sa_fail(error, SA_USAGE, "BLEU: line %zu has no reference", i + 1);
    }
    return SA_OK;
}

sa_status sa_bleu(const char *const *hypotheses, size_t n, const char *const *const *references,
                  size_t n_references, const sa_bleu_options *options, sa_bleu_result *result, sa_error *error) {
    sa_bleu_options usual;
    sa_bleu_options_init(&usual);
    if (!options)
        options = &usual;
    *result = (sa_bleu_result){0};
    SA_TRY(check_options(options, error));
    SA_TRY(check_texts(hypotheses, n, references, n_references, error));

    scorer s = {.tokenizer = {.kind = options->tokenizer, .lowercase = options->lowercase},
                .match = {.max_order = options->max_order},
                .reference_length = calloc(n_references, sizeof *s.reference_length),
                .fewest_references = n_references};
    sa_status status = SA_OK;
    if (!s.reference_length)
        status = sa_fail_memory(error, n_references * sizeof *s.reference_length);
    for (size_t i = 0; i < n && status == SA_OK; i++)
        status = score_line(&s, hypotheses[i], references, n_references, i, result, error);
    if (status == SA_OK) {
        sa_bleu_compute(result, options);
        write_signature(&s, options, result);
    }
    bleu_tokenizer_free(&s.tokenizer);
    ngram_match_free(&s.match);
    free(s.reference_length);
    return status;
}
