#include "eval/metric.h"
#include "text/links.h"

#include <stdio.h>
#include <stdlib.h>

/* The numbers of a line: links, sure links of the references, and the links that are sure and possible ones. */
enum { LINKS, SURE, SURE_FOUND, POSSIBLE_FOUND, NUMBERS };

typedef struct aer_state {
    const sa_metric *metric;
} aer_state;

void sa_aer_options_init(sa_aer_options *options) {
    *options = (sa_aer_options){0};
}

static sa_status check(const sa_metric *metric, sa_error *error) {
    sa_links none;
    SA_TRY(sa_links_parse(&none, "", metric->aer.base, false, error));
    return sa_links_parse(&none, "", metric->aer.reference_base, false, error);
}

static sa_status check_text(const sa_metric *metric, const char *text, bool is_reference, sa_error *error) {
    sa_links links;
    SA_TRY(
        sa_links_parse(&links, text, is_reference ? metric->aer.reference_base : metric->aer.base, false, error));
    sa_links_free(&links);
    return SA_OK;
}

static int width(const sa_metric *metric) {
    (void)metric;
    return NUMBERS;
}

static void name(const sa_metric *metric, char text[METRIC_NAME_SIZE]) {
    (void)metric;
    snprintf(text, METRIC_NAME_SIZE, "AER");
}

static void describe(const sa_metric *metric, char *text, size_t size) {
    snprintf(text, size, "base:%d|refbase:%d|swap:%s", metric->aer.base, metric->aer.reference_base,
             metric->aer.swap ? "yes" : "no");
}

static bool open_state(void *state, const sa_metric *metric, size_t most_references) {
    (void)most_references;
    ((aer_state *)state)->metric = metric;
    return true;
}

static void close_state(void *state) {
    (void)state;
}

/* Adds the links of another reference: sure are those that are sure in all. */
static bool merge(sa_links *gold, size_t *capacity, const sa_links *more) {
    for (size_t i = 0; i < gold->n; i++) {
        const sa_link *other = links_find(more, gold->link[i].source, gold->link[i].target);
        gold->link[i].possible = gold->link[i].possible || !other || other->possible;
    }
    size_t before = gold->n;
    for (size_t i = 0; i < more->n; i++) {
        sa_link link = more->link[i];
        sa_links known = {before, gold->link};
        link.possible = true;
        if (!links_find(&known, link.source, link.target) && !links_push(gold, capacity, link))
            return false;
    }
    links_sort(gold);
    return true;
}

static bool read_references(const sa_aer_options *o, const char *const *references, size_t n, sa_links *gold) {
    if (sa_links_parse(gold, references[0], o->reference_base, false, NULL) != SA_OK)
        return false;
    size_t capacity = gold->n;
    bool ok = true;
    for (size_t r = 1; r < n && ok; r++) {
        sa_links more;
        ok = sa_links_parse(&more, references[r], o->reference_base, false, NULL) == SA_OK &&
             merge(gold, &capacity, &more);
        sa_links_free(&more);
    }
    return ok;
}

/* Texts have passed check_text: what fails here is memory. */
static bool count(void *state, const char *hypothesis, const char *const *references, size_t n_references,
                  double *numbers) {
    const sa_aer_options *o = &((aer_state *)state)->metric->aer;
    sa_links links, gold = {0};
    bool ok = sa_links_parse(&links, hypothesis, o->base, o->swap, NULL) == SA_OK &&
              read_references(o, references, n_references, &gold);
    numbers[LINKS] = (double)links.n;
    for (size_t i = 0; ok && i < gold.n; i++)
        numbers[SURE] += !gold.link[i].possible;
    for (size_t i = 0; ok && i < links.n; i++) {
        const sa_link *found = links_find(&gold, links.link[i].source, links.link[i].target);
        numbers[POSSIBLE_FOUND] += found != NULL;
        numbers[SURE_FOUND] += found && !found->possible;
    }
    sa_links_free(&links);
    sa_links_free(&gold);
    return ok;
}

static double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

static void score(const sa_metric *metric, const double *sums, sa_score *out) {
    (void)metric;
    sa_aer_result *r = &out->detail.aer;
    double all = sums[LINKS] + sums[SURE];
    r->links = (int64_t)sums[LINKS];
    r->sure = (int64_t)sums[SURE];
    r->precision = percent(sums[POSSIBLE_FOUND], sums[LINKS]);
    r->recall = percent(sums[SURE_FOUND], sums[SURE]);
    r->aer = all > 0 ? 100 - percent(sums[SURE_FOUND] + sums[POSSIBLE_FOUND], all) : 0;
    out->score = r->aer;
}

const metric_class aer_metric = {
    .label = "AER",
    .check = check,
    .check_text = check_text,
    .width = width,
    .name = name,
    .describe = describe,
    .state_size = sizeof(aer_state),
    .open = open_state,
    .close = close_state,
    .count = count,
    .score = score,
    .signature_offset = offsetof(sa_score, detail.aer.signature),
};

sa_status sa_aer(const char *const *hypotheses, size_t n, const char *const *const *references, size_t n_references,
                 const sa_aer_options *options, sa_aer_result *result, sa_error *error) {
    sa_metric metric;
    sa_score total;
    sa_metric_init(&metric, SA_METRIC_AER);
    if (options)
        metric.aer = *options;
    sa_status status = metric_score_texts(&metric, hypotheses, n, references, n_references, &total, error);
    *result = total.detail.aer;
    return status;
}
