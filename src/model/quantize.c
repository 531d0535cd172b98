/* sa_model_quantize: a model file with its weights in fewer bits. */
#include "model/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SA_REAL_DOUBLE

typedef struct quantized {
    st_tensor *tensor; /* of the file; n */
    int n;
    char (*name)[80]; /* of scales, by parameter */
    void **memory;    /* 2 for each parameter: numbers, scales */
    int n_params;
} quantized;

static void quantized_free(quantized *q) {
    for (int i = 0; q->memory && i < 2 * q->n_params; i++)
        free(q->memory[i]);
    free(q->memory);
    free(q->name);
    free(q->tensor);
}

static sa_status quantized_new(quantized *q, int n_params, int n_tensors, sa_error *error) {
    size_t n = (size_t)n_params;
    *q = (quantized){.tensor = calloc((size_t)n_tensors + n, sizeof *q->tensor),
                     .name = calloc(n + 1, sizeof *q->name),
                     .memory = calloc(2 * n + 1, sizeof *q->memory),
                     .n_params = n_params};
    return q->tensor && q->name && q->memory ? SA_OK : sa_fail_memory(error, n * sizeof *q->tensor);
}

/* A matrix, and the scales of its rows where the type has them. */
static sa_status add_matrix(quantized *q, const param *p, const weight_type *type, sa_error *error) {
    size_t line = narrow_bytes(type->precision, p->dim[1]), rows = (size_t)p->dim[0];
    char *numbers = q->memory[2 * p->index] = malloc(line * rows);
    float *scale = q->memory[2 * p->index + 1] = malloc(rows * sizeof *scale);
    if (!numbers || !scale)
        return sa_fail_memory(error, line * rows);
    for (size_t i = 0; i < rows; i++)
        scale[i] = narrow_write(type->precision, p->value + i * (size_t)p->dim[1], p->dim[1], numbers + i * line);
    q->tensor[q->n++] = (st_tensor){p->name, type->dtype, 2, {p->dim[0], p->dim[1]}, numbers, line * rows};
    if (!narrow_scaled(type->precision))
        return SA_OK;
    snprintf(q->name[p->index], sizeof *q->name, "%s.scale", p->name);
    q->tensor[q->n++] = (st_tensor){q->name[p->index], ST_F32, 1, {p->dim[0]}, scale, rows * sizeof *scale};
    return SA_OK;
}

/* The tensors of parts, whose first are the parameters in order. */
static sa_status quantize(quantized *q, const params *p, const model_file_parts *parts, const weight_type *type,
                          sa_error *error) {
    for (int i = 0; i < parts->n; i++)
        if (i < p->n && p->at[i]->rank == 2)
            SA_TRY(add_matrix(q, p->at[i], type, error));
        else
            q->tensor[q->n++] = parts->tensor[i];
    return SA_OK;
}

static void describe(model_file_parts *parts, const st_file *file, const weight_type *type) {
    for (int i = 0; i < parts->n_entries; i++)
        if (!strcmp(parts->entry[i].key, "format"))
            parts->entry[i].value = "softalign 2";
    parts->entry[parts->n_entries++] = (st_entry){"precision", type->name};
    const char *training = st_metadata(file, "training");
    if (training)
        parts->entry[parts->n_entries++] = (st_entry){"training", training};
}

static sa_status write_quantized(const sa_model *m, const weight_type *type, const char *output, sa_error *error) {
    model_file_parts parts;
    quantized q = {0};
    sa_status status = model_file_parts_make(&parts, m, error);
    if (status == SA_OK)
        status = quantized_new(&q, m->net.params.n, parts.n, error);
    if (status == SA_OK)
        status = quantize(&q, &m->net.params, &parts, type, error);
    if (status == SA_OK) {
        describe(&parts, m->file, type);
        status = st_write(output, q.tensor, q.n, parts.entry, parts.n_entries, error);
    }
    quantized_free(&q);
    model_file_parts_free(&parts);
    return status;
}

static sa_status check_float(const sa_model *m, const char *path, sa_error *error) {
    for (int i = 0; i < m->net.params.n; i++)
        if (m->net.params.at[i]->stored.at)
            return sa_fail(error, SA_DATA, "%s: quantized already; quantize the model that it was made of", path);
    return SA_OK;
}

sa_status sa_model_quantize(const char *path, const char *output, sa_precision precision, sa_error *error) {
    const weight_type *type = weight_type_of(precision);
    if (!type || precision == SA_F32)
        return sa_fail(error, SA_USAGE, "a model is quantized to bf16 or int8");
    sa_model *m;
    SA_TRY(model_file_new(&m, error));
    sa_status status = st_open(&m->file, path, error);
    if (status == SA_OK)
        status = model_file_read(m, m->file, error);
    if (status == SA_OK)
        status = model_file_map(m, error);
    if (status == SA_OK)
        status = check_float(m, path, error);
    if (status == SA_OK)
        status = write_quantized(m, type, output, error);
    sa_model_free(m);
    return status;
}

#endif
