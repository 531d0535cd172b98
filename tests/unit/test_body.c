#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/body.h"

#include <string.h>

static sa_error error;

#define FORM "application/x-www-form-urlencoded"
#define PARTS "multipart/form-data; boundary=xyz"

static json_t *read_body(const char *type, const char *text) {
    json_t *read = NULL;
    if (body_read(&read, type, true, text, strlen(text), &error) != SA_OK)
        fail_msg("%s: %s", text, error.text);
    return read;
}

static void expect_field(json_t *object, const char *name, const char *value) {
    assert_non_null(json_string_value(json_object_get(object, name)));
    assert_string_equal(json_string_value(json_object_get(object, name)), value);
}

static void refuse(const char *type, const char *text, const char *part) {
    json_t *read;
    assert_int_equal(body_read(&read, type, true, text, strlen(text), &error), SA_DATA);
    assert_null(read);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void a_form_is_an_object_of_strings(void **state) {
    (void)state;
    json_t *x = read_body(FORM, "q=a+b%2B%C3%A9%26&source=en&&empty=&alone&bad=%zz%4");
    expect_field(x, "q", "a b+\xC3\xA9&");
    expect_field(x, "source", "en");
    expect_field(x, "empty", "");
    expect_field(x, "alone", "");
    expect_field(x, "bad", "%zz%4");
    assert_int_equal(json_object_size(x), 5);
    json_decref(x);
    x = read_body(FORM "; charset=utf-8", "");
    assert_int_equal(json_object_size(x), 0);
    json_decref(x);
}

static void parts_are_fields(void **state) {
    (void)state;
    json_t *x =
        read_body(PARTS, "--xyz\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\ntwo\r\nlines\r\n"
                         "--xyz\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; name=target; x=y\r\n"
                         "\r\nfr\r\n--xyz--\r\n");
    expect_field(x, "q", "two\r\nlines");
    expect_field(x, "target", "fr");
    json_decref(x);
    x = read_body("Multipart/Form-Data; boundary=\"a b\"",
                  "before\r\n--a b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n\r\n--a b--");
    expect_field(x, "q", "");
    json_decref(x);
}

static void what_is_no_form_is_json(void **state) {
    (void)state;
    json_t *x = read_body("application/json", "{\"q\": [\"a\", \"\\u00e9\"]}");
    assert_int_equal(json_array_size(json_object_get(x, "q")), 2);
    json_decref(x);
    x = read_body(NULL, " [] ");
    assert_true(json_is_array(x));
    json_decref(x);
    /* A form where none is taken. */
    assert_int_equal(body_read(&x, FORM, false, "q=a", 3, &error), SA_DATA);
    assert_int_equal(body_read(&x, FORM, false, "{}", 2, &error), SA_OK);
    json_decref(x);
}

static void what_is_wrong_is_told(void **state) {
    (void)state;
    refuse(NULL, "", "no body");
    refuse(NULL, "\"\"", "not JSON");
    refuse(NULL, "null", "not JSON");
    refuse(NULL, "{\"a\":1,\"a\":2}", "not JSON");
    refuse(NULL, "{} {}", "not JSON");
    refuse(NULL, "{\"a\":\"\xC3\"}", "not JSON");
    refuse(FORM, "q=%C3", "'q' is not UTF-8");
    refuse(FORM, "%FF=1", "name is not UTF-8");
    refuse(FORM, "q=%00", "not UTF-8");
    refuse(FORM, "q=a&q=b", "two fields 'q'");
    refuse("multipart/form-data", "--", "no boundary");
    refuse("multipart/form-data; boundary=", "--", "no boundary");
    refuse(PARTS, "", "last boundary");
    refuse(PARTS, "--xyz\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\na", "last boundary");
    refuse(PARTS, "--xyz\r\nContent-Disposition: form-data\r\n\r\na\r\n--xyz--", "without a name");
    refuse(PARTS, "--xyz\r\na\r\n--xyz--", "without a name");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_is_an_object_of_strings),
        cmocka_unit_test(parts_are_fields),
        cmocka_unit_test(what_is_no_form_is_json),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
