#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "protecting_vocab.h"

static sa_error error;
static const sa_vocab_type types[] = {SA_VOCAB_BPE, SA_VOCAB_UNIGRAM};
enum { TYPES = sizeof types / sizeof *types };

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

#define MARK "\xE2\x96\x81"         /* U+2581, SentencePiece's blank */
#define BLOCK "\xE2\x96\x85"        /* U+2585, which SentencePiece keeps for itself */
#define NONCHARACTER "\xEF\xB7\x90" /* U+FDD0, our escape */

static vocab *make(sa_vocab_type type, int size, const char *normalization, const char *const *lines, int times) {
    vocab *v;
    sa_status status = train_on(&v, type, size, normalization, lines, times, &error);
    if (status != SA_OK)
        fail_msg("%s", error.text);
    return v;
}

static void assert_becomes(const vocab *v, const char *text, const char *expected) {
    id_list ids = {0};
    strbuf out = {0};
    assert_int_equal(vocab_encode(v, text, strlen(text), &ids, &error), SA_OK);
    assert_int_equal(vocab_decode(v, ids.id, ids.n, NULL, &out, &error), SA_OK);
    char *back = strbuf_take(&out);
    assert_string_equal(back, expected);
    free(back);
    id_list_free(&ids);
}

static int id_of(const vocab *v, const char *piece) {
    for (int id = 0; id < vocab_size(v); id++)
        if (!strcmp(vocab_piece(v, id), piece))
            return id;
    return -1;
}

static void frequent_words_become_one_piece(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, "identity", LINES("the man and the dog", "the man", "a dog and the man"), 20);
        id_list ids = {0};
        assert_int_equal(vocab_encode(v, "man dog", 7, &ids, &error), SA_OK);
        assert_int_equal(ids.n, 2);
        assert_string_equal(vocab_piece(v, ids.id[0]), MARK "man");
        assert_string_equal(vocab_piece(v, ids.id[1]), MARK "dog");
        id_list_free(&ids);
        vocab_free(v);
    }
}

static void the_characters_that_sentencepiece_keeps_for_itself_survive(void **state) {
    (void)state;
    static const char *const texts[] = {
        "der " MARK "brot und " MARK,      BLOCK BLOCK "x " BLOCK, NONCHARACTER "0 " NONCHARACTER NONCHARACTER "1",
        "\xEF\xB7\x91 \xEF\xB7\x92 0 1 2", MARK MARK " " BLOCK,    NULL};
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 60, "identity", texts, 3);
        for (int k = 0; texts[k]; k++)
            assert_becomes(v, texts[k], texts[k]);
        vocab_free(v);
    }
}

static void a_mark_in_the_text_is_not_a_blank(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, "identity", LINES("a" MARK "b a b a" MARK "b"), 5);
        id_list mark = {0}, blank = {0};
        assert_int_equal(vocab_encode(v, "a" MARK "b", 5, &mark, &error), SA_OK);
        assert_int_equal(vocab_encode(v, "a b", 3, &blank, &error), SA_OK);
        assert_true(mark.n != blank.n || memcmp(mark.id, blank.id, mark.n * sizeof *mark.id));
        id_list_free(&mark);
        id_list_free(&blank);
        vocab_free(v);
    }
}

static void identity_changes_nothing_but_blanks(void **state) {
    (void)state;
    static const char *const texts[] = {
        "cafe\xCC\x81 caf\xC3\xA9",
        "der hund\xC2\xA0schl\xC3\xA4"
        "ft\xE3\x80\x80.",
        "\xEF\xB8\xB0 \xEF\xBC\xA1 \xEF\xAC\x81",
        "a\xE2\x80\xA8z\xC2\x85"
        "c\013d",
        "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9 \xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
        "\xD7\xA2 \xE2\x80\xAEx \xE2\x80\x8F!",
        NULL};
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 80, "identity", texts, 3);
        for (int k = 0; texts[k]; k++)
            assert_becomes(v, texts[k], texts[k]);
        assert_becomes(v, "  der \t hund\r ", "der hund");
        vocab_free(v);
    }
}

static void another_normalization_is_kept_in_the_model(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 40, "nfkc", LINES("caf\xC3\xA9 A fi", "cafe\xCC\x81"), 3), *again;
        strbuf bytes = {0};
        assert_int_equal(vocab_save(v, &bytes, &error), SA_OK);
        assert_int_equal(vocab_load(&again, types[i], bytes.data, bytes.length, &error), SA_OK);
        assert_becomes(again, "cafe\xCC\x81 \xEF\xBC\xA1 \xEF\xAC\x81", "caf\xC3\xA9 A fi");
        strbuf_free(&bytes);
        vocab_free(v);
        vocab_free(again);
    }
}

static void every_normalization_loads_again(void **state) {
    (void)state;
    static const char *const names[] = {"identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        vocab *v = make(SA_VOCAB_BPE, 20, names[k], LINES("ab ab"), 2), *again;
        strbuf bytes = {0};
        assert_int_equal(vocab_save(v, &bytes, &error), SA_OK);
        assert_int_equal(vocab_load(&again, SA_VOCAB_BPE, bytes.data, bytes.length, &error), SA_OK);
        strbuf_free(&bytes);
        vocab_free(v);
        vocab_free(again);
    }
}

static void an_unknown_normalization_is_refused_with_the_list(void **state) {
    (void)state;
    vocab *v;
    assert_int_equal(train_on(&v, SA_VOCAB_BPE, 20, "nfd", LINES("ab"), 1, &error), SA_USAGE);
    assert_null(v);
    assert_non_null(strstr(error.text, "nfd"));
    assert_non_null(strstr(error.text, "nmt_nfkc"));
}

static void text_that_normalization_empties_is_an_error(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v;
        assert_int_equal(train_on(&v, types[i], 20, "nmt_nfkc", LINES("\xE2\x80\x8B", "\x01\x02"), 3, &error),
                         SA_DATA);
        assert_non_null(strstr(error.text, "nmt_nfkc"));
    }
}

/* 200 letters, of which the last is in one word of 4,000. */
static const char *const *many_letters(void) {
    static char text[40000];
    static const char *lines[2] = {text, NULL};
    size_t n = 0;
    for (int i = 0; i < 4000; i++) {
        unsigned code = 0x4E00 + (i == 0 ? 199 : (unsigned)i % 199);
        n += (size_t)sprintf(text + n, "%c%c%c ", (int)(0xE0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3F)),
                             (int)(0x80 | (code & 0x3F)));
    }
    return lines;
}

static void every_letter_is_kept_where_there_is_room(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 203, "identity", many_letters(), 1); /* 200, the blank, </s> and <unk> */
        assert_int_not_equal(id_of(v, "\xE4\xBB\x87"), -1);            /* U+4EC7 */
        assert_int_not_equal(id_of(v, "\xE4\xB8\x80"), -1);            /* U+4E00 */
        vocab_free(v);
    }
}

static void the_rarest_letters_go_where_there_is_none(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 202, "identity", many_letters(), 1);
        assert_int_equal(id_of(v, "\xE4\xBB\x87"), -1);
        assert_becomes(v, "\xE4\xB8\x80 \xE4\xBB\x87", "\xE4\xB8\x80  \xE2\x81\x87 ");
        vocab_free(v);
    }
}

static void a_vocabulary_smaller_than_the_alphabet_is_an_error(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v;
        assert_int_equal(train_on(&v, types[i], 100, "identity", many_letters(), 1, &error), SA_USAGE);
        assert_null(v);
        assert_non_null(strstr(error.text, "100 symbols"));
    }
}

static void unknown_letters_are_shown_as_sentencepiece_does(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 20, "identity", LINES("ab ab"), 2);
        assert_becomes(v, "a xyz b", "a  \xE2\x81\x87  b");
        vocab_free(v);
    }
}

/* Encodes with texts, and decodes with the texts in the places of <unk>. */
static void assert_copied(const vocab *v, const char *line, const char *const *expected, const char *back) {
    id_list ids = {0};
    strbuf texts = {0}, out = {0};
    const char *at[64], *next;
    assert_int_equal(vocab_encode_texts(v, line, strlen(line), &ids, &texts, &error), SA_OK);
    next = texts.data;
    for (size_t i = 0; i < ids.n; i++, next += strlen(next) + 1) {
        assert_string_equal(next, expected[i]);
        at[i] = next;
    }
    assert_null(expected[ids.n]);
    assert_ptr_equal(next, texts.data + texts.length);
    assert_int_equal(vocab_decode(v, ids.id, ids.n, at, &out, &error), SA_OK);
    assert_string_equal(out.data, back);
    strbuf_free(&out);
    strbuf_free(&texts);
    id_list_free(&ids);
}

static void unknown_letters_keep_their_text(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 14, "identity", LINES("ab ab ab", "b a"), 5);
        assert_true(id_of(v, MARK "ab") > 0);
        assert_copied(v, "ab XY ab", LINES(" ab", " ", "XY", " ab"), "ab XY ab");
        assert_copied(v, "X", LINES(" ", "X"), "X");
        assert_copied(v, "ab" MARK NONCHARACTER "Z ab", LINES(" ab", MARK NONCHARACTER "Z", " ab"),
                      "ab" MARK NONCHARACTER "Z ab");
        vocab_free(v);
    }
}

static void a_text_in_the_place_of_an_unknown_symbol_brings_its_blank(void **state) {
    (void)state;
    vocab *v = make(SA_VOCAB_BPE, 14, "identity", LINES("ab ab ab", "b a"), 5);
    int ab = id_of(v, MARK "ab");
    strbuf out = {0};
    assert_int_equal(
        vocab_decode(v, (int[]){1, ab, 1, 1}, 4, (const char *[]){" new", NULL, " </s>", "s"}, &out, &error),
        SA_OK);
    assert_string_equal(out.data, "new ab </s>s");
    strbuf_clear(&out);
    assert_int_equal(vocab_decode(v, (int[]){1, ab, 1}, 3, (const char *[]){NULL, NULL, "x"}, &out, &error), SA_OK);
    assert_string_equal(out.data, " ⁇  abx");
    strbuf_free(&out);
    vocab_free(v);
}

static void a_protected_item_is_one_symbol_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = protecting_vocab(types[i]), *again;
        strbuf bytes = {0};
        assert_int_equal(vocab_save(v, &bytes, &error), SA_OK);
        assert_int_equal(vocab_load(&again, types[i], bytes.data, bytes.length, &error), SA_OK);
        assert_true(vocab_protects(v) && vocab_protects(again));
        id_list ids = {0};
        const char *const text = "sees" NUMBER TAG "dog" NUMBER;
        assert_int_equal(vocab_encode(again, text, strlen(text), &ids, &error), SA_OK);
        int number = vocab_placeholder(again, PROTECT_NUMBER), tag = vocab_placeholder(again, PROTECT_TAG), n = 0;
        assert_string_equal(vocab_piece(again, number), NUMBER);
        assert_string_equal(vocab_shown(again, number), "<number>");
        for (size_t k = 0; k < ids.n; k++)
            n += ids.id[k] == number || ids.id[k] == tag;
        assert_int_equal(n, 3);
        for (int id = 0; id < vocab_size(v); id++) /* no longer piece has one inside */
            assert_true(id == number || !strstr(vocab_piece(v, id), NUMBER));
        assert_becomes(again, text, text);
        id_list_free(&ids);
        strbuf_free(&bytes);
        vocab_free(v);
        vocab_free(again);
    }
}

static void a_vocabulary_that_does_not_protect_has_no_such_symbols(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 20, "identity", LINES("ab " NUMBER " ab " NUMBER, NUMBER), 5);
        assert_false(vocab_protects(v));
        assert_int_equal(vocab_placeholder(v, PROTECT_NUMBER), -1);
        assert_becomes(v, "ab " NUMBER, "ab " NUMBER);
        vocab_free(v);
    }
    vocab *v;
    vocab_options words = {.type = SA_VOCAB_WORD, .size = 20, .protect = true};
    assert_int_equal(train_with(&v, &words, LINES("a b"), 1, &error), SA_USAGE);
}

static void pairs_are_protected_where_both_sides_are(void **state) {
    (void)state;
    vocab *v = protecting_vocab(SA_VOCAB_BPE);
    const vocab *const both[2] = {v, v};
    const char *const line[2] = {"the dog sees 12 cats 7", "12 cats"};
    id_list ids = {0};
    size_t n[2], numbers[2] = {0, 0};
    assert_int_equal(
        vocab_encode_pair(both, line, (const size_t[]){strlen(line[0]), strlen(line[1])}, &ids, n, &error), SA_OK);
    assert_int_equal(ids.n, n[0] + n[1] + 2);
    assert_int_equal(ids.id[n[0]], VOCAB_EOS);
    for (size_t i = 0; i < ids.n; i++)
        numbers[i > n[0]] += ids.id[i] == vocab_placeholder(v, PROTECT_NUMBER);
    assert_int_equal(numbers[0], 1);
    assert_int_equal(numbers[1], 1);
    id_list_free(&ids);
    vocab_free(v);
}

static void training_and_loading_print_nothing(void **state) {
    (void)state;
    FILE *capture = tmpfile();
    assert_non_null(capture);
    fflush(NULL);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    dup2(fileno(capture), STDOUT_FILENO);
    dup2(fileno(capture), STDERR_FILENO);
    sa_status trained[TYPES], loaded[TYPES];
    for (int i = 0; i < TYPES; i++) {
        vocab *v, *again;
        strbuf bytes = {0};
        trained[i] = train_on(&v, types[i], 1000, "nfkc", LINES("der hund", "die katze"), 2, &error);
        vocab_save(v, &bytes, &error);
        bytes.data[bytes.length / 2] ^= 0x55;
        loaded[i] = vocab_load(&again, types[i], bytes.data, bytes.length / 3, &error);
        strbuf_free(&bytes);
        vocab_free(v);
    }
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    for (int i = 0; i < TYPES; i++) {
        assert_int_equal(trained[i], SA_OK);
        assert_int_equal(loaded[i], SA_FORMAT);
    }
    assert_int_equal(lseek(fileno(capture), 0, SEEK_END), 0);
    fclose(capture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequent_words_become_one_piece),
        cmocka_unit_test(the_characters_that_sentencepiece_keeps_for_itself_survive),
        cmocka_unit_test(a_mark_in_the_text_is_not_a_blank),
        cmocka_unit_test(identity_changes_nothing_but_blanks),
        cmocka_unit_test(another_normalization_is_kept_in_the_model),
        cmocka_unit_test(every_normalization_loads_again),
        cmocka_unit_test(an_unknown_normalization_is_refused_with_the_list),
        cmocka_unit_test(text_that_normalization_empties_is_an_error),
        cmocka_unit_test(every_letter_is_kept_where_there_is_room),
        cmocka_unit_test(the_rarest_letters_go_where_there_is_none),
        cmocka_unit_test(a_vocabulary_smaller_than_the_alphabet_is_an_error),
        cmocka_unit_test(unknown_letters_are_shown_as_sentencepiece_does),
        cmocka_unit_test(unknown_letters_keep_their_text),
        cmocka_unit_test(a_text_in_the_place_of_an_unknown_symbol_brings_its_blank),
        cmocka_unit_test(a_protected_item_is_one_symbol_of_its_own),
        cmocka_unit_test(a_vocabulary_that_does_not_protect_has_no_such_symbols),
        cmocka_unit_test(pairs_are_protected_where_both_sides_are),
        cmocka_unit_test(training_and_loading_print_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
