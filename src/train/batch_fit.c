#include "train/batch_fit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

sa_status length_table_make(length_table *out, const corpus *c, sa_error *error) {
    int T = 0;
    for (size_t i = 0; i < c->n; i++)
        T = c->pair[i].target_length > T ? c->pair[i].target_length : T;
    *out = (length_table){T, calloc((size_t)T + 1, sizeof *out->pairs), calloc((size_t)T + 1, sizeof *out->source)};
    if (!out->pairs || !out->source) {
        length_table_free(out);
        return sa_fail_memory(error, 0);
    }
    for (size_t i = 0; i < c->n; i++) {
        const pair *p = &c->pair[i];
        int *longest = &out->source[p->target_length];
        out->pairs[p->target_length]++;
        *longest = p->source_length > *longest ? p->source_length : *longest;
    }
    for (int t = 1; t <= T; t++) {
        out->pairs[t] += out->pairs[t - 1];
        out->source[t] = out->source[t - 1] > out->source[t] ? out->source[t - 1] : out->source[t];
    }
    return SA_OK;
}

void length_table_free(length_table *t) {
    free(t->pairs);
    free(t->source);
    *t = (length_table){0};
}

/* Pairs whose target has T symbols: where there are none, no minibatch has that for its longest. */
static size_t pairs_of(const length_table *t, int T) {
    return t->pairs[T] - t->pairs[T - 1];
}

/* Sentences that the limits let stand together when the longest target has T symbols. */
static int allowed(batch_limits limits, int T) {
    int sentences = limits.sentences > 0 ? limits.sentences : INT_MAX;
    int words = limits.words / T > 1 ? limits.words / T : 1;
    return limits.words > 0 && words < sentences ? words : sentences;
}

static double minibatch_bytes(const pass_cost *cost, const length_table *t, double B, int T, int shards) {
    return shards * pass_cost_of(cost, true, B / shards, t->source[T], T);
}

double largest_minibatch(const pass_cost *cost, const length_table *t, batch_limits limits, int shards) {
    double most = 0;
    for (int T = 1; T <= t->T; T++)
        if (pairs_of(t, T) > 0) {
            double B = fmin((double)t->pairs[T], allowed(limits, T));
            most = fmax(most, minibatch_bytes(cost, t, B, T, shards));
        }
    return most;
}

/* The most sentences that fit when the longest target has T symbols; 0: not even one. */
static int most_sentences(const pass_cost *cost, const length_table *t, int T, int shards, double bytes) {
    enum { SENTENCES_MAX = 1000000 };
    int fits = 0, exceeds = SENTENCES_MAX + 1;
    while (exceeds - fits > 1) {
        int middle = fits + (exceeds - fits) / 2;
        if (minibatch_bytes(cost, t, middle, T, shards) <= bytes)
            fits = middle;
        else
            exceeds = middle;
    }
    return fits;
}

/* The widest limit of words that, beside that one of sentences, keeps to most[T] sentences for every T. */
static int widest_words(const length_table *t, const int *most, int sentences) {
    int words = INT_MAX;
    for (int T = 1; T <= t->T; T++)
        if (pairs_of(t, T) > 0 && most[T] < sentences && words / T > most[T])
            words = (most[T] + 1) * T - 1;
    return words == INT_MAX ? 0 : words;
}

/* About how many minibatches the limits make of the text. */
static double count_minibatches(const length_table *t, batch_limits limits) {
    double n = 0;
    for (int T = 1; T <= t->T; T++)
        n += (double)pairs_of(t, T) / allowed(limits, T);
    return n;
}

sa_status batch_limits_fit(batch_limits *out, const pass_cost *cost, const length_table *t, int shards,
                           double bytes, sa_error *error) {
    int *most = calloc((size_t)t->T + 1, sizeof *most);
    if (!most)
        return sa_fail_memory(error, 0);
    for (int T = 1; T <= t->T; T++)
        most[T] = most_sentences(cost, t, T, shards, bytes);
    bool holds_one = most[t->T] > 0;
    *out = (batch_limits){0};
    for (int T = t->T; holds_one && T >= 1; T--) { /* from few long sentences to many short ones */
        batch_limits tried = {most[T], widest_words(t, most, most[T])};
        if (out->sentences == 0 || count_minibatches(t, tried) < count_minibatches(t, *out))
            *out = tried;
    }
    free(most);
    if (holds_one)
        return SA_OK;
    return sa_fail(
        error, SA_USAGE,
        "a workspace of %.0f MB does not hold the pass of one pair of %d and %d symbols: at least %.0f are "
        "needed, or a smaller --max-length or --shards",
        bytes / 1e6, t->source[t->T], t->T, ceil(minibatch_bytes(cost, t, 1, t->T, shards) / 1e6));
}
