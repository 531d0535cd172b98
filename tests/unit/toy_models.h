/* Trained models of the toy language, for tests of what the public interface does with them. Include cmocka first.
 */
#ifndef TOY_MODELS_H
#define TOY_MODELS_H

#include "toy.h"

#include <math.h>

static sa_error error;
static char folder[128], model_path[300], vague_path[300];
static sa_model *model; /* of the toy language, learned well */
static sa_model *vague; /* after one update: it has learned nothing */
static sa_model *few;   /* learned with so few words that many are unknown, on both sides */
static sa_model *blind; /* without attention */
static char text[TOY_PAIRS][80];
static const char *line[TOY_PAIRS];

enum { N = 24 }; /* lines that most tests translate */

static inline void expect_status(sa_status got, sa_status want) {
    if (got != want)
        fail_msg("%s: %s; not %s", sa_status_text(got), error.text, sa_status_text(want));
}

static inline sa_translate_options usual(void) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.threads = 1;
    return o;
}

static inline sa_translation *translate(const sa_model *m, const char *const *lines, size_t n,
                                        const sa_translate_options *o) {
    sa_translation *t = NULL;
    expect_status(sa_translate(m, lines, n, o, &t, &error), SA_OK);
    assert_non_null(t);
    return t;
}

/* Products of oneDNN add up a row alike for any number of rows where it generates code for AVX-512. */
static inline double tolerance(void) {
    return __builtin_cpu_supports("avx512f") && !getenv("ONEDNN_MAX_CPU_ISA") && !getenv("DNNL_MAX_CPU_ISA") ? 0
                                                                                                             : 1e-4;
}

static inline void expect_same(const sa_translation *a, const sa_translation *b) {
    assert_int_equal(a->n, b->n);
    for (int k = 0; k < a->n; k++) {
        assert_string_equal(a->hypothesis[k].text, b->hypothesis[k].text);
        assert_int_equal(a->hypothesis[k].length, b->hypothesis[k].length);
        assert_true(fabs(a->hypothesis[k].score - b->hypothesis[k].score) <= tolerance());
    }
}

static inline sa_status train(const char *run, double epochs, int64_t updates) {
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, run);
    o.after_epochs = epochs;
    o.after_updates = updates;
    o.valid_freq = 1000;
    if (strcmp(run, "few") == 0)
        o.model.vocab_source = o.model.vocab_target = 14;
    if (strcmp(run, "blind") == 0) {
        const sa_model_config small = o.model;
        sa_model_config_preset(&o.model, "rnnencdec", NULL);
        o.model.vocab_source = o.model.vocab_target = small.vocab_source;
        o.model.dim_emb = o.model.dim_maxout = small.dim_emb;
        o.model.dim_rnn = o.model.dim_dec = small.dim_rnn;
        o.model.tied_target = small.tied_target;
        strcpy(o.model.init, small.init);
    }
    return sa_train(&o, NULL, NULL, &error);
}

static inline int make_models(void **state) {
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

static inline int remove_models(void **state) {
    (void)state;
    sa_model_free(model);
    sa_model_free(vague);
    sa_model_free(few);
    sa_model_free(blind);
    return toy_remove(folder);
}

#endif
