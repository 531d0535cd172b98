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

/* Writes the sorted window back, minibatches in shuffled order; the last, shorter one included. */
static void deal(epoch *e, size_t *index, size_t n, size_t offset, const sort_key *key, size_t mini_batch,
                 rng *random, size_t *order) {
    size_t batches = (n + mini_batch - 1) / mini_batch, at = 0;
    for (size_t i = 0; i < batches; i++)
        order[i] = i;
    rng_shuffle(random, order, batches);
    for (size_t i = 0; i < batches; i++) {
        size_t from = order[i] * mini_batch, end = from + mini_batch < n ? from + mini_batch : n;
        e->start[e->n++] = offset + at;
        for (size_t k = from; k < end; k++)
            index[at++] = key[k].pair;
    }
}

sa_status epoch_make(epoch *out, const corpus *c, uint64_t seed, int64_t number, int mini_batch, int window,
                     sa_error *error) {
    size_t batch = (size_t)mini_batch, span = batch * (size_t)window;
    *out = (epoch){.pair = malloc(c->n * sizeof(size_t)),
                   .start = malloc((c->n / batch + c->n / span + 3) * sizeof(size_t))};
    sort_key *key = malloc((span < c->n ? span : c->n) * sizeof *key);
    size_t *order = malloc((size_t)window * sizeof *order);
    if (!out->pair || !out->start || !key || !order) {
        free(key);
        free(order);
        epoch_free(out);
        return sa_fail_memory(error, c->n * sizeof(size_t));
    }
    for (size_t i = 0; i < c->n; i++)
        out->pair[i] = i;
    rng random = rng_at(seed, (uint64_t)number, 0, STREAM_PAIRS);
    rng_shuffle(&random, out->pair, c->n);
    for (size_t at = 0; at < c->n; at += span) {
        size_t n = c->n - at < span ? c->n - at : span;
        sort_window(c, out->pair + at, n, key);
        random = rng_at(seed, (uint64_t)number, at / span, STREAM_BATCHES);
        deal(out, out->pair + at, n, at, key, batch, &random, order);
    }
    out->start[out->n] = c->n;
    free(key);
    free(order);
    return SA_OK;
}

void epoch_free(epoch *e) {
    free(e->pair);
    free(e->start);
    *e = (epoch){0};
}
