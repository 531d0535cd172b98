#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <softalign.h>
#include <stdio.h>
#include <string.h>

/* Expected values are those of sacreBLEU 2.6.0, some of its own tests among them (Apache-2.0), or of its algorithm
 * written down plainly in Python. */

static void assert_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9))
        fail_msg("%.12f is not %.12f", found, expected);
}

static sa_ter_result of(const char *const *texts, size_t n, const char *const *const *references,
                        size_t n_references, sa_ter_options options) {
    sa_ter_result result;
    sa_error error;
    if (sa_ter(texts, n, references, n_references, &options, &result, &error) != SA_OK)
        fail_msg("%s", error.text);
    return result;
}

static sa_ter_result of_line(const char *hypothesis, const char *reference) {
    const char *const *references = &reference;
    return of(&hypothesis, 1, &references, 1, (sa_ter_options){0});
}

static void assert_edits(const char *hypothesis, const char *reference, int edits) {
    sa_ter_result r = of_line(hypothesis, reference);
    if (!(fabs(r.edits - edits) < 0.5))
        fail_msg("'%s' to '%s': %g edits, not %d", hypothesis, reference, r.edits, edits);
}

static void insertions_deletions_and_substitutions_are_edits(void **state) {
    (void)state;
    assert_edits("aaaa bbbb cccc dddd", "aaaa bbbb cccc dddd", 0);
    assert_edits("dddd eeee ffff", "aaaa bbbb cccc", 3);
    assert_edits("a c", "a b c", 1);
    assert_edits("a b x c", "a b c", 1);
    assert_edits("A b", "a B", 0);
    sa_ter_result r = of_line("a c x", "a b c d e");
    assert_near(r.ter, 60);
    assert_near(r.reference_length, 5);
    assert_string_equal(r.signature,
                        "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:softalign-" SA_VERSION);
}

static void a_phrase_that_moves_is_one_edit(void **state) {
    (void)state;
    assert_edits("d e f g h a b c", "a b c d e f g h", 1);
    assert_edits("b a d c", "a b c d", 2);
    assert_edits("c a b x", "a b c", 2); /* a shift and a deletion */
    assert_near(of_line("d e f g h a b c", "a b c d e f g h").ter, 12.5);
}

static void of_shifts_that_gain_the_same_the_longest_is_applied(void **state) {
    (void)state;
    assert_edits("d d c b c b", "a c b b c d", 4); /* 3 with the shortest */
}

static void a_phrase_does_not_move_into_itself(void **state) {
    (void)state;
    assert_edits("d d a d c", "c d d d a", 3); /* 2 if it could */
}

static void a_phrase_is_at_most_ten_words_long(void **state) {
    (void)state;
    assert_edits("k l m n o p q r s t a b c d e f g h i j", "a b c d e f g h i j k l m n o p q r s t", 1);
    assert_edits("m n o p q r s t u v w a b c d e f g h i j k", "a b c d e f g h i j k m n o p q r s t u v w", 2);
}

/* n words: "w3 w4 w5 ", from number first on. */
static size_t append_words(char *text, int first, int n) {
    size_t length = 0;
    for (int i = 0; i < n; i++)
        length += (size_t)sprintf(text + length, "w%d ", first + i);
    return length;
}

static void a_phrase_moves_at_most_fifty_places(void **state) {
    (void)state;
    static const int between[] = {49, 50}, edits[] = {1, 2};
    for (int k = 0; k < 2; k++) {
        char hypothesis[1024], reference[1024];
        size_t n = append_words(hypothesis, 0, between[k] + 1);
        sprintf(hypothesis + n, "x");
        n = (size_t)sprintf(reference, "x ");
        append_words(reference + n, 0, between[k] + 1);
        assert_edits(hypothesis, reference, edits[k]);
    }
}

static void matches_outside_the_beam_are_not_found(void **state) {
    (void)state;
    char text[2048];
    append_words(text, 0, 130);
    assert_edits("w100", text, 129);
    assert_edits("w0", text, 130); /* half the ratio of the lengths and 25 more words before the end */
    assert_edits(text, "w0", 129);
    assert_edits(text, "w129 x", 130);
    /* 80 words that match 55 places away, too far for the beam and for a shift. */
    char hypothesis[2048], reference[2048];
    append_words(hypothesis, 0, 135);
    append_words(reference, 55, 135);
    assert_edits(hypothesis, reference, 135);
}

static void no_more_shifts_once_a_thousand_were_tried(void **state) {
    (void)state;
    /* Two words again and again, with a block that has to move: each of the many equal phrases is tried. */
    char hypothesis[1024] = "", reference[1024] = "";
    for (int i = 0; i < 20; i++) {
        strcat(hypothesis, i % 3 ? "a b " : "b c ");
        strcat(reference, i % 3 ? "b a " : "a c ");
    }
    strcat(hypothesis, "y x");
    strcat(reference, "x y");
    assert_edits(hypothesis, reference, 19); /* 16 without the limit */
}

static void empty_texts(void **state) {
    (void)state;
    assert_near(of_line("", "a").ter, 100);
    assert_near(of_line("a", "").ter, 100);
    assert_near(of_line("a b", "").edits, 2);
    assert_near(of_line("", "").ter, 0);
    assert_near(of_line("a b c", "x").ter, 300);
}

static void the_nearest_reference_gives_the_edits_and_all_the_length(void **state) {
    (void)state;
    const char *hypothesis = "the cat sat down";
    const char *const a[] = {"a cat sat"}, *const b[] = {"the cat sat down today now"};
    sa_ter_result r = of(&hypothesis, 1, (const char *const *[]){a, b}, 2, (sa_ter_options){0});
    assert_near(r.edits, 2);
    assert_near(r.reference_length, 4.5);
    assert_non_null(strstr(r.signature, "nrefs:2|"));
}

static void the_corpus_is_the_sum_of_its_lines(void **state) {
    (void)state;
    static const char *const hypotheses[] = {"The old clock strikes twelve, and nobody stirs.",
                                             "Two boats left the harbour at 5.30 a.m.", "She reads."};
    static const char *const first[] = {"The old clock struck twelve and no one stirs.",
                                        "Two boats left harbour at 5.30 a.m.", "She is reading a book."};
    static const char *const second[] = {"At twelve, the old clock strikes and nobody moves.",
                                         "At 5.30 a.m. two boats left the harbour.", "She reads a lot of books."};
    assert_near(of(hypotheses, 3, (const char *const *[]){first}, 1, (sa_ter_options){0}).ter, 100 * 9.0 / 21);
    assert_near(of(hypotheses, 3, (const char *const *[]){first, second}, 2, (sa_ter_options){0}).ter,
                100 * 8.0 / 22);
    assert_near(
        of_line("w\xC3\xA4hlen Sie \" Bild neu berechnen , \" um beim \xC3\x84ndern der Bildgr\xC3\xB6\xC3\x9F"
                "e Pixel hinzuzuf\xC3\xBCgen oder zu entfernen , damit das Bild ungef\xC3\xA4hr dieselbe "
                "Gr\xC3\xB6\xC3\x9F"
                "e aufweist wie die andere Gr\xC3\xB6\xC3\x9F"
                "e .",
                "w\xC3\xA4hlen Sie \" Bild neu berechnen , \" um beim \xC3\x84ndern der Bildgr\xC3\xB6\xC3\x9F"
                "e Pixel hinzuzuf\xC3\xBCgen oder zu entfernen , damit die Darstellung des Bildes in einer "
                "anderen Gr\xC3\xB6\xC3\x9F"
                "e beibehalten wird .")
            .edits,
        10);
}

static void options_change_tokens_and_signature(void **state) {
    (void)state;
    const char *hypothesis = "It's Red, I say", *reference = "it's red i say .";
    const char *const *references = &reference;
    static const struct {
        sa_ter_options options;
        int edits, length;
        const char *signature;
    } cases[] = {
        {{0}, 2, 5, "|case:lc|tok:tercom|norm:no|punct:yes|asian:no|"},
        {{.case_sensitive = true}, 4, 5, "|case:mixed|tok:tercom|norm:no|punct:yes|asian:no|"},
        {{.normalized = true}, 2, 6, "|norm:yes|punct:yes|asian:no|"},
        {{.no_punct = true}, 0, 4, "|norm:no|punct:no|asian:no|"},
        {{.asian_support = true}, 2, 5, "|norm:no|punct:yes|asian:yes|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_ter_result r = of(&hypothesis, 1, &references, 1, cases[i].options);
        assert_near(r.edits, cases[i].edits);
        assert_near(r.reference_length, cases[i].length);
        assert_non_null(strstr(r.signature, cases[i].signature));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insertions_deletions_and_substitutions_are_edits),
        cmocka_unit_test(a_phrase_that_moves_is_one_edit),
        cmocka_unit_test(of_shifts_that_gain_the_same_the_longest_is_applied),
        cmocka_unit_test(a_phrase_does_not_move_into_itself),
        cmocka_unit_test(a_phrase_is_at_most_ten_words_long),
        cmocka_unit_test(a_phrase_moves_at_most_fifty_places),
        cmocka_unit_test(matches_outside_the_beam_are_not_found),
        cmocka_unit_test(no_more_shifts_once_a_thousand_were_tried),
        cmocka_unit_test(empty_texts),
        cmocka_unit_test(the_nearest_reference_gives_the_edits_and_all_the_length),
        cmocka_unit_test(the_corpus_is_the_sum_of_its_lines),
        cmocka_unit_test(options_change_tokens_and_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
