#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sentences.h"
#include "text/subword_check.h"

static sa_error error;

/* ---- models made by hand, as the wire format of protocol buffers has them
 * ---------------------------------------- */

enum { VARINT = 0, BYTES = 2, FIXED32 = 5 };

static void put_varint(strbuf *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        strbuf_append(out, &(unsigned char){(unsigned char)(value | 0x80)}, 1);
    strbuf_append(out, &(unsigned char){(unsigned char)value}, 1);
}

static void put_number(strbuf *out, unsigned field, uint64_t value) {
    put_varint(out, field << 3 | VARINT);
    put_varint(out, value);
}

static void put_bytes(strbuf *out, unsigned field, const void *bytes, size_t n) {
    put_varint(out, field << 3 | BYTES);
    put_varint(out, n);
    strbuf_append(out, bytes, n);
}

static void put_u32(strbuf *out, uint32_t value) {
    for (int i = 0; i < 4; i++)
        strbuf_append(out, &(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

static void put_message(strbuf *out, unsigned field, strbuf *message) {
    put_bytes(out, field, message->data, message->length);
    strbuf_free(message);
}

enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER_DEFINED = 4 };

static void put_piece(strbuf *model, const char *text, size_t n, float score, int type) {
    strbuf piece = {0};
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    put_bytes(&piece, 1, text, n);
    put_varint(&piece, 2 << 3 | FIXED32);
    put_u32(&piece, bits);
    put_number(&piece, 3, (uint64_t)type);
    put_message(model, 1, &piece);
}

/* </s>, <unk>, the blank and "a". */
static void put_pieces(strbuf *model) {
    put_piece(model, "</s>", 4, 0, CONTROL);
    put_piece(model, "<unk>", 5, 0, UNKNOWN);
    put_piece(model, "\xE2\x96\x81", 3, -1, NORMAL);
    put_piece(model, "a", 1, -2, NORMAL);
}

/* A BPE model's settings, and a normalization with that table. */
static void put_settings(strbuf *model, const strbuf *table) {
    strbuf trainer = {0}, normalizer = {0};
    put_number(&trainer, 3, 2);
    put_message(model, 2, &trainer);
    put_bytes(&normalizer, 1, "x", 1);
    if (table)
        put_bytes(&normalizer, 2, table->data, table->length);
    put_message(model, 3, &normalizer);
}

static sa_status check(strbuf *model) {
    assert_false(model->failed);
    /* Of exact size, so that a sanitizer sees reading past the end. */
    char *bytes = malloc(model->length ? model->length : 1);
    assert_non_null(bytes);
    if (model->length)
        memcpy(bytes, model->data, model->length);
    sa_status status = subword_check(bytes, model->length, SA_VOCAB_BPE, &error);
    free(bytes);
    return status;
}

/* Checks the model, and frees it. */
static void assert_verdict(strbuf *model, sa_status expected) {
    assert_int_equal(check(model), expected);
    strbuf_free(model);
}

static void a_model_made_by_hand_passes_and_works(void **state) {
    (void)state;
    strbuf model = {0};
    put_pieces(&model);
    put_settings(&model, NULL);
    vocab *v;
    assert_int_equal(vocab_load(&v, SA_VOCAB_BPE, model.data, model.length, &error), SA_OK);
    id_list ids = {0};
    assert_int_equal(vocab_encode(v, "a", 1, &ids, &error), SA_OK);
    assert_int_equal(ids.n, 2);
    assert_int_equal(ids.id[0], 2);
    assert_int_equal(ids.id[1], 3);
    id_list_free(&ids);
    vocab_free(v);
    assert_verdict(&model, SA_OK);
}

static void a_model_of_the_other_type_is_refused(void **state) {
    (void)state;
    strbuf model = {0};
    put_pieces(&model);
    put_settings(&model, NULL);
    assert_int_equal(subword_check(model.data, model.length, SA_VOCAB_UNIGRAM, &error), SA_FORMAT);
    assert_non_null(strstr(error.text, "not a unigram model"));
    strbuf_free(&model);
}

static void missing_and_doubled_parts_are_refused(void **state) {
    (void)state;
    strbuf model = {0};
    assert_verdict(&model, SA_FORMAT);
    put_settings(&model, NULL);
    assert_verdict(&model, SA_FORMAT);
    put_pieces(&model);
    assert_verdict(&model, SA_FORMAT);
    put_pieces(&model);
    put_settings(&model, NULL);
    put_settings(&model, NULL);
    assert_verdict(&model, SA_FORMAT);
    put_pieces(&model);
    put_settings(&model, NULL);
    put_bytes(&model, 4, "", 0); /* self-test data */
    assert_verdict(&model, SA_FORMAT);
}

static void special_symbols_must_be_where_they_belong(void **state) {
    (void)state;
    strbuf model = {0};
    put_piece(&model, "<unk>", 5, 0, UNKNOWN);
    put_piece(&model, "</s>", 4, 0, CONTROL);
    put_piece(&model, "a", 1, 0, NORMAL);
    put_settings(&model, NULL);
    assert_verdict(&model, SA_FORMAT);
    put_piece(&model, "</s>", 4, 0, NORMAL);
    put_piece(&model, "<unk>", 5, 0, UNKNOWN);
    put_piece(&model, "a", 1, 0, NORMAL);
    put_settings(&model, NULL);
    assert_verdict(&model, SA_FORMAT);
}

static void assert_piece_refused(const char *text, size_t n, float score, int type) {
    strbuf model = {0};
    put_pieces(&model);
    put_piece(&model, text, n, score, type);
    put_settings(&model, NULL);
    assert_verdict(&model, SA_FORMAT);
    assert_non_null(strstr(error.text, "symbol 4"));
}

static void symbols_that_are_not_ordinary_text_are_refused(void **state) {
    (void)state;
    assert_piece_refused("", 0, 0, NORMAL);
    assert_piece_refused("b\0c", 3, 0, NORMAL);
    assert_piece_refused("\xC3", 1, 0, NORMAL);
    assert_piece_refused("b c", 3, 0, NORMAL);
    assert_piece_refused("b\n", 2, 0, NORMAL);
    assert_piece_refused("</s>", 4, 0, NORMAL);
    assert_piece_refused("<unk>", 5, 0, NORMAL);
    assert_piece_refused("b", 1, 0, CONTROL);
    assert_piece_refused("b", 1, 0, USER_DEFINED);
    assert_piece_refused("b", 1, NAN, NORMAL);
    assert_piece_refused("b", 1, INFINITY, NORMAL);
    char longest[513];
    memset(longest, 'b', sizeof longest);
    assert_piece_refused(longest, sizeof longest, 0, NORMAL);
}

static void a_symbol_that_occurs_twice_is_refused(void **state) {
    (void)state;
    strbuf model = {0};
    put_pieces(&model);
    put_piece(&model, "a", 1, -3, NORMAL);
    put_settings(&model, NULL);
    vocab *v;
    assert_int_equal(vocab_load(&v, SA_VOCAB_BPE, model.data, model.length, &error), SA_FORMAT);
    assert_null(v);
    strbuf_free(&model);
}

static void settings_that_change_the_algorithm_are_refused(void **state) {
    (void)state;
    static const unsigned flags[] = {24, 35}; /* blank as a suffix, unknown letters as bytes */
    for (int i = 0; i < 2; i++) {
        strbuf model = {0}, trainer = {0}, normalizer = {0};
        put_pieces(&model);
        put_number(&trainer, 3, 2);
        put_number(&trainer, flags[i], 1);
        put_message(&model, 2, &trainer);
        put_bytes(&normalizer, 1, "x", 1);
        put_message(&model, 3, &normalizer);
        assert_verdict(&model, SA_FORMAT);
    }
    strbuf model = {0}, trainer = {0}, normalizer = {0};
    put_pieces(&model);
    put_number(&trainer, 3, 2);
    put_message(&model, 2, &trainer);
    put_number(&normalizer, 5, 0); /* blanks not escaped */
    put_message(&model, 3, &normalizer);
    assert_verdict(&model, SA_FORMAT);
}

/* ---- normalization tables
 * ----------------------------------------------------------------------------------------- */

enum { UNITS = 768, CHILD = 256 ^ 'a', VALUE = 512, LEAF = 0x100 };

/* A trie that replaces "a": the root's children are counted from 256, those of "a" from 512, where its value is. */
static void make_trie(uint32_t unit[UNITS]) {
    memset(unit, 0, UNITS * sizeof *unit);
    unit[0] = 256 << 10;
    unit[CHILD] = (uint32_t)(CHILD ^ VALUE) << 10 | LEAF | 'a';
    unit[VALUE] = 0x80000000;
}

static void put_table(strbuf *table, const uint32_t *unit, size_t units, const char *text, size_t n) {
    put_u32(table, (uint32_t)(4 * units));
    for (size_t i = 0; i < units; i++)
        put_u32(table, unit[i]);
    strbuf_append(table, text, n);
}

static void assert_table_verdict(strbuf *table, sa_status expected) {
    strbuf model = {0};
    put_pieces(&model);
    put_piece(&model, "b", 1, -3, NORMAL);
    put_settings(&model, table);
    strbuf_free(table);
    assert_verdict(&model, expected);
}

static void a_sound_table_passes_and_is_used(void **state) {
    (void)state;
    uint32_t unit[UNITS];
    strbuf table = {0}, model = {0};
    make_trie(unit);
    put_table(&table, unit, UNITS, "b", 2);
    put_pieces(&model);
    put_piece(&model, "b", 1, -3, NORMAL);
    put_settings(&model, &table);
    vocab *v;
    assert_int_equal(vocab_load(&v, SA_VOCAB_BPE, model.data, model.length, &error), SA_OK);
    id_list ids = {0};
    assert_int_equal(vocab_encode(v, "a", 1, &ids, &error), SA_OK);
    assert_int_equal(ids.n, 2);
    assert_int_equal(ids.id[1], 4);
    id_list_free(&ids);
    vocab_free(v);
    strbuf_free(&table);
    strbuf_free(&model);
}

static void a_table_that_leads_outside_itself_is_refused(void **state) {
    (void)state;
    uint32_t unit[UNITS];
    strbuf table = {0};
    make_trie(unit);
    unit[0] = 0xFFFFFC00;
    put_table(&table, unit, UNITS, "b", 2);
    assert_table_verdict(&table, SA_FORMAT);
    make_trie(unit);
    unit[CHILD] = (uint32_t)(CHILD ^ UNITS) << 10 | 'a';
    put_table(&table, unit, UNITS, "b", 2);
    assert_table_verdict(&table, SA_FORMAT);
}

static void a_replacement_outside_the_table_is_refused(void **state) {
    (void)state;
    uint32_t unit[UNITS];
    strbuf table = {0};
    make_trie(unit);
    unit[VALUE] = 0x80000002;
    put_table(&table, unit, UNITS, "b", 2);
    assert_table_verdict(&table, SA_FORMAT);
    make_trie(unit);
    unit[VALUE] = 0x80000001; /* inside a letter */
    put_table(&table, unit, UNITS, "\xC3\xA9", 3);
    assert_table_verdict(&table, SA_FORMAT);
}

static void a_table_without_end_is_refused(void **state) {
    (void)state;
    uint32_t unit[UNITS];
    strbuf table = {0};
    make_trie(unit);
    unit[CHILD] = (uint32_t)(CHILD ^ 256) << 10 | 'a'; /* its own child */
    put_table(&table, unit, UNITS, "b", 2);
    assert_table_verdict(&table, SA_FORMAT);
}

static void replacements_that_are_no_text_are_refused(void **state) {
    (void)state;
    uint32_t unit[UNITS];
    strbuf table = {0};
    make_trie(unit);
    put_table(&table, unit, UNITS, "b", 1); /* no zero ends it */
    assert_table_verdict(&table, SA_FORMAT);
    put_table(&table, unit, UNITS, "\xC3", 2);
    assert_table_verdict(&table, SA_FORMAT);
    put_table(&table, unit, UNITS, "", 0);
    assert_table_verdict(&table, SA_FORMAT);
}

static void a_table_with_a_wrong_length_is_refused(void **state) {
    (void)state;
    strbuf table = {0};
    strbuf_append(&table, "\0\0", 2);
    assert_table_verdict(&table, SA_FORMAT);
    put_u32(&table, 0xFFFFFFFF);
    strbuf_append(&table, "\0", 1);
    assert_table_verdict(&table, SA_FORMAT);
    put_u32(&table, 0);
    strbuf_append(&table, "b", 2);
    assert_table_verdict(&table, SA_FORMAT);
    put_u32(&table, 4);
    strbuf_append(&table, "\0\0\0", 4);
    assert_table_verdict(&table, SA_FORMAT);
}

/* ---- damage
 * ------------------------------------------------------------------------------------------------------- */

/* A model as training makes it, 60 symbols, to be freed. */
static strbuf trained(sa_vocab_type type) {
    static const char *const lines[] = {"the man and the dog", "women with dogs", "a man walks", NULL};
    vocab *v;
    strbuf bytes = {0};
    assert_int_equal(train_on(&v, type, 60, "nfkc", lines, 10, &error), SA_OK);
    assert_int_equal(vocab_save(v, &bytes, &error), SA_OK);
    vocab_free(v);
    return bytes;
}

static void a_model_cut_anywhere_is_refused(void **state) {
    (void)state;
    for (int type = SA_VOCAB_BPE; type <= SA_VOCAB_UNIGRAM; type++) {
        strbuf bytes = trained((sa_vocab_type)type);
        size_t step = bytes.length / 2000 + 1;
        for (size_t n = 0; n < bytes.length; n += n < 2000 ? 1 : step) {
            vocab *v;
            assert_int_equal(vocab_load(&v, (sa_vocab_type)type, bytes.data, n, &error), SA_FORMAT);
            assert_null(v);
        }
        strbuf_free(&bytes);
    }
}

static void a_damaged_model_is_refused_or_can_be_used(void **state) {
    (void)state;
    static const char text[] = "the man \xEF\xAC\x81 x \xEF\xBC\xA1";
    uint64_t random = 1;
    for (int type = SA_VOCAB_BPE; type <= SA_VOCAB_UNIGRAM; type++) {
        strbuf bytes = trained((sa_vocab_type)type);
        for (int i = 0; i < 1500; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t at = (random >> 33) % (i % 2 ? bytes.length : 1500);
            char before = bytes.data[at];
            bytes.data[at] = (char)(random >> 24);
            vocab *v;
            if (vocab_load(&v, (sa_vocab_type)type, bytes.data, bytes.length, &error) == SA_OK) {
                id_list ids = {0};
                assert_int_equal(vocab_encode(v, text, sizeof text - 1, &ids, &error), SA_OK);
                for (size_t k = 0; k < ids.n; k++)
                    assert_in_range(ids.id[k], VOCAB_UNK, vocab_size(v) - 1);
                id_list_free(&ids);
                vocab_free(v);
            } else {
                assert_int_equal(error.status, SA_FORMAT);
            }
            bytes.data[at] = before;
        }
        strbuf_free(&bytes);
    }
}

static void other_files_are_no_models(void **state) {
    (void)state;
    static const char *const texts[] = {"PK\003\004zip", "version https://git-lfs.example/spec/v1\noid sha256:0\n",
                                        "<!DOCTYPE html><html>", "</s>\n<unk>\nhund\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(subword_check(texts[i], strlen(texts[i]), SA_VOCAB_BPE, &error), SA_FORMAT);
    vocab *v;
    assert_int_equal(vocab_load(&v, SA_VOCAB_BPE, NULL, 0, &error), SA_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_made_by_hand_passes_and_works),
        cmocka_unit_test(a_model_of_the_other_type_is_refused),
        cmocka_unit_test(missing_and_doubled_parts_are_refused),
        cmocka_unit_test(special_symbols_must_be_where_they_belong),
        cmocka_unit_test(symbols_that_are_not_ordinary_text_are_refused),
        cmocka_unit_test(a_symbol_that_occurs_twice_is_refused),
        cmocka_unit_test(settings_that_change_the_algorithm_are_refused),
        cmocka_unit_test(a_sound_table_passes_and_is_used),
        cmocka_unit_test(a_table_that_leads_outside_itself_is_refused),
        cmocka_unit_test(a_replacement_outside_the_table_is_refused),
        cmocka_unit_test(a_table_without_end_is_refused),
        cmocka_unit_test(replacements_that_are_no_text_are_refused),
        cmocka_unit_test(a_table_with_a_wrong_length_is_refused),
        cmocka_unit_test(a_model_cut_anywhere_is_refused),
        cmocka_unit_test(a_damaged_model_is_refused_or_can_be_used),
        cmocka_unit_test(other_files_are_no_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
