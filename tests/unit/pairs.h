/* A corpus in memory, made pair by pair. The test includes cmocka.h before. */
#ifndef PAIRS_H
#define PAIRS_H

#include "text/corpus.h"

#include <string.h>

/* Appends a pair of S and T ids below `symbols`. */
static inline void append_pair(corpus *c, int symbols, const int *source, int S, const int *target, int T) {
    int ids[1024];
    assert_true(S + T <= 1024);
    memcpy(ids, source, (size_t)S * sizeof *ids);
    memcpy(ids + S, target, (size_t)T * sizeof *ids);
    corpus_entry e = {.line = c->n, .source_length = S, .target_length = T};
    e.check = corpus_entry_check(&e, c->n, ids);
    c->vocab_size[0] = c->vocab_size[1] = symbols;
    c->source_symbols += (size_t)S - 1;
    c->target_symbols += (size_t)T - 1;
    assert_int_equal(corpus_append(c, &e, ids, NULL), SA_OK);
}

#endif
