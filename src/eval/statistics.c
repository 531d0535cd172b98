#include "eval/metric.h"
#include "text/unicode_class.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const metric_class *const metrics[] = {
    [SA_METRIC_BLEU] = &bleu_metric,
    [SA_METRIC_CHRF] = &chrf_metric,
    [SA_METRIC_TER] = &ter_metric,
    [SA_METRIC_AER] = &aer_metric,
};

enum { METRICS = sizeof metrics / sizeof metrics[0] };

void sa_metric_init(sa_metric *metric, sa_metric_kind kind) {
    *metric = (sa_metric){.kind = kind};
    sa_bleu_options_init(&metric->bleu);
    sa_chrf_options_init(&metric->chrf);
    sa_ter_options_init(&metric->ter);
    sa_aer_options_init(&metric->aer);
}

static sa_status check_texts(const char *label, const char *const *hypotheses, size_t n,
                             const char *const *const *references, size_t n_references, sa_error *error) {
    if (n == 0)
        return sa_fail(error, SA_DATA, "%s: there is no line to score", label);
    if (n_references == 0)
        return sa_fail(error, SA_USAGE, "%s: there is no reference; give one at least", label);
    for (size_t i = 0; i < n; i++) {
        if (!hypotheses[i])
            return sa_fail(error, SA_USAGE, "%s: hypothesis %zu is NULL; give an empty text instead", label, i + 1);
        if (n_references == 1 && !references[0][i])
            return sa_fail(error, SA_USAGE, "%s: line %zu has no reference", label, i + 1);
    }
    return SA_OK;
}

static sa_status check_text(const sa_statistics *s, const char *text, size_t line, size_t reference,
                            sa_error *error) {
    sa_error inner;
    if (!text || s->class->check_text(&s->metric, text, reference > 0, &inner) == SA_OK)
        return SA_OK;
    if (reference == 0)
        return sa_fail(error, inner.status, "%s: hypothesis %zu: %s", s->class->label, line + 1, inner.text);
    return sa_fail(error, inner.status, "%s: line %zu of reference %zu: %s", s->class->label, line + 1, reference,
                   inner.text);
}

static sa_status check_contents(const sa_statistics *s, const char *const *hypotheses,
                                const char *const *const *references, size_t n_references, sa_error *error) {
    for (size_t i = 0; s->class->check_text && i < s->n; i++) {
        SA_TRY(check_text(s, hypotheses[i], i, 0, error));
        for (size_t r = 0; r < n_references; r++)
            SA_TRY(check_text(s, references[r][i], i, r + 1, error));
    }
    return SA_OK;
}

static bool is_blank(const char *text) {
    size_t length = strlen(text);
    uint32_t c;
    for (size_t i = 0; i < length;) {
        i += utf8_decode(text + i, length - i, &c);
        if (!unicode_is_space(c))
            return false;
    }
    return true;
}

/* The references of a line that count; when none does, an empty one. */
static size_t gather(const char *const *const *references, size_t n_references, size_t line, const char **found) {
    size_t n = 0;
    for (size_t r = 0; r < n_references; r++) {
        const char *text = references[r][line];
        if (text && !is_blank(text))
            found[n++] = text;
    }
    if (n == 0)
        found[n++] = "";
    return n;
}

static void write_signature(sa_statistics *s, size_t fewest, size_t most) {
    char number[24] = "var", description[96];
    if (fewest == most)
        snprintf(number, sizeof number, "%zu", most);
    s->class->describe(&s->metric, description, sizeof description);
    snprintf(s->signature, sizeof s->signature, "nrefs:%s|%s|version:softalign-" SA_VERSION, number, description);
}

static sa_status count_lines(sa_statistics *s, void *state, const char *const *hypotheses,
                             const char *const *const *references, size_t n_references, sa_error *error) {
    const char **found = malloc(n_references * sizeof *found);
    if (!found)
        return sa_fail_memory(error, n_references * sizeof *found);
    size_t fewest = n_references, most = 0;
    bool counted = true;
    for (size_t i = 0; i < s->n && counted; i++) {
        size_t n = gather(references, n_references, i, found);
        fewest = n < fewest ? n : fewest;
        most = n > most ? n : most;
        counted = s->class->count(state, hypotheses[i], found, n, s->numbers + i * s->stride);
    }
    free(found);
    if (!counted)
        return sa_fail_memory(error, 0);
    write_signature(s, fewest, most);
    return SA_OK;
}

static sa_status collect(sa_statistics *s, const char *const *hypotheses, const char *const *const *references,
                         size_t n_references, sa_error *error) {
    SA_TRY(check_contents(s, hypotheses, references, n_references, error));
    s->width = s->class->width(&s->metric);
    s->class->name(&s->metric, s->name);
    s->stride = ((size_t)s->width + METRIC_COLUMNS - 1) / METRIC_COLUMNS * METRIC_COLUMNS;
    s->numbers = calloc(s->n, s->stride * sizeof *s->numbers);
    if (!s->numbers)
        return sa_fail_memory(error, s->n * s->stride * sizeof *s->numbers);
    void *state = calloc(1, s->class->state_size);
    if (!state)
        return sa_fail_memory(error, s->class->state_size);
    sa_status status;
    if (!s->class->open(state, &s->metric, n_references))
        status = sa_fail_memory(error, 0);
    else
        status = count_lines(s, state, hypotheses, references, n_references, error);
    s->class->close(state);
    free(state);
    return status;
}

sa_status sa_statistics_collect(sa_statistics **out, const sa_metric *metric, const char *const *hypotheses,
                                size_t n, const char *const *const *references, size_t n_references,
                                sa_error *error) {
    *out = NULL;
    if ((size_t)metric->kind >= METRICS)
        return sa_fail(error, SA_USAGE, "there is no metric number %d", (int)metric->kind);
    const metric_class *class = metrics[metric->kind];
    SA_TRY(class->check(metric, error));
    SA_TRY(check_texts(class->label, hypotheses, n, references, n_references, error));
    sa_statistics *s = calloc(1, sizeof *s);
    if (!s)
        return sa_fail_memory(error, sizeof *s);
    s->class = class;
    s->metric = *metric;
    s->n = n;
    sa_status status = collect(s, hypotheses, references, n_references, error);
    if (status == SA_OK)
        *out = s;
    else
        sa_statistics_free(s);
    return status;
}

void sa_statistics_free(sa_statistics *s) {
    if (!s)
        return;
    free(s->numbers);
    free(s);
}

const char *sa_statistics_name(const sa_statistics *s) {
    return s->name;
}

const char *sa_statistics_signature(const sa_statistics *s) {
    return s->signature;
}

void sa_statistics_score(const sa_statistics *s, size_t first, size_t n, sa_score *score) {
    SA_ASSERT(first <= s->n && n <= s->n - first);
    double sums[METRIC_MAX_WIDTH] = {0};
    for (size_t i = first; i < first + n; i++)
        for (int k = 0; k < s->width; k++)
            sums[k] += s->numbers[i * s->stride + (size_t)k];
    *score = (sa_score){0};
    s->class->score(&s->metric, sums, score);
    memcpy((char *)score + s->class->signature_offset, s->signature, sizeof s->signature);
}

sa_status metric_score_texts(const sa_metric *metric, const char *const *hypotheses, size_t n,
                             const char *const *const *references, size_t n_references, sa_score *score,
                             sa_error *error) {
    sa_statistics *s;
    *score = (sa_score){0};
    SA_TRY(sa_statistics_collect(&s, metric, hypotheses, n, references, n_references, error));
    sa_statistics_score(s, 0, n, score);
    sa_statistics_free(s);
    return SA_OK;
}
