#include "decode/ensemble.h"

#include <math.h>
#include <string.h>

static const char *name_of(const sa_model *m) {
    return m->file ? st_path(m->file) : "a model";
}

static sa_status save_vocabs(const sa_model *m, strbuf bytes[2], sa_error *error) {
    SA_TRY(vocab_save(m->source, &bytes[0], error));
    return vocab_save(m->target, &bytes[1], error);
}

static bool same_bytes(const strbuf *a, const strbuf *b) {
    return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

static sa_status compare_vocabs(const sa_model *first, const strbuf bytes[2], const sa_model *m, sa_error *error) {
    static const char *const side[2] = {"source", "target"};
    strbuf other[2] = {{0}};
    sa_status status = save_vocabs(m, other, error);
    for (int k = 0; k < 2 && status == SA_OK; k++)
        if (!same_bytes(&bytes[k], &other[k]))
            status = sa_fail(error, SA_USAGE,
                             "%s and %s have different %s vocabularies: models that work together need the same",
                             name_of(first), name_of(m), side[k]);
    strbuf_free(&other[0]);
    strbuf_free(&other[1]);
    return status;
}

sa_status ensemble_compare(const sa_model *a, const sa_model *b, sa_error *error) {
    strbuf bytes[2] = {{0}};
    sa_status status = save_vocabs(a, bytes, error);
    if (status == SA_OK)
        status = compare_vocabs(a, bytes, b, error);
    strbuf_free(&bytes[0]);
    strbuf_free(&bytes[1]);
    return status;
}

sa_status ensemble_make(ensemble *out, const sa_model *const *models, int n, sa_error *error) {
    if (n < 1 || n > SA_ENSEMBLE_MAX)
        return sa_fail(error, SA_USAGE, "%d models to translate together; there must be from 1 to %d", n,
                       SA_ENSEMBLE_MAX);
    *out = (ensemble){.n = n, .owner = models[0]};
    for (int m = 0; m < n; m++) {
        if (!models[m]->source)
            return sa_fail(error, SA_USAGE, "this model was planned, not opened: it has no values to work with");
        out->model[m] = &models[m]->net;
        if (models[m]->net.config.attention_weights == SA_WEIGHTS_GIVEN)
            return sa_fail(error, SA_USAGE,
                           "%s cannot work by itself: it looks where another model does, with which it was trained "
                           "(--attention-from)",
                           name_of(models[m]));
    }
    if (n == 1)
        return SA_OK;
    strbuf bytes[2] = {{0}};
    sa_status status = save_vocabs(models[0], bytes, error);
    for (int m = 1; m < n && status == SA_OK; m++)
        status = compare_vocabs(models[0], bytes, models[m], error);
    strbuf_free(&bytes[0]);
    strbuf_free(&bytes[1]);
    return status;
}

bool ensemble_attends(const ensemble *e) {
    bool attends = false;
    for (int m = 0; m < e->n; m++)
        attends = attends || e->model[m]->preset->attends;
    return attends;
}

double ensemble_log_prob(const double *log_p, int n) {
    double largest = log_p[0], sum = 0;
    for (int m = 1; m < n; m++)
        largest = fmax(largest, log_p[m]);
    for (int m = 0; m < n; m++)
        sum += exp(log_p[m] - largest);
    return fmin(0, n == 1 ? largest : largest + log(sum / n));
}
