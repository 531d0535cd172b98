#include "base/utf8.h"
#include "eval/metric.h"
#include "eval/ngram_match.h"
#include "text/unicode_class.h"

#include <stdio.h>
#include <string.h>

/* What a precision or recall is taken for when there is nothing to divide by (chrF++.py). */
#define EPSILON 1e-16

/* The numbers of a line: these for each order, characters first, then words. */
enum { HYPOTHESIS, REFERENCE, MATCHES, NUMBERS };
static_assert(NUMBERS * 2 * SA_CHRF_MAX_ORDER <= METRIC_MAX_WIDTH, "an order of chrF has no room");

/* A text as its n-grams are counted. */
typedef struct chrf_text {
    strbuf characters; /* without white space, unless that counts */
    strbuf words;      /* one blank between them */
} chrf_text;

typedef struct chrf_state {
    const sa_metric *metric;
    strbuf lower;
    chrf_text hypothesis, reference;
    ngram_match characters, words;
} chrf_state;

void sa_chrf_options_init(sa_chrf_options *options) {
    *options = (sa_chrf_options){.char_order = 6, .beta = 2};
}

static sa_status check(const sa_metric *metric, sa_error *error) {
    const sa_chrf_options *options = &metric->chrf;
    if (options->char_order < 1 || options->char_order > SA_CHRF_MAX_ORDER)
        return sa_fail(error, SA_USAGE, "chrF: char_order is %d; give 1 to %d", options->char_order,
                       SA_CHRF_MAX_ORDER);
    if (options->word_order < 0 || options->word_order > SA_CHRF_MAX_ORDER)
        return sa_fail(error, SA_USAGE, "chrF: word_order is %d; give 0 to %d", options->word_order,
                       SA_CHRF_MAX_ORDER);
    if (options->beta < 0 || options->beta > 100)
        return sa_fail(error, SA_USAGE, "chrF: beta is %d; give 0 to 100", options->beta);
    return SA_OK;
}

static int width(const sa_metric *metric) {
    return NUMBERS * (metric->chrf.char_order + metric->chrf.word_order);
}

static void name(const sa_metric *metric, char text[METRIC_NAME_SIZE]) {
    static const char plus[] = "++++++++++";
    static_assert(sizeof plus > SA_CHRF_MAX_ORDER, "a + for each order of words");
    snprintf(text, METRIC_NAME_SIZE, "chrF%d%.*s", metric->chrf.beta, metric->chrf.word_order, plus);
}

static void describe(const sa_metric *metric, char *text, size_t size) {
    const sa_chrf_options *options = &metric->chrf;
    snprintf(text, size, "case:%s|eff:%s|nc:%d|nw:%d|space:%s", options->lowercase ? "lc" : "mixed",
             options->eps_smoothing ? "no" : "yes", options->char_order, options->word_order,
             options->whitespace ? "yes" : "no");
}

static bool open_state(void *state, const sa_metric *metric, size_t most_references) {
    (void)most_references;
    chrf_state *s = state;
    s->metric = metric;
    s->characters.max_order = metric->chrf.char_order;
    s->characters.tokens.characters = true;
    s->words.max_order = metric->chrf.word_order;
    return true;
}

static void free_text(chrf_text *t) {
    strbuf_free(&t->characters);
    strbuf_free(&t->words);
}

static void close_state(void *state) {
    chrf_state *s = state;
    strbuf_free(&s->lower);
    free_text(&s->hypothesis);
    free_text(&s->reference);
    ngram_match_free(&s->characters);
    ngram_match_free(&s->words);
}

static bool is_punctuation(char c) {
    return strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) != NULL;
}

/* A word of several characters that ends in punctuation, or else begins with it, is two. */
static void append_word(strbuf *words, const char *word, size_t length) {
    size_t cut = 0;
    if (utf8_count(word, length) > 1)
        cut = is_punctuation(word[length - 1]) ? length - 1 : is_punctuation(word[0]) ? 1 : 0;
    strbuf_append(words, " ", words->length > 0);
    strbuf_append(words, word, cut);
    strbuf_append(words, " ", cut > 0);
    strbuf_append(words, word + cut, length - cut);
}

/* False when memory ran out. */
static bool prepare(chrf_state *s, chrf_text *out, const char *text) {
    const sa_chrf_options *options = &s->metric->chrf;
    size_t length = strlen(text), start = 0, n;
    if (options->lowercase) {
        strbuf_clear(&s->lower);
        strbuf_append(&s->lower, "", 0);
        unicode_append_lower(&s->lower, text, length);
        if (s->lower.failed)
            return false;
        text = s->lower.data;
        length = s->lower.length;
    }
    strbuf_clear(&out->characters);
    strbuf_clear(&out->words);
    strbuf_append(&out->characters, "", 0);
    strbuf_append(&out->words, "", 0);
    for (size_t i = 0; i <= length; i += n) {
        uint32_t c = ' ';
        n = i < length ? utf8_decode(text + i, length - i, &c) : 1;
        if (!unicode_is_space(c))
            continue;
        if (i > start && options->word_order)
            append_word(&out->words, text + start, i - start);
        if (!options->whitespace)
            strbuf_append(&out->characters, text + start, i - start);
        start = i + n;
    }
    if (options->whitespace)
        strbuf_append(&out->characters, text, length);
    return !out->characters.failed && !out->words.failed;
}

static double ngrams(int64_t tokens, int order) {
    return tokens >= order ? (double)(tokens - order + 1) : 0;
}

static bool count_orders(ngram_match *m, const strbuf *hypothesis, const strbuf *reference, double *numbers) {
    int64_t n_hypothesis, n_reference, correct[SA_CHRF_MAX_ORDER] = {0};
    if (m->max_order == 0)
        return true;
    ngram_match_begin(m);
    if (!ngram_match_reference(m, reference->data, reference->length, &n_reference) ||
        !ngram_match_hypothesis(m, hypothesis->data, hypothesis->length, &n_hypothesis, correct))
        return false;
    for (int i = 0; i < m->max_order; i++, numbers += NUMBERS) {
        numbers[REFERENCE] = ngrams(n_reference, i + 1);
        /* Where the reference is too short to have any, those of the hypothesis are no mistakes. */
        numbers[HYPOTHESIS] = numbers[REFERENCE] > 0 ? ngrams(n_hypothesis, i + 1) : 0;
        numbers[MATCHES] = (double)correct[i];
    }
    return true;
}

static double f_score(const sa_chrf_options *options, const double *numbers) {
    double factor = (double)options->beta * options->beta, sum = 0, precisions = 0, recalls = 0;
    int order = options->char_order + options->word_order, effective = 0;
    for (int i = 0; i < order; i++, numbers += NUMBERS) {
        double precision = numbers[HYPOTHESIS] > 0 ? numbers[MATCHES] / numbers[HYPOTHESIS] : EPSILON;
        double recall = numbers[REFERENCE] > 0 ? numbers[MATCHES] / numbers[REFERENCE] : EPSILON;
        double denominator = factor * precision + recall;
        sum += denominator > 0 ? (1 + factor) * precision * recall / denominator : EPSILON;
        if (numbers[HYPOTHESIS] > 0 && numbers[REFERENCE] > 0) {
            precisions += precision;
            recalls += recall;
            effective++;
        }
    }
    if (options->eps_smoothing)
        return 100 * sum / order;
    if (!(precisions + recalls > 0))
        return 0;
    precisions /= effective;
    recalls /= effective;
    return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls));
}

static bool count(void *state, const char *hypothesis, const char *const *references, size_t n_references,
                  double *numbers) {
    chrf_state *s = state;
    const sa_metric *metric = s->metric;
    double best = -1;
    if (!prepare(s, &s->hypothesis, hypothesis))
        return false;
    for (size_t r = 0; r < n_references; r++) {
        double found[METRIC_MAX_WIDTH];
        if (!prepare(s, &s->reference, references[r]) ||
            !count_orders(&s->characters, &s->hypothesis.characters, &s->reference.characters, found) ||
            !count_orders(&s->words, &s->hypothesis.words, &s->reference.words,
                          found + NUMBERS * metric->chrf.char_order))
            return false;
        double f = f_score(&metric->chrf, found);
        if (f > best) {
            best = f;
            memcpy(numbers, found, (size_t)width(metric) * sizeof *numbers);
        }
    }
    return true;
}

static void score(const sa_metric *metric, const double *sums, sa_score *out) {
    out->score = out->detail.chrf.chrf = f_score(&metric->chrf, sums);
}

const metric_class chrf_metric = {
    .label = "chrF",
    .check = check,
    .width = width,
    .name = name,
    .describe = describe,
    .state_size = sizeof(chrf_state),
    .open = open_state,
    .close = close_state,
    .count = count,
    .score = score,
    .signature_offset = offsetof(sa_score, detail.chrf.signature),
};

sa_status sa_chrf(const char *const *hypotheses, size_t n, const char *const *const *references,
                  size_t n_references, const sa_chrf_options *options, sa_chrf_result *result, sa_error *error) {
    sa_metric metric;
    sa_score total;
    sa_metric_init(&metric, SA_METRIC_CHRF);
    if (options)
        metric.chrf = *options;
    sa_status status = metric_score_texts(&metric, hypotheses, n, references, n_references, &total, error);
    *result = total.detail.chrf;
    return status;
}
