/* Search against what it stands for: all translations there are, scored by the training pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_models.h"

/* ---- all there are ----------------------------------------------------------------------------------- */

/* With two words beside </s> there are 1023 translations of at most ten symbols. */
enum { ALL = 1023, LONGEST = 10 };
static int all_words[ALL][LONGEST], all_lengths[ALL];
static const int *all_at[ALL];

static void list_all(void) {
    int n = 0;
    for (int length = 1; length <= LONGEST; length++)
        for (int bits = 0; bits < 1 << (length - 1); bits++, n++) {
            for (int j = 0; j < length - 1; j++)
                all_words[n][j] = 1 + (bits >> j & 1);
            all_words[n][length - 1] = VOCAB_EOS;
            all_lengths[n] = length;
            all_at[n] = all_words[n];
        }
    assert_int_equal(n, ALL);
}

static int compare_falling(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

static void a_beam_with_room_for_all_finds_the_best_of_all(void **state) {
    (void)state;
    const float normalize[] = {0, 0.5f, 1, 2, 0}, penalty[] = {0, 0, 0, 0, 0.7f};
    list_all();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fixture f;
        begin(&f, seed, 3, seed % 2 ? "rnnsearch" : "rnnencdec");
        for (int way = 0; way < 5; way++)
            for (int n_best = 1; n_best <= 5; n_best += 4) {
                sa_translate_options o = usual();
                o.beam_size = ALL + 1;
                o.n_best = n_best;
                o.normalize = normalize[way];
                o.length_penalty = penalty[way];
                hypotheses found[SENTENCES];
                search(&f, &f.one, SENTENCES, &o, found);
                for (int i = 0; i < SENTENCES; i++) {
                    double sum[ALL], value[ALL];
                    score_targets(&f, &f.net[0], i, all_at, all_lengths, ALL, sum);
                    for (int k = 0; k < ALL; k++)
                        value[k] = ranking_score(&o, sum[k], all_lengths[k], 0);
                    qsort(value, ALL, sizeof *value, compare_falling);
                    assert_int_equal(found[i].n, n_best);
                    for (int k = 0; k < n_best; k++)
                        assert_true(fabs(found[i].at[k].normalized - value[k]) < 1e-4);
                }
                forget(found, SENTENCES);
            }
        end(&f);
    }
}

/* With n_best = beam_size the search goes on until all of the beam has ended. */
static void ending_when_nothing_can_win_changes_no_best(void **state) {
    (void)state;
    const float normalize[] = {0, 0.6f, 1, 2}, coverage[] = {0, 0.4f, 0, 0.4f};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        fixture f;
        begin(&f, seed, 5 + (int)seed % 9, "rnnsearch");
        for (int way = 0; way < 4; way++) {
            hypotheses all[SENTENCES], few[SENTENCES];
            sa_translate_options o = usual();
            o.max_length_factor = 3;
            o.beam_size = o.n_best = 5;
            o.normalize = normalize[way];
            o.coverage_penalty = coverage[way];
            search(&f, &f.one, SENTENCES, &o, all);
            for (o.n_best = 1; o.n_best < 5; o.n_best++) {
                search(&f, &f.one, SENTENCES, &o, few);
                for (int i = 0; i < SENTENCES; i++)
                    for (int k = 0; k < o.n_best; k++)
                        assert_true(same_words(&all[i].at[k], &few[i].at[k]));
                forget(few, SENTENCES);
            }
            forget(all, SENTENCES);
        }
        end(&f);
    }
}

/* ---- the definition ---------------------------------------------------------------------------------- */

enum { PLAIN_V = 7, PLAIN_BEAM = 4, PLAIN_LENGTH = 10 };

typedef struct plain_hypothesis {
    int words[PLAIN_LENGTH], length, order;
    double sum, value;
} plain_hypothesis;

static int compare_plain(const void *a, const void *b) {
    const plain_hypothesis *x = a, *y = b;
    return x->sum != y->sum ? (x->sum > y->sum ? -1 : 1) : x->order - y->order;
}

static int compare_plain_value(const void *a, const void *b) {
    const plain_hypothesis *x = a, *y = b;
    return x->value > y->value ? -1 : x->value < y->value;
}

/* Beam search that scores every translation from its first word on. Returns how many ended. */
static int plain_search(fixture *f, int i, const sa_translate_options *o, plain_hypothesis ended[PLAIN_BEAM]) {
    plain_hypothesis live[PLAIN_BEAM] = {{.length = 0}}, next[PLAIN_BEAM * PLAIN_V];
    int n_live = 1, n_ended = 0;
    for (int length = 1; n_live > 0; length++) {
        int n = 0, lengths[PLAIN_BEAM * PLAIN_V];
        const int *at[PLAIN_BEAM * PLAIN_V];
        double sum[PLAIN_BEAM * PLAIN_V];
        for (int k = 0; k < n_live; k++)
            for (int w = 0; w < (length == PLAIN_LENGTH ? 1 : PLAIN_V); w++, n++) {
                next[n] = live[k];
                next[n].words[length - 1] = w;
                next[n].length = lengths[n] = length;
                next[n].order = n;
                at[n] = next[n].words;
            }
        score_targets(f, &f->net[0], i, at, lengths, n, sum);
        for (int k = 0; k < n; k++)
            next[k].sum = sum[k];
        qsort(next, (size_t)n, sizeof *next, compare_plain);
        int places = PLAIN_BEAM - n_ended;
        n_live = 0;
        for (int k = 0; k < n && k < places; k++)
            if (next[k].words[length - 1] == VOCAB_EOS)
                ended[n_ended++] = next[k];
            else
                live[n_live++] = next[k];
    }
    for (int k = 0; k < n_ended; k++)
        ended[k].value = ranking_score(o, ended[k].sum, ended[k].length, 0);
    qsort(ended, (size_t)n_ended, sizeof *ended, compare_plain_value);
    return n_ended;
}

static void a_beam_is_what_the_definition_says(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        fixture f;
        begin(&f, seed, PLAIN_V, seed % 3 ? "rnnsearch" : "rnnencdec");
        hypotheses found[SENTENCES];
        sa_translate_options o = usual();
        o.beam_size = o.n_best = PLAIN_BEAM;
        search(&f, &f.one, SENTENCES, &o, found);
        for (int i = 0; i < SENTENCES; i++) {
            plain_hypothesis ended[PLAIN_BEAM];
            assert_int_equal(found[i].n, plain_search(&f, i, &o, ended));
            for (int k = 0; k < found[i].n; k++) {
                assert_true(fabs(found[i].at[k].normalized - ended[k].value) < 1e-4);
                assert_int_equal(found[i].at[k].length, ended[k].length);
                assert_memory_equal(found[i].at[k].ids, ended[k].words, (size_t)ended[k].length * sizeof(int));
            }
        }
        forget(found, SENTENCES);
        end(&f);
    }
}

/* ---- scores ------------------------------------------------------------------------------------------ */

static void scores_are_those_of_the_training_pass(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        fixture f;
        begin(&f, seed, 12, seed % 3 ? "rnnsearch" : "rnnencdec");
        hypotheses found[SENTENCES];
        sa_translate_options o = usual();
        o.n_best = 3;
        o.min_length = 4; /* probabilities stay what they are when words are ruled out */
        o.no_repeat_ngram = 2;
        search(&f, &f.one, SENTENCES, &o, found);
        for (int i = 0; i < SENTENCES; i++)
            for (int k = 0; k < found[i].n; k++) {
                const hypothesis *h = &found[i].at[k];
                double sum = 0;
                for (int j = 0; j < h->length; j++) {
                    assert_true(h->word_score[j] <= 0);
                    sum += h->word_score[j];
                }
                assert_true(fabs(sum - h->score) < 1e-9);
                assert_true(fabs(score_one(&f, &f.net[0], i, h) - h->score) < 1e-4);
            }
        forget(found, SENTENCES);
        end(&f);
    }
}

static void the_penalties_are_gnmts(void **state) {
    (void)state;
    fixture f;
    begin(&f, 2, 12, "rnnsearch");
    hypotheses found[SENTENCES];
    sa_translate_options o = usual();
    o.n_best = 3;
    o.length_penalty = 0.6f;
    o.coverage_penalty = 0.3f;
    search(&f, &f.one, SENTENCES, &o, found);
    for (int i = 0; i < SENTENCES; i++)
        for (int k = 0; k < found[i].n; k++) {
            const hypothesis *h = &found[i].at[k];
            int S = f.sentence[i].length;
            double coverage = 0;
            for (int j = 0; j < S; j++) {
                double sum = 0;
                for (int t = 0; t < h->length; t++)
                    sum += (double)h->attention[t * S + j];
                coverage += log(sum < 1 ? sum : 1);
            }
            double lp = pow((5.0 + h->length) / (5 + 1), 0.6);
            assert_true(fabs(h->normalized - (h->score / lp + 0.3 * coverage)) < 1e-5);
            assert_true(k == 0 || h->normalized <= found[i].at[k - 1].normalized);
        }
    forget(found, SENTENCES);
    end(&f);
}

static void several_models_average_their_probabilities(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fixture f;
        begin(&f, seed, 12, "rnnsearch");
        hypotheses found[SENTENCES], alone[SENTENCES];
        sa_translate_options o = usual();
        o.attention = true;
        o.n_best = 2;
        search(&f, &f.two, SENTENCES, &o, found);
        for (int i = 0; i < SENTENCES; i++) {
            const hypothesis *h = &found[i].at[0];
            double sum = 0, before[2] = {0};
            for (int t = 1; t <= h->length; t++) { /* of each prefix, hence of each word */
                double log_p[2], word[2];
                for (int m = 0; m < 2; m++) {
                    score_targets(&f, &f.net[m], i, (const int *const[]){h->ids}, &t, 1, &log_p[m]);
                    word[m] = log_p[m] - before[m];
                    before[m] = log_p[m];
                }
                sum += log((exp(word[0]) + exp(word[1])) / 2);
            }
            assert_true(fabs(sum - h->score) < 1e-4);
            for (int t = 0; t < h->length; t++) {
                double row = 0;
                for (int j = 0; j < f.sentence[i].length; j++)
                    row += (double)h->attention[t * f.sentence[i].length + j];
                assert_true(fabs(row - 1) < 1e-5);
            }
        }
        forget(found, SENTENCES);
        /* A model beside itself is itself. */
        ensemble twice = {.n = 3, .model = {&f.net[0], &f.net[0], &f.net[0]}};
        search(&f, &twice, SENTENCES, &o, found);
        search(&f, &f.one, SENTENCES, &o, alone);
        for (int i = 0; i < SENTENCES; i++) {
            assert_true(same_words(&found[i].at[0], &alone[i].at[0]));
            assert_true(fabs(found[i].at[0].score - alone[i].at[0].score) < 1e-4);
        }
        forget(found, SENTENCES);
        forget(alone, SENTENCES);
        end(&f);
    }
}

/* ---- constraints ------------------------------------------------------------------------------------- */

static bool repeats(const hypothesis *h, int n) {
    for (int i = 0; i + n <= h->length; i++)
        for (int j = i + 1; j + n <= h->length; j++)
            if (memcmp(h->ids + i, h->ids + j, (size_t)n * sizeof *h->ids) == 0)
                return true;
    return false;
}

static bool has(const hypothesis *h, int word) {
    for (int j = 0; j < h->length; j++)
        if (h->ids[j] == word)
            return true;
    return false;
}

static void constraints_hold_in_beam_greedy_and_samples(void **state) {
    (void)state;
    bool repeated = false, unknown = false, brief = false; /* without constraints */
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (int n = 0; n <= 3; n++)
            for (int way = 0; way < 3; way++) {
                fixture f;
                begin(&f, seed, 7, "rnnsearch");
                hypotheses found[SENTENCES];
                sa_translate_options o = usual();
                o.max_length_factor = 3;
                o.beam_size = way == 1 ? 1 : 4;
                o.n_best = way == 1 ? 1 : 4;
                o.sample = way == 2;
                o.no_repeat_ngram = n;
                o.forbid_unk = n > 0;
                o.min_length = n == 0 ? 0 : n == 1 ? 3 : 9; /* so long, some word can still follow */
                search(&f, &f.one, SENTENCES, &o, found);
                for (int i = 0; i < SENTENCES; i++)
                    for (int k = 0; k < found[i].n; k++) {
                        const hypothesis *h = &found[i].at[k];
                        repeated = repeated || (n == 0 && repeats(h, 2));
                        unknown = unknown || has(h, VOCAB_UNK);
                        brief = brief || h->length - 1 < 3;
                        if (n == 0)
                            continue;
                        assert_false(repeats(h, n));
                        assert_false(has(h, VOCAB_UNK));
                        assert_true(h->length - 1 >= o.min_length);
                    }
                forget(found, SENTENCES);
                end(&f);
            }
    assert_true(repeated && unknown && brief);
}

static void a_hypothesis_that_nothing_may_follow_ends(void **state) {
    (void)state;
    fixture f;
    begin(&f, 1, 5, "rnnsearch"); /* three words beside </s> and <unk> */
    hypotheses found[SENTENCES];
    for (int sample = 0; sample < 2; sample++) {
        sa_translate_options o = usual();
        o.sample = sample;
        o.no_repeat_ngram = 1;
        o.forbid_unk = true;
        o.min_length = 50;
        search(&f, &f.one, SENTENCES, &o, found);
        for (int i = 0; i < SENTENCES; i++) {
            assert_int_equal(found[i].at[0].length, 4);
            assert_true(isfinite(found[i].at[0].score));
            assert_true(fabs(score_one(&f, &f.net[0], i, &found[i].at[0]) - found[i].at[0].score) < 1e-4);
        }
        forget(found, SENTENCES);
    }
    end(&f);
}

static void a_forced_start_is_written_and_scored_as_it_is(void **state) {
    (void)state;
    enum { FORCED = 30 }; /* longer than a translation may otherwise be */
    int prefix[FORCED];
    fixture f;
    begin(&f, 4, 9, "rnnsearch");
    for (int j = 0; j < FORCED; j++)
        prefix[j] = 1 + j % 8;
    for (int i = 0; i < SENTENCES; i++) {
        f.sentence[i].prefix = prefix;
        f.sentence[i].n_prefix = i * FORCED / (SENTENCES - 1); /* none at first, all at last */
    }
    hypotheses found[SENTENCES], free_start[SENTENCES];
    bool goes_on = false; /* after a start that is longer than a translation may otherwise be */
    sa_translate_options o = usual();
    o.n_best = 3;
    o.no_repeat_ngram = 3; /* of what is forced this says nothing */
    for (int sample = 0; sample < 2; sample++) {
        o.sample = sample;
        search(&f, &f.one, SENTENCES, &o, found);
        for (int i = 0; i < SENTENCES; i++) {
            int n = f.sentence[i].n_prefix;
            for (int k = 0; k < found[i].n; k++) {
                const hypothesis *h = &found[i].at[k];
                assert_true(h->length > n && h->length <= (n > 0 ? n : 0) + 10);
                goes_on = goes_on || (n == FORCED && h->length > n + 1);
                assert_memory_equal(h->ids, prefix, (size_t)n * sizeof *prefix);
                assert_true(fabs(score_one(&f, &f.net[0], i, h) - h->score) < 1e-4);
            }
        }
        f.sentence[0].n_prefix = 0;
        search(&f, &f.one, 1, &o, free_start);
        assert_true(same_words(&found[0].at[0], &free_start[0].at[0]));
        forget(free_start, 1);
        forget(found, SENTENCES);
    }
    assert_true(goes_on);
    end(&f);
}

static void an_open_word_is_written_in_any_pieces(void **state) {
    (void)state;
    static const char *const text[] = {"abc abd ab abc", "cab dab ab a", "abab abc ba", NULL};
    static const char *const open[] = {MARK "ab", MARK "a", MARK "abcd", MARK "b", MARK, "b"};
    bool canonical = false, other = false, ended = false;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        fixture f = {.target = NULL};
        assert_int_equal(train_on(&f.target, SA_VOCAB_BPE, 20, "identity", text, 9, &error), SA_OK);
        begin_with_vocab(&f, seed, "rnnsearch");
        const int first[] = {vocab_find(f.target, MARK "ab", strlen(MARK "ab"))};
        assert_true(first[0] > VOCAB_UNK);
        for (int i = 0; i < SENTENCES; i++) {
            f.sentence[i].prefix = first;
            f.sentence[i].n_prefix = i % 2;
            f.sentence[i].open = open[i];
        }
        for (int sample = 0; sample < 2; sample++) {
            hypotheses found[SENTENCES];
            sa_translate_options o = usual();
            o.n_best = 5;
            o.sample = sample;
            search(&f, &f.one, SENTENCES, &o, found);
            for (int i = 0; i < SENTENCES; i++)
                for (int k = 0; k < found[i].n; k++) {
                    const hypothesis *h = &found[i].at[k];
                    char pieces[400] = "", wanted[40];
                    for (int j = 0; j < h->length - 1; j++)
                        strcat(pieces, vocab_piece(f.target, h->ids[j]));
                    snprintf(wanted, sizeof wanted, "%s%s", i % 2 ? MARK "ab" : "", open[i]);
                    if (strcmp(open[i], MARK) == 0 && strcmp(pieces, i % 2 ? MARK "ab" : "") == 0)
                        ended = true; /* a blank at the end may be the end */
                    else if (strncmp(pieces, wanted, strlen(wanted)) != 0)
                        fail_msg("%s does not start with %s", pieces, wanted);
                    canonical = canonical || (i == 0 && h->ids[0] == first[0]);
                    other = other || (i == 0 && h->ids[0] != first[0]);
                    assert_true(fabs(score_one(&f, &f.net[0], i, h) - h->score) < 1e-4);
                }
            forget(found, SENTENCES);
        }
        end(&f);
    }
    assert_true(canonical && other && ended);
}

int main(void) {
    gemm_work_alone();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beam_with_room_for_all_finds_the_best_of_all),
        cmocka_unit_test(a_beam_is_what_the_definition_says),
        cmocka_unit_test(ending_when_nothing_can_win_changes_no_best),
        cmocka_unit_test(scores_are_those_of_the_training_pass),
        cmocka_unit_test(the_penalties_are_gnmts),
        cmocka_unit_test(several_models_average_their_probabilities),
        cmocka_unit_test(constraints_hold_in_beam_greedy_and_samples),
        cmocka_unit_test(a_hypothesis_that_nothing_may_follow_ends),
        cmocka_unit_test(a_forced_start_is_written_and_scored_as_it_is),
        cmocka_unit_test(an_open_word_is_written_in_any_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
