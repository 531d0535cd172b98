/* sa_model_open: a model file mapped and made ready to translate with. */
#include "base/block.h"
#include "base/file.h"
#include "model/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SA_REAL_DOUBLE

static const weight_type weight_types[] = {
    [SA_F32] = {"f32", ST_F32, GEMM_F32},
    [SA_BF16] = {"bf16", ST_BF16, GEMM_BF16},
    [SA_INT8] = {"int8", ST_I8, GEMM_INT8},
};
enum { WEIGHT_TYPES = sizeof weight_types / sizeof *weight_types };

const weight_type *weight_type_of(sa_precision precision) {
    return (unsigned)precision < WEIGHT_TYPES ? &weight_types[precision] : NULL;
}

static const weight_type *weight_type_find(st_dtype dtype) {
    for (int i = 0; i < WEIGHT_TYPES; i++)
        if (weight_types[i].dtype == dtype)
            return &weight_types[i];
    return NULL;
}

static bool has_shape(const st_tensor *t, int rank, const int *dim) {
    bool same = t && t->rank == rank;
    for (int i = 0; same && i < rank; i++)
        same = t->dim[i] == dim[i];
    return same;
}

/* One scale a row: NAME.scale. */
static sa_status map_scale(const st_file *file, param *p, sa_error *error) {
    char name[sizeof p->name + 8];
    snprintf(name, sizeof name, "%s.scale", p->name);
    const st_tensor *scale = st_find(file, name);
    if (!has_shape(scale, 1, p->dim) || scale->dtype != ST_F32)
        return sa_fail(error, SA_FORMAT, "%s: %s is missing, or is not %d numbers of 32 bits", st_path(file), name,
                       p->dim[0]);
    p->stored.scale = scale->data;
    return SA_OK;
}

static sa_status map_param(const st_file *file, param *p, sa_error *error) {
    const st_tensor *found = st_find(file, p->name);
    if (!found)
        return sa_fail(error, SA_FORMAT, "%s: tensor %s is missing", st_path(file), p->name);
    const weight_type *type = weight_type_find(found->dtype);
    if (!type || !has_shape(found, p->rank, p->dim) || (p->rank == 1 && type->precision != GEMM_F32))
        return sa_fail(error, SA_FORMAT, "%s: tensor %s has not the shape and type that the configuration asks for",
                       st_path(file), p->name);
    if (type->precision == GEMM_F32) {
        p->value = (real *)(uintptr_t)found->data; /* read-only: nobody writes to an opened model */
        return SA_OK;
    }
    p->stored = (narrow){type->precision, p->dim[0], p->dim[1], found->data, NULL};
    return narrow_scaled(type->precision) ? map_scale(file, p, error) : SA_OK;
}

sa_status model_file_map(sa_model *m, sa_error *error) {
    for (int i = 0; i < m->net.params.n; i++)
        SA_TRY(map_param(m->file, m->net.params.at[i], error));
    return SA_OK;
}

/* The type that the model is opened with. */
static sa_status choose_type(const st_file *file, sa_precision precision, const weight_type **out,
                             sa_error *error) {
    const char *stored = file ? st_metadata(file, "precision") : NULL;
    if (precision != SA_AS_STORED) {
        *out = weight_type_of(precision);
        return *out ? SA_OK : sa_fail(error, SA_USAGE, "no precision has the number %d", (int)precision);
    }
    for (int i = 0; i < WEIGHT_TYPES; i++)
        if (!strcmp(stored ? stored : weight_types[SA_F32].name, weight_types[i].name)) {
            *out = &weight_types[i];
            return SA_OK;
        }
    return sa_fail(error, SA_FORMAT, "%s: its weights are %.16s, which this program (%s) does not know",
                   st_path(file), stored, SA_VERSION);
}

/* The matrices of a quantized file as the numbers of 32 bits that they stand for, which is what gradients are of.
 */
static sa_status widen(sa_model *m, sa_error *error) {
    const params *p = &m->net.params;
    size_t n = 0;
    for (int i = 0; i < p->n; i++)
        n += p->at[i]->stored.at ? (size_t)param_count(p->at[i]) : 0;
    if (n == 0)
        return SA_OK;
    real *at = m->widened = block_new(n * sizeof *at);
    if (!at)
        return sa_fail_memory(error, n * sizeof *at);
    for (int i = 0; i < p->n; i++) {
        param *q = p->at[i];
        if (!q->stored.at)
            continue;
        q->value = at;
        for (int k = 0; k < q->dim[0]; k++, at += q->dim[1])
            narrow_read(&q->stored, k, at);
        q->stored = (narrow){0};
    }
    return SA_OK;
}

/* Values that are in packs now are not read again. */
static void forget_packed(const params *p) {
    for (int i = 0; i < p->n; i++) {
        const param *q = p->at[i];
        size_t line = narrow_bytes(q->stored.at ? q->stored.type : GEMM_F32, q->dim[1]);
        if (q->forward && q->use != USE_LOOKUP)
            file_forget(q->stored.at ? q->stored.at : q->value, line * (size_t)q->dim[0]);
    }
}

/* Packs the weights, on several threads; each has a workspace whose product engine it uses. */
static sa_status pack(sa_model *m, int threads, gemm_precision precision, sa_error *error) {
    pool *team = NULL;
    tape **tapes = calloc((size_t)threads, sizeof *tapes);
    gemm **workers = calloc((size_t)threads, sizeof *workers);
    sa_status status =
        tapes && workers ? pool_new(&team, threads, gemm_work_alone, error) : sa_fail_memory(error, 0);
    int n = 0;
    for (; n < threads && status == SA_OK; n++)
        if ((status = model_borrow_tape(m, &tapes[n], error)) == SA_OK)
            workers[n] = tapes[n]->gemm;
    if (status == SA_OK) {
        gemm_work_alone();
        gemm_set_precision(workers[0], precision);
        status = params_pack(&m->net.params, workers, team, error);
        gemm_set_precision(workers[0], GEMM_F32);
    }
    for (int i = 0; tapes && i < n; i++)
        if (tapes[i])
            model_return_tape(m, tapes[i]);
    pool_free(team);
    free(workers);
    free(tapes);
    return status;
}

sa_status model_prepare(sa_model *m, const sa_model_options *options, sa_error *error) {
    enum { THREADS_MOST = 4 }; /* memory is no faster with more */
    const weight_type *type;
    SA_TRY(choose_type(m->file, options->precision, &type, error));
    if (type->precision == GEMM_F32)
        SA_TRY(widen(m, error));
    for (int i = 0; i < m->net.params.n; i++)
        if (m->net.params.at[i]->rank == 2)
            m->net.params.at[i]->precision = type->precision;
    int threads = options->threads > 0 ? options->threads : thread_cores();
    return pack(m, threads < THREADS_MOST ? threads : THREADS_MOST, type->precision, error);
}

void sa_model_options_init(sa_model_options *options) {
    *options = (sa_model_options){.precision = SA_AS_STORED};
}

sa_status sa_model_open_with(sa_model **out, const char *path, const sa_model_options *options, sa_error *error) {
    sa_model_options defaults;
    sa_model *m;
    sa_model_options_init(&defaults);
    *out = NULL;
    SA_TRY(model_file_new(&m, error));
    sa_status status = st_open(&m->file, path, error);
    if (status == SA_OK)
        status = model_file_read(m, m->file, error);
    if (status == SA_OK)
        status = model_file_map(m, error);
    if (status == SA_OK)
        status = model_prepare(m, options ? options : &defaults, error);
    if (status != SA_OK) {
        sa_model_free(m);
        return status;
    }
    if (!m->widened)
        forget_packed(&m->net.params);
    *out = m;
    return SA_OK;
}

sa_status sa_model_open(sa_model **out, const char *path, sa_error *error) {
    return sa_model_open_with(out, path, NULL, error);
}

#endif
