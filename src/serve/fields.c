#include "serve/fields.h"

#include "base/error.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define SEARCH(name, kind)                                                                                         \
    { #name, kind, offsetof(sa_translate_options, name) }
#define RANKING                                                                                                    \
    SEARCH(normalize, FIELD_FLOAT), SEARCH(length_penalty, FIELD_FLOAT), SEARCH(coverage_penalty, FIELD_FLOAT)
const field search_fields[] = {SEARCH(beam_size, FIELD_INT),
                               SEARCH(n_best, FIELD_INT),
                               RANKING,
                               SEARCH(max_length_factor, FIELD_FLOAT),
                               SEARCH(min_length, FIELD_INT),
                               SEARCH(no_repeat_ngram, FIELD_INT),
                               SEARCH(forbid_unk, FIELD_BOOL),
                               SEARCH(replace_unk, FIELD_BOOL),
                               SEARCH(sample, FIELD_BOOL),
                               SEARCH(temperature, FIELD_FLOAT),
                               SEARCH(top_k, FIELD_INT),
                               SEARCH(seed, FIELD_UINT64),
                               SEARCH(split_sentences, FIELD_BOOL),
                               SEARCH(max_length, FIELD_INT),
                               SEARCH(word_scores, FIELD_BOOL),
                               SEARCH(symbols, FIELD_BOOL),
                               {"alignment", FIELD_BOOL, offsetof(sa_translate_options, attention)},
                               {0}};
const field score_fields[] = {
    RANKING, SEARCH(max_length, FIELD_INT), SEARCH(word_scores, FIELD_BOOL), SEARCH(symbols, FIELD_BOOL), {0}};

#define ALIGNMENT(name, member, kind)                                                                              \
    { name, kind, offsetof(sa_alignment_options, member) }
const field alignment_fields[] = {ALIGNMENT("align_shift", shift, FIELD_INT),
                                  ALIGNMENT("align_subwords", subwords, FIELD_BOOL),
                                  ALIGNMENT("align_threshold", threshold, FIELD_FLOAT),
                                  {0}};

#define EXPLAIN(name, kind)                                                                                        \
    { #name, kind, offsetof(sa_explain_options, name) }
const field explain_fields[] = {EXPLAIN(permutations, FIELD_INT),    EXPLAIN(adversaries, FIELD_INT),
                                EXPLAIN(adversary_steps, FIELD_INT), EXPLAIN(epsilon, FIELD_DOUBLE),
                                EXPLAIN(seed, FIELD_UINT64),         EXPLAIN(max_length, FIELD_INT),
                                EXPLAIN(symbols, FIELD_BOOL),        {0}};

/* ---- values ------------------------------------------------------------------------------------------ */

static bool read_bool(json_t *value, void *target) {
    *(bool *)target = json_is_true(value);
    return json_is_boolean(value);
}

static bool read_int(json_t *value, void *target) {
    json_int_t x = json_integer_value(value);
    bool fits = json_is_integer(value) && x >= INT_MIN && x <= INT_MAX;
    *(int *)target = fits ? (int)x : 0;
    return fits;
}

static bool read_uint64(json_t *value, void *target) {
    json_int_t x = json_integer_value(value);
    *(uint64_t *)target = x >= 0 ? (uint64_t)x : 0;
    return json_is_integer(value) && x >= 0;
}

static bool read_float(json_t *value, void *target) {
    double x = json_number_value(value);
    bool fits = json_is_number(value) && fabs(x) <= (double)FLT_MAX;
    *(float *)target = fits ? (float)x : 0;
    return fits;
}

static bool read_double(json_t *value, void *target) {
    *(double *)target = json_number_value(value);
    return json_is_number(value);
}

static const struct {
    bool (*read)(json_t *value, void *target);
    size_t size;
    const char *wanted;
} kinds[] = {[FIELD_BOOL] = {read_bool, sizeof(bool), "true or false"},
             [FIELD_INT] = {read_int, sizeof(int), "a whole number"},
             [FIELD_UINT64] = {read_uint64, sizeof(uint64_t), "a whole number from 0"},
             [FIELD_FLOAT] = {read_float, sizeof(float), "a number"},
             [FIELD_DOUBLE] = {read_double, sizeof(double), "a number"}};

sa_status fields_read(const field *table, json_t *object, void *target, sa_error *error) {
    for (const field *f = table; f->name; f++) {
        json_t *value = json_object_get(object, f->name);
        if (value && !kinds[f->kind].read(value, (char *)target + f->offset))
            return sa_fail(error, SA_USAGE, "\"%s\" must be %s", f->name, kinds[f->kind].wanted);
    }
    return SA_OK;
}

bool fields_equal(const field *table, const void *a, const void *b) {
    bool equal = true;
    for (const field *f = table; f->name; f++)
        equal = equal && memcmp((const char *)a + f->offset, (const char *)b + f->offset, kinds[f->kind].size) == 0;
    return equal;
}

static bool in_table(const field *table, const char *name) {
    const field *f = table;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name != NULL;
}

sa_status fields_known(json_t *object, const field *const *tables, int n, const char *const *names,
                       sa_error *error) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        bool known = false;
        for (int i = 0; i < n; i++)
            known = known || in_table(tables[i], name);
        for (const char *const *at = names; *at; at++)
            known = known || strcmp(*at, name) == 0;
        if (!known)
            return sa_fail(error, SA_USAGE, "there is no option \"%.100s\" here", name);
    }
    return SA_OK;
}
