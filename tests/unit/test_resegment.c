/* src/text/resegment.c, and the text of an epoch that src/train/sampling.c draws with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "protecting_vocab.h"
#include "train/sampling.h"

#include <math.h>

static sa_error error;
static const sa_vocab_type types[] = {SA_VOCAB_BPE, SA_VOCAB_UNIGRAM};
enum { TYPES = sizeof types / sizeof *types };

static const char *const lines[] = {
    "the man and the dog", "a dog and a man",     "the mandolin and the dogma",     "another man", "hand and hound",
    "the other hand",      "a hat, a man; a dog", "d\xC3\xB6g \xE2\x82\xAC no gem", NULL};

static vocab *make(sa_vocab_type type, int size) {
    vocab *v;
    if (train_on(&v, type, size, "identity", lines, 20, &error) != SA_OK)
        fail_msg("%s", error.text);
    return v;
}

static resegmenter *open(const vocab *v) {
    resegmenter *r;
    assert_int_equal(resegmenter_new(&r, v, &error), SA_OK);
    return r;
}

static id_list encode(const vocab *v, const char *text) {
    id_list ids = {0};
    assert_int_equal(vocab_encode(v, text, strlen(text), &ids, &error), SA_OK);
    return ids;
}

static bool equal(const id_list *a, const id_list *b) {
    return a->n == b->n && !memcmp(a->id, b->id, a->n * sizeof *a->id);
}

static char *decode(const vocab *v, const id_list *ids) {
    strbuf out = {0};
    assert_int_equal(vocab_decode(v, ids->id, ids->n, NULL, &out, &error), SA_OK);
    return strbuf_take(&out);
}

/* How often a draw is the same as the plain ids. */
static double share_of_plain(const resegmenter *r, const id_list *plain, double share, int draws) {
    int same = 0;
    for (int i = 0; i < draws; i++) {
        id_list drawn = {0};
        rng random = rng_at(3, 0, (uint64_t)i, 0);
        assert_true(resegment(r, plain->id, plain->n, share, &random, &drawn));
        same += equal(plain, &drawn);
        id_list_free(&drawn);
    }
    return (double)same / draws;
}

static void expect_share(double found, double wanted, int draws) {
    if (!(fabs(found - wanted) < 4 * sqrt(wanted * (1 - wanted) / draws)))
        fail_msg("a share of %g, not %g", found, wanted);
}

static void merges_of_which_none_is_left_out_give_the_ids_of_the_vocabulary(void **state) {
    (void)state;
    for (int size = 30; size <= 60; size += 10) {
        vocab *v = make(SA_VOCAB_BPE, size);
        resegmenter *r = open(v);
        for (const char *const *line = lines; *line; line++) {
            id_list plain = encode(v, *line);
            assert_true(share_of_plain(r, &plain, 0, 1) == 1);
            id_list_free(&plain);
        }
        resegmenter_free(r);
        vocab_free(v);
    }
}

/* One merge makes the word "a" of its blank and its letter. */
static void a_merge_is_left_out_as_often_as_was_asked(void **state) {
    (void)state;
    enum { DRAWS = 4000 };
    vocab *v = make(SA_VOCAB_BPE, 50);
    resegmenter *r = open(v);
    id_list plain = encode(v, "a");
    assert_int_equal(plain.n, 1);
    expect_share(share_of_plain(r, &plain, 0.3, DRAWS), 1 - 0.3, DRAWS);
    id_list_free(&plain);
    resegmenter_free(r);
    vocab_free(v);
}

/* Sum over all segmentations of p^share, and over those that are `wanted` alone, from the place `at` on. */
static double sum_over(const vocab *v, const char *word, size_t at, double share, const id_list *wanted, size_t k) {
    size_t length = strlen(word);
    if (at == length)
        return !wanted || k == wanted->n;
    double sum = 0;
    for (size_t end = at + 1; end <= length; end++) {
        int id = vocab_find(v, word + at, end - at);
        bool fits = id != VOCAB_UNK && (!wanted || (k < wanted->n && wanted->id[k] == id));
        sum += fits ? exp(share * vocab_score(v, id)) * sum_over(v, word, end, share, wanted, k + 1) : 0;
    }
    return sum;
}

static void segmentations_are_drawn_by_their_probability(void **state) {
    (void)state;
    enum { DRAWS = 4000 };
    vocab *v = make(SA_VOCAB_UNIGRAM, 45);
    resegmenter *r = open(v);
    const double shares[] = {0.1, 0.5, 1};
    for (int i = 0; i < 3; i++) {
        id_list plain = encode(v, "hand");
        double all = sum_over(v, VOCAB_SUBWORD_BLANK "hand", 0, shares[i], NULL, 0);
        double wanted = sum_over(v, VOCAB_SUBWORD_BLANK "hand", 0, shares[i], &plain, 0) / all;
        assert_true(wanted > 0.01 && wanted < 0.99);
        expect_share(share_of_plain(r, &plain, shares[i], DRAWS), wanted, DRAWS);
        id_list_free(&plain);
    }
    resegmenter_free(r);
    vocab_free(v);
}

static void the_text_stays_and_its_segmentation_does_not(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = make(types[i], 50);
        resegmenter *r = open(v);
        int others = 0;
        for (int k = 0; lines[k]; k++) {
            id_list plain = encode(v, lines[k]), drawn = {0};
            rng random = rng_at(5, 0, (uint64_t)k, 0);
            assert_true(resegment(r, plain.id, plain.n, 0.4, &random, &drawn));
            char *text = decode(v, &drawn);
            assert_string_equal(text, lines[k]);
            others += !equal(&plain, &drawn);
            free(text);
            id_list_free(&plain);
            id_list_free(&drawn);
        }
        assert_true(others >= 3);
        resegmenter_free(r);
        vocab_free(v);
    }
}

static void symbols_that_are_no_subwords_stay(void **state) {
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        vocab *v = protecting_vocab(types[i]);
        resegmenter *r = open(v);
        id_list plain = encode(v, "the dog sees " NUMBER " Z cats " TAG), drawn = {0};
        rng random = rng_at(5, 0, 0, 0);
        assert_true(resegment(r, plain.id, plain.n, 0.9, &random, &drawn));
        int number = vocab_placeholder(v, PROTECT_NUMBER), counts[2][2] = {{0}};
        const id_list *both[] = {&plain, &drawn};
        for (int k = 0; k < 2; k++)
            for (size_t j = 0; j < both[k]->n; j++) {
                counts[k][0] += both[k]->id[j] == number;
                counts[k][1] += both[k]->id[j] == VOCAB_UNK;
            }
        assert_int_equal(counts[0][0], 1);
        assert_int_equal(counts[0][1], 1);
        assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
        id_list_free(&plain);
        id_list_free(&drawn);
        resegmenter_free(r);
        vocab_free(v);
    }
}

/* ---- texts ------------------------------------------------------------------------------------------- */

enum { PAIRS = 300 };

static void append_pair(corpus *c, const vocab *v, const char *text) {
    id_list ids = encode(v, text);
    assert_true(id_list_push(&ids, VOCAB_EOS));
    size_t n = ids.n;
    for (size_t i = 0; i < n; i++)
        assert_true(id_list_push(&ids, ids.id[i]));
    corpus_entry e = {.line = c->n, .source_length = (int)n, .target_length = (int)n};
    e.check = corpus_entry_check(&e, c->n, ids.id);
    assert_int_equal(corpus_append(c, &e, ids.id, &error), SA_OK);
    id_list_free(&ids);
}

static void draw(sampling *s, const corpus *plain, int64_t epoch, int max_length, int threads) {
    char path[64];
    pool *team;
    const sampling_draw by = {0.3, max_length, 7, epoch};
    snprintf(path, sizeof path, "/tmp/test_resegment.%ld", (long)getpid());
    assert_int_equal(pool_new(&team, threads, NULL, &error), SA_OK);
    if (sampling_make(s, plain, &by, team, path, &error) != SA_OK)
        fail_msg("%s", error.text);
    pool_free(team);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(s->text.n, plain->n);
}

/* How many sides of pairs are other symbols; corpora of as many pairs. */
static int differences(const corpus *a, const corpus *b) {
    int found = 0;
    for (size_t i = 0; i < a->n; i++) {
        pair x = corpus_pair(a, i), y = corpus_pair(b, i);
        assert_int_equal(x.line, y.line);
        found += x.source_length != y.source_length ||
                 memcmp(x.source, y.source, sizeof(int) * (size_t)x.source_length) != 0;
        found += x.target_length != y.target_length ||
                 memcmp(x.target, y.target, sizeof(int) * (size_t)x.target_length) != 0;
    }
    return found;
}

static void a_text_depends_on_its_epoch_and_not_on_threads(void **state) {
    (void)state;
    vocab *v = make(SA_VOCAB_BPE, 50);
    corpus plain = {.vocab_size = {vocab_size(v), vocab_size(v)}};
    sampling s[3];
    for (int i = 0; i < PAIRS; i++)
        append_pair(&plain, v, lines[i % 8]);
    for (int k = 0; k < 3; k++)
        assert_int_equal(sampling_open(&s[k], v, v, &error), SA_OK);
    draw(&s[0], &plain, 4, 100, 1);
    draw(&s[1], &plain, 3, 100, 2);
    draw(&s[1], &plain, 4, 100, 3);
    draw(&s[2], &plain, 5, 100, 1);
    assert_int_equal(differences(&s[0].text, &s[1].text), 0);
    assert_true(differences(&s[0].text, &s[2].text) > PAIRS);
    assert_true(differences(&s[0].text, &plain) > PAIRS);
    assert_true(s[0].text.source_symbols > plain.source_symbols);
    draw(&s[2], &plain, 5, 6, 1); /* what would become longer stays as it was */
    for (size_t i = 0; i < plain.n; i++) {
        pair was = corpus_pair(&plain, i), is = corpus_pair(&s[2].text, i);
        assert_true(is.source_length <= 7 || is.source_length == was.source_length);
    }
    for (int k = 0; k < 3; k++)
        sampling_close(&s[k]);
    corpus_free(&plain);
    vocab_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_of_which_none_is_left_out_give_the_ids_of_the_vocabulary),
        cmocka_unit_test(a_merge_is_left_out_as_often_as_was_asked),
        cmocka_unit_test(segmentations_are_drawn_by_their_probability),
        cmocka_unit_test(the_text_stays_and_its_segmentation_does_not),
        cmocka_unit_test(symbols_that_are_no_subwords_stay),
        cmocka_unit_test(a_text_depends_on_its_epoch_and_not_on_threads),
    };
    return cmocka_run_group_tests_name("resegment", tests, NULL, NULL);
}
