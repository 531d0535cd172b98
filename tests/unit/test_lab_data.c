/* lab/data: what the page explains and asks is there in all its languages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <string.h>

static json_t *load(const char *name) {
    char path[1024];
    json_error_t problem;
    snprintf(path, sizeof path, "%s/%s", LAB_DATA, name);
    json_t *list = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (!json_is_array(list) || json_array_size(list) == 0)
        fail_msg("%s:%d: %s", path, problem.line, problem.text);
    return list;
}

static void expect_languages(const char *id, const json_t *texts) {
    static const char *const languages[] = {"en", "fr", "ar"};
    for (int k = 0; k < 3; k++) {
        const char *text = json_string_value(json_object_get(texts, languages[k]));
        if (!text || !*text)
            fail_msg("%s has no %s", id, languages[k]);
    }
    assert_int_equal(json_object_size(texts), 3);
}

/* The id of entry i, which no entry before it has. */
static const char *id_of(json_t *list, size_t i) {
    const char *id = json_string_value(json_object_get(json_array_get(list, i), "id"));
    assert_non_null(id);
    for (size_t k = 0; k < i; k++)
        if (strcmp(id, json_string_value(json_object_get(json_array_get(list, k), "id"))) == 0)
            fail_msg("two are called %s", id);
    return id;
}

static void terms_are_explained_in_three_languages(void **state) {
    (void)state;
    json_t *list = load("glossary.json"), *entry;
    size_t i;
    json_array_foreach(list, i, entry) {
        const char *id = id_of(list, i);
        expect_languages(id, json_object_get(entry, "term"));
        expect_languages(id, json_object_get(entry, "text"));
    }
    json_decref(list);
}

static void questions_have_one_right_answer(void **state) {
    (void)state;
    json_t *list = load("quiz.json"), *entry, *answer;
    size_t i, k;
    json_array_foreach(list, i, entry) {
        const char *id = id_of(list, i);
        int right = 0;
        json_int_t room = json_integer_value(json_object_get(entry, "room"));
        expect_languages(id, json_object_get(entry, "question"));
        expect_languages(id, json_object_get(entry, "why"));
        json_array_foreach(json_object_get(entry, "answers"), k, answer) {
            expect_languages(id, json_object_get(answer, "text"));
            right += json_is_true(json_object_get(answer, "right"));
        }
        if (right != 1 || k < 2 || room < 1 || room > 9)
            fail_msg("%s: %d right answers of %zu, room %d", id, right, k, (int)room);
    }
    json_decref(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_explained_in_three_languages),
        cmocka_unit_test(questions_have_one_right_answer),
    };
    return cmocka_run_group_tests_name("lab_data", tests, NULL, NULL);
}
