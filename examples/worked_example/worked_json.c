#include "worked_json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sa_status trace_step(sa_trace **out, const sa_model *m, int step, sa_error *error) {
    sa_trace_options o;
    sa_trace_options_init(&o);
    o.step = step;
    return sa_trace_make(out, m, "red house", "maison rouge", &o, error);
}

sa_status worked_trace(sa_trace *step[WORKED_T], sa_order order, sa_error *error) {
    sa_model *m = NULL;
    for (int i = 0; i < WORKED_T; i++)
        step[i] = NULL;
    sa_status status = worked_model_make(&m, order, error);
    for (int i = 0; i < WORKED_T && status == SA_OK; i++)
        status = trace_step(&step[i], m, i, error);
    sa_model_free(m);
    return status;
}

void worked_trace_free(sa_trace *step[WORKED_T]) {
    for (int i = 0; i < WORKED_T; i++)
        sa_trace_free(step[i]);
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

/* Five decimals are enough to teach with, and the same on every processor but for rounding at the edge. */
static void round_all(json_t *value) {
    size_t i;
    const char *key;
    json_t *member;
    if (json_is_real(value)) {
        double x = round(json_real_value(value) * 1e5) / 1e5;
        json_real_set(value, x == 0 ? 0 : x);
    }
    json_array_foreach(value, i, member) round_all(member);
    json_object_foreach(value, key, member) round_all(member);
}

static json_t *parsed(const sa_trace *t, sa_error *error) {
    char *text = NULL;
    json_t *out = NULL;
    if (sa_trace_json(t, true, &text, error) == SA_OK)
        out = json_loads(text, 0, NULL);
    free(text);
    return out;
}

/* The trace of the first step, with those of all in "steps" in the place of its own. NULL without memory. */
static json_t *order_of(sa_order order, sa_error *error) {
    sa_trace *step[WORKED_T];
    json_t *steps = json_array(), *out = NULL;
    bool ok = worked_trace(step, order, error) == SA_OK;
    for (int i = 0; i < WORKED_T && ok; i++) {
        json_t *one = parsed(step[i], error);
        ok = json_array_append(steps, json_object_get(one, "step")) == 0;
        if (i == 0)
            out = json_incref(one);
        json_decref(one);
    }
    worked_trace_free(step);
    ok = ok && json_object_del(out, "step") == 0 && json_object_set(out, "steps", steps) == 0;
    json_decref(steps);
    if (!ok) {
        json_decref(out);
        return NULL;
    }
    round_all(out);
    return out;
}

static json_t *parameter_of(const sa_model *m, int index) {
    sa_parameter p = sa_model_parameter(m, index);
    const float *value = worked_values(p.name);
    json_t *rows = json_array();
    for (int64_t i = 0; i < (p.rank == 2 ? p.dim[0] : 1); i++) {
        int64_t cols = p.rank == 2 ? p.dim[1] : p.dim[0];
        json_t *row = json_array();
        for (int64_t k = 0; k < cols; k++)
            json_array_append_new(row, json_real((double)value[i * cols + k]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *parameters(sa_error *error) {
    sa_model *m;
    json_t *out = json_object();
    if (worked_model_make(&m, SA_LOOK_FIRST, error) != SA_OK)
        return out;
    for (int i = 0; i < sa_model_parameter_count(m); i++) {
        const char *name = sa_model_parameter(m, i).name;
        if (worked_values(name))
            json_object_set_new(out, name, parameter_of(m, i));
    }
    sa_model_free(m);
    return out;
}

sa_status worked_json_print(sa_error *error) {
    json_t *object = json_object(), *orders = json_object();
    error->status = SA_OK;
    json_object_set_new(object, "parameters", parameters(error));
    bool ok = json_object_set_new(orders, "look-first", order_of(SA_LOOK_FIRST, error)) == 0 &&
              json_object_set_new(orders, "update-first", order_of(SA_UPDATE_FIRST, error)) == 0;
    json_object_set_new(object, "orders", orders);
    ok = ok && json_dumpf(object, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(7)) == 0;
    puts("");
    json_decref(object);
    if (!ok && error->status == SA_OK)
        *error = (sa_error){SA_MEMORY, "not enough memory"};
    return error->status;
}
