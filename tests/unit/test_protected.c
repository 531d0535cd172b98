/* Protected items through whole translations: what holds for any model, however little it has learned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy.h"

static sa_error error;
static char folder[128];
static sa_model *learned, *vague, *blind, *unprotected;

enum { PAIRS = 300 };

static void expect_status(sa_status got, sa_status want) {
    if (got != want)
        fail_msg("%s: %s; not %s", sa_status_text(got), error.text, sa_status_text(want));
}

/* "see 12 dog 7" becomes "cane 7 vede 12": what follows the noun comes first. */
static bool write_pairs(void) {
    static const char *const noun[][2] = {{"dog", "cane"}, {"cat", "gatto"}, {"bear", "orso"}};
    static const char *const verb[][2] = {{"see", "vede"}, {"hear", "sente"}};
    char path[2][200];
    FILE *file[2];
    snprintf(path[0], sizeof path[0], "%s/src", folder);
    snprintf(path[1], sizeof path[1], "%s/tgt", folder);
    file[0] = fopen(path[0], "w");
    file[1] = fopen(path[1], "w");
    for (int i = 0; file[0] && file[1] && i < PAIRS; i++) {
        int a = i * 37 % 1000, b = i * 101 % 1000;
        const char *const *n = noun[i % 3], *const *v = verb[i / 3 % 2];
        fprintf(file[0], i % 2 ? "%s %d %s {x%d}\n" : "%s %d %s %d\n", v[0], a, n[0], b);
        fprintf(file[1], i % 2 ? "%s {x%d} %s %d\n" : "%s %d %s %d\n", n[1], b, v[1], a);
    }
    return file[0] && file[1] && fclose(file[0]) == 0 && fclose(file[1]) == 0;
}

static sa_status train(const char *run, bool protect, double epochs, sa_model **out) {
    toy_paths path;
    char model[400];
    sa_train_options o = toy_options(&path, folder, run);
    o.vocab_type = SA_VOCAB_BPE;
    o.model.vocab_source = o.model.vocab_target = 48;
    o.protect = protect;
    o.after_epochs = epochs;
    o.after_updates = epochs == 0;
    o.valid_freq = 1000;
    if (strcmp(run, "blind") == 0) {
        strcpy(o.model.preset, "rnnencdec");
        o.model.dim_att = o.model.dim_coverage = o.model.layers = 0;
    }
    sa_status status = sa_train(&o, NULL, NULL, &error);
    snprintf(model, sizeof model, "%s/best.safetensors", path.output);
    return status == SA_OK ? sa_model_open(out, model, &error) : status;
}

static int make_models(void **state) {
    (void)state;
    return !toy_folder(folder) || !write_pairs() || train("learned", true, 40, &learned) ||
           train("vague", true, 0, &vague) || train("blind", true, 0, &blind) ||
           train("unprotected", false, 0, &unprotected);
}

static int remove_models(void **state) {
    (void)state;
    sa_model_free(learned);
    sa_model_free(vague);
    sa_model_free(blind);
    sa_model_free(unprotected);
    return toy_remove(folder);
}

static sa_translation *translate(const sa_model *m, const char *const *lines, size_t n,
                                 const sa_translate_options *o) {
    sa_translation *t;
    expect_status(sa_translate(m, lines, n, o, &t, &error), SA_OK);
    return t;
}

static sa_translate_options usual(void) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.threads = 1;
    return o;
}

static void items_go_where_the_model_puts_them(void **state) {
    (void)state;
    const char *const lines[] = {"see 123456789 dog {count}", "hear 5 cat 4,321.5"};
    sa_translation *t = translate(learned, lines, 2, NULL);
    assert_string_equal(t[0].hypothesis[0].text, "cane {count} vede 123456789");
    assert_string_equal(t[1].hypothesis[0].text, "gatto 4,321.5 sente 5");
    assert_int_equal(t[0].hypothesis[0].items_added, 0);
    sa_translations_free(t, 2);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static void no_item_is_lost_or_repeated_by_any_model(void **state) {
    (void)state;
    static const char *const item[] = {
        "%1$s",          "{name}", "1.234,50", "03.04.2021", "https://example.org/a?b=1&c=%C3%A4",
        "x@example.org", "<b>",    "</b>",     "&amp;",      "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA"};
    enum { ITEMS = sizeof item / sizeof *item };
    char line[400] = "";
    for (int i = 0; i < ITEMS; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "dog %s ", item[i]);
    const char *const lines[] = {line, "dog 77 dog 77", "88"};
    sa_model *const model[] = {learned, vague, blind};
    for (int m = 0; m < 3; m++)
        for (int way = 0; way < 4; way++) {
            sa_translate_options o = usual();
            o.n_best = 4;
            o.sample = way == 1;
            o.max_length = way == 2 ? 3 : 1000;
            o.max_length_factor = way == 3 ? 0.01f : 2;
            o.word_scores = true;
            sa_translation *t = translate(model[m], lines, 3, &o);
            for (int k = 0; k < t[0].n; k++)
                for (int i = 0; i < t[0].hypothesis[k].length; i++) /* no symbol without an item */
                    assert_int_not_equal(strcmp(t[0].hypothesis[k].symbol[i], "<number>"), 0);
            for (int k = 0; k < t[0].n; k++)
                for (int i = 0; i < ITEMS; i++)
                    if (count(t[0].hypothesis[k].text, item[i]) != 1)
                        fail_msg("%s in '%s'", item[i], t[0].hypothesis[k].text);
            assert_int_equal(count(t[1].hypothesis[0].text, "77"), 2);
            assert_int_equal(count(t[2].hypothesis[0].text, "88"), 1);
            sa_translations_free(t, 3);
        }
}

static void symbols_of_a_text_itself_come_through(void **state) {
    (void)state;
    const char *const lines[] = {"dog \xEF\xB7\x93 \xEF\xB7\x96"};
    sa_translation *t = translate(vague, lines, 1, NULL);
    assert_int_equal(count(t[0].hypothesis[0].text, "\xEF\xB7\x93"), 1);
    assert_int_equal(count(t[0].hypothesis[0].text, "\xEF\xB7\x96"), 1);
    sa_translations_free(t, 1);
}

static void without_protection_items_are_text(void **state) {
    (void)state;
    const char *const lines[] = {"see 123456789 dog {count}"};
    sa_translate_options o = usual();
    o.protect = SA_PROTECT_OFF;
    sa_translation *t = translate(learned, lines, 1, &o);
    assert_null(strstr(t[0].hypothesis[0].text, "123456789"));
    assert_null(strstr(t[0].hypothesis[0].text, "\xEF\xB7\x93"));
    sa_translations_free(t, 1);
    o.protect = SA_PROTECT_ON;
    expect_status(sa_translate(unprotected, lines, 1, &o, &t, &error), SA_USAGE);
    assert_true(sa_model_protects(learned) && !sa_model_protects(unprotected));
}

static void the_symbols_shown_are_the_items(void **state) {
    (void)state;
    const char *const lines[] = {"see 12 dog {count}"};
    sa_translate_options o = usual();
    o.attention = true;
    sa_translation *t = translate(learned, lines, 1, &o);
    bool source = false, target = false;
    for (int j = 0; j < t->source_length; j++)
        source = source || strcmp(t->source_symbol[j], "{count}") == 0;
    for (int i = 0; i < t->hypothesis[0].length; i++)
        target = target || strcmp(t->hypothesis[0].symbol[i], "{count}") == 0;
    assert_true(source && target);
    sa_translations_free(t, 1);
}

static void a_translation_has_the_score_it_was_given(void **state) {
    (void)state;
    const char *const lines[] = {"see 12 dog {count}", "hear 7 bear 123"};
    const sa_model *const models[] = {learned};
    sa_translation *t = translate(learned, lines, 2, NULL), *s;
    const char *const targets[] = {t[0].hypothesis[0].text, t[1].hypothesis[0].text};
    expect_status(sa_score_pairs(models, 1, lines, targets, 2, NULL, &s, &error), SA_OK);
    for (int i = 0; i < 2; i++)
        assert_true(s[i].hypothesis[0].score - t[i].hypothesis[0].score < 1e-4 &&
                    t[i].hypothesis[0].score - s[i].hypothesis[0].score < 1e-4);
    sa_translations_free(t, 2);
    sa_translations_free(s, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_go_where_the_model_puts_them),
        cmocka_unit_test(no_item_is_lost_or_repeated_by_any_model),
        cmocka_unit_test(symbols_of_a_text_itself_come_through),
        cmocka_unit_test(without_protection_items_are_text),
        cmocka_unit_test(the_symbols_shown_are_the_items),
        cmocka_unit_test(a_translation_has_the_score_it_was_given),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
