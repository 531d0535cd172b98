#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/ter_tokenizer.h"

#include <string.h>

/* Expected tokens are those of sacreBLEU's tests (Apache-2.0), or of Tercom's rules. */
static void assert_tokens(sa_ter_options options, const char *line, const char *tokens) {
    cutter c = {0};
    size_t length;
    const char *found = ter_tokenize(&c, &options, line, &length);
    assert_non_null(found);
    assert_string_equal(found, tokens);
    assert_int_equal(length, strlen(tokens));
    cutter_free(&c);
}

static void lines_are_lowered_and_cut_at_white_space(void **state) {
    (void)state;
    assert_tokens((sa_ter_options){0}, "", "");
    assert_tokens((sa_ter_options){0}, " a  b\tc d. ", "a b c d.");
    assert_tokens((sa_ter_options){0}, "A B \xC3\x84 D.", "a b \xC3\xA4 d.");
    assert_tokens((sa_ter_options){.case_sensitive = true}, "A B C D.", "A B C D.");
}

static void punctuation_is_taken_out_on_request(void **state) {
    (void)state;
    assert_tokens((sa_ter_options){.no_punct = true}, "A ; B ) C : D.", "a b c d");
    assert_tokens((sa_ter_options){.no_punct = true}, "(what?!) \"no\", 'so' a-b", "what no 'so' a-b");
}

static void normalizing_cuts_punctuation_off(void **state) {
    (void)state;
    const sa_ter_options options = {.normalized = true};
    assert_tokens(options, "a b (c) d.", "a b ( c ) d .");
    assert_tokens(options, "Jim's car.", "jim 's car .");
    assert_tokens(options, "The cats' and Jim's", "the cats' and jim 's");
    assert_tokens(options, "4.2", "4.2");
    assert_tokens(options, "1,000 kg, 3-4 e-mails.", "1,000 kg , 3 - 4 e-mails .");
    assert_tokens(options, "&quot;R&amp;D&quot; &lt;b&gt;", "\" r & d \" < b >");
    assert_tokens(options, "soft\n-ware\nis", "software is");
}

static void each_ideograph_is_a_word_with_asian_support(void **state) {
    (void)state;
    const sa_ter_options options = {.normalized = true, .asian_support = true};
    assert_tokens(options, "美众院公布对特", "美 众 院 公 布 对 特");
    assert_tokens(options, "りの拳銃を持", "りの 拳 銃 を 持");
    assert_tokens(options, "㈱とカ。「a」、（b）！", "㈱ とカ 。 「 a 」 、 （ b ） ！");
    assert_tokens((sa_ter_options){.asian_support = true}, "美众", "美众");
}

static void asian_punctuation_is_taken_out_with_asian_support(void **state) {
    (void)state;
    assert_tokens((sa_ter_options){.no_punct = true}, "とカ。「a」、（b）！.", "とカ。「a」、（b）！");
    assert_tokens((sa_ter_options){.no_punct = true, .asian_support = true}, "とカ。「a」、（b）！.", "とカab");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_lowered_and_cut_at_white_space),
        cmocka_unit_test(punctuation_is_taken_out_on_request),
        cmocka_unit_test(normalizing_cuts_punctuation_off),
        cmocka_unit_test(each_ideograph_is_a_word_with_asian_support),
        cmocka_unit_test(asian_punctuation_is_taken_out_with_asian_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
