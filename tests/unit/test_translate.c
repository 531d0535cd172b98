#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy_models.h"

#include <sys/stat.h>

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
        assert_false(t[i].too_long);
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

static void a_very_long_line_is_translated_in_pieces_and_alters_no_other(void **state) {
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
    assert_true(t[1].too_long);
    assert_true(t[1].pieces > WORDS / 30);
    assert_int_equal(t[1].source_length, WORDS + t[1].pieces); /* </s> of each */
    assert_false(t[2].too_long);
    assert_int_equal(t[2].pieces, 1);
    assert_int_equal(t[2].source_length, 2);
    assert_false(t[0].too_long || t[3].too_long);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_learned_language_is_translated),
        cmocka_unit_test(neighbours_threads_and_order_do_not_change_a_translation),
        cmocka_unit_test(scores_are_sums_of_logarithms_and_sorted),
        cmocka_unit_test(the_first_of_n_best_is_the_best),
        cmocka_unit_test(a_beam_may_be_wider_than_the_vocabulary),
        cmocka_unit_test(lines_without_words_stay_empty),
        cmocka_unit_test(options_may_be_left_out),
        cmocka_unit_test(a_very_long_line_is_translated_in_pieces_and_alters_no_other),
        cmocka_unit_test(attention_is_a_distribution_over_the_words_of_the_line),
        cmocka_unit_test(attention_is_the_same_alone_and_in_company),
        cmocka_unit_test(a_model_that_learned_nothing_comes_to_an_end),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(a_planned_model_cannot_translate),
        cmocka_unit_test(a_file_that_is_cut_short_is_told),
        cmocka_unit_test(bytes_that_are_wrong_crash_nothing),
        cmocka_unit_test(a_header_that_lies_is_refused),
        cmocka_unit_test(numbers_that_are_not_finite_are_an_error),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
