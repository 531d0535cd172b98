/* Every preset trains: it learns a hundred pairs by heart, gives the same bytes after a stop, and its file holds
 * what was trained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forms.h"
#include "runs.h"

/* A preset's model at a size that learns in seconds, whatever the sizes of its paper. */
static sa_train_options options_of(toy_paths *path, const model_form *form, const char *run) {
    static const form_widths widths = {.vocab_source = 100,
                                       .vocab_target = 100,
                                       .emb = 32,
                                       .rnn = 48,
                                       .dec = 48,
                                       .att = 24,
                                       .maxout = 32,
                                       .rank = 32,
                                       .model = 36,
                                       .ffn = 64};
    sa_train_options o = toy_options(path, folder, run);
    o.model = form_config(form, &widths);
    o.joint_vocab = o.model.tied_source;
    strcpy(o.model.init, "glorot");
    return o;
}

typedef struct learner {
    model_form form;
    double epochs, rate;
} learner;

static const learner learners[] = {
    {{"rnnencdec", ""}, 60, 0.01},
    {{"seq2seq", "'layers': 2"}, 80, 0.01},
    {{"luong", "'layers': 2"}, 50, 0.01},
    {{"gnmt", "'layers': 4"}, 60, 0.01},
    {{"rnnsearch", "'coverage': 'neural'"}, 50, 0.01},
    {{"transformer-small", "'layers': 2, 'heads': 3"}, 60, 0.005},
    {{"luong", "'layers': 1, 'score': 'dot', 'attention': 'local-p', 'attention_window': 3"}, 50, 0.01},
};
enum { LEARNERS = sizeof learners / sizeof *learners };

static void every_preset_learns_a_hundred_pairs_by_heart(void **state) {
    (void)state;
    for (int i = 0; i < LEARNERS; i++) {
        toy_paths path;
        char run[32];
        snprintf(run, sizeof run, "heart%d", i);
        sa_train_options o = options_of(&path, &learners[i].form, run);
        o.after_epochs = learners[i].epochs;
        o.learning_rate = (float)learners[i].rate;
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        char best[512];
        double bleu = toy_bleu(run_path(best, run, "best.safetensors"));
        if (!(bleu > 99.999))
            fail_msg("%s %s: BLEU %.2f", learners[i].form.preset, learners[i].form.options, bleu);
    }
}

/* Fourteen updates with dropout, in a go on one thread and with a stop on two. */
static void every_model_gives_the_same_bytes_after_a_stop_and_with_more_threads(void **state) {
    (void)state;
    for (int i = 0; i < MODEL_FORMS; i++) {
        char whole[32], stopped[32];
        snprintf(whole, sizeof whole, "whole%d", i);
        snprintf(stopped, sizeof stopped, "stopped%d", i);
        for (int stop = 0; stop < 2; stop++) {
            toy_paths path;
            sa_train_options o = options_of(&path, &model_forms[i], stop ? stopped : whole);
            o.dropout = o.dropout_emb = o.dropout_src = o.dropout_trg = 0.1f;
            o.after_updates = 14;
            o.valid_freq = 7;
            o.shards = 3;
            o.threads = 1 + stop;
            if (stop) {
                watch w = {.stop_at = 7};
                expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
                o.resume = true;
            }
            expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        }
        expect_same_file(whole, stopped, "best.safetensors");
        expect_same_file(whole, stopped, "last.safetensors");
    }
}

/* Of the models that the test before wrote. */
static void every_models_file_holds_its_configuration(void **state) {
    (void)state;
    for (int i = 0; i < MODEL_FORMS; i++) {
        toy_paths path;
        char run[32], file[512];
        snprintf(run, sizeof run, "whole%d", i);
        snprintf(file, sizeof file, "%s/%s/last.safetensors", folder, run);
        sa_train_options o = options_of(&path, &model_forms[i], run);
        sa_model *m;
        expect_status(sa_model_open(&m, file, &error), SA_OK);
        o.model.vocab_source = sa_model_vocab_size(m, SA_SOURCE);
        o.model.vocab_target = sa_model_vocab_size(m, SA_TARGET);
        char *wanted = model_config_json(&o.model), *found = model_config_json(sa_model_get_config(m));
        assert_string_equal(found, wanted);
        free(wanted);
        free(found);
        sa_model_free(m);
    }
}

/* The weights of one pair, S of them; returns how many. */
enum { WEIGHTS = 400 };
static int weights_of(const sa_model *m, float weights[WEIGHTS]) {
    char source[80], target[80];
    const char *sources[] = {source}, *targets[] = {target};
    sa_translate_options o;
    sa_translation *t;
    toy_pair(3, source, target);
    sa_translate_options_init(&o);
    o.attention = true;
    expect_status(sa_score_pairs(&m, 1, sources, targets, 1, &o, &t, &error), SA_OK);
    int n = t->hypothesis[0].length * t->source_length;
    assert_true(n <= WEIGHTS && t->hypothesis[0].attention);
    memcpy(weights, t->hypothesis[0].attention, (size_t)n * sizeof *weights);
    sa_translations_free(t, 1);
    return n;
}

static void show(sa_model *m, int layer, int head, float weights[WEIGHTS]) {
    expect_status(sa_model_show_attention(m, layer, head, &error), SA_OK);
    weights_of(m, weights);
}

static void compare_heads(sa_model *m, int layer, int heads) {
    float all[WEIGHTS], one[WEIGHTS], first[WEIGHTS], sum[WEIGHTS] = {0};
    int n = weights_of(m, all);
    show(m, layer, 0, all);
    show(m, layer, 1, first);
    for (int head = 1; head <= heads; head++) {
        show(m, layer, head, one);
        for (int i = 0; i < n; i++)
            sum[i] += one[i] / (float)heads;
        if (head > 1)
            assert_memory_not_equal(one, first, (size_t)n * sizeof *one);
    }
    for (int i = 0; i < n; i++)
        assert_true(fabsf(sum[i] - all[i]) < 1e-6f);
}

/* Of the models that a test before wrote. */
static void attention_of_every_layer_and_head_can_be_shown(void **state) {
    (void)state;
    for (int i = 0; i < MODEL_FORMS; i++) {
        char file[512];
        sa_model *m;
        snprintf(file, sizeof file, "%s/whole%d/last.safetensors", folder, i);
        expect_status(sa_model_open(&m, file, &error), SA_OK);
        const sa_model_config *c = sa_model_get_config(m);
        bool chooses = sa_model_config_has(c, "align-layer");
        int layers = c->dec_layers ? c->dec_layers : c->layers;
        expect_status(sa_model_show_attention(m, layers + 1, 0, &error), SA_USAGE);
        expect_status(sa_model_show_attention(m, 1, c->heads + 1, &error), SA_USAGE);
        expect_status(sa_model_show_attention(m, -1, 0, &error), SA_USAGE);
        for (int layer = 1; chooses && layer <= layers; layer++)
            compare_heads(m, layer, c->heads);
        if (!chooses)
            expect_status(sa_model_show_attention(m, 1, 1, &error), SA_USAGE);
        sa_model_free(m);
    }
}

static int make_folder(void **state) {
    (void)state;
    return toy_folder(folder) && toy_write(folder, TOY_PAIRS) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return toy_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_learns_a_hundred_pairs_by_heart),
        cmocka_unit_test(every_model_gives_the_same_bytes_after_a_stop_and_with_more_threads),
        cmocka_unit_test(every_models_file_holds_its_configuration),
        cmocka_unit_test(attention_of_every_layer_and_head_can_be_shown),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
