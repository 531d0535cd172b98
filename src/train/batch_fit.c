#include "train/batch_fit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* What a file of ids says of lengths is checked only when a pair is used: a length that none can have counts as the
 * longest that one can. */
static int length_of(int32_t length) {
    enum { LONGEST = 1 << 24 };
    return length < 1 || length > LONGEST ? LONGEST : length;
}

static int longer(int a, int b) {
    return a > b ? a : b;
}

sa_status length_table_make(length_table *out, const corpus *c, int least, sa_error *error) {
    int T = least;
    for (size_t i = 0; i < c->n; i++)
        T = longer(length_of(c->entry[i].target_length), T);
    *out = (length_table){T, calloc((size_t)T + 1, sizeof *out->pairs), calloc((size_t)T + 1, sizeof *out->source)};
    if (!out->pairs || !out->source) {
        length_table_free(out);
        return sa_fail_memory(error, 0);
    }
    for (size_t i = 0; i < c->n; i++) {
        int t = longer(length_of(c->entry[i].target_length), least);
        int s = longer(length_of(c->entry[i].source_length), least);
        out->pairs[t]++;
        out->source[t] = s > out->source[t] ? s : out->source[t];
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

static double arena_bytes(pass_kind kind, const length_table *t, double B, int T) {
    return kind.shards * pass_cost_of(kind.cost, true, B / kind.shards, t->source[T], T);
}

static double minibatch_bytes(pass_kind kind, const length_table *t, double B, int T) {
    return arena_bytes(kind, t, B, T) +
           kind.shards * pass_scratch_of(kind.cost, true, kind.precision, B / kind.shards, T);
}

double largest_minibatch(pass_kind kind, const length_table *t, batch_limits limits, double *arenas) {
    double most = 0, most_arenas = 0;
    for (int T = 1; T <= t->T; T++)
        if (pairs_of(t, T) > 0) {
            double B = fmin((double)t->pairs[T], allowed(limits, T));
            most = fmax(most, minibatch_bytes(kind, t, B, T));
            most_arenas = fmax(most_arenas, arena_bytes(kind, t, B, T));
        }
    if (arenas)
        *arenas = most_arenas;
    return most;
}

/* The most sentences that fit when the longest target has T symbols; 0: not even one. */
static int most_sentences(pass_kind kind, const length_table *t, int T, double bytes) {
    enum { SENTENCES_MAX = 1000000 };
    int fits = 0, exceeds = SENTENCES_MAX + 1;
    while (exceeds - fits > 1) {
        int middle = fits + (exceeds - fits) / 2;
        if (minibatch_bytes(kind, t, middle, T) <= bytes)
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

sa_status batch_limits_fit(batch_limits *out, pass_kind kind, const length_table *t, double bytes,
                           sa_error *error) {
    int *most = calloc((size_t)t->T + 1, sizeof *most);
    if (!most)
        return sa_fail_memory(error, 0);
    for (int T = 1; T <= t->T; T++)
        most[T] = most_sentences(kind, t, T, bytes);
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
        bytes / 1e6, t->source[t->T], t->T, ceil(minibatch_bytes(kind, t, 1, t->T) / 1e6));
}
