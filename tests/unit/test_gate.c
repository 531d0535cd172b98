#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sa_error error;
static char path[64];

static void write_keys(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_gate.%ld", (long)getpid());
    return 0;
}

static int end(void **state) {
    (void)state;
    return unlink(path);
}

static void a_key_is_known_by_its_number(void **state) {
    (void)state;
    gate *g;
    write_keys("# two keys\nsesame\n\nopen sesame  \n");
    assert_int_equal(gate_new(&g, path, 0, &error), SA_OK);
    assert_true(gate_needs_key(g));
    assert_int_equal(gate_key(g, "sesame"), 1);
    assert_int_equal(gate_key(g, "open sesame"), 2);
    const char *const others[] = {"", "sesam", "sesamee", "Sesame", "# two keys", " sesame"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(gate_key(g, others[i]), 0);
    char longer[300];
    memset(longer, 's', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_int_equal(gate_key(g, longer), 0);
    gate_free(g);
}

static void files_without_keys_are_refused(void **state) {
    (void)state;
    gate *g;
    char longer[300];
    memset(longer, 'k', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    const char *const texts[] = {"", "\n# none\n", longer};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_keys(texts[i]);
        assert_int_equal(gate_new(&g, path, 0, &error), SA_DATA);
        assert_null(g);
    }
    assert_int_equal(gate_new(&g, "/nowhere/keys", 0, &error), SA_IO);
    assert_int_equal(gate_new(&g, NULL, 0, &error), SA_OK);
    assert_false(gate_needs_key(g));
    gate_free(g);
}

static void a_minute_has_so_many_requests(void **state) {
    (void)state;
    gate *g;
    int wait = 0;
    assert_int_equal(gate_new(&g, NULL, 6, &error), SA_OK);
    for (int i = 0; i < 6; i++)
        assert_true(gate_pass(g, "a", 100, &wait));
    assert_false(gate_pass(g, "a", 100, &wait));
    assert_int_equal(wait, 10);
    assert_true(gate_pass(g, "b", 100, &wait)); /* who asks besides does not pay */
    assert_false(gate_pass(g, "a", 105, &wait));
    assert_int_equal(wait, 5);
    assert_true(gate_pass(g, "a", 110.5, &wait));
    assert_false(gate_pass(g, "a", 110.5, &wait));
    for (int i = 0; i < 6; i++)
        assert_true(gate_pass(g, "a", 1000, &wait));
    assert_false(gate_pass(g, "a", 1000, &wait));
    gate_free(g);
}

static void many_who_ask_take_no_more_room(void **state) {
    (void)state;
    gate *g;
    int wait, passed = 0;
    assert_int_equal(gate_new(&g, NULL, 1, &error), SA_OK);
    for (int i = 0; i < 100000; i++) {
        char who[16];
        snprintf(who, sizeof who, "%d", i);
        passed += gate_pass(g, who, 100, &wait);
    }
    assert_int_equal(passed, 100000);
    gate_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_known_by_its_number),
        cmocka_unit_test(files_without_keys_are_refused),
        cmocka_unit_test(a_minute_has_so_many_requests),
        cmocka_unit_test(many_who_ask_take_no_more_room),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
