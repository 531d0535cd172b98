#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy.h"

#include <math.h>
#include <sys/stat.h>

static sa_error error;
static char folder[128], model_path[300], vague_path[300];
static sa_model *model; /* of the toy language, learned well */
static sa_model *vague; /* after one update: it has learned nothing */
static sa_model *few;   /* learned with so few words that many are unknown, on both sides */
static sa_model *blind; /* without attention */
static char text[TOY_PAIRS][80];
static const char *line[TOY_PAIRS];

enum { N = 24 }; /* lines that most tests translate */

static void expect_status(sa_status got, sa_status want) {
    if (got != want)
        fail_msg("%s: %s; not %s", sa_status_text(got), error.text, sa_status_text(want));
}

static sa_translate_options usual(void) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.threads = 1;
    return o;
}

static sa_translation *translate(const sa_model *m, const char *const *lines, size_t n,
                                 const sa_translate_options *o) {
    sa_translation *t = NULL;
    expect_status(sa_translate(m, lines, n, o, &t, &error), SA_OK);
    assert_non_null(t);
    return t;
}

/* Products of oneDNN add up a row alike for any number of rows where it generates code for AVX-512. */
static double tolerance(void) {
    return __builtin_cpu_supports("avx512f") && !getenv("ONEDNN_MAX_CPU_ISA") && !getenv("DNNL_MAX_CPU_ISA") ? 0
                                                                                                             : 1e-4;
}

static void expect_same(const sa_translation *a, const sa_translation *b) {
    assert_int_equal(a->n, b->n);
    for (int k = 0; k < a->n; k++) {
        assert_string_equal(a->hypothesis[k].text, b->hypothesis[k].text);
        assert_int_equal(a->hypothesis[k].length, b->hypothesis[k].length);
        assert_true(fabs(a->hypothesis[k].score - b->hypothesis[k].score) <= tolerance());
    }
}

/* Lines of many lengths, so that they pad each other. */
static void make_mixed(char mixed[N][400], const char *lines[N]) {
    for (int i = 0; i < N; i++) {
        mixed[i][0] = 0;
        for (int k = 0; k < i % 5; k++)
            strcat(strcat(mixed[i], text[i + k]), " ");
        snprintf(mixed[i] + strlen(mixed[i]), 80, "%.*s", 3 + 8 * (i % 4), text[i]);
        for (size_t n = strlen(mixed[i]); mixed[i][n - 1] == ' '; n--)
            mixed[i][n - 1] = 0;
        lines[i] = mixed[i];
    }
}

static void neighbours_threads_and_order_do_not_change_a_translation(void **state) {
    (void)state;
    static char mixed[N][400];
    const char *lines[N], *reversed[N];
    make_mixed(mixed, lines);
    for (int i = 0; i < N; i++)
        reversed[i] = lines[N - 1 - i];
    sa_translate_options o = usual();
    o.n_best = 3;
    o.mini_batch = 1;
    sa_translation *alone = translate(vague, lines, N, &o);
    const int batch[] = {1, 3, 8, 64};
    for (int k = 0; k < 4; k++)
        for (int threads = 1; threads <= 2; threads++) {
            o.mini_batch = batch[k];
            o.threads = threads;
            sa_translation *together = translate(vague, lines, N, &o);
            sa_translation *backwards = translate(vague, reversed, N, &o);
            for (int i = 0; i < N; i++) {
                expect_same(&alone[i], &together[i]);
                expect_same(&alone[i], &backwards[N - 1 - i]);
            }
            sa_translations_free(together, N);
            sa_translations_free(backwards, N);
        }
    sa_translations_free(alone, N);
}

static void a_learned_language_is_translated(void **state) {
    (void)state;
    char source[80], target[80];
    sa_translation *t = translate(model, line, TOY_PAIRS, NULL);
    for (int i = 0; i < TOY_PAIRS; i++) {
        toy_pair(i, source, target);
        assert_string_equal(t[i].hypothesis[0].text, target);
        assert_int_equal(t[i].source_length, 8);
        assert_int_equal(t[i].hypothesis[0].length, 8);
    }
    sa_translations_free(t, TOY_PAIRS);
}

static void scores_are_sums_of_logarithms_and_sorted(void **state) {
    (void)state;
    const float power[] = {0, 0.5f, 1};
    for (int p = 0; p < 3; p++) {
        sa_translate_options o = usual();
        o.beam_size = o.n_best = 6;
        o.normalize = power[p];
        sa_translation *t = translate(vague, line, N, &o);
        for (int i = 0; i < N; i++) {
            assert_true(t[i].n >= 1 && t[i].n <= 6);
            for (int k = 0; k < t[i].n; k++) {
                const sa_hypothesis *h = &t[i].hypothesis[k];
                assert_true(h->score < 0);
                assert_true(h->length >= 1);
                assert_true(fabs(h->normalized - h->score / pow(h->length, (double)power[p])) < 1e-12);
                assert_true(k == 0 || h->normalized <= t[i].hypothesis[k - 1].normalized);
                for (int j = 0; j < k; j++)
                    assert_true(h->length != t[i].hypothesis[j].length ||
                                strcmp(h->text, t[i].hypothesis[j].text) != 0);
            }
        }
        sa_translations_free(t, N);
    }
}

static void the_first_of_n_best_is_the_best(void **state) {
    (void)state;
    sa_translate_options o = usual();
    sa_translation *one = translate(vague, line, N, &o);
    o.n_best = 5;
    sa_translation *many = translate(vague, line, N, &o);
    for (int i = 0; i < N; i++) {
        assert_int_equal(one[i].n, 1);
        assert_true(many[i].n > 1);
        assert_string_equal(one[i].hypothesis[0].text, many[i].hypothesis[0].text);
        assert_true(one[i].hypothesis[0].score == many[i].hypothesis[0].score);
    }
    sa_translations_free(one, N);
    sa_translations_free(many, N);
}

static void a_beam_may_be_wider_than_the_vocabulary(void **state) {
    (void)state;
    int symbols = sa_model_vocab_size(vague, SA_TARGET);
    sa_translate_options o = usual();
    o.beam_size = o.n_best = 3 * symbols;
    o.max_length_factor = 0.1f;
    sa_translation *t = translate(vague, line, 2, &o);
    for (int i = 0; i < 2; i++) {
        assert_true(t[i].n > symbols && t[i].n <= 3 * symbols);
        /* Every hypothesis is another one, so their probabilities add up to one at most. */
        double sum = 0;
        for (int k = 0; k < t[i].n; k++)
            sum += exp(t[i].hypothesis[k].score);
        assert_true(sum <= 1 + 1e-6);
    }
    sa_translations_free(t, 2);
}

static void lines_without_words_stay_empty(void **state) {
    (void)state;
    const char *lines[] = {"", text[0], "   ", " \t ", text[1], ""};
    sa_translate_options o = usual();
    o.attention = true;
    o.n_best = 2;
    sa_translation *t = translate(model, lines, 6, &o);
    for (int i = 0; i < 6; i++) {
        if (i == 1 || i == 4) {
            assert_int_equal(t[i].source_length, 8);
            continue;
        }
        assert_int_equal(t[i].n, 1);
        assert_int_equal(t[i].source_length, 0);
        assert_string_equal(t[i].hypothesis[0].text, "");
        assert_true(t[i].hypothesis[0].score == 0 && t[i].hypothesis[0].normalized == 0);
        assert_int_equal(t[i].hypothesis[0].length, 0);
        assert_null(t[i].hypothesis[0].attention);
        assert_false(t[i].cropped);
    }
    sa_translations_free(t, 6);
    t = translate(model, lines, 0, &o);
    sa_translations_free(t, 0);
}

static void options_may_be_left_out(void **state) {
    (void)state;
    sa_translate_options o = usual();
    sa_translation *a = translate(model, line, 3, NULL), *b = translate(model, line, 3, &o);
    for (int i = 0; i < 3; i++) {
        expect_same(&a[i], &b[i]);
        assert_null(a[i].hypothesis[0].attention);
        assert_null(a[i].hypothesis[0].symbol);
        assert_null(a[i].source_symbol);
    }
    sa_translations_free(a, 3);
    sa_translations_free(b, 3);
}

static void a_very_long_line_is_cropped_and_alters_no_other(void **state) {
    (void)state;
    enum { WORDS = 20000 };
    char *many = malloc(WORDS * 4 + 1), *one = malloc(100001);
    assert_non_null(many);
    assert_non_null(one);
    for (int i = 0; i < WORDS; i++)
        memcpy(many + 4L * i, "dog ", 5);
    memset(one, 'x', 100000);
    one[100000] = 0;
    const char *lines[] = {text[0], many, one, text[1]};
    sa_translate_options o = usual();
    o.max_length = 30;
    sa_translation *t = translate(model, lines, 4, &o), *alone = translate(model, line, 2, &o);
    assert_true(t[1].cropped);
    assert_int_equal(t[1].source_length, 31);
    assert_false(t[2].cropped);
    assert_int_equal(t[2].source_length, 2);
    assert_false(t[0].cropped || t[3].cropped);
    expect_same(&t[0], &alone[0]);
    expect_same(&t[3], &alone[1]);
    sa_translations_free(t, 4);
    sa_translations_free(alone, 2);
    free(many);
    free(one);
}

static void attention_is_a_distribution_over_the_words_of_the_line(void **state) {
    (void)state;
    sa_translate_options o = usual();
    o.attention = true;
    o.n_best = 2;
    static char mixed[N][400];
    const char *lines[N];
    make_mixed(mixed, lines);
    sa_translation *t = translate(model, lines, N, &o);
    for (int i = 0; i < N; i++) {
        char joined[400] = "";
        for (int j = 0; j < t[i].source_length - 1; j++) {
            const char *symbol = t[i].source_symbol[j];
            strcat(strcat(joined, j ? " " : ""), symbol);
        }
        if (!strstr(joined, "<unk>"))
            assert_string_equal(joined, lines[i]);
        assert_string_equal(t[i].source_symbol[t[i].source_length - 1], "</s>");
        for (int k = 0; k < t[i].n; k++) {
            const sa_hypothesis *h = &t[i].hypothesis[k];
            joined[0] = 0;
            for (int row = 0; row < h->length; row++) {
                double sum = 0;
                for (int j = 0; j < t[i].source_length; j++) {
                    float weight = h->attention[row * t[i].source_length + j];
                    assert_true(weight >= 0);
                    sum += (double)weight;
                }
                assert_true(fabs(sum - 1) < 1e-5);
                if (row < h->length - 1)
                    strcat(strcat(joined, row ? " " : ""), h->symbol[row]);
            }
            assert_string_equal(joined, h->text);
            assert_string_equal(h->symbol[h->length - 1], "</s>");
        }
    }
    sa_translations_free(t, N);
}

static void attention_is_the_same_alone_and_in_company(void **state) {
    (void)state;
    sa_translate_options o = usual();
    o.attention = true;
    sa_translation *together = translate(model, line, 9, &o);
    for (int i = 0; i < 9; i++) {
        sa_translation *alone = translate(model, &line[i], 1, &o);
        const sa_hypothesis *a = &alone[0].hypothesis[0], *b = &together[i].hypothesis[0];
        assert_int_equal(a->length, b->length);
        for (int k = 0; k < a->length * alone[0].source_length; k++)
            assert_true(fabs((double)a->attention[k] - (double)b->attention[k]) <= tolerance());
        sa_translations_free(alone, 1);
    }
    sa_translations_free(together, 9);
}

static void a_model_that_learned_nothing_comes_to_an_end(void **state) {
    (void)state;
    const char *lines[] = {"dog dog dog dog", "x", "the"};
    for (int beam = 1; beam <= 4; beam += 3) {
        sa_translate_options o = usual();
        o.beam_size = beam;
        o.max_length_factor = 1.5f;
        sa_translation *t = translate(vague, lines, 3, &o);
        for (int i = 0; i < 3; i++) {
            int most = (int)(1.5 * (t[i].source_length - 1)) + 10;
            assert_true(t[i].hypothesis[0].length >= 1 && t[i].hypothesis[0].length <= most);
            assert_true(isfinite(t[i].hypothesis[0].score));
        }
        sa_translations_free(t, 3);
    }
}

static void options_out_of_range_are_refused(void **state) {
    (void)state;
    sa_translation *t;
    sa_translate_options o = usual();
    o.beam_size = 0;
    expect_status(sa_translate(model, line, 1, &o, &t, &error), SA_USAGE);
    assert_null(t);
    o = usual();
    o.n_best = o.beam_size + 1;
    expect_status(sa_translate(model, line, 1, &o, &t, &error), SA_USAGE);
    o = usual();
    o.mini_batch = 0;
    expect_status(sa_translate(model, line, 1, &o, &t, &error), SA_USAGE);
    o = usual();
    o.max_length_factor = NAN;
    expect_status(sa_translate(model, line, 1, &o, &t, NULL), SA_USAGE);
    float *const number[] = {&o.normalize, &o.length_penalty, &o.coverage_penalty, &o.temperature};
    int *const count[] = {&o.min_length, &o.no_repeat_ngram, &o.top_k, &o.threads};
    for (int k = 0; k < 4; k++) {
        o = usual();
        *number[k] = -1;
        expect_status(sa_translate(model, line, 1, &o, &t, &error), SA_USAGE);
        *number[k] = INFINITY;
        expect_status(sa_translate(model, line, 1, &o, &t, &error), SA_USAGE);
        o = usual();
        *count[k] = -1;
        expect_status(sa_translate(model, line, 1, &o, &t, &error), SA_USAGE);
    }
    o = usual();
    o.temperature = 0;
    expect_status(sa_translate(model, line, 1, &o, &t, &error), SA_USAGE);
}

static void a_planned_model_cannot_translate(void **state) {
    (void)state;
    sa_model *planned;
    sa_translation *t;
    expect_status(sa_model_plan(&planned, sa_model_get_config(model), &error), SA_OK);
    expect_status(sa_translate(planned, line, 1, NULL, &t, &error), SA_USAGE);
    assert_null(t);
    assert_non_null(strstr(error.text, "planned"));
    assert_int_equal(sa_model_parameter_count(planned), sa_model_parameter_count(model));
    sa_model_free(planned);
}

/* ---- unknown words and forced starts ------------------------------------------------------------------ */

static const char *peak_word(const sa_translation *t, const sa_hypothesis *h, int row, char *words) {
    int best = 0;
    for (int j = 1; j < t->source_length - 1; j++)
        if (h->attention[row * t->source_length + j] > h->attention[row * t->source_length + best])
            best = j;
    char *word = strtok(words, " ");
    while (best-- > 0)
        word = strtok(NULL, " ");
    return word;
}

/* Checks word after word of a translation: what was <unk> is what the peak's word becomes. Returns how many were.
 */
static int check_replaced(const sa_translation *t, const char *source, const char *from, const char *to) {
    const sa_hypothesis *h = &t->hypothesis[0];
    char rest[200], wanted[200] = "";
    int unknown = 0;
    for (int row = 0; row < h->length - 1; row++) {
        bool is_unknown = strcmp(h->symbol[row], "<unk>") == 0;
        snprintf(rest, sizeof rest, "%s", source);
        const char *word = is_unknown ? peak_word(t, h, row, rest) : h->symbol[row];
        strcat(strcat(wanted, row ? " " : ""), is_unknown && strcmp(word, from) == 0 ? to : word);
        unknown += is_unknown;
    }
    assert_string_equal(h->text, wanted);
    assert_null(strstr(h->text, "<unk>"));
    return unknown;
}

static void unknown_words_become_the_source_word_looked_at(void **state) {
    (void)state;
    sa_translate_options o = usual();
    o.replace_unk = o.attention = true;
    sa_translation *t = translate(few, line, TOY_PAIRS, &o);
    int unknown = 0;
    for (int i = 0; i < TOY_PAIRS; i++)
        unknown += check_replaced(&t[i], line[i], "", "");
    assert_true(unknown > TOY_PAIRS / 4);
    sa_translations_free(t, TOY_PAIRS);
    /* The words as they were written, though the source's vocabulary knows none. */
    const char *const odd[] = {"qqq zzz xxx", "qqq", "<unk> </s> |||"};
    t = translate(few, odd, 3, &o);
    for (int i = 1; i < 3; i++)
        check_replaced(&t[i], odd[i], "", "");
    sa_translations_free(t, 3);
}

static void a_dictionary_is_asked_first(void **state) {
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/dictionary", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("horse\tun gran cavallo\nhorse\tother\n", file);
    assert_int_equal(fclose(file), 0);
    sa_dictionary *d;
    expect_status(sa_dictionary_open(&d, path, true, &error), SA_OK);
    sa_translate_options o = usual();
    o.attention = true;
    o.dictionary = d;
    sa_translation *t;
    expect_status(sa_translate(few, line, 1, &o, &t, &error), SA_USAGE);
    o.replace_unk = true;
    t = translate(few, line, TOY_PAIRS, &o);
    int looked_up = 0;
    for (int i = 0; i < TOY_PAIRS; i++) {
        check_replaced(&t[i], line[i], "horse", "un gran cavallo");
        looked_up += strstr(t[i].hypothesis[0].text, "un gran cavallo") != NULL;
    }
    assert_true(looked_up > 0);
    sa_translations_free(t, TOY_PAIRS);
    sa_dictionary_free(d);
}

static void forbidden_unknown_words_do_not_come(void **state) {
    (void)state;
    const char *const odd[] = {"qqq zzz xxx", "the qqq"};
    int unknown = 0;
    for (int beam = 1; beam <= 5; beam += 4)
        for (int forbid = 0; forbid < 2; forbid++) {
            sa_translate_options o = usual();
            o.beam_size = o.n_best = beam;
            o.forbid_unk = forbid;
            sa_translation *t = translate(few, odd, 2, &o);
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < t[i].n; k++) {
                    bool has = strstr(t[i].hypothesis[k].text, "<unk>") != NULL;
                    assert_false(has && forbid);
                    unknown += has;
                }
            sa_translations_free(t, 2);
        }
    assert_true(unknown > 0);
}

static void translations_begin_as_they_are_told(void **state) {
    (void)state;
    const char *const source[] = {line[0], line[1], line[2], line[3], ""};
    const char *const prefix[] = {"un", "ora  xyzzy sente", NULL, "", "un"};
    sa_translate_options o = usual();
    sa_translation *free_start = translate(model, source, 5, &o);
    o.prefix = prefix;
    for (int batch = 1; batch <= 4; batch += 3) {
        o.mini_batch = batch;
        sa_translation *t = translate(model, source, 5, &o);
        assert_int_equal(strncmp(t[0].hypothesis[0].text, "un ", 3), 0);
        assert_int_equal(strncmp(t[1].hypothesis[0].text, "ora xyzzy sente ", 16), 0);
        expect_same(&t[2], &free_start[2]);
        expect_same(&t[3], &free_start[3]);
        assert_string_equal(t[4].hypothesis[0].text, "");
        sa_translations_free(t, 5);
    }
    sa_translations_free(free_start, 5);
}

/* ---- several models, given translations, samples ------------------------------------------------------ */

static void expect_score(const sa_model *const *models, int n_models, const sa_translate_options *o) {
    sa_translate_options scoring = *o;
    scoring.mini_batch = 7;
    sa_translation *best, *scored;
    const char *written[TOY_PAIRS];
    expect_status(sa_translate_ensemble(models, n_models, line, TOY_PAIRS, o, &best, &error), SA_OK);
    for (int i = 0; i < TOY_PAIRS; i++)
        written[i] = best[i].hypothesis[0].text;
    expect_status(sa_score(models, n_models, line, written, TOY_PAIRS, &scoring, &scored, &error), SA_OK);
    for (int i = 0; i < TOY_PAIRS; i++) {
        const sa_hypothesis *a = &best[i].hypothesis[0], *b = &scored[i].hypothesis[0];
        double sum = 0;
        assert_int_equal(scored[i].n, 1);
        assert_int_equal(a->length, b->length);
        assert_int_equal(best[i].source_length, scored[i].source_length);
        assert_string_equal(b->text, written[i]);
        assert_true(fabs(a->score - b->score) < 1e-4);
        assert_true(fabs(a->normalized - b->normalized) < 1e-4);
        for (int k = 0; k < a->length; k++) {
            assert_string_equal(a->symbol[k], b->symbol[k]);
            assert_true(fabs(a->word_score[k] - b->word_score[k]) < 1e-4);
            sum += a->word_score[k];
        }
        assert_true(fabs(sum - a->score) < 1e-9);
        for (int k = 0; o->attention && k < a->length * best[i].source_length; k++)
            assert_true(fabs((double)a->attention[k] - (double)b->attention[k]) < 1e-5);
    }
    sa_translations_free(best, TOY_PAIRS);
    sa_translations_free(scored, TOY_PAIRS);
}

static void the_scorer_gives_what_the_decoder_gave(void **state) {
    (void)state;
    const sa_model *const sets[][2] = {{model, NULL}, {vague, NULL}, {few, NULL}, {blind, NULL}, {model, vague}};
    for (int k = 0; k < 5; k++)
        for (int way = 0; way < 3; way++) {
            sa_translate_options o = usual();
            o.word_scores = true;
            o.attention = k != 3;
            o.normalize = way == 1 ? 0.6f : 1;
            o.length_penalty = way == 2 ? 0.8f : 0;
            o.coverage_penalty = way == 2 && k != 3 ? 0.3f : 0;
            o.symbols = way == 1;
            expect_score(sets[k], sets[k][1] ? 2 : 1, &o);
        }
}

static void empty_sides_have_scores_too(void **state) {
    (void)state;
    const char *const source[] = {"", "the dog", " ", "the dog"}, *const target[] = {"", "", "un cane", "un cane"};
    sa_translate_options o = usual();
    o.word_scores = true;
    sa_translation *t;
    expect_status(sa_score((const sa_model *const *)&model, 1, source, target, 4, &o, &t, &error), SA_OK);
    const int length[] = {0, 1, 3, 3}, source_length[] = {0, 3, 1, 3};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(t[i].n, 1);
        assert_int_equal(t[i].hypothesis[0].length, length[i]);
        assert_int_equal(t[i].source_length, source_length[i]);
        assert_true(i == 0 ? t[i].hypothesis[0].score == 0 : t[i].hypothesis[0].score < 0);
        assert_false(t[i].cropped);
    }
    sa_translations_free(t, 4);
    o.max_length = 2;
    expect_status(sa_score((const sa_model *const *)&model, 1, (const char *[]){"the dog", "the"},
                           (const char *[]){"a", "un cane rosso"}, 2, &o, &t, &error),
                  SA_OK);
    assert_true(!t[0].cropped && t[1].cropped);
    assert_int_equal(t[1].hypothesis[0].length, 3);
    sa_translations_free(t, 2);
}

static void models_with_other_vocabularies_do_not_work_together(void **state) {
    (void)state;
    const sa_model *const models[] = {model, few}, *many[SA_ENSEMBLE_MAX + 1];
    sa_translation *t;
    expect_status(sa_translate_ensemble(models, 2, line, 1, NULL, &t, &error), SA_USAGE);
    assert_null(t);
    assert_non_null(strstr(error.text, "good/best.safetensors"));
    assert_non_null(strstr(error.text, "few/best.safetensors"));
    expect_status(sa_score(models, 2, line, line, 1, NULL, &t, &error), SA_USAGE);
    for (int i = 0; i <= SA_ENSEMBLE_MAX; i++)
        many[i] = model;
    expect_status(sa_translate_ensemble(many, SA_ENSEMBLE_MAX + 1, line, 1, NULL, &t, &error), SA_USAGE);
    expect_status(sa_translate_ensemble(many, 0, line, 1, NULL, &t, &error), SA_USAGE);
    expect_status(sa_translate_ensemble(many, SA_ENSEMBLE_MAX, line, 1, NULL, &t, &error), SA_OK);
    char source[80], target[80];
    toy_pair(0, source, target);
    assert_string_equal(t[0].hypothesis[0].text, target);
    sa_translations_free(t, 1);
}

static void samples_belong_to_their_lines(void **state) {
    (void)state;
    sa_translate_options o = usual();
    o.sample = true;
    o.n_best = 7; /* more than the beam would have */
    o.temperature = 1.5f;
    o.seed = 5;
    sa_translation *all = translate(vague, line, N, &o), *part;
    for (int first = 0; first < N; first += 5)
        for (int batch = 1; batch <= 8; batch += 7) {
            o.first_line = (uint64_t)first;
            o.mini_batch = batch;
            o.threads = 2;
            part = translate(vague, line + first, 3, &o);
            for (int i = 0; i < 3 && first + i < N; i++) {
                assert_int_equal(part[i].n, 7);
                expect_same(&part[i], &all[first + i]);
            }
            sa_translations_free(part, 3);
        }
    assert_string_not_equal(all[0].hypothesis[0].text, all[0].hypothesis[1].text);
    sa_translations_free(all, N);
}

static void what_a_model_cannot_do_is_refused(void **state) {
    (void)state;
    sa_translation *t;
    sa_translate_options o = usual();
    o.replace_unk = true;
    expect_status(sa_translate(blind, line, 1, &o, &t, &error), SA_USAGE);
    assert_non_null(strstr(error.text, "attention"));
    o = usual();
    o.coverage_penalty = 0.2f;
    expect_status(sa_translate(blind, line, 1, &o, &t, &error), SA_USAGE);
    expect_status(sa_translate_ensemble((const sa_model *const[]){blind, model}, 2, line, 1, &o, &t, &error),
                  SA_OK);
    sa_translations_free(t, 1);
}

/* ---- damaged files ----------------------------------------------------------------------------------- */

static char *read_model(size_t *n) {
    struct stat s;
    assert_int_equal(stat(model_path, &s), 0);
    char *bytes = malloc((size_t)s.st_size);
    FILE *file = fopen(model_path, "r");
    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, (size_t)s.st_size, file), s.st_size);
    fclose(file);
    *n = (size_t)s.st_size;
    return bytes;
}

/* Opens a model of those bytes and, where that works, translates with it. Returns what came of it. */
static sa_status try_bytes(const char *bytes, size_t n) {
    char path[300];
    snprintf(path, sizeof path, "%s/damaged.safetensors", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    sa_model *m;
    sa_status status = sa_model_open(&m, path, &error);
    if (status != SA_OK) {
        assert_null(m);
        assert_int_equal(error.status, status);
        assert_non_null(strstr(error.text, path));
        return status;
    }
    sa_translate_options o = usual();
    o.beam_size = 2;
    sa_translation *t;
    status = sa_translate(m, line, 1, &o, &t, &error);
    if (status == SA_OK) {
        assert_true(t[0].hypothesis[0].score <= 0 && isfinite(t[0].hypothesis[0].score));
        sa_translations_free(t, 1);
    } else {
        assert_int_equal(status, SA_NUMERIC);
        assert_null(t);
    }
    sa_model_free(m);
    return status;
}

static void a_file_that_is_cut_short_is_told(void **state) {
    (void)state;
    size_t n;
    char *bytes = read_model(&n);
    const size_t length[] = {0, 1, 4, 7, 8, 9, 100, 1000, n / 4, n / 2, n - 1000, n - 64, n - 4, n - 1};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++)
        if (try_bytes(bytes, length[i]) != SA_FORMAT)
            fail_msg("a model of %zu bytes cut to %zu was opened", n, length[i]);
    assert_int_equal(try_bytes(bytes, n), SA_OK);
    free(bytes);
}

static void bytes_that_are_wrong_crash_nothing(void **state) {
    (void)state;
    size_t n, header;
    char *bytes = read_model(&n);
    memcpy(&header, bytes, sizeof header);
    int refused = 0;
    for (size_t i = 0; i < n; i += i < 200 ? 1 : i < header + 8 ? 23 : n / 60) {
        char kept = bytes[i];
        bytes[i] ^= (char)(i % 3 == 0 ? 0xFF : i % 3 == 1 ? 0x01 : 0x20);
        refused += try_bytes(bytes, n) == SA_FORMAT;
        bytes[i] = kept;
    }
    assert_true(refused > 100);
    free(bytes);
}

/* Replaces the first `from` in the header by `to`, as long. */
static sa_status try_with(const char *from, const char *to) {
    size_t n;
    char *bytes = read_model(&n);
    assert_int_equal(strlen(from), strlen(to));
    char *at = memmem(bytes, n, from, strlen(from));
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    sa_status status = try_bytes(bytes, n);
    free(bytes);
    return status;
}

static void a_header_that_lies_is_refused(void **state) {
    (void)state;
    assert_int_equal(try_with("softalign 1", "softalign 9"), SA_FORMAT);
    assert_non_null(strstr(error.text, "9"));
    assert_int_equal(try_with("softalign 1", "somealign 1"), SA_FORMAT);
    assert_int_equal(try_with("\\\"dim_rnn\\\":32", "\\\"dim_rnn\\\":64"), SA_FORMAT);
    assert_int_equal(try_with("\\\"dim_rnn\\\":32", "\\\"dim_rnn\\\":-2"), SA_FORMAT);
    assert_int_equal(try_with("attention.v_a", "attention.w_a"), SA_FORMAT);
}

static void numbers_that_are_not_finite_are_an_error(void **state) {
    (void)state;
    size_t n;
    char *bytes = read_model(&n);
    memset(bytes + n / 4, 0xFF, n / 2);
    sa_status status = try_bytes(bytes, n);
    assert_true(status == SA_NUMERIC || status == SA_FORMAT);
    free(bytes);
}

static sa_status train(const char *run, double epochs, int64_t updates) {
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, run);
    o.after_epochs = epochs;
    o.after_updates = updates;
    o.valid_freq = 1000;
    if (strcmp(run, "few") == 0)
        o.model.vocab_source = o.model.vocab_target = 14;
    if (strcmp(run, "blind") == 0)
        strcpy(o.model.preset, "rnnencdec");
    return sa_train(&o, NULL, NULL, &error);
}

static int make_models(void **state) {
    (void)state;
    for (int i = 0; i < TOY_PAIRS; i++) {
        char target[80];
        toy_pair(i, text[i], target);
        line[i] = text[i];
    }
    if (!toy_folder(folder) || !toy_write(folder, TOY_PAIRS) || train("good", 30, 0) || train("vague", 0, 1) ||
        train("few", 15, 0) || train("blind", 0, 1))
        return -1;
    snprintf(model_path, sizeof model_path, "%s/good/best.safetensors", folder);
    snprintf(vague_path, sizeof vague_path, "%s/vague/best.safetensors", folder);
    const char *const run[] = {"few", "blind"};
    sa_model **const other[] = {&few, &blind};
    for (int k = 0; k < 2; k++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s/best.safetensors", folder, run[k]);
        if (sa_model_open(other[k], path, &error))
            return -1;
    }
    return sa_model_open(&model, model_path, &error) || sa_model_open(&vague, vague_path, &error) ? -1 : 0;
}

static int remove_models(void **state) {
    (void)state;
    sa_model_free(model);
    sa_model_free(vague);
    sa_model_free(few);
    sa_model_free(blind);
    return toy_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_learned_language_is_translated),
        cmocka_unit_test(neighbours_threads_and_order_do_not_change_a_translation),
        cmocka_unit_test(scores_are_sums_of_logarithms_and_sorted),
        cmocka_unit_test(the_first_of_n_best_is_the_best),
        cmocka_unit_test(a_beam_may_be_wider_than_the_vocabulary),
        cmocka_unit_test(lines_without_words_stay_empty),
        cmocka_unit_test(options_may_be_left_out),
        cmocka_unit_test(a_very_long_line_is_cropped_and_alters_no_other),
        cmocka_unit_test(attention_is_a_distribution_over_the_words_of_the_line),
        cmocka_unit_test(attention_is_the_same_alone_and_in_company),
        cmocka_unit_test(a_model_that_learned_nothing_comes_to_an_end),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(a_planned_model_cannot_translate),
        cmocka_unit_test(unknown_words_become_the_source_word_looked_at),
        cmocka_unit_test(a_dictionary_is_asked_first),
        cmocka_unit_test(forbidden_unknown_words_do_not_come),
        cmocka_unit_test(translations_begin_as_they_are_told),
        cmocka_unit_test(the_scorer_gives_what_the_decoder_gave),
        cmocka_unit_test(empty_sides_have_scores_too),
        cmocka_unit_test(models_with_other_vocabularies_do_not_work_together),
        cmocka_unit_test(samples_belong_to_their_lines),
        cmocka_unit_test(what_a_model_cannot_do_is_refused),
        cmocka_unit_test(a_file_that_is_cut_short_is_told),
        cmocka_unit_test(bytes_that_are_wrong_crash_nothing),
        cmocka_unit_test(a_header_that_lies_is_refused),
        cmocka_unit_test(numbers_that_are_not_finite_are_an_error),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
