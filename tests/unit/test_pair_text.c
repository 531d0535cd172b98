#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "text/pair_text.h"

#include <fcntl.h>
#include <sys/stat.h>

static char folder[256], source[300], target[300];
static sa_error error;
static replacements replaced;

static int make_folder(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_pair_text.XXXXXX", tmp && *tmp ? tmp : "/tmp");
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
    assert_int_equal(pair_text_read(&text, source, target, false, &replaced, &error), SA_OK);
    return text;
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
    assert_int_equal(replaced.n, 0);
    assert_string_equal(replaced.first, "");
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
    assert_int_equal(pair_text_read(&text, source, target, false, &replaced, &error), SA_OK);
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
    assert_int_equal(pair_text_read(&text, source, target, false, &replaced, &error), SA_DATA);
    assert_int_equal(text.n, 0);
    assert_null(text.source);
    assert_says("text.de has 4 lines");
    assert_says("text.en has 2");
    assert_int_equal(pair_text_read(&text, target, source, false, &replaced, &error), SA_DATA);
    assert_says("text.en has 2 lines");
    assert_says("text.de has 4");
}

static void a_tsv_file_gives_both_sides(void **state) {
    (void)state;
    pair_text text;
    write_to(source, "der hund\tthe dog\n\tx\r\n");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &replaced, &error), SA_OK);
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
    assert_int_equal(pair_text_read(&text, source, NULL, false, &replaced, &error), SA_DATA);
    assert_says("text.de:2: 1 field");
    write_to(source, "der hund\tthe dog\nx\ty\na\tb\tc\n");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &replaced, &error), SA_DATA);
    assert_says("text.de:3: 3 fields");
    assert_null(text.source);
    write_to(source, "a\tb\n1\n2\n\tx\n3\n");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &replaced, &error), SA_DATA);
    assert_says("text.de:2: 1 field");
    assert_says("line 3, 5");
}

static void no_lines_are_an_error(void **state) {
    (void)state;
    pair_text text;
    write_to(source, "");
    write_to(target, "");
    assert_int_equal(pair_text_read(&text, source, target, false, &replaced, &error), SA_DATA);
    assert_says("text.de");
    assert_int_equal(pair_text_read(&text, source, NULL, false, &replaced, &error), SA_DATA);
}

static void a_file_that_cannot_be_read_is_named(void **state) {
    (void)state;
    pair_text text;
    char absent[300];
    snprintf(absent, sizeof absent, "%s/absent", folder);
    write_to(source, "a\n");
    assert_int_equal(pair_text_read(&text, source, absent, false, &replaced, &error), SA_IO);
    assert_says(absent);
    assert_int_equal(pair_text_read(&text, folder, source, false, &replaced, &error), SA_IO);
    assert_says("folder");
}

static void standard_input_cannot_be_both_sides(void **state) {
    (void)state;
    pair_text text;
    assert_int_equal(pair_text_read(&text, "-", "-", false, &replaced, &error), SA_USAGE);
}

static void replaced_bytes_are_counted_over_both_files(void **state) {
    (void)state;
    pair_text text = read_pairs("a\nb\n", "x\ncaf\xE9 \xE9\n");
    assert_int_equal(replaced.n, 2);
    assert_non_null(strstr(replaced.first, "text.en:2:4"));
    assert_string_equal(text.target[1], "caf\xEF\xBF\xBD \xEF\xBF\xBD");
    pair_text_free(&text);
    text = read_pairs("a\n\xFF\n", "\xFF\nb\n");
    assert_int_equal(replaced.n, 2);
    assert_non_null(strstr(replaced.first, "text.de:2:1"));
    pair_text_free(&text);
    assert_int_equal(pair_text_read(&text, source, target, true, &replaced, &error), SA_DATA);
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
    assert_int_equal(pair_text_read(&text, longest, target, false, &replaced, &error), SA_OK);
    assert_non_null(strstr(replaced.first, "text.de:2:2"));
    pair_text_free(&text);
}

/* Reads all pairs and leaves the reader at their end. */
static size_t read_all(pair_reader *r, const pair_files *files) {
    pair_lines lines;
    assert_int_equal(pair_reader_open(r, files, &error), SA_OK);
    do
        assert_int_equal(pair_reader_next(r, &lines, &error), SA_OK);
    while (lines.line[SA_SOURCE]);
    pair_reader_close(r);
    return r->n;
}

static void a_text_is_known_by_the_hashes_of_its_lines(void **state) {
    (void)state;
    pair_files files;
    pair_reader first, second;
    write_to(source, "a\nb\n");
    write_to(target, "x\r\ny");
    assert_int_equal(pair_files_open(&files, source, target, false, NULL, &error), SA_OK);
    assert_int_equal(read_all(&first, &files), 2);
    assert_true(first.hash[0] == hash_string("a\nb\n"));
    assert_true(first.hash[1] == hash_string("x\ny\n"));
    assert_int_equal(first.bytes[0], 2);
    write_to(target, "xy\n\n");
    assert_int_equal(read_all(&second, &files), 2);
    assert_true(second.hash[0] == first.hash[0]);
    assert_true(second.hash[1] != first.hash[1]);
    pair_files_close(&files);
}

static void what_can_be_read_once_only_is_copied_and_leaves_nothing(void **state) {
    (void)state;
    char pipe_path[300], scratch[300];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    snprintf(scratch, sizeof scratch, "%s/scratch", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(mkdir(scratch, 0700), 0);
    write_to(target, "x\ny\n");
    int writer = open(pipe_path, O_RDWR); /* or the reader's open would wait */
    assert_true(writer >= 0);
    assert_int_equal(write(writer, "a\nb\n", 4), 4);
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(dup2(reader, STDIN_FILENO), STDIN_FILENO);
    close(reader);
    close(writer);
    pair_files files;
    pair_reader r;
    assert_int_equal(pair_files_open(&files, "-", target, false, scratch, &error), SA_OK);
    assert_string_equal(pair_files_name(&files, SA_SOURCE), "standard input");
    for (int pass = 0; pass < 3; pass++) {
        assert_int_equal(read_all(&r, &files), 2);
        assert_true(r.hash[0] == hash_string("a\nb\n"));
    }
    assert_int_equal(rmdir(scratch), 0); /* empty while it is used */
    pair_files_close(&files);
    unlink(pipe_path);
}

static void a_copy_without_a_place_is_an_error_that_names_the_folder(void **state) {
    (void)state;
    char nowhere[300];
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", folder);
    pair_files files;
    assert_int_equal(pair_files_open(&files, "-", NULL, false, nowhere, &error), SA_IO);
    assert_says(nowhere);
    assert_says("No such file");
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
        cmocka_unit_test(a_text_is_known_by_the_hashes_of_its_lines),
        cmocka_unit_test(what_can_be_read_once_only_is_copied_and_leaves_nothing),
        cmocka_unit_test(a_copy_without_a_place_is_an_error_that_names_the_folder),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
