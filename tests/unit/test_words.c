#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "protecting_vocab.h"
#include "text/words.h"

#include <stdlib.h>
#include <string.h>

static sa_error error;

static void words_are_counted_across_pieces(void **state) {
    (void)state;
    word_counter c = {0};
    assert_int_equal(words_take(&c, "  ab", 4), 0);
    assert_int_equal(words_take(&c, "c d", 3), 0);
    assert_int_equal(words_take(&c, "", 0), -1);
    assert_int_equal(words_take(&c, "\t\n", 2), -1);
    assert_int_equal(words_take(&c, "e f", 3), 2);
    assert_int_equal(c.n, 4);
    assert_true(c.open);
}

/* The words of a line that was encoded as a whole are those of its symbols' texts. */
static void every_symbol_is_of_the_word_that_its_text_stands_in(void **state) {
    (void)state;
    vocab *v = protecting_vocab(SA_VOCAB_UNIGRAM);
    static const char *const lines[] = {
        "the dog sees cats", "  cats\t see  a dog ", "dogcat qqq xthe", "", " ", "a"};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        id_list ids = {0};
        strbuf texts = {0};
        size_t n = strlen(lines[k]);
        assert_int_equal(vocab_encode_texts(v, lines[k], n, &ids, &texts, &error), SA_OK);
        int *word = calloc(ids.n + 1, sizeof *word);
        assert_int_equal(words_of_symbols(v, lines[k], n, word, ids.n, &error), SA_OK);
        word_counter c = {0};
        const char *text = texts.data;
        for (size_t i = 0; i < ids.n; i++, text += strlen(text) + 1) {
            int own = words_take(&c, text, strlen(text));
            assert_true(own < 0 || own == word[i]); /* -1: the mark of a blank by itself */
        }
        free(word);
        id_list_free(&ids);
        strbuf_free(&texts);
    }
    vocab_free(v);
}

static void what_is_written_is_counted_as_it_is_decoded(void **state) {
    (void)state;
    vocab *v = protecting_vocab(SA_VOCAB_BPE);
    id_list ids = {0};
    const char *line = "the dogs qqq see cats";
    assert_int_equal(vocab_encode(v, line, strlen(line), &ids, &error), SA_OK);
    strbuf text = {0};
    assert_int_equal(vocab_decode(v, ids.id, ids.n, NULL, &text, &error), SA_OK);
    word_counter decoded = {0}, symbols = {0};
    words_take(&decoded, text.data, text.length);
    int last = 0;
    for (size_t i = 0; i < ids.n; i++) {
        int word = words_take_symbol(&symbols, v, ids.id[i], NULL);
        assert_true(word < 0 || (word >= last && word <= last + 1));
        last = word < 0 ? last : word;
    }
    assert_int_equal(symbols.n, decoded.n);
    strbuf_free(&text);
    id_list_free(&ids);
    vocab_free(v);
}

static void words_of_a_protected_text_are_those_of_the_original(void **state) {
    (void)state;
    const char *text = "see <i id=\"1\"> 12 dogs <b>", *both[2] = {text, "<b> dogs"};
    size_t length[2] = {strlen(text), strlen(both[1])};
    strbuf protected[2] = {{0}, {0}};
    assert_true(protect_pair(protected, both, length, true));
    int *word;
    assert_int_equal(words_under_protection(&word, text, protected[0].data, &error), SA_OK);
    const int expected[] = {0, 1, 3, 4, 5}; /* the first tag has a blank inside: words 1 and 2 */
    for (int i = 0; i < 5; i++)
        assert_int_equal(word[i], expected[i]);
    free(word);
    assert_int_equal(words_under_protection(&word, both[1], protected[1].data, &error), SA_OK);
    assert_int_equal(word[0], 0);
    assert_int_equal(word[1], 1);
    free(word);
    strbuf_free(&protected[0]);
    strbuf_free(&protected[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_counted_across_pieces),
        cmocka_unit_test(every_symbol_is_of_the_word_that_its_text_stands_in),
        cmocka_unit_test(what_is_written_is_counted_as_it_is_decoded),
        cmocka_unit_test(words_of_a_protected_text_are_those_of_the_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
