#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/nfc.h"

static void expect(const char *text, const char *wanted) {
    strbuf out = {0};
    strbuf_puts(&out, "");
    nfc_append(&out, text, strlen(text));
    assert_false(out.failed);
    assert_string_equal(out.data, wanted);
    strbuf_free(&out);
}

static void letters_and_their_marks_become_one(void **state) {
    (void)state;
    expect("cafe\xCC\x81", "caf\xC3\xA9");
    expect("caf\xC3\xA9", "caf\xC3\xA9");
    expect("a\xCC\x8A\xCC\x81", "\xC7\xBB");            /* a, ring, acute: U+01FB */
    expect("\xE0\xA4\xA8\xE0\xA4\xBC", "\xE0\xA4\xA9"); /* Devanagari NA, NUKTA */
    expect("q\xCC\x81", "q\xCC\x81");                   /* there is no such letter */
}

static void marks_are_put_in_one_order(void **state) {
    (void)state;
    /* Dot below (class 220) comes before dot above (230): U+1E69 by any way. */
    expect("s\xCC\xA3\xCC\x87", "\xE1\xB9\xA9");
    expect("s\xCC\x87\xCC\xA3", "\xE1\xB9\xA9");
    expect("\xE1\xB9\xA1\xCC\xA3", "\xE1\xB9\xA9");
    expect("q\xCC\x87\xCC\xA3", "q\xCC\xA3\xCC\x87");
    /* Marks of one class keep theirs: the second does not reach the letter. */
    expect("e\xCC\x80\xCC\x81", "\xC3\xA8\xCC\x81");
    expect("e\xCC\x81\xCC\x80", "\xC3\xA9\xCC\x80");
}

static void hangul_is_composed(void **state) {
    (void)state;
    expect("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "\xED\x95\x9C"); /* U+D55C */
    expect("\xED\x95\x98\xE1\x86\xAB", "\xED\x95\x9C");
    expect("\xED\x95\x9C\xE1\x86\xAB", "\xED\x95\x9C\xE1\x86\xAB"); /* it has its last letter already */
}

static void what_is_only_compatible_stays(void **state) {
    (void)state;
    expect("\xEF\xAC\x81 \xC2\xBD \xEF\xBC\xA1",
           "\xEF\xAC\x81 \xC2\xBD \xEF\xBC\xA1");       /* fi ligature, half, wide A */
    expect("\xE2\x84\xAB", "\xC3\x85");                 /* but Angstrom is A with ring */
    expect("\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"); /* U+0958 is excluded from composing */
}

static void many_marks_take_no_more_than_their_time(void **state) {
    (void)state;
    enum { MARKS = 200000 };
    char *text = malloc(2 * MARKS + 2);
    assert_non_null(text);
    text[0] = 'q';
    for (int i = 0; i < MARKS; i++)
        memcpy(text + 1 + 2L * i, i % 2 ? "\xCC\xA3" : "\xCC\x87", 2);
    text[2 * MARKS + 1] = 0;
    strbuf out = {0};
    nfc_append(&out, text, 2 * MARKS + 1);
    assert_int_equal(out.length, 2 * MARKS + 1);
    assert_memory_equal(out.data + 1 + 2 * (MARKS / 2 - 1), "\xCC\xA3\xCC\x87", 4);
    strbuf_free(&out);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_and_their_marks_become_one),
        cmocka_unit_test(marks_are_put_in_one_order),
        cmocka_unit_test(hangul_is_composed),
        cmocka_unit_test(what_is_only_compatible_stays),
        cmocka_unit_test(many_marks_take_no_more_than_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
