#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sentences.h"

static sa_error error;
static const sa_vocab_type types[] = {SA_VOCAB_WORD, SA_VOCAB_BPE, SA_VOCAB_UNIGRAM};
enum { TYPES = sizeof types / sizeof *types };

static const char *const toy[] = {"der hund schl\xC3\xA4"
                                  "ft .",
                                  "die katze schl\xC3\xA4"
                                  "ft .",
                                  "der hund frisst brot .", NULL};

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static vocab *make(sa_vocab_type type, int size, const char *const *lines) {
    vocab *v;
    assert_int_equal(train_on(&v, type, size, "identity", lines, 1, &error), SA_OK);
    return v;
}

static vocab *reload(const vocab *v) {
    strbuf bytes = {0};
    vocab *again;
    assert_int_equal(vocab_save(v, &bytes, &error), SA_OK);
    assert_int_equal(vocab_load(&again, vocab_type(v), bytes.data, bytes.length, &error), SA_OK);
    strbuf_free(&bytes);
    return again;
}

static void id_0_is_the_end_and_id_1_the_unknown_word(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 30, toy);
        assert_int_equal(vocab_type(v), types[i]);
        assert_string_equal(vocab_piece(v, 0), "</s>");
        assert_string_equal(vocab_piece(v, 1), "<unk>");
        vocab_free(v);
    }
}

static void a_vocabulary_is_never_larger_than_asked(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++)
        for (int size = 24; size < 40; size++) {
            vocab *v = make(types[i], size, toy);
            assert_in_range(vocab_size(v), 3, size);
            vocab_free(v);
        }
}

static void one_pair_fills_what_it_can_of_a_large_vocabulary(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 32000, LINES("hallo welt"));
        assert_in_range(vocab_size(v), 4, 40);
        vocab_free(v);
    }
}

static void no_text_is_an_error(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v;
        assert_int_equal(train_on(&v, types[i], 100, "identity", LINES(NULL), 1, &error), SA_DATA);
        assert_null(v);
        assert_int_equal(train_on(&v, types[i], 100, "identity", LINES("", " \t \r"), 1, &error), SA_DATA);
        assert_non_null(strstr(error.text, "empty"));
    }
}

static void a_size_without_room_for_a_word_is_an_error(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v;
        assert_int_equal(train_on(&v, types[i], 2, "identity", toy, 1, &error), SA_USAGE);
        assert_non_null(strstr(error.text, "2 symbols"));
    }
}

static void control_words_in_the_text_are_ordinary_or_unknown(void **state) {
    (void)state;
    const char *text = "der </s> hund <unk> <s> <pad> </s>";
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 60, LINES(text, "a</s>b </s>c", "x<unk> <unk>y"));
        vocab *other = make(types[i], 30, toy);
        id_list ids = {0};
        assert_int_equal(vocab_encode(v, text, strlen(text), &ids, &error), SA_OK);
        assert_int_equal(vocab_encode(other, text, strlen(text), &ids, &error), SA_OK);
        assert_true(ids.n > 7);
        for (size_t k = 0; k < ids.n; k++)
            assert_int_not_equal(ids.id[k], VOCAB_EOS);
        id_list_free(&ids);
        vocab_free(v);
        vocab_free(other);
    }
}

static void blank_lines_have_no_symbols(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, toy);
        id_list ids = {0};
        assert_int_equal(vocab_encode(v, NULL, 0, &ids, &error), SA_OK);
        assert_int_equal(vocab_encode(v, " \t \r\n ", 6, &ids, &error), SA_OK);
        assert_int_equal(ids.n, 0);
        vocab_free(v);
    }
}

static void tabs_and_doubled_blanks_separate_like_one_blank(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, toy);
        id_list plain = {0}, odd = {0};
        assert_int_equal(vocab_encode(v, "der hund .", 10, &plain, &error), SA_OK);
        assert_int_equal(vocab_encode(v, "\tder  \r hund\t. ", 15, &odd, &error), SA_OK);
        assert_true(plain.n >= 3);
        assert_int_equal(odd.n, plain.n);
        assert_memory_equal(odd.id, plain.id, plain.n * sizeof *plain.id);
        id_list_free(&plain);
        id_list_free(&odd);
        vocab_free(v);
    }
}

static void bytes_that_are_not_utf8_never_reach_a_vocabulary(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, LINES("caf\xE9 caf\xE9 caf\xE9", "zw\xC3"));
        vocab *again = reload(v);
        id_list ids = {0};
        assert_int_equal(vocab_encode(again, "caf\xE9", 4, &ids, &error), SA_OK);
        strbuf text = {0};
        assert_int_equal(vocab_decode(again, ids.id, ids.n, NULL, &text, &error), SA_OK);
        assert_string_equal(text.data, "caf\xEF\xBF\xBD");
        strbuf_free(&text);
        id_list_free(&ids);
        vocab_free(v);
        vocab_free(again);
    }
}

static void the_same_text_gives_the_same_bytes(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        strbuf first = {0}, second = {0};
        vocab *v = make(types[i], 35, toy), *w = make(types[i], 35, toy);
        assert_int_equal(vocab_save(v, &first, &error), SA_OK);
        assert_int_equal(vocab_save(w, &second, &error), SA_OK);
        assert_int_equal(first.length, second.length);
        assert_memory_equal(first.data, second.data, first.length);
        strbuf_free(&first);
        strbuf_free(&second);
        vocab_free(v);
        vocab_free(w);
    }
}

static void a_saved_vocabulary_reads_back_equal(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 35, toy), *again = reload(v);
        assert_int_equal(vocab_size(again), vocab_size(v));
        for (int id = 0; id < vocab_size(v); id++)
            assert_string_equal(vocab_piece(again, id), vocab_piece(v, id));
        strbuf first = {0}, second = {0};
        assert_int_equal(vocab_save(v, &first, &error), SA_OK);
        assert_int_equal(vocab_save(again, &second, &error), SA_OK);
        assert_int_equal(first.length, second.length);
        assert_memory_equal(first.data, second.data, first.length);
        strbuf_free(&first);
        strbuf_free(&second);
        vocab_free(v);
        vocab_free(again);
    }
}

static void known_text_comes_back_and_the_end_symbol_ends_it(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 60, toy);
        id_list ids = {0};
        assert_int_equal(vocab_encode(v, toy[0], strlen(toy[0]), &ids, &error), SA_OK);
        assert_true(id_list_push(&ids, VOCAB_EOS));
        assert_int_equal(vocab_encode(v, "die katze", 9, &ids, &error), SA_OK);
        strbuf text = {0};
        assert_int_equal(vocab_decode(v, ids.id, ids.n, NULL, &text, &error), SA_OK);
        assert_string_equal(text.data, toy[0]);
        strbuf_free(&text);
        id_list_free(&ids);
        vocab_free(v);
    }
}

static void ids_out_of_range_are_refused(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, toy);
        strbuf text = {0};
        assert_int_equal(vocab_decode(v, (int[]){2, -1}, 2, NULL, &text, &error), SA_DATA);
        assert_int_equal(vocab_decode(v, (int[]){2, vocab_size(v)}, 2, NULL, &text, &error), SA_DATA);
        assert_int_equal(vocab_decode(v, (int[]){VOCAB_EOS, -1}, 2, NULL, &text, &error), SA_OK);
        strbuf_free(&text);
        vocab_free(v);
    }
}

static void a_word_of_100000_letters_is_learnt_from_and_encoded(void **state) {
    (void)state;
    enum { N = 100000 };
    static char word[N + 1];
    memset(word, 'a', N);
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, LINES(word, "die katze"));
        id_list ids = {0};
        assert_int_equal(vocab_encode(v, word, N, &ids, &error), SA_OK);
        strbuf text = {0};
        assert_int_equal(vocab_decode(v, ids.id, ids.n, NULL, &text, &error), SA_OK);
        assert_int_equal(text.length, N);
        assert_memory_equal(text.data, word, N);
        strbuf_free(&text);
        id_list_free(&ids);
        vocab_free(v);
    }
}

/* "café" with e and acute as two code points, and as one. */
#define TWO "cafe\xCC\x81"
#define ONE "caf\xC3\xA9"

static void with_form_c_it_does_not_matter_how_letters_are_made(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v;
        assert_int_equal(train_on(&v, types[i], 40, "nfc", LINES(TWO " " ONE, ONE " bar", TWO), 3, &error), SA_OK);
        vocab *again = reload(v);
        assert_string_equal(vocab_normalization(v), "nfc");
        assert_string_equal(vocab_normalization(again), "nfc");
        id_list ids = {0};
        strbuf text = {0};
        assert_int_equal(vocab_encode(again, TWO, strlen(TWO), &ids, &error), SA_OK);
        size_t n = ids.n;
        assert_int_equal(vocab_encode(again, ONE, strlen(ONE), &ids, &error), SA_OK);
        assert_int_equal(ids.n, 2 * n);
        assert_memory_equal(ids.id, ids.id + n, n * sizeof *ids.id);
        assert_int_equal(vocab_decode(again, ids.id, n, NULL, &text, &error), SA_OK);
        assert_string_equal(text.data, ONE);
        strbuf_free(&text);
        id_list_free(&ids);
        vocab_free(v);
        vocab_free(again);
    }
}

static void nothing_is_changed_unless_asked_for(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, LINES(TWO " " ONE, ONE " bar", TWO));
        assert_string_equal(vocab_normalization(v), "identity");
        id_list ids = {0};
        strbuf text = {0};
        assert_int_equal(vocab_encode(v, TWO " " ONE, strlen(TWO " " ONE), &ids, &error), SA_OK);
        assert_int_equal(vocab_decode(v, ids.id, ids.n, NULL, &text, &error), SA_OK);
        assert_string_equal(text.data, TWO " " ONE);
        strbuf_free(&text);
        id_list_free(&ids);
        vocab_free(v);
    }
}

static void other_normalizations_keep_their_name(void **state) {
    (void)state;
    vocab *v;
    assert_int_equal(train_on(&v, SA_VOCAB_BPE, 40, "nmt_nfkc", toy, 1, &error), SA_OK);
    vocab *again = reload(v);
    assert_string_equal(vocab_normalization(again), "nmt_nfkc");
    vocab_free(v);
    vocab_free(again);
    assert_int_equal(train_on(&v, SA_VOCAB_WORD, 40, "nfkc", toy, 1, &error), SA_USAGE);
    assert_int_equal(train_on(&v, SA_VOCAB_BPE, 40, "nfd", toy, 1, &error), SA_USAGE);
}

static void pictures_and_features_are_saved_by_their_size_and_nothing_else_is_read(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "picture",
                                        "picture 0\n",
                                        "picture 64",
                                        "picture  64\n",
                                        "picture 64\n\n",
                                        "picture -8\n",
                                        "picture 99999999\n",
                                        "Picture 64\n",
                                        "</s>\n<unk>\n"};
    vocab *v;
    assert_int_equal(vocab_load(&v, SA_VOCAB_PICTURE, "picture 64\n", 11, &error), SA_OK);
    assert_int_equal(vocab_length(v), 64 * 64);
    assert_int_equal(vocab_size(v), 1 << 24);
    vocab *again = reload(v);
    assert_int_equal(vocab_length(again), 64 * 64);
    assert_int_equal(vocab_find(v, "x", 1), VOCAB_UNK);
    vocab_free(again);
    vocab_free(v);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(vocab_load(&v, SA_VOCAB_PICTURE, wrong[i], strlen(wrong[i]), &error), SA_FORMAT);
        assert_null(v);
    }
    assert_int_equal(vocab_load(&v, SA_VOCAB_FEATURES, "features 196 512\n", 17, &error), SA_OK);
    assert_int_equal(vocab_length(v), 196 * 512);
    vocab_free(v);
    assert_int_equal(vocab_load(&v, SA_VOCAB_FEATURES, "features 99999 99999\n", 21, &error), SA_FORMAT);
    assert_int_equal(vocab_load(&v, SA_VOCAB_FEATURES, "features 3\n", 11, &error), SA_FORMAT);
    v = make(SA_VOCAB_WORD, 30, toy);
    assert_int_equal(vocab_length(v), 0);
    vocab_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(id_0_is_the_end_and_id_1_the_unknown_word),
        cmocka_unit_test(a_vocabulary_is_never_larger_than_asked),
        cmocka_unit_test(one_pair_fills_what_it_can_of_a_large_vocabulary),
        cmocka_unit_test(no_text_is_an_error),
        cmocka_unit_test(a_size_without_room_for_a_word_is_an_error),
        cmocka_unit_test(control_words_in_the_text_are_ordinary_or_unknown),
        cmocka_unit_test(blank_lines_have_no_symbols),
        cmocka_unit_test(tabs_and_doubled_blanks_separate_like_one_blank),
        cmocka_unit_test(bytes_that_are_not_utf8_never_reach_a_vocabulary),
        cmocka_unit_test(the_same_text_gives_the_same_bytes),
        cmocka_unit_test(a_saved_vocabulary_reads_back_equal),
        cmocka_unit_test(known_text_comes_back_and_the_end_symbol_ends_it),
        cmocka_unit_test(ids_out_of_range_are_refused),
        cmocka_unit_test(a_word_of_100000_letters_is_learnt_from_and_encoded),
        cmocka_unit_test(with_form_c_it_does_not_matter_how_letters_are_made),
        cmocka_unit_test(nothing_is_changed_unless_asked_for),
        cmocka_unit_test(other_normalizations_keep_their_name),
        cmocka_unit_test(pictures_and_features_are_saved_by_their_size_and_nothing_else_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
