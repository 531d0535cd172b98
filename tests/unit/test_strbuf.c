#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void an_empty_buffer_holds_nothing_and_gives_an_empty_string(void **state) {
    (void)state;
    strbuf s = {0};
    strbuf_free(&s);
    strbuf_clear(&s);
    assert_true(s.data == NULL && s.length == 0 && !s.failed);
    char *text = strbuf_take(&s);
    assert_string_equal(text, "");
    free(text);
    strbuf_puts(&s, "");
    assert_string_equal(s.data, "");
    strbuf_free(&s);
}

static void appended_bytes_stand_one_behind_the_other(void **state) {
    (void)state;
    strbuf s = {0};
    char expected[5000];
    size_t length = 0;
    for (int i = 0; i < 400; i++) {
        char piece[16];
        int n = snprintf(piece, sizeof piece, "%d,", i * i);
        if (i % 3 == 0)
            strbuf_append(&s, piece, (size_t)n);
        else if (i % 3 == 1)
            strbuf_puts(&s, piece);
        else
            strbuf_printf(&s, "%d%c", i * i, ',');
        memcpy(expected + length, piece, (size_t)n);
        length += (size_t)n;
        assert_int_equal(s.length, length);
        assert_memory_equal(s.data, expected, length);
        assert_int_equal(s.data[length], 0);
    }
    assert_false(s.failed);
    strbuf_free(&s);
    assert_true(s.data == NULL && s.length == 0 && s.capacity == 0);
}

/* The length of one append on either side of every capacity it may meet. */
static void appends_of_any_length_fit(void **state) {
    (void)state;
    char *text = malloc(5000);
    assert_non_null(text);
    memset(text, 'x', 5000);
    for (size_t n = 0; n < 5000; n += n < 300 ? 1 : 97) {
        strbuf s = {0}, printed = {0};
        strbuf_append(&s, text, n);
        strbuf_append(&s, text, n);
        strbuf_printf(&printed, "%.*s%.*s", (int)n, text, (int)n, text);
        assert_int_equal(s.length, 2 * n);
        assert_int_equal(strlen(s.data), 2 * n);
        assert_int_equal(printed.length, 2 * n);
        assert_string_equal(printed.data, s.data);
        strbuf_free(&s);
        strbuf_free(&printed);
    }
    free(text);
}

static void zero_bytes_are_bytes_like_others(void **state) {
    (void)state;
    strbuf s = {0};
    strbuf_append(&s, "a\0b", 3);
    strbuf_append(&s, "\0", 1);
    assert_int_equal(s.length, 4);
    assert_memory_equal(s.data, "a\0b\0", 5);
    strbuf_append(&s, NULL, 0);
    assert_int_equal(s.length, 4);
    strbuf_free(&s);
}

static void clearing_keeps_the_memory(void **state) {
    (void)state;
    strbuf s = {0};
    strbuf_printf(&s, "%0200d", 7);
    const char *data = s.data;
    size_t capacity = s.capacity;
    strbuf_clear(&s);
    assert_int_equal(s.length, 0);
    assert_string_equal(s.data, "");
    strbuf_puts(&s, "again");
    assert_ptr_equal(s.data, data);
    assert_int_equal(s.capacity, capacity);
    assert_string_equal(s.data, "again");
    strbuf_free(&s);
}

static void taking_hands_over_the_string_and_starts_anew(void **state) {
    (void)state;
    strbuf s = {0};
    strbuf_puts(&s, "first");
    char *first = strbuf_take(&s);
    assert_true(s.data == NULL && s.length == 0 && s.capacity == 0);
    strbuf_puts(&s, "second");
    char *second = strbuf_take(&s);
    assert_string_equal(first, "first");
    assert_string_equal(second, "second");
    free(first);
    free(second);
}

static void nothing_is_added_after_a_failure_and_there_is_no_string(void **state) {
    (void)state;
    strbuf s = {0};
    strbuf_puts(&s, "before");
    s.failed = true;
    strbuf_puts(&s, "x");
    strbuf_append(&s, "x", 1);
    strbuf_printf(&s, "%d", 1);
    assert_string_equal(s.data, "before");
    assert_int_equal(s.length, 6);
    assert_null(strbuf_take(&s)); /* and what was there is freed */
    assert_true(s.data == NULL && !s.failed);

    s.failed = true;
    strbuf_clear(&s);
    strbuf_puts(&s, "y");
    assert_string_equal(s.data, "y");
    strbuf_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_holds_nothing_and_gives_an_empty_string),
        cmocka_unit_test(appended_bytes_stand_one_behind_the_other),
        cmocka_unit_test(appends_of_any_length_fit),
        cmocka_unit_test(zero_bytes_are_bytes_like_others),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(taking_hands_over_the_string_and_starts_anew),
        cmocka_unit_test(nothing_is_added_after_a_failure_and_there_is_no_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
