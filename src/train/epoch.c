#include "train/epoch.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_PAIRS = 1, STREAM_BATCHES = 2 };

typedef struct sort_key {
    int target_length, source_length;
    size_t place, pair; /* place: after the shuffle, which decides among equals */
} sort_key;

static int compare(const void *a, const void *b) {
    const sort_key *x = a, *y = b;
    if (x->target_length != y->target_length)
        return x->target_length - y->target_length;
    if (x->source_length != y->source_length)
        return x->source_length - y->source_length;
    return x->place < y->place ? -1 : 1;
}

static void sort_window(const corpus *c, const size_t *index, size_t n, sort_key *key) {
    for (size_t i = 0; i < n; i++) {
        const struct pair *p = &c->pair[index[i]];
        key[i] = (sort_key){p->target_length, p->source_length, i, index[i]};
    }
    qsort(key, n, sizeof *key, compare);
}

/* Whether the limits let n pairs stand together whose longest target has that many symbols. */
static bool fit(batch_limits limits, size_t n, int longest) {
    return n == 1 || ((limits.sentences == 0 || n <= (size_t)limits.sentences) &&
                      (limits.words == 0 || n * (size_t)longest <= (size_t)limits.words));
}

/* Where minibatches begin among n sorted pairs; bound[batches] is n. Returns how many there are. */
static size_t cut(batch_limits limits, const sort_key *key, size_t n, size_t *bound) {
    size_t batches = 0, from = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !fit(limits, i + 1 - from, key[i].target_length))
            bound[batches++] = from = i;
    bound[batches] = n;
    return batches;
}

/* Writes the sorted window back, minibatches in shuffled order. */
static void deal(epoch *e, size_t *index, size_t offset, const sort_key *key, const size_t *bound, size_t batches,
                 rng *random, size_t *order) {
    size_t at = 0;
    for (size_t i = 0; i < batches; i++)
        order[i] = i;
    rng_shuffle(random, order, batches);
    for (size_t i = 0; i < batches; i++) {
        e->start[e->n++] = offset + at;
        for (size_t k = bound[order[i]]; k < bound[order[i] + 1]; k++)
            index[at++] = key[k].pair;
    }
}

/* Pairs of as many minibatches as a window has, on average. */
static size_t window_span(const corpus *c, batch_limits limits, int window) {
    size_t sentences = limits.sentences > 0 ? (size_t)limits.sentences : c->n;
    if (limits.words > 0) {
        double mean = ((double)c->target_symbols + (double)c->n) / (double)c->n;
        double fit_words = (double)limits.words / mean;
        if (fit_words < (double)sentences)
            sentences = fit_words > 1 ? (size_t)fit_words : 1;
    }
    return window > 0 && sentences <= c->n / (size_t)window ? sentences * (size_t)window : c->n;
}

sa_status epoch_make(epoch *out, const corpus *c, uint64_t seed, int64_t number, batch_limits limits, int window,
                     sa_error *error) {
    size_t span = window_span(c, limits, window);
    *out = (epoch){.pair = malloc(c->n * sizeof(size_t)), .start = malloc((c->n + 1) * sizeof(size_t))};
    sort_key *key = malloc(span * sizeof *key);
    size_t *order = malloc(span * sizeof *order), *bound = malloc((span + 1) * sizeof *bound);
    bool ok = out->pair && out->start && key && order && bound;
    for (size_t i = 0; ok && i < c->n; i++)
        out->pair[i] = i;
    rng random = rng_at(seed, (uint64_t)number, 0, STREAM_PAIRS);
    if (ok)
        rng_shuffle(&random, out->pair, c->n);
    for (size_t at = 0; ok && at < c->n; at += span) {
        size_t n = c->n - at < span ? c->n - at : span;
        sort_window(c, out->pair + at, n, key);
        random = rng_at(seed, (uint64_t)number, at / span, STREAM_BATCHES);
        deal(out, out->pair + at, at, key, bound, cut(limits, key, n, bound), &random, order);
    }
    if (ok)
        out->start[out->n] = c->n;
    else
        epoch_free(out);
    free(key);
    free(order);
    free(bound);
    return ok ? SA_OK : sa_fail_memory(error, c->n * sizeof(size_t));
}

size_t epoch_find(const epoch *e, size_t position) {
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->start[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->n && e->start[low] == position ? low : e->n;
}

void epoch_free(epoch *e) {
    free(e->pair);
    free(e->start);
    *e = (epoch){0};
}
