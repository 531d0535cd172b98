#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

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
        cmocka_unit_test(translations_begin_as_they_are_told),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
