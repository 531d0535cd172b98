/* What was found out about a pair, as JSON. */
#include "base/error.h"
#include "base/json_build.h"

#include <softalign/explanation.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *row_of(const float *row, int n, bool *ok) {
    json_t *array = json_array();
    for (int j = 0; j < n; j++)
        append(array, number_json((double)row[j]), ok);
    return array;
}

/* "attention, gradient" */
static void name_pair(int k, char name[64]) {
    snprintf(name, 64, "%s, %s", sa_importance_name(sa_tau_pair[k][0]), sa_importance_name(sa_tau_pair[k][1]));
}

static json_t *correlations_of(const sa_correlation *tau, bool *ok) {
    json_t *object = json_object();
    for (int k = 0; k < SA_TAU_PAIRS; k++) {
        char name[64];
        name_pair(k, name);
        json_t *one = json_object();
        put(one, "tau", number_json(tau[k].tau), ok);
        put(one, "p", number_json(tau[k].p), ok);
        put(object, name, one, ok);
    }
    return object;
}

static json_t *distances_of(double jsd, double tvd, bool *ok) {
    json_t *object = json_object();
    put(object, "jsd", number_json(jsd), ok);
    put(object, "tvd", number_json(tvd), ok);
    return object;
}

static json_t *symbol_of(const sa_explanation *x, int i, bool *ok) {
    int S = x->source_length;
    json_t *object = json_object();
    put(object, "symbol", json_string(x->target_symbol[i]), ok);
    put(object, "log_p", number_json(x->log_p[i]), ok);
    put(object, "largest", number_json(x->largest[i]), ok);
    for (int k = 0; k < SA_IMPORTANCES; k++)
        put(object, sa_importance_name((sa_importance)k), row_of(x->importance[k] + (size_t)i * (size_t)S, S, ok),
            ok);
    put(object, "tau", correlations_of(x->tau + (size_t)i * SA_TAU_PAIRS, ok), ok);
    if (x->permuted != NULL)
        put(object, "permuted", number_json(x->permuted[i]), ok);
    if (x->adversary != NULL) {
        json_t *adversary = distances_of(x->adversary_jsd[i], x->adversary_tvd[i], ok);
        put(adversary, "attention", row_of(x->adversary + (size_t)i * (size_t)S, S, ok), ok);
        put(object, "adversary", adversary, ok);
    }
    if (x->others > 0) {
        json_t *others = json_array();
        for (int k = 0; k < x->others; k++) {
            size_t at = (size_t)k * (size_t)x->target_length + (size_t)i;
            append(others, distances_of(x->other_jsd[at], x->other_tvd[at], ok), ok);
        }
        put(object, "others", others, ok);
    }
    return object;
}

static json_t *record_of(const sa_explanation *x, uint64_t line, int max_length, bool *ok) {
    char reason[64] = "a side is blank";
    json_t *object = json_object();
    put(object, "line", json_integer((json_int_t)line), ok);
    if (x->target_length == 0) {
        if (x->too_long)
            snprintf(reason, sizeof reason, "a side is longer than %d symbols", max_length);
        put(object, "left_out", json_string(reason), ok);
        return object;
    }
    put(object, "source", strings_json(x->source_symbol, x->source_length, ok), ok);
    json_t *symbols = json_array();
    for (int i = 0; i < x->target_length; i++)
        append(symbols, symbol_of(x, i, ok), ok);
    put(object, "target", symbols, ok);
    return object;
}

sa_status sa_explanation_json(const sa_explanation *x, uint64_t line, int max_length, char **out, sa_error *error) {
    bool ok = true;
    json_t *object = finished_json(record_of(x, line, max_length, &ok), ok);
    *out = object ? json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(7)) : NULL;
    json_decref(object);
    return *out ? SA_OK : sa_fail_memory(error, 0);
}
