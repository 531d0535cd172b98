#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "align/count_aligner.h"
#include "base/rng.h"
#include "parallel_text.h"

#include <stdio.h>
#include <stdlib.h>

static sa_error error;

/* ---- a language whose alignment is known ------------------------------------------------------------- */

enum { TOY_LINES = 600, TOY_WORDS = 60, TOY_LENGTH = 9 };

/* Source word k is "s<k>". Its translation is "t<k>", and "t<k> x<k>" for every seventh; behind a source word of
 * the first fifteen the next one moves to the front of it. Target word t of line i comes from giver[i][t]. */
typedef struct toy {
    char text[2][TOY_LINES][TOY_LENGTH * 16];
    const char *line[2][TOY_LINES];
    int giver[TOY_LINES][2 * TOY_LENGTH];
    int target_length[TOY_LINES], source_length[TOY_LINES];
} toy;

static int say(toy *y, int i, int word, int place) {
    char *at = y->text[1][i] + strlen(y->text[1][i]);
    int n = y->target_length[i];
    sprintf(at, word % 7 == 0 ? "t%d x%d " : "t%d ", word, word);
    for (int k = 0; k < (word % 7 == 0 ? 2 : 1); k++)
        y->giver[i][n++] = place;
    return n;
}

static toy *make_toy(void) {
    toy *y = calloc(1, sizeof *y);
    assert_non_null(y);
    rng random = rng_at(5, 0, 0, 0);
    for (int i = 0; i < TOY_LINES; i++) {
        int n = 1 + (int)rng_below(&random, TOY_LENGTH), word[TOY_LENGTH];
        for (int k = 0; k < n; k++) {
            word[k] = (int)rng_below(&random, TOY_WORDS);
            sprintf(y->text[0][i] + strlen(y->text[0][i]), "s%d ", word[k]);
        }
        for (int k = 0; k < n; k++) {
            if (k + 1 < n && word[k] < 15) {
                y->target_length[i] = say(y, i, word[k + 1], k + 1);
                y->target_length[i] = say(y, i, word[k], k);
                k++;
            } else
                y->target_length[i] = say(y, i, word[k], k);
        }
        y->source_length[i] = n;
        for (int d = 0; d < 2; d++)
            y->line[d][i] = y->text[d][i];
    }
    return y;
}

static void make_text(parallel_text *p, const toy *y) {
    assert_int_equal(
        parallel_text_make(p, (const char *const *const[2]){y->line[0], y->line[1]}, TOY_LINES, &error), SA_OK);
}

static count_aligner *learn(const parallel_text *p, const count_options *o) {
    count_aligner *a;
    sa_status status =
        count_aligner_learn(&a, &p->text, (const vocab *const[2]){p->side[0], p->side[1]}, o, &error);
    if (status != SA_OK)
        fail_msg("%s", error.text);
    return a;
}

/* ---- the tests --------------------------------------------------------------------------------------- */

static void a_known_alignment_is_found(void **state) {
    (void)state;
    toy *y = make_toy();
    parallel_text p;
    make_text(&p, y);
    count_aligner *a = learn(&p, &count_defaults);
    count_links *links = calloc(TOY_LINES, sizeof *links);
    assert_int_equal(count_aligner_align(a, 0, TOY_LINES, links, &error), SA_OK);
    int wrong = 0, all = 0, missed = 0, sources = 0, both = 0, both_wrong = 0;
    for (int i = 0; i < TOY_LINES; i++) {
        int best[2 * TOY_LENGTH];
        assert_int_equal(links[i].length[0], y->source_length[i]);
        assert_int_equal(links[i].length[1], y->target_length[i]);
        count_links_best(&links[i], SA_SOURCE, best);
        for (int t = 0; t < y->target_length[i]; t++, all++) {
            /* That an x, which is always there with its t, comes from none is a good explanation too. */
            bool second = t > 0 && y->giver[i][t] == y->giver[i][t - 1];
            wrong += best[t] != y->giver[i][t] && !(second && best[t] < 0);
        }
        count_links_best(&links[i], SA_TARGET, best);
        for (int s = 0; s < y->source_length[i]; s++, sources++)
            missed += best[s] < 0 || y->giver[i][best[s]] != s;
        for (int t = 0; t < y->target_length[i]; t++)
            for (int s = 0; s < y->source_length[i]; s++) {
                bool linked = count_links_mean(&links[i], s, t) >= 0.5f;
                both += linked;
                both_wrong += linked && y->giver[i][t] != s;
            }
    }
    print_message("wrong: %d of %d, %d of %d, of both %d of %d\n", wrong, all, missed, sources, both_wrong, both);
    assert_true(wrong * 50 < all); /* 2% */
    assert_true(missed * 50 < sources);
    assert_true(both > sources * 9 / 10 && both_wrong * 50 < both);
    count_links_free(links, TOY_LINES);
    free(links);
    count_aligner_free(a);
    parallel_text_free(&p);
    free(y);
}

static int translate(const parallel_text *p, const count_aligner *a, const char *word, int k, int *y) {
    int n;
    int x = vocab_find(p->side[SA_SOURCE], word, strlen(word));
    assert_int_equal(count_aligner_translations(a, x, k, 0.01f, y, &n, &error), SA_OK);
    return n;
}

static void words_are_translated_by_those_they_are_linked_to(void **state) {
    (void)state;
    toy *y = make_toy();
    parallel_text p;
    make_text(&p, y);
    count_aligner *a = learn(&p, &count_defaults);
    int words[4], n = 0;
    const vocab *target = p.side[SA_TARGET];
    for (int k = 0; k < TOY_WORDS; k++) {
        char source[16], expected[16];
        sprintf(source, "s%d", k);
        sprintf(expected, "t%d", k);
        assert_true(translate(&p, a, source, 4, words) > 0);
        bool first = !strcmp(vocab_piece(target, words[0]), expected);
        expected[0] = 'x';
        assert_true(first || (k % 7 == 0 && !strcmp(vocab_piece(target, words[0]), expected)));
    }
    assert_int_equal(translate(&p, a, "s1", 0, words), 0);
    assert_int_equal(count_aligner_translations(a, VOCAB_EOS, 4, 0, words, &n, &error), SA_OK);
    assert_int_equal(n, 4);
    count_aligner_free(a);
    parallel_text_free(&p);
    free(y);
}

static void assert_probabilities(const count_links *l) {
    const int S = l->length[0], T = l->length[1];
    for (int d = 0; d < 2; d++)
        for (int taker = 0; taker < l->length[1 - d]; taker++) {
            double sum = 0;
            for (int giver = 0; giver < l->length[d]; giver++) {
                int s = d == SA_SOURCE ? giver : taker, t = d == SA_SOURCE ? taker : giver;
                assert_true(s < S && t < T && l->probability[d][s * T + t] >= 0);
                sum += (double)l->probability[d][s * T + t];
            }
            assert_true(sum < 1.0001);
        }
}

static void links_are_the_same_for_any_number_of_threads_and_in_any_portion(void **state) {
    (void)state;
    toy *y = make_toy();
    parallel_text p;
    make_text(&p, y);
    count_links *first = calloc(TOY_LINES, sizeof *first), *links = calloc(TOY_LINES, sizeof *links);
    for (int threads = 1; threads <= 3; threads++) {
        count_aligner *a = learn(&p, &(count_options){.seed = 3, .threads = threads, .chains = 2, .sweeps = 4});
        count_links *out = threads == 1 ? first : links;
        size_t portion = threads == 1 ? TOY_LINES : 100;
        for (size_t i = 0; i < TOY_LINES; i += portion)
            assert_int_equal(count_aligner_align(a, i, portion, out + i, &error), SA_OK);
        for (int i = 0; i < TOY_LINES; i++) {
            size_t bytes = (size_t)y->source_length[i] * (size_t)y->target_length[i] * sizeof(float);
            assert_probabilities(&out[i]);
            for (int d = 0; d < 2; d++)
                assert_memory_equal(out[i].probability[d], first[i].probability[d], bytes);
        }
        if (threads > 1)
            count_links_free(links, TOY_LINES);
        count_aligner_free(a);
    }
    count_links_free(first, TOY_LINES);
    free(first);
    free(links);
    parallel_text_free(&p);
    free(y);
}

static char *repeat(const char *word, size_t times) {
    char *text = calloc(times + 1, strlen(word) + 16), *at = text;
    assert_non_null(text);
    for (size_t i = 0; i < times; i++)
        at += sprintf(at, "%s%zu ", word, i % 97);
    return text;
}

/* Empty sides, sides of one word, 2,000 words, and more than are linked. */
static void sentences_of_any_length_have_their_place(void **state) {
    (void)state;
    char *long_source = repeat("s", 2000), *long_target = repeat("t", 2000),
         *longer = repeat("t", COUNT_LONGEST + 1);
    const char *const source[] = {"", "s1", "s1", long_source, "s2", "s1 s2 s3", ""};
    const char *const target[] = {"t1", "t1", "", long_target, longer, "t1 t2 t3", ""};
    enum { N = 7 };
    parallel_text p;
    count_links links[N];
    int best[COUNT_LONGEST + 1];
    assert_int_equal(parallel_text_make(&p, (const char *const *const[2]){source, target}, N, &error), SA_OK);
    count_aligner *a = learn(&p, &(count_options){.seed = 1, .threads = 2, .chains = 1, .sweeps = 3});
    assert_int_equal(count_aligner_align(a, 0, N, links, &error), SA_OK);
    for (int i = 0; i < N; i++) {
        bool linked = i == 1 || i == 3 || i == 5;
        assert_int_equal(links[i].probability[0] != NULL, linked);
        if (linked)
            assert_probabilities(&links[i]);
        count_links_best(&links[i], SA_SOURCE, best);
        for (int t = 0; t < links[i].length[1] && !linked; t++)
            assert_int_equal(best[t], -1);
    }
    assert_int_equal(links[3].length[0], 2000);
    assert_int_equal(links[4].length[1], COUNT_LONGEST + 1);
    count_links_free(links, N);
    count_aligner_free(a);
    parallel_text_free(&p);
    free(long_source);
    free(long_target);
    free(longer);
}

static void a_text_without_pairs_can_be_learned_from(void **state) {
    (void)state;
    const char *const words[] = {"a b"};
    parallel_text p;
    assert_int_equal(parallel_text_make(&p, (const char *const *const[2]){words, words}, 1, &error), SA_OK);
    p.text.n = 0;
    count_aligner *a = learn(&p, &count_defaults);
    assert_int_equal(count_aligner_align(a, 0, 0, NULL, &error), SA_OK);
    count_aligner_free(a);
    parallel_text_free(&p);
}

static void options_out_of_range_are_refused(void **state) {
    (void)state;
    static const struct {
        count_options options;
        const char *part;
    } wrong[] = {{{.threads = 0, .chains = 1, .sweeps = 1}, "threads"},
                 {{.threads = 1, .chains = -1, .sweeps = 1}, "chains"},
                 {{.threads = 1, .chains = 1, .sweeps = 0}, "sweeps"}};
    corpus empty = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        count_aligner *a;
        assert_int_equal(count_aligner_learn(&a, &empty, NULL, &wrong[i].options, &error), SA_USAGE);
        assert_null(a);
        assert_non_null(strstr(error.text, wrong[i].part));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_alignment_is_found),
        cmocka_unit_test(words_are_translated_by_those_they_are_linked_to),
        cmocka_unit_test(links_are_the_same_for_any_number_of_threads_and_in_any_portion),
        cmocka_unit_test(sentences_of_any_length_have_their_place),
        cmocka_unit_test(a_text_without_pairs_can_be_learned_from),
        cmocka_unit_test(options_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
