#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "text/cut.h"

/* The parts between cuts of at least that level, trimmed, with bars between. */
static void expect(cut_level level, const char *text, const char *wanted) {
    strbuf out = {0};
    size_t n = strlen(text), start = 0, from = 0;
    cut_trim(&text, &n);
    for (cut found = {0, CUT_NONE}; from < n; from = found.at) {
        bool more = cut_next(text, n, from, &found);
        if (!more)
            found = (cut){n, CUT_SENTENCE};
        assert_true(found.at > from && found.at <= n);
        if (found.level >= level) {
            const char *part = text + start;
            size_t length = found.at - start;
            cut_trim(&part, &length);
            strbuf_puts(&out, out.length > 0 ? "|" : "");
            strbuf_append(&out, part, length);
            start = found.at;
        }
    }
    assert_string_equal(out.data, wanted);
    strbuf_free(&out);
}

static void sentences_end_with_their_marks(void **state) {
    (void)state;
    expect(CUT_SENTENCE, "A dog. A cat! A man? Yes", "A dog.|A cat!|A man?|Yes");
    expect(CUT_SENTENCE, "Hello . How are you ? Fine .", "Hello .|How are you ?|Fine .");
    expect(CUT_SENTENCE, "Really?! No... Yes\xE2\x80\xA6 (It ended.) \xC2\xBFQu\xC3\xA9? Vale.",
           "Really?!|No...|Yes\xE2\x80\xA6|(It ended.)|\xC2\xBFQu\xC3\xA9?|Vale.");
    expect(CUT_SENTENCE, "He said: \"Go!\" \"Now.\" Then he left.", "He said: \"Go!\"|\"Now.\"|Then he left.");
}

static void a_small_letter_begins_none(void **state) {
    (void)state;
    expect(CUT_SENTENCE, "\"Go!\" he said. wait... what? \xC3\xA4hm.",
           "\"Go!\" he said. wait... what? \xC3\xA4hm.");
}

static void full_stops_of_abbreviations_and_numbers_end_none(void **state) {
    (void)state;
    expect(CUT_SENTENCE, "Dr. Smith met J. S. Bach, z. B. am 3. Mai. In 2019. Then 3.14.",
           "Dr. Smith met J. S. Bach, z. B. am 3. Mai.|In 2019.|Then 3.14.");
    expect(CUT_SENTENCE, "See x.org. \xEF\xB7\x94. The U.S. Army, etc. We",
           "See x.org.|\xEF\xB7\x94.|The U.S. Army, etc. We");
}

static void other_scripts_have_their_own_marks(void **state) {
    (void)state;
    /* Chinese with quotes, Japanese, Hindi, Arabic, Urdu. */
    expect(CUT_SENTENCE,
           "\xE4\xBB\x96\xE6\x9D\xA5\xE3\x80\x82\xE2\x80\x9C\xE8\xB5\xB0\xEF\xBC\x81\xE2\x80\x9D\xE7\x9C\x9F\xEF"
           "\xBC\x9F",
           "\xE4\xBB\x96\xE6\x9D\xA5\xE3\x80\x82\xE2\x80\x9C|\xE8\xB5\xB0\xEF\xBC\x81\xE2\x80\x9D|"
           "\xE7\x9C\x9F\xEF\xBC\x9F");
    expect(CUT_SENTENCE, "\xE0\xA4\x85\xE0\xA5\xA4 \xE0\xA4\x86\xE0\xA5\xA5\xE0\xA4\x87?",
           "\xE0\xA4\x85\xE0\xA5\xA4|\xE0\xA4\x86\xE0\xA5\xA5|\xE0\xA4\x87?");
    expect(CUT_SENTENCE, "\xD9\x86\xD8\xB9\xD8\x9F \xD9\x86\xD8\xB9\xDB\x94 \xD9\x84\xD8\xA7.",
           "\xD9\x86\xD8\xB9\xD8\x9F|\xD9\x86\xD8\xB9\xDB\x94|\xD9\x84\xD8\xA7.");
}

static void clauses_and_blanks_are_cuts_too(void **state) {
    (void)state;
    expect(CUT_CLAUSE, "a, b; c: d - e, 1,234 x-y f. G", "a,|b;|c:|d -|e,|1,234 x-y f. G");
    expect(CUT_CLAUSE, "\xE4\xBB\x96\xE3\x80\x81\xE6\x9D\xA5\xEF\xBC\x8C\xE7\x9C\x9F",
           "\xE4\xBB\x96\xE3\x80\x81|\xE6\x9D\xA5\xEF\xBC\x8C|\xE7\x9C\x9F");
    expect(CUT_BLANK,
           " a  b\tc\xE3\x80\x80"
           "d \xC2\xA0"
           "e ",
           "a|b|c|d|\xC2\xA0"
           "e");
}

static void the_best_cut_nearest_to_the_middle_is_taken(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted;
    } check[] = {
        {"Aa bb. Cc dd. Ee ff, gg hh ii jj", "Aa bb. Cc dd."},
        {"a, b c d e f, g h", "a, b c d e f,"},
        {"aa bb cc dd", "aa bb"},
        {"abcdef", "abc"},
        {"e\xCC\x81\xCC\x81\xCC\x81"
         "a",
         "e\xCC\x81\xCC\x81\xCC\x81"},
        {"\xE4\xBB\x96\xE6\x9D\xA5", "\xE4\xBB\x96"},
        {"x", ""},
        {"\xE4\xBB\x96", ""},
    };
    for (size_t i = 0; i < sizeof check / sizeof *check; i++) {
        size_t at = cut_middle(check[i].text, strlen(check[i].text));
        assert_int_equal(at, strlen(check[i].wanted));
        assert_memory_equal(check[i].text, check[i].wanted, at);
    }
    /* What is joined stays together, unless there is nothing else. */
    static const char family[] = "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7"
                                 "ab";
    assert_int_equal(cut_middle(family, strlen(family)), strlen(family) - 2);
    static const char marks[] = "\xCC\x81\xCC\x81\xCC\x81\xCC\x81";
    assert_int_equal(cut_middle(marks, strlen(marks)), 4);
    static const char joined_to_nothing[] = "2\xE2\x80\x8D";
    assert_int_equal(cut_middle(joined_to_nothing, strlen(joined_to_nothing)), 1);
}

static void chinese_sentences_are_joined_without_a_blank(void **state) {
    (void)state;
    assert_true(cut_needs_no_blank("\xE3\x80\x82", 3, "\xE4\xBB\x96", 3));
    assert_false(cut_needs_no_blank("\xE3\x80\x82", 3, "A", 1));
    assert_false(cut_needs_no_blank("a.", 2, "\xED\x95\x9C", 3)); /* Korean has blanks */
    assert_true(cut_needs_no_blank("", 0, "A", 1));
    assert_true(cut_needs_no_blank("a", 1, "", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_end_with_their_marks),
        cmocka_unit_test(a_small_letter_begins_none),
        cmocka_unit_test(full_stops_of_abbreviations_and_numbers_end_none),
        cmocka_unit_test(other_scripts_have_their_own_marks),
        cmocka_unit_test(clauses_and_blanks_are_cuts_too),
        cmocka_unit_test(the_best_cut_nearest_to_the_middle_is_taken),
        cmocka_unit_test(chinese_sentences_are_joined_without_a_blank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
