#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/bleu_tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* Expected tokens are what sacreBLEU 2.6.0 makes of the line. */
static void assert_tokens(sa_bleu_tokenizer kind, const char *line, const char *tokens) {
    bleu_tokenizer t = {.kind = kind};
    size_t length;
    const char *found = bleu_tokenize(&t, line, &length);
    assert_non_null(found);
    assert_string_equal(found, tokens);
    assert_int_equal(length, strlen(tokens));
    bleu_tokenizer_free(&t);
}

static void thirteen_a_cuts_ascii_punctuation_but_not_inside_numbers(void **state) {
    (void)state;
    assert_tokens(SA_TOK_13A, "Hello, world!", "Hello , world !");
    assert_tokens(SA_TOK_13A, "It's 3.50 euros (1,200 won), e.g. at 5-10 p.m.",
                  "It's 3.50 euros ( 1,200 won ) , e . g . at 5 - 10 p . m .");
    assert_tokens(SA_TOK_13A, "v2. x.5 5.x a,.b .,", "v2 . x . 5 5 . x a , . b . ,");
    assert_tokens(SA_TOK_13A, "10-year-old 2-", "10 - year-old 2 -");
    assert_tokens(SA_TOK_13A, "~`{|}[]^_\\@:;<=>?/*+()#%&\"'",
                  "~ ` { | } [ ] ^ _ \\ @ : ; < = > ? / * + ( ) # % & \" '");
}

static void thirteen_a_leaves_punctuation_beyond_ascii(void **state) {
    (void)state;
    assert_tokens(SA_TOK_13A, "«Où?» 3°C… 2²! 5,5%·$4", "«Où ? » 3°C… 2² ! 5,5 % · $ 4");
    assert_tokens(SA_TOK_13A, "日本語 です。", "日本語 です。");
}

static void thirteen_a_reads_four_entities_in_order(void **state) {
    (void)state;
    assert_tokens(SA_TOK_13A, "&quot;R&amp;D&quot; &lt;b&gt; &amp;lt; &amp;quot; &apos;",
                  "\" R & D \" < b > < & quot ; & apos ;");
}

static void thirteen_a_joins_broken_lines_and_drops_skipped(void **state) {
    (void)state;
    assert_tokens(SA_TOK_13A, "one-\ntwo\nthree<skipped>four", "onetwo threefour");
}

static void intl_cuts_unicode_punctuation_and_symbols(void **state) {
    (void)state;
    assert_tokens(SA_TOK_INTL, "It's 3.50 euros (1,200 won), e.g. at 5-10 p.m.",
                  "It ' s 3.50 euros ( 1,200 won ) , e . g . at 5-10 p . m .");
    assert_tokens(SA_TOK_INTL, "«Où?» 3°C… 2²! 5,5%·$4", "« Où ? » 3 ° C … 2² ! 5,5 % · $ 4");
    assert_tokens(SA_TOK_INTL, "日本語 です。", "日本語 です 。");
    assert_tokens(SA_TOK_INTL, "٣،٤ x،y", "٣،٤ x ، y");
    assert_tokens(SA_TOK_INTL, "a &quot; b", "a & quot ; b");
}

static void intl_keeps_the_stop_after_a_last_number(void **state) {
    (void)state;
    assert_tokens(SA_TOK_INTL, "Preis: 12€/kg – 2017.", "Preis : 12 € / kg – 2017.");
    assert_tokens(SA_TOK_INTL, "2017. \xC2\xA0\t", "2017.");
    assert_tokens(SA_TOK_INTL, "2017. x", "2017 . x");
}

static void char_makes_every_character_a_token(void **state) {
    (void)state;
    assert_tokens(SA_TOK_CHAR, "«Où?» 12€", "« O ù ? » 1 2 €");
    assert_tokens(SA_TOK_CHAR, "日本語 です。", "日 本 語 で す 。");
}

static void none_cuts_at_unicode_white_space_only(void **state) {
    (void)state;
    assert_tokens(SA_TOK_NONE,
                  "a,b.\xC2\xA0 c\t\xE3\x80\x80"
                  "d\x1F"
                  "e",
                  "a,b. c d e");
}

static void a_blank_line_has_no_tokens(void **state) {
    (void)state;
    for (sa_bleu_tokenizer kind = SA_TOK_13A; kind <= SA_TOK_NONE; kind++) {
        assert_tokens(kind, "", "");
        assert_tokens(kind, " \t\xE3\x80\x80\n", "");
    }
}

static void lower_case_comes_before_the_cutting(void **state) {
    (void)state;
    bleu_tokenizer t = {.kind = SA_TOK_13A, .lowercase = true};
    size_t length;
    assert_string_equal(bleu_tokenize(&t, "ÉTÉ &QUOT; <SKIPPED>ΟΔΟΣ ", &length), "été \" οδος");
    bleu_tokenizer_free(&t);
}

static void a_tokenizer_can_be_used_again(void **state) {
    (void)state;
    bleu_tokenizer t = {.kind = SA_TOK_INTL};
    size_t length;
    assert_string_equal(bleu_tokenize(&t, "a long line, with much in it (and more).", &length),
                        "a long line , with much in it ( and more ) .");
    assert_string_equal(bleu_tokenize(&t, "b!", &length), "b !");
    assert_int_equal(length, 3);
    bleu_tokenizer_free(&t);
}

static void wrong_utf8_is_kept_and_never_read_past(void **state) {
    (void)state;
    for (sa_bleu_tokenizer kind = SA_TOK_13A; kind <= SA_TOK_NONE; kind++)
        assert_tokens(kind, "\xE2\x82", "\xE2\x82");
    assert_tokens(SA_TOK_13A, "\xFF.\xE2\x82 x", "\xFF . \xE2\x82 x");
}

static void names_are_those_of_the_signature(void **state) {
    (void)state;
    assert_string_equal(bleu_tokenizer_name(SA_TOK_13A), "13a");
    assert_string_equal(bleu_tokenizer_name(SA_TOK_INTL), "intl");
    assert_string_equal(bleu_tokenizer_name(SA_TOK_CHAR), "char");
    assert_string_equal(bleu_tokenizer_name(SA_TOK_NONE), "none");
    assert_null(bleu_tokenizer_name((sa_bleu_tokenizer)4));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thirteen_a_cuts_ascii_punctuation_but_not_inside_numbers),
        cmocka_unit_test(thirteen_a_leaves_punctuation_beyond_ascii),
        cmocka_unit_test(thirteen_a_reads_four_entities_in_order),
        cmocka_unit_test(thirteen_a_joins_broken_lines_and_drops_skipped),
        cmocka_unit_test(intl_cuts_unicode_punctuation_and_symbols),
        cmocka_unit_test(intl_keeps_the_stop_after_a_last_number),
        cmocka_unit_test(char_makes_every_character_a_token),
        cmocka_unit_test(none_cuts_at_unicode_white_space_only),
        cmocka_unit_test(a_blank_line_has_no_tokens),
        cmocka_unit_test(lower_case_comes_before_the_cutting),
        cmocka_unit_test(a_tokenizer_can_be_used_again),
        cmocka_unit_test(wrong_utf8_is_kept_and_never_read_past),
        cmocka_unit_test(names_are_those_of_the_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
