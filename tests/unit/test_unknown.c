#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

#include <sys/stat.h>

static const char *peak_word(const sa_translation *t, const sa_hypothesis *h, int row, char *words) {
    int best = 0;
    for (int j = 1; j < t->source_length - 1; j++)
        if (h->attention[row * t->source_length + j] > h->attention[row * t->source_length + best])
            best = j;
    char *word = strtok(words, " ");
    while (best-- > 0)
        word = strtok(NULL, " ");
    return word;
}

/* Checks word after word of a translation: what was <unk> is what the peak's word becomes. Returns how many were.
 */
static int check_replaced(const sa_translation *t, const char *source, const char *from, const char *to) {
    const sa_hypothesis *h = &t->hypothesis[0];
    char rest[200], wanted[200] = "";
    int unknown = 0;
    for (int row = 0; row < h->length - 1; row++) {
        bool is_unknown = strcmp(h->symbol[row], "<unk>") == 0;
        snprintf(rest, sizeof rest, "%s", source);
        const char *word = is_unknown ? peak_word(t, h, row, rest) : h->symbol[row];
        strcat(strcat(wanted, row ? " " : ""), is_unknown && strcmp(word, from) == 0 ? to : word);
        unknown += is_unknown;
    }
    assert_string_equal(h->text, wanted);
    assert_null(strstr(h->text, "<unk>"));
    return unknown;
}

static void unknown_words_become_the_source_word_looked_at(void **state) {
    (void)state;
    sa_translate_options o = usual();
    o.replace_unk = o.attention = true;
    sa_translation *t = translate(few, line, TOY_PAIRS, &o);
    int unknown = 0;
    for (int i = 0; i < TOY_PAIRS; i++)
        unknown += check_replaced(&t[i], line[i], "", "");
    assert_true(unknown > TOY_PAIRS / 4);
    sa_translations_free(t, TOY_PAIRS);
    /* The words as they were written, though the source's vocabulary knows none. */
    const char *const odd[] = {"qqq zzz xxx", "qqq", "<unk> </s> |||"};
    t = translate(few, odd, 3, &o);
    for (int i = 1; i < 3; i++)
        check_replaced(&t[i], odd[i], "", "");
    sa_translations_free(t, 3);
}

static void a_dictionary_is_asked_first(void **state) {
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/dictionary", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("horse\tun gran cavallo\nhorse\tother\n", file);
    assert_int_equal(fclose(file), 0);
    sa_dictionary *d;
    expect_status(sa_dictionary_open(&d, path, true, &error), SA_OK);
    sa_translate_options o = usual();
    o.attention = true;
    o.dictionary = d;
    sa_translation *t;
    expect_status(sa_translate(few, line, 1, &o, &t, &error), SA_USAGE);
    o.replace_unk = true;
    t = translate(few, line, TOY_PAIRS, &o);
    int looked_up = 0;
    for (int i = 0; i < TOY_PAIRS; i++) {
        check_replaced(&t[i], line[i], "horse", "un gran cavallo");
        looked_up += strstr(t[i].hypothesis[0].text, "un gran cavallo") != NULL;
    }
    assert_true(looked_up > 0);
    sa_translations_free(t, TOY_PAIRS);
    sa_dictionary_free(d);
}

static void forbidden_unknown_words_do_not_come(void **state) {
    (void)state;
    const char *const odd[] = {"qqq zzz xxx", "the qqq"};
    int unknown = 0;
    for (int beam = 1; beam <= 5; beam += 4)
        for (int forbid = 0; forbid < 2; forbid++) {
            sa_translate_options o = usual();
            o.beam_size = o.n_best = beam;
            o.forbid_unk = forbid;
            sa_translation *t = translate(few, odd, 2, &o);
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < t[i].n; k++) {
                    bool has = strstr(t[i].hypothesis[k].text, "<unk>") != NULL;
                    assert_false(has && forbid);
                    unknown += has;
                }
            sa_translations_free(t, 2);
        }
    assert_true(unknown > 0);
}

/* ---- subwords ---------------------------------------------------------------------------------------- */

/* A blank and an emoji, U+1F600 or one of those after it. */
static const char *emoji(int i) {
    static char bytes[6];
    snprintf(bytes, sizeof bytes, " \xF0\x9F\x98%c", 0x80 + i % 50);
    return bytes;
}

/* A model of subwords whose vocabularies have no room for most emoji, of text that copies them. */
static sa_model *train_subwords(void) {
    char path[2][256], pair[2][80];
    FILE *file[2];
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s/%s", folder, k ? "emoji/tgt" : "emoji/src");
        if (k == 0) {
            char name[200];
            snprintf(name, sizeof name, "%s/emoji", folder);
            assert_int_equal(mkdir(name, 0777), 0);
        }
        file[k] = fopen(path[k], "w");
        assert_non_null(file[k]);
    }
    for (int i = 0; i < 400; i++) {
        toy_pair(i, pair[0], pair[1]);
        for (int k = 0; k < 2; k++) /* the first two words, now and then with an emoji */
            fprintf(file[k], "%.*s%s\n", (int)strcspn(pair[k] + 4, " ") + 4, pair[k], i % 3 ? "" : emoji(i));
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(fclose(file[k]), 0);
    toy_paths paths;
    char name[200], model_file[300];
    snprintf(name, sizeof name, "%s/emoji", folder);
    sa_train_options o = toy_options(&paths, name, "run");
    o.vocab_type = SA_VOCAB_UNIGRAM;
    o.model.vocab_source = o.model.vocab_target = 50;
    o.after_epochs = 25;
    o.valid_freq = 10000;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    snprintf(model_file, sizeof model_file, "%s/best.safetensors", paths.output);
    sa_model *m;
    expect_status(sa_model_open(&m, model_file, &error), SA_OK);
    return m;
}

static void unknown_pieces_are_copied_with_their_letters(void **state) {
    (void)state;
    sa_model *m = train_subwords();
    char path[200];
    snprintf(path, sizeof path, "%s/pieces", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("\xF0\x9F\x98\xBF\tgrin\n", file);
    assert_int_equal(fclose(file), 0);
    sa_dictionary *d;
    expect_status(sa_dictionary_open(&d, path, true, &error), SA_OK);
    const char *const source[] = {"the red \xF0\x9F\x98\xBF", "the red \xE2\x98\x83"};
    const char *const copied[] = {"\xF0\x9F\x98\xBF", "\xE2\x98\x83"};
    const char *const looked_up[] = {"grin", "\xE2\x98\x83"};
    sa_translate_options o = usual();
    for (int way = 0; way < 3; way++) {
        o.replace_unk = way > 0;
        o.dictionary = way > 1 ? d : NULL;
        sa_translation *t = translate(m, source, 2, &o);
        for (int i = 0; i < 2; i++) {
            const char *got = t[i].hypothesis[0].text;
            if (!strstr(got, way == 0 ? "⁇" : way == 1 ? copied[i] : looked_up[i]))
                fail_msg("%s became %s", source[i], got);
            assert_true(way == 0 || !strstr(got, "⁇"));
        }
        sa_translations_free(t, 2);
    }
    sa_dictionary_free(d);
    sa_model_free(m);
}

static void translations_begin_as_they_are_told(void **state) {
    (void)state;
    const char *const source[] = {line[0], line[1], line[2], line[3], ""};
    const char *const prefix[] = {"un", "ora  xyzzy sente", NULL, "", "un"};
    sa_translate_options o = usual();
    sa_translation *free_start = translate(model, source, 5, &o);
    o.prefix = prefix;
    for (int batch = 1; batch <= 4; batch += 3) {
        o.mini_batch = batch;
        sa_translation *t = translate(model, source, 5, &o);
        assert_int_equal(strncmp(t[0].hypothesis[0].text, "un ", 3), 0);
        assert_int_equal(strncmp(t[1].hypothesis[0].text, "ora xyzzy sente ", 16), 0);
        expect_same(&t[2], &free_start[2]);
        expect_same(&t[3], &free_start[3]);
        assert_string_equal(t[4].hypothesis[0].text, "");
        sa_translations_free(t, 5);
    }
    sa_translations_free(free_start, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_words_become_the_source_word_looked_at),
        cmocka_unit_test(a_dictionary_is_asked_first),
        cmocka_unit_test(forbidden_unknown_words_do_not_come),
        cmocka_unit_test(unknown_pieces_are_copied_with_their_letters),
        cmocka_unit_test(translations_begin_as_they_are_told),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
