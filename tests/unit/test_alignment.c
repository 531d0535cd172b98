#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

/* A translation as the library would fill it: "ab c" read as "a b c", "x yz" written as "x y z". */
static char *source_symbol[] = {"\xE2\x96\x81"
                                "a",
                                "b",
                                "\xE2\x96\x81"
                                "c",
                                "</s>"};
static char *symbol[] = {"\xE2\x96\x81"
                         "x",
                         "\xE2\x96\x81"
                         "y",
                         "z", "</s>"};
static int source_word[] = {0, 0, 1, -1}, word[] = {0, 1, 1, -1};
static float attention[] = {0.3f,  0.3f,  0.4f, 0,    /* x */
                            0.1f,  0.1f,  0.2f, 0.6f, /* y */
                            0,     0,     0.9f, 0.1f, /* z */
                            0.25f, 0.25f, 0,    0.5f};
static sa_hypothesis hypothesis = {
    .text = "x yz", .length = 4, .symbol = symbol, .attention = attention, .word = word};
static sa_translation translation = {.n = 1,
                                     .hypothesis = &hypothesis,
                                     .source_length = 4,
                                     .source_symbol = source_symbol,
                                     .source_word = source_word};

static sa_alignment make(sa_alignment_options o) {
    sa_alignment a;
    expect_status(sa_alignment_make(&a, &translation, 0, " ab  c", &o, &error), SA_OK);
    return a;
}

static void assert_links(const sa_alignment *a, const char *expected) {
    char *links;
    expect_status(sa_links_format(&a->links, false, false, &links, &error), SA_OK);
    assert_string_equal(links, expected);
    free(links);
}

static void assert_weights(const sa_alignment *a, const float *expected) {
    for (int i = 0; i < a->source_length * a->target_length; i++)
        if (!(fabs((double)a->weights[i] - (double)expected[i]) < 1e-6))
            fail_msg("weight %d is %g, not %g", i, (double)a->weights[i], (double)expected[i]);
}

static void columns_of_a_word_are_added_and_its_rows_averaged(void **state) {
    (void)state;
    sa_alignment a = make((sa_alignment_options){0});
    assert_int_equal(a.source_length, 3);
    assert_int_equal(a.target_length, 3);
    const char *const source[] = {"ab", "c", "</s>"}, *const target[] = {"x", "yz", "</s>"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(a.source[i], source[i]);
        assert_string_equal(a.target[i], target[i]);
    }
    assert_weights(&a, (float[]){0.6f, 0.4f, 0, 0.1f, 0.55f, 0.35f, 0.5f, 0, 0.5f});
    assert_links(&a, "0-0 1-1");
    sa_alignment_free(&a);
}

static void symbols_are_aligned_on_request(void **state) {
    (void)state;
    sa_alignment a = make((sa_alignment_options){.subwords = true});
    assert_int_equal(a.source_length, 4);
    assert_string_equal(a.target[2], "z");
    assert_weights(&a, attention);
    assert_links(&a, "2-0 2-2"); /* y looks at </s> most */
    sa_alignment_free(&a);
}

static void a_threshold_links_all_that_reach_it_but_the_end(void **state) {
    (void)state;
    sa_alignment a = make((sa_alignment_options){.threshold = 0.1f});
    assert_links(&a, "0-0 0-1 1-0 1-1");
    sa_alignment_free(&a);
    a = make((sa_alignment_options){.threshold = 0.56f});
    assert_links(&a, "0-0");
    sa_alignment_free(&a);
}

static void a_shift_takes_the_weights_of_the_step_that_reads_the_word(void **state) {
    (void)state;
    sa_alignment a = make((sa_alignment_options){.subwords = true, .shift = 1});
    float expected[16];
    memcpy(expected, attention + 4, 12 * sizeof *expected);
    memcpy(expected + 12, attention, 4 * sizeof *expected);
    assert_weights(&a, expected);
    sa_alignment_free(&a);
    a = make((sa_alignment_options){.shift = 1});
    assert_links(&a, "1-1"); /* x has the row of y: </s>; yz those of z and </s> */
    sa_alignment_free(&a);
}

static void empty_sides_have_their_end_marks(void **state) {
    (void)state;
    static const struct {
        const char *source, *target;
        int columns, rows;
    } pair[] = {{"", "", 1, 1}, {"", "un cane", 1, 3}, {"the dog", "", 3, 1}};
    sa_translate_options o = usual();
    o.attention = true;
    for (int i = 0; i < 3; i++) {
        sa_translation *t;
        sa_alignment a;
        expect_status(
            sa_score_pairs((const sa_model *const *)&model, 1, &pair[i].source, &pair[i].target, 1, &o, &t, &error),
            SA_OK);
        expect_status(sa_alignment_make(&a, t, 0, pair[i].source, &(sa_alignment_options){0}, &error), SA_OK);
        assert_int_equal(a.source_length, pair[i].columns);
        assert_int_equal(a.target_length, pair[i].rows);
        assert_string_equal(a.source[a.source_length - 1], "</s>");
        for (int k = 0; k < a.target_length; k++) {
            double sum = 0;
            for (int j = 0; j < a.source_length; j++)
                sum += (double)a.weights[k * a.source_length + j];
            assert_true(fabs(sum - 1) < 1e-5);
        }
        assert_links(&a, "");
        sa_alignment_free(&a);
        sa_translations_free(t, 1);
    }
}

/* Words of the toy language, with the words that they are translations of. */
static int links_found(const sa_model *m, int shift) {
    static const int translated[] = {6, 3, 0, 2, 1, 4, 5};
    int found = 0;
    sa_translate_options o = usual();
    o.attention = true;
    for (int i = 0; i < TOY_PAIRS; i++) {
        char source[80], target[80];
        const char *from = source, *to = target;
        toy_pair(i, source, target);
        sa_translation *t;
        sa_alignment a;
        expect_status(sa_score_pairs(&m, 1, &from, &to, 1, &o, &t, &error), SA_OK);
        expect_status(sa_alignment_make(&a, t, 0, source, &(sa_alignment_options){.shift = shift}, &error), SA_OK);
        for (size_t k = 0; k < a.links.n; k++)
            found += a.links.link[k].source == translated[a.links.link[k].target];
        sa_alignment_free(&a);
        sa_translations_free(t, 1);
    }
    return found;
}

static void a_word_belongs_to_the_step_that_writes_it(void **state) {
    (void)state;
    int own = links_found(model, 0), next = links_found(model, 1);
    if (2 * own < 3 * next || own < 2 * TOY_PAIRS)
        fail_msg("of %d words %d have the right link by their own step, %d by the next", 7 * TOY_PAIRS, own, next);
}

/* Step i looks before it writes word i, and has read the word before it. */
static void a_row_depends_on_the_words_before_its_own(void **state) {
    (void)state;
    const char *source = "the red dog sees a cat today", *targets[] = {"oggi vede il cane", "oggi ama il cane"};
    sa_translate_options o = usual();
    sa_translation *t;
    o.attention = true;
    expect_status(sa_score_pairs((const sa_model *const *)&model, 1, (const char *[]){source, source}, targets, 2,
                                 &o, &t, &error),
                  SA_OK);
    double difference[5] = {0};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < t[0].source_length; j++)
            difference[i] += fabs((double)t[0].hypothesis[0].attention[i * t[0].source_length + j] -
                                  (double)t[1].hypothesis[0].attention[i * t[0].source_length + j]);
    assert_true(difference[0] < 1e-5 && difference[1] < 1e-5);
    assert_true(difference[2] > 1e-4);
    sa_translations_free(t, 2);
}

static void words_of_pieces_are_those_of_the_line(void **state) {
    (void)state;
    const char *source = "the red dog sees\na cat today the old horse";
    sa_translate_options o = usual();
    o.attention = true;
    o.max_length = 3;
    sa_translation *t = translate(model, &source, 1, &o);
    assert_true(t->pieces > 2);
    int expected = 0, last = -1, ends = 0;
    for (int j = 0; j < t->source_length; j++) {
        if (t->source_word[j] >= 0)
            assert_int_equal(t->source_word[j], expected++);
        else
            ends++;
    }
    assert_int_equal(expected, 10);
    assert_int_equal(ends, t->pieces);
    const sa_hypothesis *h = &t->hypothesis[0];
    for (int i = 0; i < h->length; i++)
        if (h->word[i] >= 0) { /* a word each */
            assert_int_equal(h->word[i], last + 1);
            last = h->word[i];
        }
    sa_alignment a;
    expect_status(sa_alignment_make(&a, t, 0, source, &(sa_alignment_options){.shift = 1}, &error), SA_OK);
    assert_int_equal(a.source_length, 11);
    assert_int_equal(a.target_length, last + 2);
    sa_alignment_free(&a);
    sa_translations_free(t, 1);
}

static void what_does_not_attend_cannot_align(void **state) {
    (void)state;
    sa_translation without = translation;
    sa_hypothesis bare = hypothesis;
    sa_alignment a;
    bare.attention = NULL;
    without.hypothesis = &bare;
    expect_status(sa_alignment_make(&a, &without, 0, "ab c", &(sa_alignment_options){0}, &error), SA_USAGE);
    expect_status(sa_alignment_make(&a, &translation, 1, "ab c", &(sa_alignment_options){0}, &error), SA_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_a_word_are_added_and_its_rows_averaged),
        cmocka_unit_test(symbols_are_aligned_on_request),
        cmocka_unit_test(a_threshold_links_all_that_reach_it_but_the_end),
        cmocka_unit_test(a_shift_takes_the_weights_of_the_step_that_reads_the_word),
        cmocka_unit_test(empty_sides_have_their_end_marks),
        cmocka_unit_test(a_word_belongs_to_the_step_that_writes_it),
        cmocka_unit_test(a_row_depends_on_the_words_before_its_own),
        cmocka_unit_test(words_of_pieces_are_those_of_the_line),
        cmocka_unit_test(what_does_not_attend_cannot_align),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
