#include "serve/hosted.h"

#include "base/error.h"
#include "base/json_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "en-fr", and "en-fr.2" where there is one of that name. */
static void give_name(hosted *h, hosted_model *m) {
    snprintf(m->name, sizeof m->name, "%s", m->is->name);
    for (int k = 2; k <= SERVE_MODELS_MOST && hosted_find(h, m->name); k++)
        snprintf(m->name, sizeof m->name, "%s.%d", m->is->name, k);
}

static sa_status open_files(hosted_model *m, const serve_options *options, sa_error *error) {
    const sa_model_options how = {.precision = options->precision, .threads = options->search.threads};
    for (int i = 0; i < m->is->n; i++) {
        SA_TRY(sa_model_open_with(&m->model[i], m->is->path[i], &how, error));
        m->n = i + 1;
        sa_vocab_type type = sa_model_vocab_type(m->model[i], SA_SOURCE);
        if (type == SA_VOCAB_PICTURE || type == SA_VOCAB_FEATURES)
            return sa_fail(error, SA_USAGE,
                           "%s describes pictures, which it reads from files that a request would name: only "
                           "models that translate text can be served",
                           m->is->path[i]);
    }
    /* Nothing to translate: models that do not go together, and options that do not go with them, are told now. */
    sa_translation *nothing;
    SA_TRY(sa_translate_ensemble(HOSTED(m), NULL, 0, &options->search, &nothing, error));
    sa_translations_free(nothing, 0);
    return SA_OK;
}

sa_status hosted_open(hosted *out, const serve_options *options, sa_error *error) {
    for (int i = 0; i < options->n_models; i++) {
        hosted_model *m = &out->model[i];
        m->is = &options->model[i];
        give_name(out, m);
        out->n = i + 1;
        SA_TRY(open_files(m, options, error));
    }
    return SA_OK;
}

void hosted_close(hosted *h) {
    for (int i = 0; i < h->n; i++)
        for (int k = 0; k < h->model[i].n; k++)
            sa_model_free(h->model[i].model[k]);
    h->n = 0;
}

const hosted_model *hosted_find(const hosted *h, const char *name) {
    for (int i = 0; i < h->n; i++)
        if (!name || strcmp(h->model[i].name, name) == 0)
            return &h->model[i];
    return NULL;
}

const hosted_model *hosted_between(const hosted *h, const char *source, const char *target) {
    for (int i = 0; i < h->n; i++)
        if (*target && strcmp(h->model[i].is->source, source) == 0 && strcmp(h->model[i].is->target, target) == 0)
            return &h->model[i];
    return NULL;
}

/* ---- what is said of one ----------------------------------------------------------------------------- */

static json_t *tensors_of(const sa_model *m, json_int_t *total, bool *ok) {
    json_t *list = json_array();
    for (int i = 0; i < sa_model_parameter_count(m); i++) {
        sa_parameter p = sa_model_parameter(m, i);
        json_t *tensor = json_object(), *shape = json_array();
        for (int k = 0; k < p.rank; k++)
            append(shape, json_integer(p.dim[k]), ok);
        put(tensor, "name", json_string(p.name), ok);
        put(tensor, "shape", shape, ok);
        append(list, tensor, ok);
        *total += p.count;
    }
    return list;
}

/* Whole numbers of the configuration, by the names of their options. */
static const struct {
    const char *name;
    size_t offset;
} sizes[] = {
    {"dim-emb", offsetof(sa_model_config, dim_emb)},       {"dim-rnn", offsetof(sa_model_config, dim_rnn)},
    {"dim-dec", offsetof(sa_model_config, dim_dec)},       {"dim-att", offsetof(sa_model_config, dim_att)},
    {"dim-maxout", offsetof(sa_model_config, dim_maxout)}, {"output-rank", offsetof(sa_model_config, output_rank)},
    {"layers", offsetof(sa_model_config, layers)},         {"dec-layers", offsetof(sa_model_config, dec_layers)},
    {"heads", offsetof(sa_model_config, heads)},           {"dim-ffn", offsetof(sa_model_config, dim_ffn)}};

static json_t *sizes_of(const sa_model_config *c, bool *ok) {
    json_t *object = json_object();
    put(object, "vocab-source", json_integer(c->vocab_source), ok);
    put(object, "vocab-target", json_integer(c->vocab_target), ok);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sa_model_config_has(c, sizes[i].name))
            put(object, sizes[i].name,
                json_integer(*(const int *)(const void *)((const char *)c + sizes[i].offset)), ok);
    return object;
}

/* Whether translations come with alignments: a model without attention says so when asked for a coverage penalty.
 */
static bool attends(const hosted_model *m) {
    sa_translate_options o;
    sa_translation *nothing;
    sa_translate_options_init(&o);
    o.coverage_penalty = 1;
    bool can = sa_translate_ensemble(HOSTED(m), NULL, 0, &o, &nothing, NULL) == SA_OK;
    if (can)
        sa_translations_free(nothing, 0);
    return can;
}

static json_t *training_of(const sa_model *m) {
    const char *text = sa_model_metadata(m, "training");
    json_t *training = text ? json_loads(text, 0, NULL) : NULL;
    return training ? training : json_null();
}

static json_int_t bytes_of(const serve_model *m) {
    json_int_t bytes = 0;
    for (int i = 0; i < m->n; i++) {
        struct stat s;
        bytes += stat(m->path[i], &s) == 0 ? (json_int_t)s.st_size : 0;
    }
    return bytes;
}

/* The scores that `softalign evaluate --json` wrote into a file beside the model, best.evaluation.json beside
 * best.safetensors, without the names of its texts; null where there is none. */
static json_t *evaluation_of(const serve_model *m) {
    static const char ending[] = ".safetensors";
    const char *model = m->path[0];
    size_t n = strlen(model), cut = sizeof ending - 1;
    if (n > cut && strcmp(model + n - cut, ending) == 0)
        n -= cut;
    char *path;
    if (asprintf(&path, "%.*s.evaluation.json", (int)n, model) < 0)
        return NULL;
    json_t *evaluation = json_load_file(path, 0, NULL);
    free(path);
    json_t *system = json_array_get(json_object_get(evaluation, "systems"), 0);
    json_t *scores = json_incref(json_object_get(system, "scores"));
    json_decref(evaluation);
    return scores != NULL ? scores : json_null();
}

static json_t *code_of(const char *code) {
    return *code ? json_string(code) : json_null();
}

/* What decides which equations a model follows. */
static const struct {
    const char *member, *option;
} choices[] = {{"decoder_order", "decoder-order"},
               {"decoder_start", "decoder-start"},
               {"reset", "reset"},
               {"layer_norm", "layer-norm"}};

static json_t *choice_of(const sa_model_config *c, const char *option) {
    const char *name = sa_model_config_choice(c, option);
    return name ? json_string(name) : json_null();
}

json_t *hosted_describe(const hosted_model *m) {
    const sa_model *first = m->model[0];
    const sa_model_config *c = sa_model_get_config(first);
    bool ok = true;
    json_int_t total = 0;
    json_t *object = json_object(), *tensors = tensors_of(first, &total, &ok);
    put(object, "name", json_string(m->name), &ok);
    put(object, "preset", json_string(c->preset), &ok);
    put(object, "source", code_of(m->is->source), &ok);
    put(object, "target", code_of(m->is->target), &ok);
    put(object, "models", json_integer(m->n), &ok);
    put(object, "parameters", json_integer(total), &ok);
    put(object, "vocab_source", json_integer(sa_model_vocab_size(first, SA_SOURCE)), &ok);
    put(object, "vocab_target", json_integer(sa_model_vocab_size(first, SA_TARGET)), &ok);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        put(object, choices[i].member, choice_of(c, choices[i].option), &ok);
    put(object, "attention", json_boolean(attends(m)), &ok);
    put(object, "protect", json_boolean(sa_model_protects(first)), &ok);
    put(object, "training", training_of(first), &ok);
    put(object, "sizes", sizes_of(c, &ok), &ok);
    put(object, "tensors", tensors, &ok);
    put(object, "file_bytes", json_integer(bytes_of(m->is)), &ok);
    put(object, "evaluation", evaluation_of(m->is), &ok);
    return finished_json(object, ok);
}
