#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/protect.h"

#define NUMBER "\xEF\xB7\x93"
#define ADDRESS "\xEF\xB7\x94"
#define VARIABLE "\xEF\xB7\x95"
#define TAG "\xEF\xB7\x96"
#define EMOJI "\xEF\xB7\x97"

static void expect(const char *text, const char *wanted) {
    protected_items items = {0};
    strbuf out = {0};
    strbuf_puts(&out, "");
    assert_true(protect_find(&items, text, strlen(text)));
    protect_write(&out, text, strlen(text), &items);
    assert_string_equal(out.data, wanted);
    strbuf_free(&out);
    protected_items_free(&items);
}

static void numbers_with_their_marks_are_one_item(void **state) {
    (void)state;
    expect("1.234,50 and 1,234.50, 12:30, 3.4.2021, 1/2, 5-10.",
           NUMBER " and " NUMBER ", " NUMBER ", " NUMBER ", " NUMBER ", " NUMBER ".");
    expect("1\xC2\xA0"
           "000\xE2\x80\xAF"
           "000 x",
           NUMBER " x");
    expect("10 000 3rd 5km", NUMBER " " NUMBER " " NUMBER "rd " NUMBER "km");
    expect("1\xC2\xA0"
           "5",
           NUMBER "\xC2\xA0" NUMBER);
    expect("\xE2\x82\xAC"
           "18.10 50 %",
           "\xE2\x82\xAC" NUMBER " " NUMBER " %");
    expect("\xD9\xA3\xD9\xAB\xD9\xA1\xD9\xA4 \xE0\xA5\xA7\xE0\xA5\xA8", NUMBER " " NUMBER); /* Arabic, Devanagari */
    expect("\xE5\x9C\xA8"
           "2021\xE5\xB9\xB4",
           "\xE5\x9C\xA8" NUMBER "\xE5\xB9\xB4");
}

static void digits_of_a_name_are_none(void **state) {
    (void)state;
    expect("B2B mp3 v1.2 IPv4/6 x_1 \xC3\xA9"
           "1",
           "B2B mp3 v1.2 IPv4/6 x_1 \xC3\xA9"
           "1");
}

static void addresses_end_before_the_punctuation_of_the_sentence(void **state) {
    (void)state;
    expect("https://example.org/a?b=1&c=%C3%A4, www.example.org.", ADDRESS ", " ADDRESS ".");
    expect("(see http://x.org/Foo_(bar)).", "(see " ADDRESS ").");
    expect("<x.y+z@example.co.uk>! foo@bar a@b.c1", "<" ADDRESS ">! foo@bar a@b.c1");
    expect("\xE7\x9C\x8Bhttps://x.org/\xE3\x80\x82", "\xE7\x9C\x8B" ADDRESS "\xE3\x80\x82");
    expect("http:// https: xhttps://", "http:// https: xhttps://");
}

static void placeholders_of_programs_are_found(void **state) {
    (void)state;
    expect("{0} {name} {} ${x} #{y} %{z} {{ name }}",
           VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE);
    expect("%s %1$s %-5.2f %lld %% %(name)s %NAME% %NAME",
           VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE " " VARIABLE);
    expect("{a b} {x{y 50 % der 100% sure 7%d 100%of",
           "{a b} {x{y " NUMBER " % der " NUMBER "% sure " NUMBER "%d " NUMBER "%of");
}

static void tags_and_entities_are_found(void **state) {
    (void)state;
    expect("<b>x</b><br/><i id=\"1\">", TAG "x" TAG TAG TAG);
    expect("</s> <unk> <!-- a <b> --> <?xml v?> &amp; &#8217; &#x41;",
           TAG " " TAG " " TAG " " TAG " " TAG " " TAG " " TAG);
    expect("a < b, c > d <x@y <3> AT&T; &; &#;", "a < b, c > d <x@y <" NUMBER "> AT&T; &; &#;");
}

static void an_emoji_is_one_item_with_all_it_is_made_of(void **state) {
    (void)state;
    expect("\xF0\x9F\x98\x80\xF0\x9F\x98\x80", EMOJI EMOJI);
    /* A family of three with joiners, a flag, a thumb with a tone, a keycap, a heart with a style, a flag of tags.
     */
    expect("\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7.", EMOJI ".");
    expect("\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA.", EMOJI ".");
    expect("\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD 1\xEF\xB8\x8F\xE2\x83\xA3 \xE2\x9D\xA4\xEF\xB8\x8F.",
           EMOJI " " EMOJI " " EMOJI ".");
    expect("\xF0\x9F\x8F\xB4\xF3\xA0\x81\xA7\xF3\xA0\x81\xA2\xF3\xA0\x81\xBF.", EMOJI ".");
}

static void a_symbol_in_the_text_is_an_item_itself(void **state) {
    (void)state;
    protected_items items = {0};
    assert_true(protect_find(&items, "a" NUMBER TAG, 7));
    assert_int_equal(items.n, 2);
    assert_int_equal(items.at[0].kind, PROTECT_EMOJI);
    assert_int_equal(items.at[0].start, 1);
    assert_int_equal(items.at[1].start, 4);
    protected_items_free(&items);
}

static void expect_pair(const char *source, const char *target, bool all, const char *wanted_source,
                        const char *wanted_target) {
    strbuf out[2] = {{0}, {0}};
    assert_true(protect_pair(out, (const char *const[]){source, target},
                             (const size_t[]){strlen(source), strlen(target)}, all));
    assert_string_equal(out[0].data, wanted_source);
    assert_string_equal(out[1].data, wanted_target);
    strbuf_free(&out[0]);
    strbuf_free(&out[1]);
}

static void what_both_sides_have_becomes_symbols(void **state) {
    (void)state;
    expect_pair("5 of 7, 5", "7 von 5", false, NUMBER " of " NUMBER ", 5", NUMBER " von " NUMBER);
    expect_pair("1,000 men", "1.000 M\xC3\xA4nner", false, "1,000 men", "1.000 M\xC3\xA4nner");
    expect_pair("5 <b>a</b>", "7 <b>b</b>", true, NUMBER " " TAG "a" TAG, "7 " TAG "b" TAG);
    expect_pair("a", "5", true, "a", "5");
    /* A symbol that is not in both is none. */
    expect_pair("x" NUMBER, "y" TAG, false, "x\xEF\xBF\xBD", "y\xEF\xBF\xBD");
    expect_pair("x" NUMBER, "y" NUMBER, false, "x" EMOJI, "y" EMOJI);
    expect_pair("{x" NUMBER "}", "y", false, "{x\xEF\xBF\xBD}", "y");
}

static void long_texts_take_no_more_than_their_time(void **state) {
    (void)state;
    static const char *const part[] = {"1",
                                       "a@",
                                       "<a ",
                                       "<!--",
                                       "{",
                                       "%",
                                       "http://",
                                       "1,",
                                       "((",
                                       "&#",
                                       "x.",
                                       "w@a.",
                                       "\xF0\x9F\x87\xA9",
                                       "\xE2\x80\x8D\xF0\x9F\x98\x80",
                                       "%A",
                                       "1\xC2\xA0",
                                       "{{ "};
    enum { BYTES = 1 << 18 };
    char *text = malloc(BYTES + 16);
    assert_non_null(text);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        size_t length = strlen(part[k]), n = 0;
        for (; n + length <= BYTES; n += length)
            memcpy(text + n, part[k], length);
        protected_items items = {0};
        assert_true(protect_find(&items, text, n));
        protected_items_free(&items);
        strbuf out[2] = {{0}, {0}};
        assert_true(protect_pair(out, (const char *const[]){text, text}, (const size_t[]){n, n / 2}, false));
        strbuf_free(&out[0]);
        strbuf_free(&out[1]);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_with_their_marks_are_one_item),
        cmocka_unit_test(digits_of_a_name_are_none),
        cmocka_unit_test(addresses_end_before_the_punctuation_of_the_sentence),
        cmocka_unit_test(placeholders_of_programs_are_found),
        cmocka_unit_test(tags_and_entities_are_found),
        cmocka_unit_test(an_emoji_is_one_item_with_all_it_is_made_of),
        cmocka_unit_test(a_symbol_in_the_text_is_an_item_itself),
        cmocka_unit_test(what_both_sides_have_becomes_symbols),
        cmocka_unit_test(long_texts_take_no_more_than_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
