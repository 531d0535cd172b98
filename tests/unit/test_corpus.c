#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sentences.h"
#include "text/corpus_encoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sa_error error;

/* A vocabulary of the words that the tests use. */
static vocab *words(void) {
    vocab *v;
    const char *const lines[] = {"a b c d e f x y z", NULL};
    assert_int_equal(train_on(&v, SA_VOCAB_WORD, 100, NULL, lines, 1, &error), SA_OK);
    return v;
}

/* Encodes lines, source and target in turn, which a NULL ends; the first one's number is `first`. */
static corpus encode(const vocab *v, const char *const *lines, size_t first, int max_length, int threads,
                     corpus_counts *counts) {
    pair_text text = {.first = first};
    corpus c;
    pool *workers;
    assert_int_equal(pool_new(&workers, threads, NULL, &error), SA_OK);
    for (; *lines; lines += 2) {
        pair_lines two = {{lines[0], lines[1]}, {strlen(lines[0]), strlen(lines[1])}};
        assert_int_equal(pair_text_add(&text, &two, &error), SA_OK);
    }
    assert_int_equal(corpus_encode(&c, &text, v, v, max_length, workers, counts, &error), SA_OK);
    pair_text_free(&text);
    pool_free(workers);
    return c;
}

#define LINES(...)                                                                                                 \
    (const char *const[]) {                                                                                        \
        __VA_ARGS__, NULL                                                                                          \
    }

static void pairs_hold_ids_with_the_end_last(void **state) {
    (void)state;
    vocab *v = words();
    corpus_counts counts;
    corpus c = encode(v, LINES("a b", "x", "c", "y ? z"), 0, 100, 1, &counts);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.source_symbols, 3);
    assert_int_equal(c.target_symbols, 4);
    pair p = corpus_pair(&c, 0), q = corpus_pair(&c, 1);
    assert_int_equal(p.source_length, 3);
    assert_string_equal(vocab_piece(v, p.source[0]), "a");
    assert_string_equal(vocab_piece(v, p.source[1]), "b");
    assert_int_equal(p.source[2], VOCAB_EOS);
    assert_int_equal(p.target_length, 2);
    assert_int_equal(q.target_length, 4);
    assert_string_equal(vocab_piece(v, q.target[0]), "y");
    assert_int_equal(q.target[1], VOCAB_UNK);
    assert_string_equal(vocab_piece(v, q.target[2]), "z");
    assert_int_equal(q.target[3], VOCAB_EOS);
    corpus_free(&c);
    vocab_free(v);
}

static void pairs_with_an_empty_side_are_dropped_and_counted(void **state) {
    (void)state;
    vocab *v = words();
    corpus_counts counts;
    corpus c = encode(v, LINES("a", "x", "", "x", "b", "", " \t", "y", "c", "z"), 7, 100, 1, &counts);
    assert_int_equal(counts.read, 5);
    assert_int_equal(counts.kept, 2);
    assert_int_equal(counts.empty, 3);
    assert_int_equal(counts.too_long, 0);
    assert_int_equal(c.n, 2);
    assert_int_equal(corpus_pair(&c, 0).line, 7);
    assert_int_equal(corpus_pair(&c, 1).line, 11);
    assert_string_equal(vocab_piece(v, corpus_pair(&c, 1).source[0]), "c");
    assert_string_equal(vocab_piece(v, corpus_pair(&c, 1).target[0]), "z");
    corpus_free(&c);
    vocab_free(v);
}

static void pairs_too_long_on_either_side_are_dropped_and_counted(void **state) {
    (void)state;
    vocab *v = words();
    corpus_counts counts;
    const char *const *lines = LINES("a b", "x y", "a b c", "x", "a", "x y z");
    corpus c = encode(v, lines, 0, 2, 1, &counts);
    assert_int_equal(counts.kept, 1);
    assert_int_equal(counts.too_long, 2);
    assert_int_equal(corpus_pair(&c, 0).source_length, 3);
    corpus_free(&c);
    c = encode(v, lines, 0, 3, 1, &counts);
    assert_int_equal(counts.kept, 3);
    corpus_free(&c);
    vocab_free(v);
}

static void no_pair_left_is_no_failure_here(void **state) {
    (void)state;
    vocab *v = words();
    corpus_counts counts;
    corpus c = encode(v, LINES("a b", "x y", "", "z"), 0, 1, 1, &counts);
    assert_int_equal(c.n, 0);
    assert_int_equal(counts.empty, 1);
    assert_int_equal(counts.too_long, 1);
    corpus_free(&c);
    vocab_free(v);
}

/* Several blocks, with dropped pairs between. */
static void the_number_of_threads_changes_nothing(void **state) {
    (void)state;
    enum { PAIRS = 6000 };
    static char text[2 * PAIRS][8];
    static const char *lines[2 * PAIRS + 1];
    for (int i = 0; i < 2 * PAIRS; i++) {
        snprintf(text[i], sizeof text[i], "%c %c", "abcdefxyz"[i % 9], "abcdefxyz"[i % 7]);
        text[i][i % 11 == 5 ? 0 : 3] = 0;
        lines[i] = text[i];
    }
    vocab *v = words();
    corpus_counts counts, same;
    corpus c = encode(v, lines, 0, 100, 1, &counts), d = encode(v, lines, 0, 100, 3, &same);
    assert_int_equal(counts.read, PAIRS);
    assert_true(counts.empty > 0 && counts.kept > 4096);
    assert_memory_equal(&counts, &same, sizeof counts);
    assert_int_equal(c.n, d.n);
    assert_int_equal(c.n_ids, d.n_ids);
    assert_memory_equal(c.entry, d.entry, c.n * sizeof *c.entry);
    assert_memory_equal(c.ids, d.ids, c.n_ids * sizeof *c.ids);
    corpus_free(&c);
    corpus_free(&d);
    vocab_free(v);
}

/* A corpus of two pairs whose second entry the caller spoils. */
static corpus two_pairs(void) {
    vocab *v = words();
    corpus_counts counts;
    corpus c = encode(v, LINES("a b", "x", "c", "y z"), 0, 100, 1, &counts);
    vocab_free(v);
    return c;
}

static sa_status check(const corpus *c, size_t i) {
    return corpus_check(c, &i, 1, &error);
}

static void any_change_of_a_pair_is_noticed(void **state) {
    (void)state;
    corpus c = two_pairs();
    assert_int_equal(check(&c, 0), SA_OK);
    assert_int_equal(check(&c, 1), SA_OK);
    unsigned char *bytes = (unsigned char *)&c.own_entry[1];
    for (size_t i = 0; i < sizeof *c.entry; i++) {
        bytes[i] ^= 1;
        assert_int_equal(check(&c, 1), SA_FORMAT);
        bytes[i] ^= 1;
    }
    for (int i = 0; i < 5; i++) {
        c.own_ids[5 + i] ^= 1; /* another symbol that there is */
        assert_int_equal(check(&c, 1), SA_FORMAT);
        assert_int_equal(check(&c, 0), SA_OK);
        c.own_ids[5 + i] ^= 1;
    }
    corpus_entry kept = c.own_entry[0];
    c.own_entry[0] = c.own_entry[1];
    assert_int_equal(check(&c, 0), SA_FORMAT);
    c.own_entry[0] = kept;
    assert_int_equal(check(&c, 1), SA_OK);
    corpus_free(&c);
}

/* Who writes a file on purpose can compute hashes. */
static void a_pair_with_a_right_hash_must_lie_inside_and_be_symbols(void **state) {
    (void)state;
    corpus c = two_pairs();
    corpus_entry *e = &c.own_entry[1];
    const corpus_entry good = *e;
    const struct {
        uint64_t first;
        int32_t source, target;
    } bad[] = {{6, 2, 3},  {UINT64_MAX, 2, 3}, {1, INT32_MAX, INT32_MAX}, {5, 0, 3}, {5, 2, 0},
               {5, -1, 3}, {5, 3, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        *e = (corpus_entry){bad[i].first, good.line, bad[i].source, bad[i].target, 0};
        if (e->first <= 5 && e->source_length > 0 && e->source_length < 9 && e->target_length > 0)
            e->check = corpus_entry_check(e, 1, c.ids + e->first);
        assert_int_equal(check(&c, 1), SA_FORMAT);
    }
    *e = good;
    static const int wrong[] = {-1, 11, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int k = 0; k < 5; k++) {
            int kept = c.own_ids[5 + k];
            c.own_ids[5 + k] = wrong[i];
            e->check = corpus_entry_check(e, 1, c.ids + 5);
            assert_int_equal(check(&c, 1), SA_FORMAT);
            c.own_ids[5 + k] = kept;
        }
    e->check = corpus_entry_check(e, 1, c.ids + 5);
    assert_int_equal(check(&c, 1), SA_OK);
    corpus_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_hold_ids_with_the_end_last),
        cmocka_unit_test(pairs_with_an_empty_side_are_dropped_and_counted),
        cmocka_unit_test(pairs_too_long_on_either_side_are_dropped_and_counted),
        cmocka_unit_test(no_pair_left_is_no_failure_here),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(any_change_of_a_pair_is_noticed),
        cmocka_unit_test(a_pair_with_a_right_hash_must_lie_inside_and_be_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
