#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/serve.h"

static void expect(const char *text, const char *name, const char *source, const char *target, const char *first,
                   int n) {
    serve_model m;
    const char *expected = serve_model_parse(&m, text);
    if (expected)
        fail_msg("%s: not %s", text, expected);
    assert_string_equal(m.name, name);
    assert_string_equal(m.source, source);
    assert_string_equal(m.target, target);
    assert_string_equal(m.path[0], first);
    assert_int_equal(m.n, n);
    serve_model_free(&m);
}

static void a_model_has_a_name_languages_and_files(void **state) {
    (void)state;
    expect("run/best.safetensors", "best", "", "", "run/best.safetensors", 1);
    expect("en-fr=run/best.safetensors", "en-fr", "en", "fr", "run/best.safetensors", 1);
    expect("zh-Hans:pt_BR=m", "zh-Hans:pt_BR", "zh-Hans", "pt_BR", "m", 1);
    expect("en-fr=a,b/c,d", "en-fr", "en", "fr", "a", 3);
    expect("./en-fr=m", "en-fr=m", "", "", "./en-fr=m", 1);
    expect("models/a=b.safetensors", "a=b", "", "", "models/a=b.safetensors", 1);
}

static void what_names_no_model_is_refused(void **state) {
    (void)state;
    const char *const wrong[] = {"",      "en-fr=",       "en=m",       "-fr=m",
                                 "en-=m", "en-f r=m",     "e-fr=m",     "en-fr=a,,b",
                                 ",",     "en-zh-Hans=m", "en:fr:de=m", "en-abcdefghijklmnopqrstuvwxyz=m"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        serve_model m;
        if (!serve_model_parse(&m, wrong[i]))
            fail_msg("'%s' was taken", wrong[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_has_a_name_languages_and_files),
        cmocka_unit_test(what_names_no_model_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
