#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/symbols.h"
#include "sentences.h"

#include <stdlib.h>

#define MARK VOCAB_SUBWORD_BLANK

static sa_error error;
static vocab *words, *pieces; /* of the same text */

static int id_of(const vocab *v, const char *piece) {
    return vocab_find(v, piece, strlen(piece));
}

static void texts_are_those_behind_the_ids(void **state) {
    (void)state;
    symbols s;
    assert_int_equal(symbols_encode(&s, words, " the  qqq dog ", true, &error), SA_OK);
    assert_int_equal(s.ids.n, 3);
    assert_int_equal(s.ids.id[1], VOCAB_UNK);
    assert_string_equal(s.text[0], "the");
    assert_string_equal(s.text[1], "qqq");
    assert_string_equal(s.text[2], "dog");
    symbols_free(&s);
    assert_int_equal(symbols_encode(&s, words, "the dog", false, &error), SA_OK);
    assert_int_equal(s.ids.n, 2);
    assert_null(s.text);
    symbols_free(&s);
    assert_int_equal(symbols_encode(&s, words, "  ", true, &error), SA_OK);
    assert_int_equal(s.ids.n, 0);
    symbols_free(&s);
}

static void symbols_are_read_by_their_own_texts(void **state) {
    (void)state;
    symbols s;
    assert_int_equal(symbols_read(&s, pieces, " " MARK "dog  s <unk> nosuch </s>", &error), SA_OK);
    assert_int_equal(s.ids.n, 5);
    assert_int_equal(s.ids.id[0], id_of(pieces, MARK "dog"));
    assert_int_equal(s.ids.id[1], id_of(pieces, "s"));
    for (int i = 2; i < 5; i++)
        assert_int_equal(s.ids.id[i], VOCAB_UNK);
    symbols_free(&s);
    for (int id = 1; id < vocab_size(pieces); id++)
        assert_int_equal(id_of(pieces, vocab_piece(pieces, id)), id);
    for (int id = 1; id < vocab_size(words); id++)
        assert_int_equal(id_of(words, vocab_piece(words, id)), id);
}

/* fixed: the texts of the fixed symbols, NULL-terminated; open NULL: nothing. */
static void expect_start(const vocab *v, const char *line, const char *const *fixed, const char *open) {
    forced_start f;
    assert_int_equal(forced_start_read(&f, v, line, &error), SA_OK);
    for (int i = 0; i < f.n; i++) {
        assert_non_null(fixed[i]);
        assert_string_equal(f.symbols.text[i], fixed[i]);
    }
    assert_null(fixed[f.n]);
    assert_int_equal(f.open == NULL, open == NULL);
    if (open)
        assert_string_equal(f.open, open);
    forced_start_free(&f);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void the_words_of_a_start_are_fixed(void **state) {
    (void)state;
    expect_start(words, "the dog", TEXTS("the", "dog"), NULL);
    expect_start(words, "the xyz ", TEXTS("the", "xyz"), NULL);
    expect_start(words, "", TEXTS(NULL), NULL);
    expect_start(words, " \t", TEXTS(NULL), NULL);
}

static void the_last_word_is_fixed_by_its_letters_in_subwords(void **state) {
    (void)state;
    expect_start(pieces, "the dog", TEXTS(" the"), MARK "dog");
    expect_start(pieces, "the do", TEXTS(" the"), MARK "do");
    expect_start(pieces, "d", TEXTS(NULL), MARK "d");
    expect_start(pieces, "the dog ", TEXTS(" the", " dog"), MARK);
    expect_start(pieces, "the dog\t", TEXTS(" the", " dog"), MARK);
    expect_start(pieces, "", TEXTS(NULL), NULL);
    expect_start(pieces, " ", TEXTS(NULL), NULL);
    /* letters that no piece has */
    expect_start(pieces, "the X", TEXTS(" the", " ", "X"), NULL);
    expect_start(pieces, "X the", TEXTS(" ", "X"), MARK "the");
    expect_start(pieces, "the dogX", TEXTS(" the", " dog", "X"), NULL);
}

static int make(void **state) {
    (void)state;
    static const char *const text[] = {"the dog sees the dogs", "dog eats the toad", "the dog hears", NULL};
    return train_on(&words, SA_VOCAB_WORD, 100, NULL, text, 3, &error) ||
           train_on(&pieces, SA_VOCAB_BPE, 40, "identity", text, 9, &error);
}

static int release(void **state) {
    (void)state;
    vocab_free(words);
    vocab_free(pieces);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_those_behind_the_ids),
        cmocka_unit_test(symbols_are_read_by_their_own_texts),
        cmocka_unit_test(the_words_of_a_start_are_fixed),
        cmocka_unit_test(the_last_word_is_fixed_by_its_letters_in_subwords),
    };
    return cmocka_run_group_tests(tests, make, release);
}
