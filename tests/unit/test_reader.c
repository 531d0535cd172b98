#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softalign.h>
#include <zlib.h>
#include <cmocka.h>

static char folder[256], path[300];
static sa_error error;

static int make_folder(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_reader.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/text", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const void *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

#define WRITE(literal) write_file(literal, sizeof literal - 1)

static void append_gzip(const char *bytes, size_t n) {
    gzFile f = gzopen(path, "ab");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

static sa_reader *open_path(bool strict) {
    sa_reader *r;
    assert_int_equal(sa_reader_open(&r, path, strict, &error), SA_OK);
    return r;
}

static void assert_next(sa_reader *r, const char *expected) {
    char *line;
    size_t length;
    assert_int_equal(sa_reader_next(r, &line, &length, &error), SA_OK);
    if (!expected) {
        assert_null(line);
        return;
    }
    assert_non_null(line);
    assert_string_equal(line, expected);
    assert_int_equal(length, strlen(expected));
}

static void assert_fails(sa_reader *r, sa_status status, const char *part) {
    char *line;
    size_t length;
    assert_int_equal(sa_reader_next(r, &line, &length, &error), status);
    assert_null(line);
    assert_non_null(strstr(error.text, part));
    assert_non_null(strstr(error.text, path));
}

/* Reads the file and compares its lines, NULL last. */
static void assert_lines(const char *const *expected) {
    sa_reader *r = open_path(false);
    size_t n = 0;
    for (; expected[n]; n++) {
        assert_next(r, expected[n]);
        assert_int_equal(sa_reader_line(r), n + 1);
    }
    assert_next(r, NULL);
    assert_next(r, NULL);
    assert_int_equal(sa_reader_line(r), n);
    sa_reader_free(r);
}

#define LINES(...) assert_lines((const char *const[]){__VA_ARGS__, NULL})

static void an_empty_file_has_no_lines(void **state) {
    (void)state;
    WRITE("");
    assert_lines((const char *const[]){NULL});
}

static void empty_lines_are_lines(void **state) {
    (void)state;
    WRITE("der hund\n\ndie katze\n");
    LINES("der hund", "", "die katze");
    WRITE("\n");
    LINES("");
}

static void a_last_line_needs_no_newline(void **state) {
    (void)state;
    WRITE("a\nder hund schl\xC3\xA4"
          "ft");
    LINES("a", "der hund schl\xC3\xA4"
               "ft");
}

static void a_cr_ends_no_line(void **state) {
    (void)state;
    WRITE("der hund\r\ndie\r katze\r\n\r\nx\r");
    LINES("der hund", "die  katze", "", "x ");
}

static void only_lf_ends_a_line(void **state) {
    (void)state;
    WRITE("a\xE2\x80\xA8z\xE2\x80\xA9"
          "c\nd\xC2\x85"
          "e\nf\013g\014h\034i\n");
    LINES("a\xE2\x80\xA8z\xE2\x80\xA9"
          "c",
          "d\xC2\x85"
          "e",
          "f\013g\014h\034i");
}

static void a_byte_order_mark_is_dropped_at_the_start_of_a_line(void **state) {
    (void)state;
    WRITE("\357\273\277der hund\n\357\273\277die\357\273\277 katze\n\357\273\277");
    LINES("der hund", "die\357\273\277 katze", "");
}

static void a_byte_order_mark_stays_on_request(void **state) {
    (void)state;
    WRITE("\357\273\277der hund\n");
    sa_reader *r = open_path(false);
    sa_reader_keep_marks(r);
    assert_next(r, "\357\273\277der hund");
    sa_reader_free(r);
}

static void zero_bytes_are_replaced_and_counted(void **state) {
    (void)state;
    WRITE("der\0 hund\ndie katze\n");
    sa_reader *r = open_path(false);
    assert_next(r, "der\xEF\xBF\xBD hund");
    assert_next(r, "die katze");
    assert_next(r, NULL);
    assert_int_equal(sa_reader_replaced(r), 1);
    sa_reader_free(r);
}

static void wrong_bytes_are_replaced_and_the_first_is_located(void **state) {
    (void)state;
    WRITE("gut\n\357\273\277a\rcaf\351 \300\257\nabc\342\202\nder hund\n");
    sa_reader *r = open_path(false);
    size_t line = 9, column = 9;
    assert_next(r, "gut");
    sa_reader_first_replaced(r, &line, &column);
    assert_int_equal(line, 0);
    assert_int_equal(column, 0);
    assert_next(r, "a caf\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD");
    assert_next(r, "abc\xEF\xBF\xBD");
    assert_next(r, "der hund");
    assert_next(r, NULL);
    assert_int_equal(sa_reader_replaced(r), 4);
    sa_reader_first_replaced(r, &line, &column);
    assert_int_equal(line, 2);
    assert_int_equal(column, 9);
    sa_reader_free(r);
}

static void strict_reading_names_line_and_byte(void **state) {
    (void)state;
    WRITE("gut\ncaf\351\n");
    sa_reader *r = open_path(true);
    assert_next(r, "gut");
    assert_fails(r, SA_DATA, ":2: byte 4, 0xE9");
    sa_reader_free(r);
    WRITE("a\0\n");
    r = open_path(true);
    assert_fails(r, SA_DATA, ":1: byte 2, 0x00");
    sa_reader_free(r);
}

static void lines_longer_than_any_buffer_are_read_whole(void **state) {
    (void)state;
    size_t n = 1000003;
    char *text = malloc(2 * n + 1);
    assert_non_null(text);
    memset(text, 'a', 2 * n + 1);
    text[n] = '\n';
    text[2 * n] = 0;
    write_file(text, 2 * n);
    text[n] = 0;
    LINES(text, text + n + 1);
    text[n] = '\n';
    assert_int_equal(unlink(path), 0);
    append_gzip(text, 2 * n);
    text[n] = 0;
    LINES(text, text + n + 1);
    free(text);
}

static void gzip_members_are_read_as_one_text(void **state) {
    (void)state;
    unlink(path);
    append_gzip("eins\nzw", 7);
    append_gzip("", 0);
    append_gzip("ei\ndrei", 7);
    LINES("eins", "zwei", "drei");
}

static void a_single_byte_that_gzip_also_begins_with_is_text(void **state) {
    (void)state;
    WRITE("\x1F");
    LINES("\x1F");
    WRITE("\x1F\n");
    LINES("\x1F");
}

/* Writes a gzip file of 3,000 different lines, and gives its bytes, to be freed. */
static unsigned char *make_gzip(size_t *n) {
    unlink(path);
    for (int part = 0; part < 3; part++) {
        gzFile f = gzopen(path, part ? "ab" : "wb");
        assert_non_null(f);
        for (int i = 0; i < 1000; i++)
            assert_true(gzprintf(f, "line %d\n", 7919 * i % 1000 + 1000 * part) > 0);
        assert_int_equal(gzclose(f), Z_OK);
    }
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    unsigned char *bytes = malloc(1 << 16);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    assert_in_range(*n, 1000, (1 << 16) - 1);
    return bytes;
}

/* The status that reading the whole file ends with. */
static sa_status read_all(void) {
    sa_reader *r = open_path(false);
    char *line;
    size_t length;
    sa_status status;
    do
        status = sa_reader_next(r, &line, &length, &error);
    while (status == SA_OK && line);
    sa_reader_free(r);
    return status;
}

static void a_gzip_file_cut_anywhere_inside_a_member_is_an_error(void **state) {
    (void)state;
    size_t n;
    unsigned char *bytes = make_gzip(&n);
    size_t whole = 0;
    for (size_t cut = 2; cut < n; cut++) {
        write_file(bytes, cut);
        if (read_all() == SA_OK)
            whole++; /* between two members nothing tells that there was more */
        else
            assert_non_null(strstr(error.text, "cut short"));
    }
    assert_int_equal(whole, 2);
    free(bytes);
}

static void a_flipped_byte_of_gzip_data_is_an_error(void **state) {
    (void)state;
    size_t n;
    unsigned char *bytes = make_gzip(&n);
    for (size_t i = n / 2; i < n / 2 + 200; i++) {
        bytes[i] ^= 0x55;
        write_file(bytes, n);
        assert_int_equal(read_all(), SA_DATA);
        bytes[i] ^= 0x55;
    }
    free(bytes);
}

static void lines_before_the_damage_are_given_and_the_error_stays(void **state) {
    (void)state;
    unlink(path);
    append_gzip("eins\nzwei\n", 10);
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    fputs("rest", f);
    fclose(f);
    sa_reader *r = open_path(false);
    assert_next(r, "eins");
    assert_next(r, "zwei");
    assert_fails(r, SA_DATA, "something else follows");
    assert_fails(r, SA_DATA, "something else follows");
    sa_reader_free(r);
}

static void zero_bytes_after_a_gzip_member_are_padding(void **state) {
    (void)state;
    unlink(path);
    append_gzip("eins\n", 5);
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    fwrite("\0\0\0", 1, 3, f);
    fclose(f);
    LINES("eins");
}

static void a_missing_file_and_a_folder_are_named(void **state) {
    (void)state;
    sa_reader *r;
    char name[400];
    snprintf(name, sizeof name, "%s/absent", folder);
    assert_int_equal(sa_reader_open(&r, name, false, &error), SA_IO);
    assert_null(r);
    assert_non_null(strstr(error.text, name));
    assert_non_null(strstr(error.text, "No such file"));
    assert_int_equal(sa_reader_open(&r, folder, false, &error), SA_IO);
    assert_non_null(strstr(error.text, folder));
    assert_non_null(strstr(error.text, "folder"));
    assert_int_equal(sa_reader_open(&r, name, false, NULL), SA_IO);
}

/* Puts a pipe in place of standard input while `body` runs. */
static void with_standard_input(void (*body)(int writer)) {
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(saved >= 0 && dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    body(ends[1]);
    assert_true(dup2(saved, STDIN_FILENO) >= 0);
    close(saved);
}

static void put(int fd, const char *bytes, size_t n) {
    assert_int_equal(write(fd, bytes, n), n);
}

static void check_ready(int writer) {
    sa_reader *r;
    assert_int_equal(sa_reader_open(&r, "-", false, &error), SA_OK);
    assert_false(sa_reader_ready(r));
    put(writer, "der ", 4);
    assert_false(sa_reader_ready(r));
    put(writer, "hund\nx\nrest", 11);
    assert_true(sa_reader_ready(r));
    assert_next(r, "der hund");
    assert_true(sa_reader_ready(r));
    assert_next(r, "x");
    assert_false(sa_reader_ready(r));
    close(writer);
    assert_true(sa_reader_ready(r));
    assert_next(r, "rest");
    assert_true(sa_reader_ready(r));
    assert_next(r, NULL);
    sa_reader_free(r);
}

static void a_pipe_is_ready_when_a_whole_line_or_its_end_is_there(void **state) {
    (void)state;
    with_standard_input(check_ready);
}

static void check_gzip_pipe(int writer) {
    unlink(path);
    append_gzip("eins\nzwei\n", 10);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char bytes[200];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    sa_reader *r;
    assert_int_equal(sa_reader_open(&r, "-", false, &error), SA_OK);
    put(writer, bytes, 1); /* not enough to tell gzip */
    assert_false(sa_reader_ready(r));
    put(writer, bytes + 1, n - 1);
    assert_true(sa_reader_ready(r));
    assert_next(r, "eins");
    assert_next(r, "zwei");
    assert_false(sa_reader_ready(r)); /* another member may follow */
    close(writer);
    assert_next(r, NULL);
    sa_reader_free(r);
}

static void gzip_is_read_from_a_pipe(void **state) {
    (void)state;
    with_standard_input(check_gzip_pipe);
}

static void a_file_is_always_ready(void **state) {
    (void)state;
    WRITE("a\nb");
    sa_reader *r = open_path(false);
    assert_true(sa_reader_ready(r));
    assert_next(r, "a");
    assert_true(sa_reader_ready(r));
    assert_next(r, "b");
    assert_true(sa_reader_ready(r));
    assert_next(r, NULL);
    sa_reader_free(r);
}

static void the_share_that_was_read_grows_to_all(void **state) {
    (void)state;
    WRITE("one line\nanother.\nand one\nat last\n");
    sa_reader *r = open_path(false);
    static const struct {
        const char *line;
        double share;
    } step[] = {{"one line", 9. / 34}, {"another.", 18. / 34}, {"and one", 26. / 34}, {"at last", 1}};
    for (size_t i = 0; i < 4; i++) {
        assert_next(r, step[i].line);
        assert_true(sa_reader_share(r) == step[i].share);
    }
    sa_reader_free(r);
    unlink(path);
    append_gzip("eins\nzwei\n", 10);
    r = open_path(false);
    assert_true(sa_reader_share(r) == 0);
    for (int i = 0; i < 2; i++)
        assert_next(r, i ? "zwei" : "eins");
    assert_next(r, NULL);
    assert_true(sa_reader_share(r) == 1);
    sa_reader_free(r);
    int ends[2], input = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    assert_int_equal(sa_reader_open(&r, "-", false, &error), SA_OK);
    assert_true(sa_reader_share(r) < 0); /* of a pipe nobody knows */
    sa_reader_free(r);
    dup2(input, STDIN_FILENO);
    close(input);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_has_no_lines),
        cmocka_unit_test(empty_lines_are_lines),
        cmocka_unit_test(a_last_line_needs_no_newline),
        cmocka_unit_test(a_cr_ends_no_line),
        cmocka_unit_test(only_lf_ends_a_line),
        cmocka_unit_test(a_byte_order_mark_is_dropped_at_the_start_of_a_line),
        cmocka_unit_test(a_byte_order_mark_stays_on_request),
        cmocka_unit_test(zero_bytes_are_replaced_and_counted),
        cmocka_unit_test(wrong_bytes_are_replaced_and_the_first_is_located),
        cmocka_unit_test(strict_reading_names_line_and_byte),
        cmocka_unit_test(lines_longer_than_any_buffer_are_read_whole),
        cmocka_unit_test(gzip_members_are_read_as_one_text),
        cmocka_unit_test(a_single_byte_that_gzip_also_begins_with_is_text),
        cmocka_unit_test(a_gzip_file_cut_anywhere_inside_a_member_is_an_error),
        cmocka_unit_test(a_flipped_byte_of_gzip_data_is_an_error),
        cmocka_unit_test(lines_before_the_damage_are_given_and_the_error_stays),
        cmocka_unit_test(zero_bytes_after_a_gzip_member_are_padding),
        cmocka_unit_test(a_missing_file_and_a_folder_are_named),
        cmocka_unit_test(a_pipe_is_ready_when_a_whole_line_or_its_end_is_there),
        cmocka_unit_test(gzip_is_read_from_a_pipe),
        cmocka_unit_test(a_file_is_always_ready),
        cmocka_unit_test(the_share_that_was_read_grows_to_all),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
