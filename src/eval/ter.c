#include "eval/metric.h"
#include "eval/ter_edits.h"
#include "eval/ter_tokenizer.h"
#include "eval/token_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a line: edits to the nearest reference, mean length of the references. */
enum { EDITS, REFERENCE_LENGTH, NUMBERS };

enum { ARENA_BYTES = 1 << 16 };

typedef struct ter_state {
    const sa_metric *metric;
    cutter cut;
    token_ids tokens;
    size_t *hypothesis; /* its words */
    size_t capacity;
    arena *memory;
} ter_state;

void sa_ter_options_init(sa_ter_options *options) {
    *options = (sa_ter_options){0};
}

static sa_status check(const sa_metric *metric, sa_error *error) {
    (void)metric;
    (void)error;
    return SA_OK;
}

static int width(const sa_metric *metric) {
    (void)metric;
    return NUMBERS;
}

static void name(const sa_metric *metric, char text[METRIC_NAME_SIZE]) {
    (void)metric;
    snprintf(text, METRIC_NAME_SIZE, "TER");
}

static void describe(const sa_metric *metric, char *text, size_t size) {
    const sa_ter_options *options = &metric->ter;
    snprintf(text, size, "case:%s|tok:tercom|norm:%s|punct:%s|asian:%s", options->case_sensitive ? "mixed" : "lc",
             options->normalized ? "yes" : "no", options->no_punct ? "no" : "yes",
             options->asian_support ? "yes" : "no");
}

static bool open_state(void *state, const sa_metric *metric, size_t most_references) {
    (void)most_references;
    ter_state *s = state;
    s->metric = metric;
    s->memory = arena_new(ARENA_BYTES);
    return s->memory != NULL;
}

static void close_state(void *state) {
    ter_state *s = state;
    cutter_free(&s->cut);
    token_ids_free(&s->tokens);
    free(s->hypothesis);
    arena_free(s->memory);
}

/* Leaves the words of a text in s->tokens. */
static bool read_words(ter_state *s, const char *text) {
    size_t length;
    const char *tokens = ter_tokenize(&s->cut, &s->metric->ter, text, &length);
    return tokens && token_ids_read(&s->tokens, tokens, length, true);
}

static bool keep_hypothesis(ter_state *s) {
    size_t n = s->tokens.n;
    if (n > s->capacity) {
        size_t *grown = realloc(s->hypothesis, 2 * n * sizeof *grown);
        if (!grown)
            return false;
        s->hypothesis = grown;
        s->capacity = 2 * n;
    }
    if (n > 0)
        memcpy(s->hypothesis, s->tokens.id, n * sizeof *s->hypothesis);
    return true;
}

static bool count(void *state, const char *hypothesis, const char *const *references, size_t n_references,
                  double *numbers) {
    ter_state *s = state;
    token_ids_begin(&s->tokens);
    if (!read_words(s, hypothesis) || !keep_hypothesis(s))
        return false;
    size_t n = s->tokens.n, lengths = 0;
    int64_t fewest = INT64_MAX;
    for (size_t r = 0; r < n_references; r++) {
        if (!read_words(s, references[r]))
            return false;
        int64_t edits = ter_edits(s->memory, s->hypothesis, n, s->tokens.id, s->tokens.n);
        if (edits < 0)
            return false;
        fewest = edits < fewest ? edits : fewest;
        lengths += s->tokens.n;
    }
    numbers[EDITS] = (double)fewest;
    numbers[REFERENCE_LENGTH] = (double)lengths / (double)n_references;
    return true;
}

static void score(const sa_metric *metric, const double *sums, sa_score *out) {
    (void)metric;
    sa_ter_result *result = &out->detail.ter;
    result->edits = sums[EDITS];
    result->reference_length = sums[REFERENCE_LENGTH];
    if (result->reference_length > 0)
        result->ter = 100 * (result->edits / result->reference_length);
    else
        result->ter = result->edits > 0 ? 100 : 0;
    out->score = result->ter;
}

const metric_class ter_metric = {
    .label = "TER",
    .check = check,
    .width = width,
    .name = name,
    .describe = describe,
    .state_size = sizeof(ter_state),
    .open = open_state,
    .close = close_state,
    .count = count,
    .score = score,
    .signature_offset = offsetof(sa_score, detail.ter.signature),
};

sa_status sa_ter(const char *const *hypotheses, size_t n, const char *const *const *references, size_t n_references,
                 const sa_ter_options *options, sa_ter_result *result, sa_error *error) {
    sa_metric metric;
    sa_score total;
    sa_metric_init(&metric, SA_METRIC_TER);
    if (options)
        metric.ter = *options;
    sa_status status = metric_score_texts(&metric, hypotheses, n, references, n_references, &total, error);
    *result = total.detail.ter;
    return status;
}
