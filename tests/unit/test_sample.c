#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_models.h"

enum { DRAWS = 20000, V_DRAWN = 6 };

/* Shares of the words that follow the prefix in DRAWS samples of sentence 0. */
static void draw(fixture *f, float temperature, int top_k, double share[V_DRAWN]) {
    int place = f->sentence[0].n_prefix;
    hypotheses found;
    sa_translate_options o = usual();
    o.sample = true;
    o.n_best = DRAWS;
    o.temperature = temperature;
    o.top_k = top_k;
    search(f, &f->one, 1, &o, &found);
    assert_int_equal(found.n, DRAWS);
    memset(share, 0, V_DRAWN * sizeof *share);
    for (int k = 0; k < DRAWS; k++)
        share[found.at[k].ids[place]] += 1.0 / DRAWS;
    hypotheses_free(&found);
}

static void words_are_drawn_as_often_as_they_are_probable(void **state) {
    (void)state;
    fixture f;
    begin(&f, 3, V_DRAWN, "rnnsearch");
    double p[V_DRAWN], share[V_DRAWN];
    int words[V_DRAWN], one[V_DRAWN];
    const int *at[V_DRAWN];
    for (int w = 0; w < V_DRAWN; w++) {
        words[w] = w;
        one[w] = 1;
        at[w] = &words[w];
    }
    score_targets(&f, &f.net[0], 0, at, one, V_DRAWN, p);
    const float temperature[] = {1, 0.5f, 3, 1, 2};
    const int top_k[] = {0, 0, 0, 2, 3};
    for (int way = 0; way < 5; way++) {
        double sum = 0, wanted[V_DRAWN];
        for (int w = 0; w < V_DRAWN; w++) {
            int better = 0;
            for (int v = 0; v < V_DRAWN; v++)
                better += p[v] > p[w];
            bool in = top_k[way] == 0 || better < top_k[way];
            sum += wanted[w] = in ? exp(p[w] / (double)temperature[way]) : 0;
        }
        draw(&f, temperature[way], top_k[way], share);
        for (int w = 0; w < V_DRAWN; w++) {
            double q = wanted[w] / sum;
            assert_true(fabs(share[w] - q) <= 5 * sqrt(q * (1 - q) / DRAWS));
        }
    }
    end(&f);
}

/* Each place draws a number of its own: those with one first word differ in the second as they should. */
static void a_second_word_is_drawn_anew(void **state) {
    (void)state;
    fixture f;
    begin(&f, 3, V_DRAWN, "rnnsearch");
    int first[] = {0};
    double alone[V_DRAWN], after[V_DRAWN] = {0}, n = 0;
    hypotheses found;
    sa_translate_options o = usual();
    o.sample = true;
    o.n_best = DRAWS;
    o.min_length = 1;
    search(&f, &f.one, 1, &o, &found);
    first[0] = found.at[0].ids[0];
    for (int k = 0; k < DRAWS; k++)
        if (found.at[k].ids[0] == first[0]) {
            after[found.at[k].ids[1]]++;
            n++;
        }
    hypotheses_free(&found);
    f.sentence[0].prefix = first;
    f.sentence[0].n_prefix = 1;
    draw(&f, 1, 0, alone);
    for (int w = 0; w < V_DRAWN; w++)
        assert_true(fabs(after[w] / n - alone[w]) <= 5 * sqrt(alone[w] * (1 - alone[w]) / n) + 1e-3);
    end(&f);
}

static void a_sample_depends_on_seed_line_and_number_only(void **state) {
    (void)state;
    fixture f;
    begin(&f, 5, 12, "rnnsearch");
    hypotheses together[SENTENCES], alone, fewer;
    sa_translate_options o = usual();
    o.sample = true;
    o.n_best = 4;
    o.seed = 77;
    search(&f, &f.one, SENTENCES, &o, together);
    bool differ[3] = {false}; /* by seed, sample, line */
    for (int i = 0; i < SENTENCES; i++) {
        source_sentence all[SENTENCES];
        memcpy(all, f.sentence, sizeof all);
        f.sentence[0] = all[i];
        o.n_best = 4;
        search(&f, &f.one, 1, &o, &alone);
        o.n_best = 2;
        search(&f, &f.one, 1, &o, &fewer);
        for (int k = 0; k < 4; k++)
            assert_true(same_words(&together[i].at[k], &alone.at[k]));
        for (int k = 0; k < 2; k++)
            assert_true(same_words(&together[i].at[k], &fewer.at[k]));
        hypotheses_free(&fewer);
        o.seed = 78;
        search(&f, &f.one, 1, &o, &fewer);
        o.seed = 77;
        differ[0] = differ[0] || !same_words(&alone.at[0], &fewer.at[0]);
        differ[1] = differ[1] || !same_words(&alone.at[0], &alone.at[1]);
        hypotheses_free(&fewer);
        f.sentence[0].number++;
        search(&f, &f.one, 1, &o, &fewer);
        differ[2] = differ[2] || !same_words(&alone.at[0], &fewer.at[0]);
        hypotheses_free(&fewer);
        hypotheses_free(&alone);
        memcpy(f.sentence, all, sizeof all);
    }
    assert_true(differ[0] && differ[1] && differ[2]);
    forget(together, SENTENCES);
    end(&f);
}

static void the_likeliest_word_is_what_greedy_search_takes(void **state) {
    (void)state;
    fixture f;
    begin(&f, 6, 12, "rnnsearch");
    hypotheses drawn[SENTENCES], greedy[SENTENCES];
    sa_translate_options o = usual();
    o.beam_size = 1;
    search(&f, &f.one, SENTENCES, &o, greedy);
    o.sample = true;
    o.top_k = 1;
    search(&f, &f.one, SENTENCES, &o, drawn);
    for (int i = 0; i < SENTENCES; i++) {
        assert_true(same_words(&drawn[i].at[0], &greedy[i].at[0]));
        assert_true(drawn[i].at[0].score == greedy[i].at[0].score);
    }
    forget(drawn, SENTENCES);
    forget(greedy, SENTENCES);
    end(&f);
}

int main(void) {
    gemm_work_alone();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_drawn_as_often_as_they_are_probable),
        cmocka_unit_test(a_second_word_is_drawn_anew),
        cmocka_unit_test(a_sample_depends_on_seed_line_and_number_only),
        cmocka_unit_test(the_likeliest_word_is_what_greedy_search_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
