#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pieces.h"
#include "protecting_vocab.h"

static sa_error error;
static vocab *words, *subwords;

static sa_translate_options usual(int max_length, bool split) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.max_length = max_length;
    o.split_sentences = split;
    return o;
}

/* The pieces of a text as their words, with bars between and "/" for each line feed. */
static bool expect(const char *text, const sa_translate_options *o, const char *wanted) {
    piece_list pieces = {0};
    bool too_long;
    strbuf out = {0};
    strbuf_puts(&out, "");
    assert_int_equal(pieces_add(&pieces, words, o, false, 7, text, &too_long, &error), SA_OK);
    for (size_t i = 0; i < pieces.n; i++) {
        source_piece *p = &pieces.at[i];
        assert_int_equal(p->line, 7);
        assert_int_equal(p->number, i);
        assert_int_equal(p->source.ids.id[p->source.ids.n - 1], VOCAB_EOS);
        strbuf_puts(&out, i > 0 ? "|" : "");
        for (int feed = 0; feed < p->line_feeds; feed++)
            strbuf_puts(&out, "/");
        assert_int_equal(vocab_decode(words, p->source.ids.id, p->source.ids.n, NULL, &out, &error), SA_OK);
    }
    assert_string_equal(out.data, wanted);
    strbuf_free(&out);
    pieces_free(&pieces);
    return too_long;
}

static void a_line_is_one_piece(void **state) {
    (void)state;
    sa_translate_options o = usual(4, false);
    assert_false(expect("a b. A c", &o, "a b. A c"));
    assert_false(expect("", &o, ""));
    assert_false(expect(" \t ", &o, ""));
    assert_false(expect("a\n\nb \n", &o, "a|//b"));
    o.replace_unk = true; /* with the texts behind the ids */
    assert_false(expect("a b. A c", &o, "a b. A c"));
    assert_false(expect("  ", &o, ""));
}

static void a_long_line_is_cut_where_it_can_be(void **state) {
    (void)state;
    sa_translate_options o = usual(3, false);
    assert_true(expect("cc bb. A c cc bb. A b", &o, "cc bb.|A c cc|bb.|A b"));
    o.max_length = 4;
    assert_true(expect("a b, c a, b c", &o, "a b,|c a, b c"));
    assert_true(expect("a b c a b c", &o, "a b c|a b c"));
    o.max_length = 1;
    assert_true(expect("a b c", &o, "a|b|c"));
}

static void sentences_are_split_when_asked(void **state) {
    (void)state;
    sa_translate_options o = usual(9, true);
    assert_false(expect("cc b. A c! A b", &o, "cc b. A c!|A b"));
    assert_false(expect("cc bb. A c! A b", &o, "cc bb.|A c!|A b"));
}

static void items_go_with_their_pieces(void **state) {
    (void)state;
    static const char line[] = "the dog sees 12 cats. <b>the dog</b> sees 7 8 cats.";
    sa_translate_options o = usual(1000, true);
    piece_list pieces = {0};
    bool too_long;
    assert_int_equal(pieces_add(&pieces, subwords, &o, true, 0, line, &too_long, &error), SA_OK);
    assert_int_equal(pieces.n, 2);
    assert_int_equal(pieces.at[0].n_items, 1);
    assert_int_equal(pieces.at[1].n_items, 4);
    const char *const wanted[] = {"12", "<b>", "</b>", "7", "8"};
    for (size_t i = 0, k = 0; i < 2; i++) {
        const source_piece *p = &pieces.at[i];
        for (size_t j = 0; j < p->n_items; j++, k++) {
            assert_string_equal(p->items[j].text, wanted[k]);
            assert_int_equal(p->source.ids.id[p->items[j].at], vocab_placeholder(subwords, p->items[j].kind));
        }
    }
    assert_int_equal(pieces.at[1].kinds[PROTECT_TAG], 2);
    assert_int_equal(pieces.at[1].kinds[PROTECT_NUMBER], 2);
    pieces_free(&pieces);
    /* One symbol for each item, however short the pieces must be. */
    o = usual(2, false);
    assert_int_equal(pieces_add(&pieces, subwords, &o, true, 0, "<i id=\"1 2 3\"> 1,234,567", &too_long, &error),
                     SA_OK);
    assert_int_equal(pieces.n, 2);
    assert_string_equal(pieces.at[1].items[0].text, "1,234,567");
    pieces_free(&pieces);
}

static char *copy(const char *text) {
    char *out = strdup(text);
    assert_non_null(out);
    return out;
}

/* A translation of S source and T target symbols, its numbers all x. */
static sa_translation part(const char *text, int S, int T, float x, int n) {
    sa_translation t = {.n = n, .source_length = S, .pieces = 1};
    t.hypothesis = calloc((size_t)n, sizeof *t.hypothesis);
    t.source_symbol = calloc((size_t)S, sizeof *t.source_symbol);
    for (int j = 0; j < S; j++)
        t.source_symbol[j] = copy("s");
    for (int k = 0; k < n; k++) {
        sa_hypothesis *h = &t.hypothesis[k];
        char name[32];
        snprintf(name, sizeof name, "%s%d", text, k);
        *h = (sa_hypothesis){
            .text = copy(name), .score = -(double)x - k, .normalized = -(double)x / T - k, .length = T};
        h->symbol = calloc((size_t)T, sizeof *h->symbol);
        h->word_score = calloc((size_t)T, sizeof *h->word_score);
        h->attention = calloc((size_t)(T * S), sizeof *h->attention);
        for (int i = 0; i < T; i++)
            h->symbol[i] = copy(name);
        for (int i = 0; i < T * S; i++)
            h->attention[i] = x;
    }
    return t;
}

static void translations_of_pieces_are_joined(void **state) {
    (void)state;
    sa_translation parts[] = {part("a", 2, 3, 1, 2), part("b", 1, 2, 2, 1)}, out = {.too_long = true};
    const source_piece pieces[] = {{.number = 0}, {.number = 1}};
    assert_int_equal(pieces_join(&out, pieces, parts, 2, &error), SA_OK);
    assert_int_equal(out.n, 2);
    assert_int_equal(out.pieces, 2);
    assert_true(out.too_long);
    assert_int_equal(out.source_length, 3);
    assert_string_equal(out.hypothesis[0].text, "a0 b0");
    assert_string_equal(out.hypothesis[1].text, "a1 b0"); /* the second has one only */
    const sa_hypothesis *h = &out.hypothesis[0];
    assert_int_equal(h->length, 5);
    assert_true(h->score == -3 && h->normalized == (-1.0 / 3 - 1) / 2);
    static const float wanted[] = {1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 2, 0, 0, 2};
    assert_memory_equal(h->attention, wanted, sizeof wanted);
    assert_string_equal(h->symbol[2], "a0");
    assert_string_equal(h->symbol[3], "b0");
    sa_translation *all = calloc(1, sizeof *all);
    *all = out;
    sa_translations_free(all, 1);
    for (int i = 0; i < 2; i++) {
        all = calloc(1, sizeof *all);
        *all = parts[i];
        sa_translations_free(all, 1);
    }
}

static int make_vocabs(void **state) {
    (void)state;
    static const char *const lines[] = {"a b c A b. c, a, b, c! bb. cc c", NULL};
    subwords = protecting_vocab(SA_VOCAB_UNIGRAM);
    return train_on(&words, SA_VOCAB_WORD, 100, NULL, lines, 1, &error) != SA_OK;
}

static int free_vocabs(void **state) {
    (void)state;
    vocab_free(words);
    vocab_free(subwords);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_piece),
        cmocka_unit_test(a_long_line_is_cut_where_it_can_be),
        cmocka_unit_test(sentences_are_split_when_asked),
        cmocka_unit_test(items_go_with_their_pieces),
        cmocka_unit_test(translations_of_pieces_are_joined),
    };
    return cmocka_run_group_tests(tests, make_vocabs, free_vocabs);
}
