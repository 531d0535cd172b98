/* A host program may have called setlocale: where the decimal point is a comma, files and texts stay what they are.
 * The locale is made here, of the system's sources; without them the test is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy.h"

#include <locale.h>

enum { SKIPPED = 77 };

static sa_error error;
static char folder[128];

static bool make_locale(void) {
    char command[400];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >'%s/log' 2>&1", folder,
             folder);
    if (system(command) != 0)
        return false;
    setenv("LOCPATH", folder, 1);
    return true;
}

static void use_locale(const char *name) {
    char number[16];
    assert_non_null(setlocale(LC_ALL, name));
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, strcmp(name, "C") == 0 ? "0.5" : "0,5");
}

static void train(const char *run) {
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, run);
    o.learning_rate = 0.015625f;
    o.dropout = 0.25f;
    o.after_updates = 3;
    if (sa_train(&o, NULL, NULL, &error) != SA_OK)
        fail_msg("%s", error.text);
    /* Its own settings are read back. */
    o.resume = true;
    o.after_updates = 5;
    if (sa_train(&o, NULL, NULL, &error) != SA_OK)
        fail_msg("%s", error.text);
}

static char *read_file(const char *run, const char *name, size_t *n) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s/%s", folder, run, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *n = fread(bytes, 1, (1 << 20) - 1, file);
    bytes[*n] = 0;
    fclose(file);
    return bytes;
}

static void models_are_the_same_to_the_byte(void **state) {
    (void)state;
    use_locale("C");
    train("point");
    use_locale("de_DE.UTF-8");
    train("comma");
    size_t a, b;
    char *point = read_file("point", "best.safetensors", &a), *comma = read_file("comma", "best.safetensors", &b);
    assert_int_equal(a, b);
    assert_memory_equal(point, comma, a);
    free(point);
    free(comma);
    char *metrics = read_file("comma", "metrics.jsonl", &b);
    assert_null(strstr(metrics, "0,0"));
    assert_non_null(strstr(metrics, "0.0"));
    free(metrics);
}

static void models_are_opened_and_translate_the_same(void **state) {
    (void)state;
    char path[300];
    const char *const line[] = {"the red dog sees a cat today"};
    sa_translation *t[2];
    snprintf(path, sizeof path, "%s/point/best.safetensors", folder);
    for (int k = 0; k < 2; k++) {
        sa_model *m;
        use_locale(k ? "de_DE.UTF-8" : "C");
        assert_int_equal(sa_model_open(&m, path, &error), SA_OK);
        assert_int_equal(sa_translate(m, line, 1, NULL, &t[k], &error), SA_OK);
        sa_model_free(m);
    }
    assert_string_equal(t[0]->hypothesis->text, t[1]->hypothesis->text);
    assert_true(t[0]->hypothesis->score == t[1]->hypothesis->score);
    sa_translations_free(t[0], 1);
    sa_translations_free(t[1], 1);
}

static void signatures_have_points(void **state) {
    (void)state;
    const char *const line[] = {"a dog"}, *const * references[] = {line};
    sa_bleu_options o;
    sa_bleu_result r;
    sa_bleu_options_init(&o);
    o.smoothing = SA_SMOOTH_FLOOR;
    use_locale("de_DE.UTF-8");
    assert_int_equal(sa_bleu(line, 1, references, 1, &o, &r, &error), SA_OK);
    assert_non_null(strstr(r.signature, "floor[0.10]"));
}

static int remove_folder(void **state) {
    (void)state;
    return toy_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_the_same_to_the_byte),
        cmocka_unit_test(models_are_opened_and_translate_the_same),
        cmocka_unit_test(signatures_have_points),
    };
    if (!toy_folder(folder) || !toy_write(folder, TOY_PAIRS))
        return 1;
    if (!make_locale()) {
        toy_remove(folder);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
