#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/corpus_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256], path[300];
static sa_error error;

static int make_folder(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_corpus_file.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/corpus", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

enum { PAIRS = 5000, SYMBOLS = 50 };

/* Pair i: 1 + i % 7 and 1 + i % 5 ids, </s> last. */
static void make_pair(int i, corpus_entry *e, int ids[16]) {
    *e = (corpus_entry){.line = 2 * (uint64_t)i, .source_length = 1 + i % 7, .target_length = 1 + i % 5};
    int n = e->source_length + e->target_length;
    for (int k = 0; k < n; k++)
        ids[k] = 2 + (i + k) % (SYMBOLS - 2);
    ids[e->source_length - 1] = ids[n - 1] = VOCAB_EOS;
    e->check = corpus_entry_check(e, (uint64_t)i, ids);
}

static const corpus_origin origin = {
    .lines = {10, 10}, .hash = {1, 2}, .recipe = 3, .max_length = 7, .read = 10000};

static void add_pairs(corpus_file_writer *w) {
    corpus_file_reserve(w, PAIRS + 100); /* as if some had been dropped */
    for (int i = 0; i < PAIRS; i++) {
        corpus_entry e;
        int ids[16];
        make_pair(i, &e, ids);
        assert_int_equal(corpus_file_add(w, &e, ids, &error), SA_OK);
    }
}

static void write_file(void) {
    corpus_file_writer *w;
    assert_int_equal(corpus_file_begin(&w, path, false, &error), SA_OK);
    add_pairs(w);
    const file_chunk vocabularies[2] = {{"source", 6}, {"target's", 8}};
    char *lines[2][2] = {{"a b", ""}, {"c\td", "e"}};
    pair_text held_out = {.n = 2, .first = 9998, .source = lines[0], .target = lines[1]};
    const int sizes[2] = {SYMBOLS, SYMBOLS};
    assert_int_equal(corpus_file_finish(w, &origin, vocabularies, sizes, &held_out, &error), SA_OK);
}

static unsigned char *read_bytes(size_t *n) {
    FILE *f = fopen(path, "rb");
    struct stat s;
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &s), 0);
    *n = (size_t)s.st_size;
    unsigned char *bytes = malloc(*n);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, f), *n);
    fclose(f);
    return bytes;
}

static void write_bytes(const unsigned char *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void a_file_gives_back_what_was_written(void **state) {
    (void)state;
    write_file();
    corpus_file f;
    corpus c;
    pair_text held_out;
    assert_int_equal(corpus_file_open(&f, path, &error), SA_OK);
    assert_memory_equal(corpus_file_origin(&f), &origin, sizeof origin);
    file_chunk source = corpus_file_vocab(&f, SA_SOURCE), target = corpus_file_vocab(&f, SA_TARGET);
    assert_int_equal(source.size, 6);
    assert_memory_equal(source.data, "source", 6);
    assert_int_equal(target.size, 8);
    assert_memory_equal(target.data, "target's", 8);
    assert_int_equal(corpus_file_held_out(&f, &held_out, &error), SA_OK);
    assert_int_equal(held_out.n, 2);
    assert_int_equal(held_out.first, 9998);
    assert_string_equal(held_out.source[1], "");
    assert_string_equal(held_out.target[0], "c\td");
    pair_text_free(&held_out);
    assert_int_equal(corpus_file_take(&f, &c, path, &error), SA_OK);
    corpus_file_close(&f);
    assert_int_equal(c.n, PAIRS);
    size_t symbols = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        corpus_entry e;
        int ids[16];
        make_pair((int)i, &e, ids);
        assert_int_equal(corpus_check(&c, &i, 1, &error), SA_OK);
        pair p = corpus_pair(&c, i);
        assert_int_equal(p.line, 2 * i);
        assert_int_equal(p.source_length, e.source_length);
        assert_memory_equal(p.source, ids, (size_t)p.source_length * sizeof *ids);
        assert_memory_equal(p.target, ids + p.source_length, (size_t)p.target_length * sizeof *ids);
        symbols += (size_t)p.target_length - 1;
    }
    assert_int_equal(c.target_symbols, symbols);
    corpus_free(&c);
}

static void no_file_is_no_error(void **state) {
    (void)state;
    unlink(path);
    corpus_file f;
    assert_int_equal(corpus_file_open(&f, path, &error), SA_OK);
    assert_null(f.head);
    assert_int_equal(corpus_file_open(&f, folder, &error), SA_IO);
}

static void expect_refused(const unsigned char *bytes, size_t n, const char *part) {
    corpus_file f;
    write_bytes(bytes, n);
    assert_int_equal(corpus_file_open(&f, path, &error), SA_FORMAT);
    if (!strstr(error.text, path) || !strstr(error.text, part))
        fail_msg("\"%s\" names not %s or says not \"%s\"", error.text, path, part);
}

static void a_file_cut_anywhere_is_refused(void **state) {
    (void)state;
    write_file();
    size_t n;
    unsigned char *bytes = read_bytes(&n);
    static const size_t lengths[] = {0, 1, 7, 8, 100, 4095, 4096, 4097};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        expect_refused(bytes, lengths[i], lengths[i] < 8 ? "another kind" : "cut short");
    expect_refused(bytes, n / 2, "cut short");
    expect_refused(bytes, n - 1, "cut short");
    free(bytes);
}

static void a_byte_changed_in_head_vocabularies_or_held_out_pairs_is_noticed(void **state) {
    (void)state;
    write_file();
    size_t n;
    unsigned char *bytes = read_bytes(&n);
    size_t head = sizeof(corpus_origin) + 100, tail = n - 28; /* "source" and "target's", then 11 bytes of pairs */
    for (size_t i = 0; i < n; i = i + 1 == head ? tail : i + 1) {
        if (i == tail + 6 || i == tail + 7 || i == tail + 27)
            continue; /* padding */
        bytes[i] ^= 0x20;
        expect_refused(bytes, n, i < 8 ? "another kind" : i < 16 ? "version" : "damaged");
        bytes[i] ^= 0x20;
    }
    expect_refused((const unsigned char *)"#!/bin/sh\n", 10, "another kind");
    free(bytes);
}

/* Opening does not read the ids; using them does. */
static void a_byte_changed_among_the_ids_is_noticed_when_its_pair_is_used(void **state) {
    (void)state;
    write_file();
    size_t n;
    unsigned char *bytes = read_bytes(&n);
    size_t ids_at = 4096 + (PAIRS + 100) * sizeof(corpus_entry);
    bytes[ids_at + 4 * 3] ^= 1;
    write_bytes(bytes, n);
    free(bytes);
    corpus_file f;
    corpus c;
    assert_int_equal(corpus_file_open(&f, path, &error), SA_OK);
    assert_int_equal(corpus_file_take(&f, &c, path, &error), SA_OK);
    int bad = 0;
    for (size_t i = 0; i < PAIRS; i++)
        bad += corpus_check(&c, &i, 1, &error) != SA_OK;
    assert_int_equal(bad, 1);
    assert_non_null(strstr(error.text, path));
    corpus_free(&c);
}

static void an_abandoned_file_leaves_the_old_one(void **state) {
    (void)state;
    write_file();
    size_t n, m;
    unsigned char *bytes = read_bytes(&n);
    corpus_file_writer *w;
    assert_int_equal(corpus_file_begin(&w, path, false, &error), SA_OK);
    add_pairs(w);
    corpus_file_abandon(w);
    unsigned char *again = read_bytes(&m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    free(bytes);
    free(again);
    char temporary[310];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    assert_int_equal(access(temporary, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_back_what_was_written),
        cmocka_unit_test(no_file_is_no_error),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_byte_changed_in_head_vocabularies_or_held_out_pairs_is_noticed),
        cmocka_unit_test(a_byte_changed_among_the_ids_is_noticed_when_its_pair_is_used),
        cmocka_unit_test(an_abandoned_file_leaves_the_old_one),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
