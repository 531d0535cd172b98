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

/* Pairs of as many minibatches as a window has, on average. */
static size_t window_span(const corpus *c, batch_limits limits, int window) {
    size_t sentences = limits.sentences > 0 ? (size_t)limits.sentences : c->n;
    if (limits.words > 0) {
        double mean = ((double)c->target_symbols + (double)c->n) / (double)c->n;
        double fit = (double)limits.words / mean;
        if (fit < (double)sentences)
            sentences = fit > 1 ? (size_t)fit : 1;
    }
    return window > 0 && sentences <= c->n / (size_t)window ? sentences * (size_t)window : c->n;
}

sa_status epoch_make(epoch *out, const corpus *c, uint64_t seed, int64_t number, batch_limits limits, int window,
                     sa_error *error) {
    SA_ASSERT(c->n > 0 && (limits.sentences > 0 || limits.words > 0));
    size_t span = window_span(c, limits, window);
    *out = (epoch){
        .corpus = c,
        .seed = seed,
        .number = (uint64_t)number,
        .limits = limits,
        .order = permutation_at(seed, (uint64_t)number, STREAM_PAIRS, c->n),
        .span = span,
        .pair = calloc(span, sizeof *out->pair),
        .start = calloc(span + 1, sizeof *out->start),
        .key = calloc(span, sizeof *out->key),
        .shuffled = calloc(span, sizeof *out->shuffled),
    };
    if (out->pair && out->start && out->key && out->shuffled)
        return SA_OK;
    epoch_free(out);
    return sa_fail_memory(error, span * (sizeof *out->key + 3 * sizeof *out->pair));
}

void epoch_free(epoch *e) {
    free(e->pair);
    free(e->start);
    free(e->key);
    free(e->shuffled);
    *e = (epoch){0};
}

static void sort_window(epoch *e, size_t n) {
    for (size_t i = 0; i < n; i++) {
        pair p = corpus_pair(e->corpus, e->pair[i]);
        e->key[i] = (sort_key){p.target_length, p.source_length, i, e->pair[i]};
    }
    qsort(e->key, n, sizeof *e->key, compare);
}

/* Whether the limits let n pairs stand together whose longest target has that many symbols. */
static bool fit(batch_limits limits, size_t n, int longest) {
    return n == 1 || ((limits.sentences == 0 || n <= (size_t)limits.sentences) &&
                      (limits.words == 0 || n * (size_t)longest <= (size_t)limits.words));
}

/* Notes where minibatches begin among the sorted pairs; returns how many there are. */
static size_t cut(epoch *e, size_t n) {
    size_t batches = 0, from = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !fit(e->limits, i + 1 - from, e->key[i].target_length))
            e->start[batches++] = from = i;
    }
    e->start[batches] = n;
    return batches;
}

/* Writes the sorted pairs back, minibatches in shuffled order. */
static void shuffle_batches(epoch *e, size_t batches) {
    rng random = rng_at(e->seed, e->number, e->first / e->span, STREAM_BATCHES);
    for (size_t i = 0; i < batches; i++)
        e->shuffled[i] = i;
    rng_shuffle(&random, e->shuffled, batches);
    size_t at = 0;
    for (size_t i = 0; i < batches; i++) {
        size_t from = e->start[e->shuffled[i]], end = e->start[e->shuffled[i] + 1];
        e->shuffled[i] = at; /* it was read */
        for (size_t k = from; k < end; k++)
            e->pair[at++] = e->key[k].pair;
    }
    memcpy(e->start, e->shuffled, batches * sizeof *e->start);
}

sa_status epoch_deal(epoch *e, size_t at, sa_error *error) {
    SA_ASSERT(at < e->corpus->n);
    e->n = 0;
    e->first = at / e->span * e->span;
    size_t rest = e->corpus->n - e->first, n = rest < e->span ? rest : e->span;
    for (size_t i = 0; i < n; i++)
        e->pair[i] = permutation_of(&e->order, e->first + i);
    corpus_expect(e->corpus, e->pair, n);
    SA_TRY(corpus_check(e->corpus, e->pair, n, error));
    sort_window(e, n);
    size_t batches = cut(e, n);
    shuffle_batches(e, batches);
    e->n = batches;
    return SA_OK;
}

sa_status epoch_batch(epoch *e, size_t position, const size_t **pairs, size_t *n, sa_error *error) {
    *n = 0;
    if (position >= e->corpus->n)
        return SA_OK;
    if (e->n == 0 || position / e->span * e->span != e->first)
        SA_TRY(epoch_deal(e, position, error));
    size_t at = position - e->first, low = 0, high = e->n; /* start[low] <= at < start[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(e->start[middle] <= at ? &low : &high) = middle;
    }
    if (e->start[low] == at) {
        *pairs = e->pair + at;
        *n = e->start[low + 1] - at;
    }
    return SA_OK;
}
