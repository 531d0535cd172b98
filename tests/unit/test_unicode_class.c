#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "text/unicode_class.h"

static void general_categories_tell_punctuation_symbols_and_numbers(void **state) {
    (void)state;
    static const uint32_t punctuation[] = {'!', '_', 0xAB, 0x60C, 0x2026, 0x3002, 0x1E95E};
    static const uint32_t symbol[] = {'$', '+', '`', 0xB0, 0x20AC, 0x1F600, 0x1FAF0};
    static const uint32_t number[] = {'0', '9', 0xB2, 0x663, 0x2167, 0x1D7CE};
    static const uint32_t other[] = {'a', 'Z', ' ', '\t', 0xA0, 0xE9, 0x301, 0x4E2D, 0x10FFFF, UTF8_INVALID};
    for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; i++)
        assert_int_equal(unicode_class_of(punctuation[i]), UNICODE_PUNCTUATION);
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol; i++)
        assert_int_equal(unicode_class_of(symbol[i]), UNICODE_SYMBOL);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        assert_int_equal(unicode_class_of(number[i]), UNICODE_NUMBER);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_equal(unicode_class_of(other[i]), UNICODE_OTHER);
}

static void white_space_is_that_of_python(void **state) {
    (void)state;
    int count = 0;
    for (uint32_t c = 0; c < 0x110000; c++)
        count += unicode_is_space(c);
    assert_int_equal(count, 29);
    static const uint32_t space[] = {'\t', '\r', 0x1C, ' ', 0x85, 0xA0, 0x1680, 0x200A, 0x2029, 0x202F, 0x3000};
    for (size_t i = 0; i < sizeof space / sizeof *space; i++)
        assert_true(unicode_is_space(space[i]));
    assert_false(unicode_is_space(0x200B));
    assert_false(unicode_is_space(0xFEFF));
    assert_false(unicode_is_space(UTF8_INVALID));
}

static void assert_lower(const char *text, size_t length, const char *lower) {
    strbuf out = {0};
    unicode_append_lower(&out, text, length);
    assert_false(out.failed);
    assert_string_equal(out.data, lower);
    strbuf_free(&out);
}

#define ASSERT_LOWER(text, lower) assert_lower(text, sizeof(text) - 1, lower)

static void lower_case_keeps_what_has_none(void **state) {
    (void)state;
    ASSERT_LOWER("ABC xyz 12 [@]", "abc xyz 12 [@]");
    ASSERT_LOWER("ÀÉÎ ŒUVRE ŸŁĦ ß āčıłœ", "àéî œuvre ÿłħ ß āčıłœ");
    ASSERT_LOWER("ЖЁ ԱՖ 中文", "жё աֆ 中文");
    ASSERT_LOWER("ǅ Ǆ ẞ K Å", "ǆ ǆ ß k å"); /* the last two are the Kelvin and the Ångström sign */
    ASSERT_LOWER("\xF0\x90\x90\x80", "\xF0\x90\x90\xA8");
}

static void dotted_capital_i_keeps_its_dot(void **state) {
    (void)state;
    ASSERT_LOWER("İZMİR", "i\xCC\x87zmi\xCC\x87r");
}

static void capital_sigma_is_final_only_at_the_end_of_a_word(void **state) {
    (void)state;
    ASSERT_LOWER("ΟΔΟΣ ΣΟΦΙΑΣ", "οδος σοφιας");
    ASSERT_LOWER("Σ", "σ");
    ASSERT_LOWER("Α'Σ.Β ΑΣ'. ΑΣ1", "α'σ.β ας'. ας1"); /* marks like ' and . are looked through */
    ASSERT_LOWER("1Σ", "1σ");
    ASSERT_LOWER("Α\xFFΣ", "α\xFFσ");
}

static void wrong_bytes_stay_as_they_are(void **state) {
    (void)state;
    ASSERT_LOWER("A\xFFZ\xC3", "a\xFFz\xC3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(general_categories_tell_punctuation_symbols_and_numbers),
        cmocka_unit_test(white_space_is_that_of_python),
        cmocka_unit_test(lower_case_keeps_what_has_none),
        cmocka_unit_test(dotted_capital_i_keeps_its_dot),
        cmocka_unit_test(capital_sigma_is_final_only_at_the_end_of_a_word),
        cmocka_unit_test(wrong_bytes_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
