/* Building JSON: failures (NULL, no memory, a text that is not UTF-8) stick in *ok, which is looked at once. */
#ifndef SERVE_JSON_BUILD_H
#define SERVE_JSON_BUILD_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static inline void put(json_t *object, const char *key, json_t *value, bool *ok) {
    *ok = json_object_set_new(object, key, value) == 0 && *ok;
}

static inline void append(json_t *array, json_t *value, bool *ok) {
    *ok = json_array_append_new(array, value) == 0 && *ok;
}

/* With so many decimals; null where it is not finite, which JSON has no word for. */
static inline json_t *rounded(double x, int decimals) {
    double scale = pow(10, decimals);
    return isfinite(x) ? json_real(round(x * scale) / scale) : json_null();
}

static inline json_t *strings_json(char *const *text, int n, bool *ok) {
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        append(array, json_string(text[i]), ok);
    return array;
}

/* (rows x columns), five decimals. */
static inline json_t *matrix_json(const float *at, int rows, int columns, bool *ok) {
    json_t *array = json_array();
    for (int i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (int j = 0; j < columns; j++)
            append(row, rounded((double)at[(size_t)i * (size_t)columns + (size_t)j], 5), ok);
        append(array, row, ok);
    }
    return array;
}

/* The value, or NULL, and nothing left, where something failed. */
static inline json_t *finished_json(json_t *value, bool ok) {
    if (ok)
        return value;
    json_decref(value);
    return NULL;
}

#endif
