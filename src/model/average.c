/* sa_model_average: the mean of the parameters of several model files. */
#include "model/model_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#ifndef SA_REAL_DOUBLE

/* Which part of the file's vocabulary differs from the first's; NULL: none. */
static const char *other_vocabulary(const st_file *first, const st_file *file) {
    static const char *const names[] = {"vocab.source", "vocab.target"};
    static const char *const types[] = {"vocab.source.type", "vocab.target.type"};
    for (int k = 0; k < 2; k++) {
        const st_tensor *a = st_find(first, names[k]), *b = st_find(file, names[k]);
        const char *a_type = st_metadata(first, types[k]), *b_type = st_metadata(file, types[k]);
        bool same = !a == !b && !a_type == !b_type;
        same = same && (!a || (a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes)));
        if (!same || (a_type && strcmp(a_type, b_type)))
            return k ? "target" : "source";
    }
    return NULL;
}

static sa_status check_alike(const sa_model *first, const sa_model *m, sa_error *error) {
    char *a = model_config_json(&first->net.config), *b = model_config_json(&m->net.config);
    bool known = a && b, same = known && !strcmp(a, b);
    free(a);
    free(b);
    if (!known)
        return sa_fail_memory(error, 0);
    const char *mine = st_path(first->file), *path = st_path(m->file);
    if (!same)
        return sa_fail(error, SA_DATA, "%s: its configuration is not that of %s; only models alike have a mean",
                       path, mine);
    const char *side = other_vocabulary(first->file, m->file);
    return side ? sa_fail(error, SA_DATA, "%s: its %s vocabulary is not that of %s", path, side, mine) : SA_OK;
}

static sa_status add_parameters(double *sum, const sa_model *m, sa_error *error) {
    const params *p = &m->net.params;
    long at = 0;
    for (int i = 0; i < p->n; i++) {
        const st_tensor *found;
        SA_TRY(model_file_find(m->file, p->at[i], &found, error));
        const float *value = found->data;
        for (long k = 0; k < param_count(p->at[i]); k++)
            sum[at + k] += (double)value[k];
        at += param_span(p->at[i]);
    }
    return SA_OK;
}

static sa_status open_described(sa_model **out, const char *path, sa_error *error) {
    SA_TRY(model_file_new(out, error));
    SA_TRY(st_open(&(*out)->file, path, error));
    return model_file_read(*out, (*out)->file, error);
}

/* What its file says of the training of each model; false without memory. */
static bool note_training(json_t *list, const sa_model *m) {
    const char *text = st_metadata(m->file, "training");
    json_t *training = text ? json_loads(text, 0, NULL) : NULL;
    return json_array_append_new(list, training ? training : json_null()) == 0;
}

static sa_status add_file(double *sum, json_t *list, const sa_model *first, const char *path, sa_error *error) {
    sa_model *m = NULL;
    sa_status status = open_described(&m, path, error);
    if (status == SA_OK)
        status = check_alike(first, m, error);
    if (status == SA_OK)
        status = add_parameters(sum, m, error);
    if (status == SA_OK && !note_training(list, m))
        status = sa_fail_memory(error, 0);
    sa_model_free(m);
    return status;
}

static sa_status write_mean(sa_model *first, const double *sum, int n, json_t *list, const char *output,
                            sa_error *error) {
    params *p = &first->net.params;
    SA_TRY(params_allocate(p, false, error));
    for (long k = 0; k < p->count; k++)
        p->values[k] = (real)(sum[k] / n);
    json_t *object = json_pack("{s:O}", "average_of", list);
    char *training = object ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    sa_status status = training ? model_file_save(first, training, output, error) : sa_fail_memory(error, 0);
    json_decref(object);
    free(training);
    return status;
}

sa_status sa_model_average(const char *const *paths, int n, const char *output, sa_error *error) {
    if (n < 2)
        return sa_fail(error, SA_USAGE, "a mean is of two models at least");
    sa_model *first = NULL;
    json_t *list = json_array();
    sa_status status = open_described(&first, paths[0], error);
    double *sum = status == SA_OK ? calloc((size_t)first->net.params.count, sizeof *sum) : NULL;
    if (status == SA_OK && (!sum || !list))
        status = sa_fail_memory(error, 0);
    for (int i = 0; i < n && status == SA_OK; i++)
        status = add_file(sum, list, first, paths[i], error);
    if (status == SA_OK)
        status = write_mean(first, sum, n, list, output, error);
    free(sum);
    json_decref(list);
    sa_model_free(first);
    return status;
}

#endif
