/* What happens when memory runs out: the Nth allocation of the library fails, for every N until nothing does any
 * more. Linked with --wrap (tests/meson.build), which reaches the calls in our objects; those inside oneDNN,
 * SentencePiece, jansson, zlib and the C library go on working. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/one_picture.h"
#include "../unit/parallel_text.h"
#include "align/count_aligner.h"

#include "exhaust.h"

#include <softalign/explanation.h>
#include <softalign/trace.h>

/* ---- what is tried ----------------------------------------------------------------------------------- */

static char protecting_path[512], drawing_path[512];
static char text[2][TOY_PAIRS][80];
static const char *source[TOY_PAIRS], *target[TOY_PAIRS];
static char expected[2][256]; /* translations of the first two lines */

/* Opened on one thread, as many allocations are made each time. */
static const sa_model_options alone = {SA_AS_STORED, 1};

static sa_status open_model(void) {
    sa_model *m;
    sa_status status = sa_model_open_with(&m, model_path, &alone, &error);
    assert_true((status == SA_OK) == (m != NULL));
    sa_model_free(m);
    return status;
}

static sa_model *shared_model;

static sa_translate_options options(void) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.threads = 1;
    o.attention = o.word_scores = true;
    o.n_best = 2;
    return o;
}

/* As text and as SVG. */
static sa_status draw(const sa_translation *t) {
    const sa_hypothesis *best = &t->hypothesis[0];
    const sa_heatmap_options o = {.width = 80};
    sa_heatmap h;
    char *drawing = NULL;
    sa_status status = sa_heatmap_make(&h, best->symbol, best->length, t->source_symbol, t->source_length,
                                       best->attention, true, &error);
    if (status == SA_OK)
        status = sa_heatmap_mark_largest(&h, &error);
    if (status == SA_OK)
        status = sa_heatmap_text(&h, &o, &drawing, &error);
    assert_true((status == SA_OK) == (drawing != NULL));
    if (status == SA_OK)
        status = sa_heatmaps_write(&h, 1, drawing_path, &o, NULL, &error);
    free(drawing);
    sa_heatmap_free(&h);
    return status;
}

static sa_status translate(void) {
    sa_translate_options o = options();
    sa_translation *t;
    sa_status status = sa_translate(shared_model, source, 2, &o, &t, &error);
    assert_true((status == SA_OK) == (t != NULL));
    for (int i = 0; t && i < 2; i++)
        assert_string_equal(t[i].hypothesis[0].text, expected[i]);
    if (status == SA_OK)
        status = draw(&t[0]);
    sa_translations_free(t, 2);
    return status;
}

/* With a model of its own, whose spare tapes go with it. */
static sa_status open_and_translate(void) {
    sa_status status = sa_model_open_with(&shared_model, model_path, &alone, &error);
    if (status == SA_OK)
        status = translate();
    sa_model_free(shared_model);
    return status;
}

static char caption_path[512], picture_path[300]; /* tests/unit/one_picture.h */

static sa_status caption(void) {
    sa_translate_options o = options();
    return describe_one_picture(caption_path, picture_path, drawing_path, &alone, &o, &error);
}

static sa_status look_up(sa_dictionary **d) {
    char path[300];
    snprintf(path, sizeof path, "%s/dictionary", folder);
    return sa_dictionary_open(d, path, false, &error);
}

/* All else that translating can do: two models, unknown words, forced starts, samples; and scoring. */
static sa_status translate_otherwise(void) {
    const sa_model *const models[] = {shared_model, shared_model};
    const char *const prefix[] = {"il xyz ", NULL};
    sa_translate_options o = options();
    sa_translation *t = NULL, *scored = NULL;
    sa_dictionary *d = NULL;
    sa_status status = look_up(&d);
    o.dictionary = d;
    o.replace_unk = true;
    o.prefix = prefix;
    o.coverage_penalty = 0.1f;
    o.no_repeat_ngram = 3;
    if (status == SA_OK)
        status = sa_translate_ensemble(models, 2, source, 2, &o, &t, &error);
    sa_translations_free(t, 2);
    t = NULL;
    o.sample = o.symbols = true;
    if (status == SA_OK)
        status = sa_translate_ensemble(models, 2, source, 2, &o, &t, &error);
    if (status == SA_OK)
        status = sa_score_pairs(models, 2, source, target, 2, &o, &scored, &error);
    sa_translations_free(t, 2);
    sa_translations_free(scored, 2);
    sa_dictionary_free(d);
    return status;
}

static sa_status open_and_translate_otherwise(void) {
    sa_status status = sa_model_open_with(&shared_model, model_path, &alone, &error);
    if (status == SA_OK)
        status = translate_otherwise();
    sa_model_free(shared_model);
    return status;
}

/* A pair, and one that is left out, compared with the same model. */
static sa_status explain(void) {
    const sa_model *others[] = {shared_model};
    sa_explain_options o;
    sa_explanation *x = NULL;
    sa_explain_options_init(&o);
    o.permutations = 2;
    o.adversaries = 2;
    o.adversary_steps = 1;
    o.threads = 1;
    const char *const sources[] = {source[0], ""}, *const targets[] = {target[0], target[0]};
    sa_status status = sa_explain(shared_model, others, 1, sources, targets, 2, &o, &x, &error);
    sa_explanations_free(x, 2);
    return status;
}

static sa_status open_and_explain(void) {
    sa_status status = sa_model_open_with(&shared_model, model_path, &alone, &error);
    if (status == SA_OK)
        status = explain();
    sa_model_free(shared_model);
    return status;
}

/* A step with other weights of the best translation, and all of it as JSON. */
static sa_status trace(void) {
    static const float weights[16] = {1};
    sa_trace_options o;
    sa_trace *t = NULL;
    char *json = NULL;
    sa_trace_options_init(&o);
    o.step = 0;
    o.weights = weights;
    o.n_weights = 8; /* of seven words and </s> */
    sa_status status = sa_trace_make(&t, shared_model, source[0], NULL, &o, &error);
    assert_true((status == SA_OK) == (t != NULL));
    if (status == SA_OK)
        status = sa_trace_json(t, true, &json, &error);
    free(json);
    sa_trace_free(t);
    return status;
}

static sa_status open_and_trace(void) {
    sa_status status = sa_model_open_with(&shared_model, model_path, &alone, &error);
    if (status == SA_OK)
        status = trace();
    sa_model_free(shared_model);
    return status;
}

static sa_status quantize(void) {
    char path[300];
    snprintf(path, sizeof path, "%s/int8", folder);
    return sa_model_quantize(model_path, path, SA_INT8, &error);
}

/* Learns a shortlist and translates with it, in 8 bits. */
static sa_status translate_short(void) {
    static const sa_model_options bytes = {SA_INT8, 1};
    sa_shortlist_options learning;
    sa_translate_options o = options();
    sa_shortlist *list = NULL;
    sa_model *m;
    sa_translation *t = NULL;
    char path[2][300], list_path[300];
    for (int side = 0; side < 2; side++)
        snprintf(path[side], sizeof path[side], "%s/%s", folder, side ? "tgt" : "src");
    snprintf(list_path, sizeof list_path, "%s/list", folder);
    sa_shortlist_options_init(&learning);
    learning.train_source = path[0];
    learning.train_target = path[1];
    learning.threads = 1;
    sa_status status = sa_model_open_with(&m, model_path, &bytes, &error);
    if (status == SA_OK)
        status = sa_shortlist_learn(m, &learning, list_path, NULL, &error);
    if (status == SA_OK)
        status = sa_shortlist_open(&list, list_path, m, &error);
    o.shortlist = list;
    if (status == SA_OK)
        status = sa_translate(m, source, 2, &o, &t, &error);
    sa_translations_free(t, 2);
    sa_shortlist_free(list);
    sa_model_free(m);
    return status;
}

/* Lines that go in pieces, with items that come back, and the scores of what came of them. */
static sa_status translate_pieces(void) {
    const char *const lines[] = {"the 12 <b>dog</b>, a cat. The {x} dog\nsees 7", "",
                                 "a@b.org caf\xC3\xA9 cafe\xCC\x81"};
    sa_translate_options o = options();
    sa_model *m;
    sa_translation *t = NULL, *scored = NULL;
    sa_status status = sa_model_open(&m, protecting_path, &error);
    o.split_sentences = o.replace_unk = true;
    o.max_length = 6;
    o.beam_size = 2;
    o.max_length_factor = 0.1f;
    if (status == SA_OK)
        status = sa_translate(m, lines, 3, &o, &t, &error);
    if (status == SA_OK) {
        const char *const targets[] = {t[0].hypothesis->text, t[1].hypothesis->text, t[2].hypothesis->text};
        assert_non_null(strstr(targets[0], "{x}"));
        status = sa_score_pairs((const sa_model *const *)&m, 1, lines, targets, 3, &o, &scored, &error);
    }
    sa_translations_free(t, 3);
    sa_translations_free(scored, 3);
    sa_model_free(m);
    return status;
}

static sa_status score(void) {
    sa_bleu_result result;
    const char *const *references[] = {target, source};
    sa_status status = sa_bleu(target, TOY_PAIRS, references, 2, NULL, &result, &error);
    assert_true(status != SA_OK || result.bleu > 99.9);
    return status;
}

static const sa_resampling few_samples = {3, 1};

/* Statistics of two systems, each resampled by itself and both together. */
static sa_status resample(sa_metric_kind kind) {
    const char *const *references[] = {target, source};
    sa_metric metric;
    sa_metric_init(&metric, kind);
    metric.chrf.word_order = 2;
    metric.chrf.lowercase = metric.ter.normalized = true;
    sa_statistics *a, *b = NULL;
    sa_interval interval;
    double p;
    sa_status status = sa_statistics_collect(&a, &metric, target, TOY_PAIRS, references, 1, &error);
    if (status == SA_OK)
        status = sa_statistics_collect(&b, &metric, source, TOY_PAIRS, references, 1, &error);
    if (status == SA_OK)
        status = sa_bootstrap(a, &few_samples, &interval, &error);
    if (status == SA_OK)
        status = sa_paired_test(a, b, SA_PAIRED_BOOTSTRAP, &few_samples, &p, &error);
    if (status == SA_OK)
        status = sa_paired_test(a, b, SA_PAIRED_RANDOMIZATION, &few_samples, &p, &error);
    sa_statistics_free(a);
    sa_statistics_free(b);
    return status;
}

static sa_status resample_chrf(void) {
    return resample(SA_METRIC_CHRF);
}

static sa_status resample_ter(void) {
    return resample(SA_METRIC_TER);
}

static sa_status read_lines(void) {
    char path[300], *line;
    size_t length, n = 0;
    snprintf(path, sizeof path, "%s/src", folder);
    sa_reader *reader;
    sa_status status = sa_reader_open(&reader, path, false, &error);
    while (status == SA_OK && (status = sa_reader_next(reader, &line, &length, &error)) == SA_OK && line)
        n++;
    assert_true(status != SA_OK || n == FEW);
    sa_reader_free(reader);
    return status;
}

static parallel_text counted_text;

static sa_status count_links_of_pairs(void) {
    const vocab *const side[2] = {counted_text.side[0], counted_text.side[1]};
    const count_options o = {.seed = 1, .threads = 2, .chains = 2, .sweeps = 2};
    count_aligner *a;
    count_links links[FEW] = {0};
    sa_status status = count_aligner_learn(&a, &counted_text.text, side, &o, &error);
    assert_true((status == SA_OK) == (a != NULL));
    if (status == SA_OK)
        status = count_aligner_align(a, 0, FEW, links, &error);
    count_links_free(links, FEW);
    count_aligner_free(a);
    return status;
}

/* ---- the tests --------------------------------------------------------------------------------------- */

/* A model that has no place to keep a tape for the next translation frees it: the one failure that does not matter,
 * once each time a tape is given back. */

static void opening_a_model(void **state) {
    (void)state;
    exhaust(open_model, false, 1);
    exhaust(open_model, true, 1);
}

static void translating(void **state) {
    (void)state;
    exhaust(open_and_translate, false, 2);
    exhaust(open_and_translate, true, 0);
}

/* A tape goes back three times, and once after opening. */
static void translating_with_all_options(void **state) {
    (void)state;
    exhaust(open_and_translate_otherwise, false, 4);
    exhaust(open_and_translate_otherwise, true, 0);
}

static void captioning(void **state) {
    (void)state;
    exhaust(caption, false, 2);
    exhaust(caption, true, 1);
}

/* Two tapes go back. */
static void explaining(void **state) {
    (void)state;
    exhaust(open_and_explain, false, 4);
    exhaust(open_and_explain, true, 1);
}

/* A tape goes back four times, and once after opening. */
static void tracing(void **state) {
    (void)state;
    exhaust(open_and_trace, false, 5);
    exhaust(open_and_trace, true, 1);
}

static void quantizing(void **state) {
    (void)state;
    exhaust(quantize, false, 0);
    exhaust(quantize, true, 0);
}

/* A tape goes back after opening and after translating. */
static void translating_with_a_shortlist(void **state) {
    (void)state;
    exhaust(translate_short, false, 2);
    exhaust(translate_short, true, 0);
}

/* A tape goes back three times, and once after opening. */
static void translating_in_pieces_with_items(void **state) {
    (void)state;
    exhaust(translate_pieces, false, 4);
    exhaust(translate_pieces, true, 0);
}

static void scoring(void **state) {
    (void)state;
    exhaust(score, false, 0);
    exhaust(score, true, 0);
    exhaust(resample_chrf, false, 0);
    exhaust(resample_ter, false, 0);
    exhaust(resample_ter, true, 0);
}

static void reading_lines(void **state) {
    (void)state;
    exhaust(read_lines, false, 0);
    exhaust(read_lines, true, 0);
}

static void aligning_by_counts(void **state) {
    (void)state;
    assert_int_equal(parallel_text_make(&counted_text, (const char *const *const[2]){source, target}, FEW, &error),
                     SA_OK);
    exhaust(count_links_of_pairs, false, 0);
    exhaust(count_links_of_pairs, true, 0);
    parallel_text_free(&counted_text);
}

static int make_model(void **state) {
    (void)state;
    if (!make_small_model())
        return -1;
    for (int i = 0; i < TOY_PAIRS; i++) {
        toy_pair(i, text[0][i], text[1][i]);
        source[i] = text[0][i];
        target[i] = text[1][i];
    }
    char path_of_dictionary[300];
    snprintf(path_of_dictionary, sizeof path_of_dictionary, "%s/dictionary", folder);
    FILE *file = fopen(path_of_dictionary, "w");
    if (!file || fputs("dog\tcane\ncat\tgatto\n", file) < 0 || fclose(file))
        return -1;
    sa_translation *t;
    run_path(protecting_path, "protecting", "best.safetensors");
    run_path(drawing_path, "model", "drawing.svg");
    if (train_so("protecting", (way){.seed = 1, .threads = 1, .vocab = SA_VOCAB_BPE}) ||
        !one_picture_model(folder, picture_path, caption_path) ||
        sa_model_open(&shared_model, model_path, &error) || sa_translate(shared_model, source, 2, NULL, &t, &error))
        return -1;
    for (int i = 0; i < 2; i++)
        snprintf(expected[i], sizeof expected[i], "%s", t[i].hypothesis[0].text);
    sa_translations_free(t, 2);
    sa_model_free(shared_model);
    return 0;
}

static int remove_model(void **state) {
    (void)state;
    return toy_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_a_model),
        cmocka_unit_test(translating),
        cmocka_unit_test(translating_with_all_options),
        cmocka_unit_test(captioning),
        cmocka_unit_test(explaining),
        cmocka_unit_test(tracing),
        cmocka_unit_test(quantizing),
        cmocka_unit_test(translating_with_a_shortlist),
        cmocka_unit_test(translating_in_pieces_with_items),
        cmocka_unit_test(scoring),
        cmocka_unit_test(reading_lines),
        cmocka_unit_test(aligning_by_counts),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}
