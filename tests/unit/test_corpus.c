#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sentences.h"
#include "text/corpus.h"

static char folder[256], source[300], target[300];
static sa_error error;

static int make_folder(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_corpus.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    snprintf(source, sizeof source, "%s/text.de", folder);
    snprintf(target, sizeof target, "%s/text.en", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(source);
    unlink(target);
    return rmdir(folder);
}

static void write_to(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fputs(text, f) < 0, 0);
    assert_int_equal(fclose(f), 0);
}

static pair_text read_pairs(const char *de, const char *en) {
    pair_text text;
    write_to(source, de);
    write_to(target, en);
    assert_int_equal(pair_text_read(&text, source, target, false, &error), SA_OK);
    return text;
}

/* A vocabulary of the words that the tests use. */
static vocab *words(void) {
    vocab *v;
    const char *const lines[] = {"a b c d e f x y z", NULL};
    assert_int_equal(train_on(&v, SA_VOCAB_WORD, 100, NULL, lines, 1, &error), SA_OK);
    return v;
}

static void assert_says(const char *part) {
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void lines_of_two_files_are_paired(void **state) {
    (void)state;
    pair_text text = read_pairs("der hund\n\ndie\tkatze", "the dog\r\nx\nthe cat\n");
    assert_int_equal(text.n, 3);
    assert_int_equal(text.first, 0);
    assert_int_equal(text.replaced, 0);
    assert_string_equal(text.replaced_at, "");
    assert_string_equal(text.source[0], "der hund");
    assert_string_equal(text.target[0], "the dog");
    assert_string_equal(text.source[1], "");
    assert_string_equal(text.source[2], "die\tkatze");
    assert_string_equal(text.target[2], "the cat");
    pair_text_free(&text);
    assert_int_equal(text.n, 0);
}

static void thousands_of_lines_are_read(void **state) {
    (void)state;
    enum { N = 5000 };
    FILE *f = fopen(source, "wb"), *g = fopen(target, "wb");
    assert_non_null(f);
    assert_non_null(g);
    for (int i = 0; i < N; i++) {
        fprintf(f, "s%d\n", i);
        fprintf(g, "t%d\n", i);
    }
    fclose(f);
    fclose(g);
    pair_text text;
    assert_int_equal(pair_text_read(&text, source, target, false, &error), SA_OK);
    assert_int_equal(text.n, N);
    for (int i = 0; i < N; i++) {
        char line[16];
        snprintf(line, sizeof line, "s%d", i);
        assert_string_equal(text.source[i], line);
        line[0] = 't';
        assert_string_equal(text.target[i], line);
    }
    pair_text_free(&text);
}

static void separators_of_unicode_make_no_lines(void **state) {
    (void)state;
    pair_text text = read_pairs("a\xE2\x80\xA8z\xE2\x80\xA9"
                                "c\nd\xC2\x85"
                                "e\nf\013g\014h\034i\n",
                                "x\ny\nz\n");
    assert_int_equal(text.n, 3);
    pair_text_free(&text);
}

static void different_numbers_of_lines_are_both_named(void **state) {
    (void)state;
    pair_text text;
    write_to(source, "a\nb\nc\nd\n");
    write_to(target, "a\nb");
    assert_int_equal(pair_text_read(&text, source, target, false, &error), SA_DATA);
    assert_int_equal(text.n, 0);
    assert_null(text.source);
    assert_says("text.de has 4 lines");
    assert_says("text.en has 2");
    assert_int_equal(pair_text_read(&text, target, source, false, &error), SA_DATA);
    assert_says("text.en has 2 lines");
    assert_says("text.de has 4");
}

static void a_tsv_file_gives_both_sides(void **state) {
    (void)state;
    pair_text text;
    write_to(source, "der hund\tthe dog\n\tx\r\n");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &error), SA_OK);
    assert_int_equal(text.n, 2);
    assert_string_equal(text.source[0], "der hund");
    assert_string_equal(text.target[0], "the dog");
    assert_string_equal(text.source[1], "");
    assert_string_equal(text.target[1], "x");
    pair_text_free(&text);
}

static void a_tsv_line_without_exactly_two_fields_is_named(void **state) {
    (void)state;
    pair_text text;
    write_to(source, "der hund\tthe dog\nnur ein feld\n");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &error), SA_DATA);
    assert_says("text.de:2: 1 field");
    write_to(source, "der hund\tthe dog\nx\ty\na\tb\tc\n");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &error), SA_DATA);
    assert_says("text.de:3: 3 fields");
    assert_null(text.source);
    write_to(source, "a\tb\n1\n2\n\tx\n3\n");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &error), SA_DATA);
    assert_says("text.de:2: 1 field");
    assert_says("line 3, 5");
}

static void no_lines_are_an_error(void **state) {
    (void)state;
    pair_text text;
    write_to(source, "");
    write_to(target, "");
    assert_int_equal(pair_text_read(&text, source, target, false, &error), SA_DATA);
    assert_says("text.de");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &error), SA_DATA);
}

static void a_file_that_cannot_be_read_is_named(void **state) {
    (void)state;
    pair_text text;
    char absent[300];
    snprintf(absent, sizeof absent, "%s/absent", folder);
    write_to(source, "a\n");
    assert_int_equal(pair_text_read(&text, source, absent, false, &error), SA_IO);
    assert_says(absent);
    assert_int_equal(pair_text_read(&text, folder, source, false, &error), SA_IO);
    assert_says("folder");
}

static void standard_input_cannot_be_both_sides(void **state) {
    (void)state;
    pair_text text;
    assert_int_equal(pair_text_read(&text, "-", "-", false, &error), SA_USAGE);
}

static void replaced_bytes_are_counted_over_both_files(void **state) {
    (void)state;
    pair_text text = read_pairs("a\nb\n", "x\ncaf\xE9 \xE9\n");
    assert_int_equal(text.replaced, 2);
    assert_non_null(strstr(text.replaced_at, "text.en:2:4"));
    assert_string_equal(text.target[1], "caf\xEF\xBF\xBD \xEF\xBF\xBD");
    pair_text_free(&text);
    text = read_pairs("a\n\xFF\n", "\xFF\nb\n");
    assert_int_equal(text.replaced, 2);
    assert_non_null(strstr(text.replaced_at, "text.de:2:1"));
    pair_text_free(&text);
    assert_int_equal(pair_text_read(&text, source, target, true, &error), SA_DATA);
    assert_says("text.en:1");
}

static void the_place_of_a_replacement_survives_a_long_path(void **state) {
    (void)state;
    char longest[700];
    size_t n = (size_t)snprintf(longest, sizeof longest, "%s/", folder);
    for (int i = 0; i < 150; i++)
        n += (size_t)snprintf(longest + n, sizeof longest - n, "./");
    snprintf(longest + n, sizeof longest - n, "text.de");
    write_to(source, "a\nb\xFF\n");
    write_to(target, "x\ny\n");
    pair_text text;
    assert_int_equal(pair_text_read(&text, longest, target, false, &error), SA_OK);
    assert_non_null(strstr(text.replaced_at, "text.de:2:2"));
    pair_text_free(&text);
}

static void the_last_pairs_are_held_out(void **state) {
    (void)state;
    pair_text text = read_pairs("a\nb\nc\nd\ne\n", "1\n2\n3\n4\n5\n"), held;
    assert_int_equal(pair_text_hold_out(&text, 2, &held, &error), SA_OK);
    assert_int_equal(text.n, 3);
    assert_int_equal(held.n, 2);
    assert_int_equal(held.first, 3);
    assert_string_equal(text.source[2], "c");
    assert_string_equal(held.source[0], "d");
    assert_string_equal(held.target[1], "5");
    pair_text_free(&text);
    pair_text_free(&held);
}

static void no_more_than_half_is_held_out(void **state) {
    (void)state;
    pair_text text = read_pairs("a\nb\nc\n", "1\n2\n3\n"), held;
    assert_int_equal(pair_text_hold_out(&text, 500, &held, &error), SA_OK);
    assert_int_equal(text.n, 2);
    assert_int_equal(held.n, 1);
    pair_text_free(&held);
    pair_text_free(&text);
    text = read_pairs("a\n", "1\n");
    assert_int_equal(pair_text_hold_out(&text, 1, &held, &error), SA_OK);
    assert_int_equal(text.n, 1);
    assert_int_equal(held.n, 0);
    pair_text_free(&held);
    pair_text_free(&text);
}

static void pairs_hold_ids_with_the_end_last(void **state) {
    (void)state;
    vocab *v = words();
    pair_text text = read_pairs("a b\nc\n", "x\ny ? z\n");
    corpus c;
    corpus_counts counts;
    assert_int_equal(corpus_encode(&c, &text, v, v, 0, &counts, &error), SA_OK);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.source_symbols, 3);
    assert_int_equal(c.target_symbols, 4);
    assert_int_equal(c.pair[0].source_length, 3);
    assert_string_equal(vocab_piece(v, c.pair[0].source[0]), "a");
    assert_string_equal(vocab_piece(v, c.pair[0].source[1]), "b");
    assert_int_equal(c.pair[0].source[2], VOCAB_EOS);
    assert_int_equal(c.pair[0].target_length, 2);
    assert_int_equal(c.pair[1].target_length, 4);
    assert_string_equal(vocab_piece(v, c.pair[1].target[0]), "y");
    assert_int_equal(c.pair[1].target[1], VOCAB_UNK);
    assert_string_equal(vocab_piece(v, c.pair[1].target[2]), "z");
    assert_int_equal(c.pair[1].target[3], VOCAB_EOS);
    corpus_free(&c);
    pair_text_free(&text);
    vocab_free(v);
}

static void pairs_with_an_empty_side_are_dropped_and_counted(void **state) {
    (void)state;
    vocab *v = words();
    pair_text text = read_pairs("a\n\nb\n \t\nc\n", "x\nx\n\ny\nz\n");
    corpus c;
    corpus_counts counts;
    assert_int_equal(corpus_encode(&c, &text, v, v, 0, &counts, &error), SA_OK);
    assert_int_equal(counts.read, 5);
    assert_int_equal(counts.kept, 2);
    assert_int_equal(counts.empty, 3);
    assert_int_equal(counts.too_long, 0);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.pair[0].line, 0);
    assert_int_equal(c.pair[1].line, 4);
    assert_string_equal(vocab_piece(v, c.pair[1].source[0]), "c");
    assert_string_equal(vocab_piece(v, c.pair[1].target[0]), "z");
    corpus_free(&c);
    pair_text_free(&text);
    vocab_free(v);
}

static void pairs_too_long_on_either_side_are_dropped_and_counted(void **state) {
    (void)state;
    vocab *v = words();
    pair_text text = read_pairs("a b\na b c\na\n", "x y\nx\nx y z\n");
    corpus c;
    corpus_counts counts;
    assert_int_equal(corpus_encode(&c, &text, v, v, 2, &counts, &error), SA_OK);
    assert_int_equal(counts.kept, 1);
    assert_int_equal(counts.too_long, 2);
    assert_int_equal(c.pair[0].source_length, 3);
    corpus_free(&c);
    assert_int_equal(corpus_encode(&c, &text, v, v, 3, &counts, &error), SA_OK);
    assert_int_equal(counts.kept, 3);
    corpus_free(&c);
    pair_text_free(&text);
    vocab_free(v);
}

static void no_pair_left_is_no_failure_here(void **state) {
    (void)state;
    vocab *v = words();
    pair_text text = read_pairs("a b\n\n", "x y\nz\n");
    corpus c;
    corpus_counts counts;
    assert_int_equal(corpus_encode(&c, &text, v, v, 1, &counts, &error), SA_OK);
    assert_int_equal(c.n, 0);
    assert_int_equal(counts.empty, 1);
    assert_int_equal(counts.too_long, 1);
    corpus_free(&c);
    pair_text_free(&text);
    vocab_free(v);
}

static void held_out_pairs_keep_their_line_numbers(void **state) {
    (void)state;
    vocab *v = words();
    pair_text text = read_pairs("a\nb\nc\nd\n", "x\ny\n\nz\n"), held;
    assert_int_equal(pair_text_hold_out(&text, 2, &held, &error), SA_OK);
    corpus c;
    corpus_counts counts;
    assert_int_equal(corpus_encode(&c, &held, v, v, 0, &counts, &error), SA_OK);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.pair[0].line, 3);
    corpus_free(&c);
    pair_text_free(&text);
    pair_text_free(&held);
    vocab_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_two_files_are_paired),
        cmocka_unit_test(thousands_of_lines_are_read),
        cmocka_unit_test(separators_of_unicode_make_no_lines),
        cmocka_unit_test(different_numbers_of_lines_are_both_named),
        cmocka_unit_test(a_tsv_file_gives_both_sides),
        cmocka_unit_test(a_tsv_line_without_exactly_two_fields_is_named),
        cmocka_unit_test(no_lines_are_an_error),
        cmocka_unit_test(a_file_that_cannot_be_read_is_named),
        cmocka_unit_test(standard_input_cannot_be_both_sides),
        cmocka_unit_test(replaced_bytes_are_counted_over_both_files),
        cmocka_unit_test(the_place_of_a_replacement_survives_a_long_path),
        cmocka_unit_test(the_last_pairs_are_held_out),
        cmocka_unit_test(no_more_than_half_is_held_out),
        cmocka_unit_test(pairs_hold_ids_with_the_end_last),
        cmocka_unit_test(pairs_with_an_empty_side_are_dropped_and_counted),
        cmocka_unit_test(pairs_too_long_on_either_side_are_dropped_and_counted),
        cmocka_unit_test(no_pair_left_is_no_failure_here),
        cmocka_unit_test(held_out_pairs_keep_their_line_numbers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
