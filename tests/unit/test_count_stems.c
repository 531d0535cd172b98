#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "align/count_stems.h"
#include "parallel_text.h"

static sa_error error;

static const char *const lines[2][2] = {{"Parliament parliaments parade 12345 12346 \xC3\x89tat", "parliament the"},
                                        {"parlement 12345 \xC3\xA9tats \xC3\xA9t", "the parc"}};

static int stem(const parallel_text *p, const count_stems *s, int side, const char *word) {
    int id = vocab_find(p->side[side], word, strlen(word));
    assert_int_not_equal(id, VOCAB_UNK);
    return s->of[side][id];
}

static void stems_are_first_letters_in_lower_case_over_both_sides(void **state) {
    (void)state;
    parallel_text p;
    count_stems s;
    assert_int_equal(parallel_text_make(&p, (const char *const *const[2]){lines[0], lines[1]}, 2, &error), SA_OK);
    assert_int_equal(count_stems_make(&s, &p.text, (const vocab *const[2]){p.side[0], p.side[1]}, &error), SA_OK);
    assert_int_equal(stem(&p, &s, 0, "Parliament"), stem(&p, &s, 0, "parliaments"));
    assert_int_equal(stem(&p, &s, 0, "Parliament"), stem(&p, &s, 1, "parlement"));
    assert_int_not_equal(stem(&p, &s, 0, "Parliament"), stem(&p, &s, 0, "parade"));
    assert_int_equal(stem(&p, &s, 0, "the"), stem(&p, &s, 1, "the"));
    /* Letters, not bytes. */
    assert_int_equal(stem(&p, &s, 0, "\xC3\x89tat"), stem(&p, &s, 1, "\xC3\xA9tats"));
    assert_int_not_equal(stem(&p, &s, 1, "\xC3\xA9t"), stem(&p, &s, 1, "\xC3\xA9tats"));
    count_stems_free(&s);
    parallel_text_free(&p);
}

static void numbers_are_stems_of_their_own(void **state) {
    (void)state;
    parallel_text p;
    count_stems s;
    assert_int_equal(parallel_text_make(&p, (const char *const *const[2]){lines[0], lines[1]}, 2, &error), SA_OK);
    assert_int_equal(count_stems_make(&s, &p.text, (const vocab *const[2]){p.side[0], p.side[1]}, &error), SA_OK);
    assert_int_equal(stem(&p, &s, 0, "12345"), stem(&p, &s, 1, "12345"));
    assert_int_not_equal(stem(&p, &s, 0, "12345"), stem(&p, &s, 0, "12346"));
    /* parl, para, 12345, 12346, état, the; and </s> and <unk>, which are those of the other side too. */
    assert_int_equal(s.kinds[0], 8);
    assert_int_equal(s.kinds[1], 8); /* parl, 12345, état, ét, the, parc */
    assert_int_equal(s.of[0][VOCAB_EOS], s.of[1][VOCAB_EOS]);
    assert_int_not_equal(s.of[0][VOCAB_EOS], s.of[0][VOCAB_UNK]);
    count_stems_free(&s);
    parallel_text_free(&p);
}

static void shares_are_counted_among_the_words_of_a_stem(void **state) {
    (void)state;
    parallel_text p;
    count_stems s;
    static const char *const source[] = {"walks walked walks walks go", "walking"};
    assert_int_equal(parallel_text_make(&p, (const char *const *const[2]){source, lines[1]}, 2, &error), SA_OK);
    assert_int_equal(count_stems_make(&s, &p.text, (const vocab *const[2]){p.side[0], p.side[1]}, &error), SA_OK);
    assert_float_equal(s.share[0][vocab_find(p.side[0], "walks", 5)], 0.6, 1e-6);
    assert_float_equal(s.share[0][vocab_find(p.side[0], "walking", 7)], 0.2, 1e-6);
    assert_float_equal(s.share[0][vocab_find(p.side[0], "go", 2)], 1, 0);
    count_stems_free(&s);
    parallel_text_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stems_are_first_letters_in_lower_case_over_both_sides),
        cmocka_unit_test(numbers_are_stems_of_their_own),
        cmocka_unit_test(shares_are_counted_among_the_words_of_a_stem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
