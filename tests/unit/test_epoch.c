#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "train/epoch.h"

#include <stdlib.h>
#include <string.h>

static sa_error error;

/* n pairs; pair i has lengths that depend on i, up to 40. */
static corpus make_corpus(size_t n) {
    corpus c = {.vocab_size = {3, 3}};
    int ids[128];
    for (size_t i = 0; i < n; i++) {
        corpus_entry e = {
            .line = i, .source_length = 1 + (int)(i * 7 % 40), .target_length = 1 + (int)(i * i % 40)};
        int length = e.source_length + e.target_length;
        for (int k = 0; k < length; k++)
            ids[k] = k + 1 == e.source_length || k + 1 == length ? VOCAB_EOS : 2;
        e.check = corpus_entry_check(&e, i, ids);
        assert_int_equal(corpus_append(&c, &e, ids, &error), SA_OK);
    }
    return c;
}

/* The pairs of an epoch in their order, minibatch after minibatch; checks the limits; the caller frees. */
static size_t *walk(const corpus *c, uint64_t seed, int64_t number, batch_limits limits, int window,
                    size_t *batches) {
    epoch e;
    size_t *order = calloc(c->n, sizeof *order), position = 0;
    assert_non_null(order);
    assert_int_equal(epoch_make(&e, c, seed, number, limits, window, &error), SA_OK);
    for (*batches = 0; position < c->n; ++*batches) {
        const size_t *pairs;
        size_t n;
        int longest = 0;
        assert_int_equal(epoch_batch(&e, position, &pairs, &n, &error), SA_OK);
        assert_true(n > 0 && n <= c->n - position);
        for (size_t i = 0; i < n; i++) {
            int length = corpus_pair(c, pairs[i]).target_length;
            longest = length > longest ? length : longest;
        }
        assert_true(limits.sentences == 0 || n <= (size_t)limits.sentences);
        assert_true(limits.words == 0 || n == 1 || n * (size_t)longest <= (size_t)limits.words);
        memcpy(order + position, pairs, n * sizeof *pairs);
        position += n;
    }
    epoch_free(&e);
    return order;
}

static void every_pair_comes_once_within_the_limits(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 64, 1000};
    static const batch_limits limits[] = {{1, 0},  {8, 0},   {5000, 0},    {0, 1},
                                          {0, 30}, {0, 200}, {0, 1 << 30}, {6, 120}};
    static const int windows[] = {0, 1, 3, 1000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        corpus c = make_corpus(sizes[s]);
        bool *seen = calloc(c.n, sizeof *seen);
        assert_non_null(seen);
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
            for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
                size_t batches, *order = walk(&c, 5, (int64_t)w, limits[l], windows[w], &batches);
                memset(seen, 0, c.n * sizeof *seen);
                for (size_t i = 0; i < c.n; i++) {
                    assert_false(seen[order[i]]);
                    seen[order[i]] = true;
                }
                free(order);
            }
        free(seen);
        corpus_free(&c);
    }
}

static bool same_order(const corpus *c, uint64_t seed, int64_t number, uint64_t other_seed, int64_t other_number) {
    size_t n, m, *a = walk(c, seed, number, (batch_limits){8, 0}, 4, &n);
    size_t *b = walk(c, other_seed, other_number, (batch_limits){8, 0}, 4, &m);
    bool same = n == m && !memcmp(a, b, c->n * sizeof *a);
    free(a);
    free(b);
    return same;
}

static void the_order_follows_from_seed_and_epoch(void **state) {
    (void)state;
    corpus c = make_corpus(500);
    assert_true(same_order(&c, 1, 0, 1, 0));
    assert_false(same_order(&c, 1, 0, 2, 0));
    assert_false(same_order(&c, 1, 0, 1, 1));
    corpus_free(&c);
}

static void an_epoch_can_be_taken_up_at_every_minibatch_and_nowhere_else(void **state) {
    (void)state;
    corpus c = make_corpus(500);
    batch_limits limits = {9, 150};
    epoch e, f;
    assert_int_equal(epoch_make(&e, &c, 1, 3, limits, 4, &error), SA_OK);
    for (size_t position = 0, next = 0; position < c.n; position++) {
        const size_t *pairs, *same;
        size_t n, m;
        assert_int_equal(epoch_make(&f, &c, 1, 3, limits, 4, &error), SA_OK);
        assert_int_equal(epoch_batch(&f, position, &same, &m, &error), SA_OK);
        if (position == next) {
            assert_int_equal(epoch_batch(&e, position, &pairs, &n, &error), SA_OK);
            assert_int_equal(n, m);
            assert_memory_equal(pairs, same, n * sizeof *pairs);
            next += n;
        } else
            assert_int_equal(m, 0);
        epoch_free(&f);
    }
    const size_t *pairs;
    size_t n;
    assert_int_equal(epoch_batch(&e, c.n, &pairs, &n, &error), SA_OK);
    assert_int_equal(n, 0);
    epoch_free(&e);
    corpus_free(&c);
}

static void pairs_of_a_minibatch_are_of_about_one_length(void **state) {
    (void)state;
    corpus c = make_corpus(1000);
    epoch e;
    assert_int_equal(epoch_make(&e, &c, 1, 0, (batch_limits){10, 0}, 20, &error), SA_OK);
    assert_int_equal(epoch_deal(&e, 0, &error), SA_OK);
    assert_int_equal(e.n, 20);
    double spread = 0;
    for (size_t b = 0; b < e.n; b++)
        spread += corpus_pair(&c, e.pair[e.start[b + 1] - 1]).target_length -
                  corpus_pair(&c, e.pair[e.start[b]]).target_length;
    assert_true(spread / 20 < 4); /* of 39 */
    epoch_free(&e);
    corpus_free(&c);
}

/* What is held is a window, however many pairs there are. */
static void memory_is_that_of_a_window(void **state) {
    (void)state;
    corpus small = make_corpus(1000), large = make_corpus(50000);
    epoch e, f;
    assert_int_equal(epoch_make(&e, &small, 1, 0, (batch_limits){8, 0}, 5, &error), SA_OK);
    assert_int_equal(epoch_make(&f, &large, 1, 0, (batch_limits){8, 0}, 5, &error), SA_OK);
    assert_int_equal(e.span, 40);
    assert_int_equal(f.span, 40);
    epoch_free(&e);
    epoch_free(&f);
    /* By symbols: as many pairs as the window's minibatches hold on average. */
    size_t mean = (large.target_symbols + large.n) / large.n;
    assert_int_equal(epoch_make(&f, &large, 1, 0, (batch_limits){0, 200}, 5, &error), SA_OK);
    assert_in_range(f.span, 5 * (200 / (mean + 1)), 5 * (200 / mean));
    epoch_free(&f);
    corpus_free(&small);
    corpus_free(&large);
}

static void a_damaged_pair_is_found_before_its_window_is_used(void **state) {
    (void)state;
    corpus c = make_corpus(100);
    epoch e;
    assert_int_equal(epoch_make(&e, &c, 1, 0, (batch_limits){5, 0}, 4, &error), SA_OK);
    assert_int_equal(epoch_deal(&e, 25, &error), SA_OK);
    int *id = c.own_ids + c.entry[e.pair[13]].first;
    *id ^= 2;
    const size_t *pairs;
    size_t n;
    assert_int_equal(epoch_batch(&e, 0, &pairs, &n, &error), SA_OK);
    assert_int_equal(epoch_batch(&e, 20, &pairs, &n, &error), SA_FORMAT);
    assert_int_equal(epoch_batch(&e, 20, &pairs, &n, &error), SA_FORMAT);
    *id ^= 2;
    assert_int_equal(epoch_batch(&e, 20, &pairs, &n, &error), SA_OK);
    assert_int_equal(n, 5);
    epoch_free(&e);
    corpus_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_comes_once_within_the_limits),
        cmocka_unit_test(the_order_follows_from_seed_and_epoch),
        cmocka_unit_test(an_epoch_can_be_taken_up_at_every_minibatch_and_nowhere_else),
        cmocka_unit_test(pairs_of_a_minibatch_are_of_about_one_length),
        cmocka_unit_test(memory_is_that_of_a_window),
        cmocka_unit_test(a_damaged_pair_is_found_before_its_window_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
