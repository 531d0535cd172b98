#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/utf8.h"

static void assert_cleans_to(const char *in, size_t n, const char *out, size_t replaced) {
    strbuf s = {0};
    assert_int_equal(utf8_clean(&s, in, n), replaced);
    char *text = strbuf_take(&s);
    assert_string_equal(text, out);
    free(text);
}

#define CLEANS_TO(in, out, replaced) assert_cleans_to(in, sizeof in - 1, out, replaced)

static void every_code_point_comes_back(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        char bytes[4];
        uint32_t back;
        size_t n = utf8_encode(code, bytes);
        assert_int_equal(utf8_decode(bytes, n, &back), n);
        assert_int_equal(back, code);
    }
}

static void wrong_sequences_are_replaced_as_whatwg_counts(void **state) {
    (void)state;
    CLEANS_TO("caf\351 \300\257 \355\240\200 \364\220\200\200 ende",
              "caf\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD "
              "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD ende",
              10);
    CLEANS_TO("abc\342\202", "abc\xEF\xBF\xBD", 1);
    CLEANS_TO("\360\237\230x", "\xEF\xBF\xBDx", 1);
    CLEANS_TO("\200\277", "\xEF\xBF\xBD\xEF\xBF\xBD", 2);
    CLEANS_TO("\377\376", "\xEF\xBF\xBD\xEF\xBF\xBD", 2);
    CLEANS_TO("\342\202\342\202\254", "\xEF\xBF\xBD\342\202\254", 1);
}

static void a_zero_byte_is_replaced(void **state) {
    (void)state;
    CLEANS_TO("a\0b",
              "a\xEF\xBF\xBD"
              "b",
              1);
}

static void good_text_is_left_alone(void **state) {
    (void)state;
    CLEANS_TO("", "", 0);
    CLEANS_TO("na\xC3\xAFve \xF0\x9F\x98\x80 \xEF\xBF\xBD", "na\xC3\xAFve \xF0\x9F\x98\x80 \xEF\xBF\xBD", 0);
}

static void valid_length_stops_at_the_first_wrong_byte(void **state) {
    (void)state;
    assert_int_equal(utf8_valid_length("abc", 3), 3);
    assert_int_equal(utf8_valid_length("\xC3\xA9\xC3", 3), 2);
    assert_int_equal(utf8_valid_length("a\0b", 3), 1);
    assert_int_equal(utf8_valid_length("\xFF", 1), 0);
}

static void code_points_are_counted_and_not_bytes(void **state) {
    (void)state;
    assert_int_equal(utf8_count("", 0), 0);
    assert_int_equal(utf8_count("\xC3\xA9\xF0\x9F\x98\x80x", 7), 3);
    assert_int_equal(utf8_count("\xED\xA0\x80", 3), 3);
}

static void width_of_latin_is_its_letters(void **state) {
    (void)state;
    assert_int_equal(utf8_width(""), 0);
    assert_int_equal(utf8_width("dog"), 3);
    assert_int_equal(utf8_width("\xC3\xA9t\xC3\xA9"), 3);
    assert_int_equal(utf8_width("\xE2\x96\x81man"), 4);
}

static void wide_characters_take_two_columns(void **state) {
    (void)state;
    assert_int_equal(utf8_width("\xE6\xBC\xA2\xE5\xAD\x97"), 4); /* Han */
    assert_int_equal(utf8_width("\xE3\x81\x82"), 2);             /* Hiragana */
    assert_int_equal(utf8_width("\xED\x95\x9C"), 2);             /* Hangul syllable */
    assert_int_equal(utf8_width("\xEF\xBC\xA1"), 2);             /* full-width A */
    assert_int_equal(utf8_width("\xEF\xBD\xB1"), 1);             /* half-width Katakana */
    assert_int_equal(utf8_width("\xF0\x9F\x98\x80"), 2);         /* emoji */
}

static void marks_and_controls_take_no_column(void **state) {
    (void)state;
    assert_int_equal(utf8_width("cafe\xCC\x81"), 4);
    assert_int_equal(utf8_width("\xE2\x80\xAE"
                                "a\xE2\x80\x8B"),
                     1); /* right-to-left override, zero width space */
    assert_int_equal(utf8_width("\a\x7F\xC2\x85"), 0);
    assert_int_equal(utf8_width("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), 2); /* one syllable in three letters */
    assert_int_equal(utf8_width_of(0xAD), 1);
}

static void a_wrong_byte_takes_the_column_of_its_replacement(void **state) {
    (void)state;
    assert_int_equal(utf8_width("a\xFFz"), 3);
}

static void a_code_point_is_in_a_range_from_its_first_to_its_last(void **state) {
    (void)state;
    static const utf8_range ranges[] = {{5, 5}, {10, 20}, {0x10FF00, 0x10FFFF}};
    static const uint32_t inside[] = {5, 10, 15, 20, 0x10FF00, 0x10FFFF};
    static const uint32_t outside[] = {0, 4, 6, 9, 21, 0x10FEFF, UTF8_INVALID};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        assert_true(utf8_in_ranges(inside[i], ranges, 3));
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_false(utf8_in_ranges(outside[i], ranges, 3));
    assert_false(utf8_in_ranges(5, ranges, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(wrong_sequences_are_replaced_as_whatwg_counts),
        cmocka_unit_test(a_zero_byte_is_replaced),
        cmocka_unit_test(good_text_is_left_alone),
        cmocka_unit_test(valid_length_stops_at_the_first_wrong_byte),
        cmocka_unit_test(code_points_are_counted_and_not_bytes),
        cmocka_unit_test(width_of_latin_is_its_letters),
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(marks_and_controls_take_no_column),
        cmocka_unit_test(a_wrong_byte_takes_the_column_of_its_replacement),
        cmocka_unit_test(a_code_point_is_in_a_range_from_its_first_to_its_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
