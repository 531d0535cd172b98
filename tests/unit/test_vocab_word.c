#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sentences.h"

static sa_error error;

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static vocab *make(int size, const char *const *lines) {
    vocab *v;
    assert_int_equal(train_on(&v, SA_VOCAB_WORD, size, NULL, lines, 1, &error), SA_OK);
    return v;
}

static void assert_saved_as(const vocab *v, const char *rows) {
    strbuf bytes = {0};
    assert_int_equal(vocab_save(v, &bytes, &error), SA_OK);
    assert_string_equal(bytes.data, rows);
    strbuf_free(&bytes);
}

static void assert_refused(const char *rows, size_t n, const char *part) {
    vocab *v;
    assert_int_equal(vocab_load(&v, SA_VOCAB_WORD, rows, n, &error), SA_FORMAT);
    assert_null(v);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

#define REFUSED(rows, part) assert_refused(rows, sizeof rows - 1, part)

static void words_are_ordered_by_frequency_and_then_by_bytes(void **state) {
    (void)state;
    vocab *v = make(100, LINES("b c a b", "\xC3\xA9 aa c b"));
    assert_saved_as(v, "</s>\n<unk>\nb\nc\na\naa\n\xC3\xA9\n");
    vocab_free(v);
}

static void the_rarest_words_are_left_out(void **state) {
    (void)state;
    vocab *v = make(4, LINES("b c a b", "\xC3\xA9 c b"));
    assert_saved_as(v, "</s>\n<unk>\nb\nc\n");
    id_list ids = {0};
    assert_int_equal(vocab_encode(v, "a b c", 5, &ids, &error), SA_OK);
    assert_int_equal(ids.n, 3);
    assert_int_equal(ids.id[0], VOCAB_UNK);
    assert_int_equal(ids.id[1], 2);
    assert_int_equal(ids.id[2], 3);
    id_list_free(&ids);
    vocab_free(v);
}

/* 300 different words of a megabyte. */
static void the_rarest_words_are_forgotten_where_there_are_too_many(void **state) {
    (void)state;
    enum { LONG = 1 << 20 };
    char *word = malloc(LONG + 1);
    assert_non_null(word);
    memset(word, 'x', LONG);
    word[LONG] = 0;
    vocab_learner *l;
    vocab_options options = {.type = SA_VOCAB_WORD, .size = 1000};
    assert_int_equal(vocab_learner_new(&l, &options, &error), SA_OK);
    for (int i = 0; i < 300; i++) {
        snprintf(word, 16, "%d", i);
        word[strlen(word)] = 'x';
        assert_int_equal(vocab_learner_add(l, word, LONG, &error), SA_OK);
        assert_int_equal(vocab_learner_add(l, "der hund", 8, &error), SA_OK);
    }
    vocab *v;
    assert_int_equal(vocab_learner_end(l, &v, &error), SA_OK);
    vocab_learner_free(l);
    assert_in_range(vocab_size(v), 4 + 30, 4 + 60);
    assert_string_equal(vocab_piece(v, 2), "der");
    assert_string_equal(vocab_piece(v, 3), "hund");
    assert_memory_equal(vocab_piece(v, vocab_size(v) - 1), "299x", 4); /* the last ones had room again */
    vocab_free(v);
    free(word);
}

static void thousands_of_words_are_all_found_again(void **state) {
    (void)state;
    enum { N = 20000 };
    static char text[N * 8];
    size_t n = 0;
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "w%d ", i);
    vocab *v = make(N + 2, LINES(text));
    assert_int_equal(vocab_size(v), N + 2);
    id_list ids = {0};
    assert_int_equal(vocab_encode(v, text, n, &ids, &error), SA_OK);
    assert_int_equal(ids.n, N);
    for (int i = 0; i < N; i++) {
        char word[16];
        sprintf(word, "w%d", i);
        assert_string_equal(vocab_piece(v, ids.id[i]), word);
    }
    id_list_free(&ids);
    vocab_free(v);
}

static void odd_words_are_escaped_and_read_back(void **state) {
    (void)state;
    const char *text = "a\\b \x01\x7F \v </s> <unk> \\x41";
    vocab *v = make(100, LINES(text));
    assert_saved_as(v, "</s>\n<unk>\n\\x01\\x7F\n\\x0B\n</s>\n<unk>\n\\\\x41\na\\\\b\n");
    strbuf bytes = {0};
    vocab *again;
    assert_int_equal(vocab_save(v, &bytes, &error), SA_OK);
    assert_int_equal(vocab_load(&again, SA_VOCAB_WORD, bytes.data, bytes.length, &error), SA_OK);
    assert_int_equal(vocab_size(again), vocab_size(v));
    for (int id = 0; id < vocab_size(v); id++)
        assert_string_equal(vocab_piece(again, id), vocab_piece(v, id));
    strbuf_free(&bytes);
    vocab_free(v);
    vocab_free(again);
}

static void nbsp_and_the_ideographic_space_are_letters(void **state) {
    (void)state;
    vocab *v = make(100, LINES("der  hund\xC2\xA0schl\xC3\xA4"
                               "ft\xE3\x80\x80. "));
    assert_int_equal(vocab_size(v), 4);
    vocab_free(v);
}

static void words_are_joined_by_one_blank_and_unknown_ones_shown(void **state) {
    (void)state;
    vocab *v = make(100, LINES("b c"));
    strbuf text = {0};
    assert_int_equal(vocab_decode(v, (int[]){3, 1, 2, 0, 2}, 5, NULL, &text, &error), SA_OK);
    assert_string_equal(text.data, "c <unk> b");
    strbuf_free(&text);
    vocab_free(v);
}

static void unknown_words_keep_their_text(void **state) {
    (void)state;
    vocab *v = make(100, LINES("b c"));
    id_list ids = {0};
    strbuf texts = {0}, out = {0};
    assert_int_equal(vocab_encode_texts(v, " b  qq\tc", 8, &ids, &texts, &error), SA_OK);
    assert_int_equal(ids.n, 3);
    assert_int_equal(texts.length, 7);
    assert_memory_equal(texts.data, "b\0qq\0c", 7);
    const char *const at[] = {"a", "qq", NULL};
    assert_int_equal(vocab_decode(v, ids.id, ids.n, at, &out, &error), SA_OK);
    assert_string_equal(out.data, "a qq c");
    strbuf_free(&texts);
    strbuf_free(&out);
    id_list_free(&ids);
    vocab_free(v);
}

static void bad_rows_are_named(void **state) {
    (void)state;
    REFUSED("", "row 1");
    REFUSED("</s>\n", "row 2");
    REFUSED("<unk>\n</s>\nhund\n", "row 1");
    REFUSED("</s>\nhund\n", "row 2");
    REFUSED("</s>\n<unk>\nhund\n\nkatze\n", "row 4: an empty row");
    REFUSED("</s>\n<unk>\nhund\nkatze\nhund\n", "row 5: the same word as in row 3");
    REFUSED("</s>\n<unk>\nhund\n katze\n", "row 4: a blank");
    REFUSED("</s>\n<unk>\nbrot\r\n", "row 3: a blank");
    REFUSED("</s>\n<unk>\nbr\tot\n", "row 3: a blank");
    REFUSED("</s>\n<unk>\nbr\vot\n", "row 3: a blank or a control character");
    REFUSED("</s>\n<unk>\nbr\0ot\n", "row 3: bytes that are not UTF-8");
    REFUSED("</s>\n<unk>\nbrot\n\xC3\n", "row 4: bytes that are not UTF-8");
    REFUSED("</s>\n<unk>\nbrot", "row 3: it is cut short");
    REFUSED("</s>\n<unk>\na\\", "row 3");
}

static void bad_escapes_are_named(void **state) {
    (void)state;
    REFUSED("</s>\n<unk>\na\\\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\n\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\x0\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\x00\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\x0A\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\x20\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\x41\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\x0g\n", "row 3: a backslash");
    REFUSED("</s>\n<unk>\n\\x01\n\\x01\n", "row 4: the same word");
}

static void a_row_cut_anywhere_is_noticed(void **state) {
    (void)state;
    static const char rows[] = "</s>\n<unk>\nhund\nkatze\n";
    for (size_t n = 0; n < sizeof rows - 1; n++) {
        vocab *v;
        bool between_rows = n >= 11 && rows[n - 1] == '\n';
        assert_int_equal(vocab_load(&v, SA_VOCAB_WORD, rows, n, &error), between_rows ? SA_OK : SA_FORMAT);
        vocab_free(v);
    }
}

static void a_vocabulary_without_words_knows_nothing(void **state) {
    (void)state;
    vocab *v;
    assert_int_equal(vocab_load(&v, SA_VOCAB_WORD, "</s>\n<unk>\n", 11, &error), SA_OK);
    assert_int_equal(vocab_size(v), 2);
    id_list ids = {0};
    assert_int_equal(vocab_encode(v, "a", 1, &ids, &error), SA_OK);
    assert_int_equal(ids.id[0], VOCAB_UNK);
    id_list_free(&ids);
    vocab_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_ordered_by_frequency_and_then_by_bytes),
        cmocka_unit_test(the_rarest_words_are_left_out),
        cmocka_unit_test(the_rarest_words_are_forgotten_where_there_are_too_many),
        cmocka_unit_test(thousands_of_words_are_all_found_again),
        cmocka_unit_test(odd_words_are_escaped_and_read_back),
        cmocka_unit_test(nbsp_and_the_ideographic_space_are_letters),
        cmocka_unit_test(words_are_joined_by_one_blank_and_unknown_ones_shown),
        cmocka_unit_test(unknown_words_keep_their_text),
        cmocka_unit_test(bad_rows_are_named),
        cmocka_unit_test(bad_escapes_are_named),
        cmocka_unit_test(a_row_cut_anywhere_is_noticed),
        cmocka_unit_test(a_vocabulary_without_words_knows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
