/* Descriptions of pictures, made elsewhere, as sources: a line is FILE:ROW, where FILE is a safetensors file with a
 * tensor "features" (N, count, width) of 32-bit numbers, and ROW, from 0, says which of the N. The symbols are the
 * numbers, vector after vector, each rounded to 24 bits: the sign, the exponent and 15 bits behind the leading one
 * of a float. Saved as one row, "features COUNT WIDTH". */
#include "base/safetensors.h"
#include "text/vocab_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS = 1 << 24, NUMBERS_MOST = 1 << 24 };

typedef struct features {
    int count, width;
} features;

static bool is_possible(int64_t count, int64_t width) {
    return count > 0 && width > 0 && count <= NUMBERS_MOST && width <= NUMBERS_MOST / count;
}

static sa_status make(void **state, int count, int width, sa_error *error) {
    features *f = malloc(sizeof *f);
    if (!f)
        return sa_fail_memory(error, sizeof *f);
    *f = (features){count, width};
    *state = f;
    return SA_OK;
}

static sa_status features_begin(void **state, const vocab_options *options, sa_error *error) {
    SA_ASSERT(is_possible(options->count, options->width));
    return make(state, options->count, options->width, error);
}

static sa_status features_save(const void *state, strbuf *out, sa_error *error) {
    const features *f = state;
    strbuf_printf(out, "features %d %d\n", f->count, f->width);
    return out->failed ? sa_fail_memory(error, 0) : SA_OK;
}

static sa_status features_load(void **state, sa_vocab_type type, const char *bytes, size_t n, sa_error *error) {
    (void)type;
    char row[48], again[48] = "";
    int count = 0, width = 0;
    snprintf(row, sizeof row, "%.*s", n < sizeof row ? (int)n : 0, bytes);
    if (sscanf(row, "features %d %d", &count, &width) == 2)
        snprintf(again, sizeof again, "features %d %d\n", count, width);
    if (!is_possible(count, width) || strlen(again) != n || memcmp(again, bytes, n) != 0)
        return sa_fail(error, SA_FORMAT, "it is not \"features COUNT WIDTH\"");
    return make(state, count, width, error);
}

static void features_free(void *state) {
    free(state);
}

static int features_size(const void *state) {
    (void)state;
    return SYMBOLS;
}

static int features_length(const void *state) {
    const features *f = state;
    return f->count * f->width;
}

/* A finite number's upper 24 bits, to nearest; the largest ones are cut, which keeps them finite. -1: not finite.
 */
static int upper_bits(const void *at) {
    enum { EXPONENT = 0x7F800000 };
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    if ((bits & EXPONENT) == EXPONENT)
        return -1;
    uint32_t rounded = bits + 0x80;
    return (int)(((rounded & EXPONENT) == EXPONENT ? bits : rounded) >> 8);
}

static sa_status append(const features *f, const st_tensor *x, int64_t row, const char *line, id_list *ids,
                        sa_error *error) {
    int n = f->count * f->width;
    const char *at = (const char *)x->data + (size_t)row * (size_t)n * sizeof(float);
    for (int i = 0; i < n; i++, at += sizeof(float)) {
        int bits = upper_bits(at);
        if (bits < 0)
            return sa_fail(error, SA_DATA, "%s: a number in this row is not finite", line);
        if (!id_list_push(ids, bits))
            return sa_fail_memory(error, (size_t)n * sizeof *ids->id);
    }
    return SA_OK;
}

static sa_status read_row(const features *f, const st_file *file, int64_t row, const char *line, id_list *ids,
                          sa_error *error) {
    const st_tensor *x = st_find(file, "features");
    if (!x || x->dtype != ST_F32 || x->rank != 3)
        return sa_fail(error, SA_DATA, "%s: no tensor \"features\" of 32-bit numbers in three dimensions",
                       st_path(file));
    if (x->dim[1] != f->count || x->dim[2] != f->width)
        return sa_fail(error, SA_DATA, "%s: features of %lld x %lld numbers, where the model reads %d x %d",
                       st_path(file), (long long)x->dim[1], (long long)x->dim[2], f->count, f->width);
    if (row >= x->dim[0])
        return sa_fail(error, SA_DATA, "%s: there are %lld rows, from 0", line, (long long)x->dim[0]);
    return append(f, x, row, line, ids, error);
}

/* line: FILE:ROW, which is cut here. */
static sa_status encode_line(const features *f, char *line, const char *whole, id_list *ids, sa_error *error) {
    char *colon = strrchr(line, ':'), *end = NULL;
    int64_t row = colon && colon[1] >= '0' && colon[1] <= '9' ? strtoll(colon + 1, &end, 10) : -1;
    if (row < 0 || *end)
        return sa_fail(error, SA_DATA, "%s: FILE:ROW is needed, ROW from 0", whole);
    *colon = 0;
    st_file *file;
    SA_TRY(st_open(&file, line, error));
    sa_status status = read_row(f, file, row, whole, ids, error);
    st_close(file);
    return status;
}

static sa_status features_encode(const void *state, const char *text, size_t length, id_list *ids, strbuf *texts,
                                 sa_error *error) {
    SA_ASSERT(!texts); /* numbers have none: whoever wants them asks vocab_length first */
    (void)texts;
    char *whole = vocab_trimmed(text, length), *line = whole ? strdup(whole) : NULL;
    sa_status status = SA_OK;
    if (!line)
        status = sa_fail_memory(error, length);
    else if (*line)
        status = encode_line(state, line, whole, ids, error);
    free(whole);
    free(line);
    return status;
}

const vocab_kind vocab_kind_features = {
    .begin = features_begin,
    .save = features_save,
    .load = features_load,
    .free = features_free,
    .size = features_size,
    .length = features_length,
    .encode = features_encode,
};
