#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <softalign.h>
#include <stdlib.h>
#include <string.h>

static void assert_read(const char *line, int base, bool swap, const char *expected) {
    sa_links links;
    sa_error error;
    char *text;
    if (sa_links_parse(&links, line, base, swap, &error) != SA_OK)
        fail_msg("'%s': %s", line, error.text);
    assert_int_equal(sa_links_format(&links, false, false, &text, &error), SA_OK);
    assert_string_equal(text, expected);
    free(text);
    sa_links_free(&links);
}

static void links_are_read_in_order_from_0_and_each_once(void **state) {
    (void)state;
    assert_read("", 0, false, "");
    assert_read(" \t\r", 0, false, "");
    assert_read("2-1 0-0\t10-3  0-0\r", 0, false, "0-0 2-1 10-3");
    assert_read("1-1 3-2", 1, false, "0-0 2-1");
    assert_read("5-2 1-3", 0, true, "2-5 3-1");
    assert_read("0p0 1?1 2-2", 0, false, "0p0 1p1 2-2");
    assert_read("0p0 0-0 1p1 1p1", 0, false, "0-0 1p1");
    assert_read("1048575-0", 0, false, "1048575-0");
}

static void weights_are_read_and_written(void **state) {
    (void)state;
    sa_links links;
    char *text;
    assert_int_equal(sa_links_parse(&links, "1-0:0.25 0-2:1 1-1 1-0:0.125", 0, false, NULL), SA_OK);
    assert_int_equal(sa_links_format(&links, false, true, &text, NULL), SA_OK);
    assert_string_equal(text, "0-2:1.000000 1-0:0.250000 1-1:1.000000");
    free(text);
    assert_int_equal(sa_links_format(&links, true, false, &text, NULL), SA_OK);
    assert_string_equal(text, "2-0 0-1 1-1");
    free(text);
    sa_links_free(&links);
}

static void what_is_no_link_is_named(void **state) {
    (void)state;
    static const char *const wrong[] = {"x-y",      "1-",    "-1",   "1",     "1--2",     "1-2-3", "0-0 9_9",
                                        "1.0-2",    "0x1-2", "1-2:", "1-2:x", "1-2:0.5x", "-1-0",  "99999999999-0",
                                        "2000000-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sa_links links;
        sa_error error;
        if (sa_links_parse(&links, wrong[i], 0, false, &error) != SA_DATA)
            fail_msg("'%s' was taken for links", wrong[i]);
        const char *last = strrchr(wrong[i], ' ');
        assert_non_null(strstr(error.text, last ? last + 1 : wrong[i]));
        assert_null(links.link);
    }
    sa_links links;
    sa_error error;
    assert_int_equal(sa_links_parse(&links, "1-1 0-2", 1, false, &error), SA_DATA);
    assert_non_null(strstr(error.text, "count from 1"));
    assert_int_equal(sa_links_parse(&links, "1-1", 2, false, &error), SA_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_read_in_order_from_0_and_each_once),
        cmocka_unit_test(weights_are_read_and_written),
        cmocka_unit_test(what_is_no_link_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
