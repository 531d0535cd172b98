#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "decode/dictionary.h"

static sa_error error;
static char path[] = "/tmp/dictionary.XXXXXX";

static sa_status open_text(sa_dictionary **d, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return sa_dictionary_open(d, path, false, &error);
}

static void words_are_found_and_the_first_counts(void **state) {
    (void)state;
    sa_dictionary *d;
    assert_int_equal(
        open_text(&d, "hund\tdog\nkatze\tcat\r\nhund\thound\n  ab \t a b \n\xC3\xA4\tae\nweg\t\n\tempty\n"), SA_OK);
    assert_string_equal(dictionary_find(d, "hund"), " dog");
    assert_string_equal(dictionary_find(d, "katze"), " cat");
    assert_string_equal(dictionary_find(d, "ab"), " a b");
    assert_string_equal(dictionary_find(d, "\xC3\xA4"), " ae");
    assert_string_equal(dictionary_find(d, "weg"), " ");
    assert_null(dictionary_find(d, "hun"));
    assert_null(dictionary_find(d, "hunde"));
    assert_null(dictionary_find(d, "zzz"));
    sa_dictionary_free(d);
    sa_dictionary_free(NULL);
}

static void thousands_are_found(void **state) {
    (void)state;
    char *text = malloc(200000), *at = text, word[20], wanted[20];
    assert_non_null(text);
    for (int i = 0; i < 5000; i++)
        at += sprintf(at, "w%d\tt%d\n", i * 7919 % 5000, i);
    sa_dictionary *d;
    assert_int_equal(open_text(&d, text), SA_OK);
    for (int i = 0; i < 5000; i++) {
        snprintf(word, sizeof word, "w%d", i * 7919 % 5000);
        snprintf(wanted, sizeof wanted, " t%d", i);
        assert_string_equal(dictionary_find(d, word), wanted);
    }
    sa_dictionary_free(d);
    free(text);
}

static void lines_of_another_form_are_named(void **state) {
    (void)state;
    sa_dictionary *d;
    assert_int_equal(open_text(&d, "hund\tdog\nkatze\n"), SA_DATA);
    assert_null(d);
    assert_non_null(strstr(error.text, ":2: 1 field"));
    assert_int_equal(open_text(&d, "a\tb\tc\n"), SA_DATA);
    assert_int_equal(open_text(&d, ""), SA_DATA);
    assert_int_equal(sa_dictionary_open(&d, "/nonexistent", false, &error), SA_IO);
    assert_int_equal(open_text(&d, "\xE4\tx\n"), SA_OK); /* replaced by U+FFFD */
    sa_dictionary_free(d);
    assert_int_equal(sa_dictionary_open(&d, path, true, &error), SA_DATA);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found_and_the_first_counts),
        cmocka_unit_test(thousands_are_found),
        cmocka_unit_test(lines_of_another_form_are_named),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
