/* A trace as JSON, as the server and the program give it out. */
#include "base/error.h"

#include <jansson.h>
#include <math.h>
#include <softalign/trace.h>
#include <string.h>

/* Jansson's functions take NULL for a value without memory and fail: one flag is enough. */
static void put(json_t *object, const char *key, json_t *value, bool *ok) {
    *ok = json_object_set_new(object, key, value) == 0 && *ok;
}

static void append(json_t *array, json_t *value, bool *ok) {
    *ok = json_array_append_new(array, value) == 0 && *ok;
}

static json_t *number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *vector(const float *x, long n, bool *ok) {
    json_t *array = json_array();
    for (long k = 0; k < n; k++)
        append(array, number((double)x[k]), ok);
    return array;
}

/* Each of these leaves out what is NULL. */
static void put_vector(json_t *object, const char *key, const float *x, long n, bool *ok) {
    if (x)
        put(object, key, vector(x, n, ok), ok);
}

static void put_matrix(json_t *object, const char *key, const float *x, long rows, long cols, bool *ok) {
    if (!x)
        return;
    json_t *array = json_array();
    for (long i = 0; i < rows; i++)
        append(array, vector(x + i * cols, cols, ok), ok);
    put(object, key, array, ok);
}

static void put_texts(json_t *object, const char *key, char *const *text, int n, bool *ok) {
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        append(array, json_string(text[i]), ok);
    put(object, key, array, ok);
}

/* ---- parts ------------------------------------------------------------------------------------------- */

static const sa_trace_unit *find_unit(const sa_trace *t, const char *name) {
    for (int i = 0; i < t->n_units; i++)
        if (strcmp(t->unit[i].name, name) == 0)
            return &t->unit[i];
    return NULL;
}

static const char *const directions[][2] = {{"forward", "encoder.forward"}, {"backward", "encoder.backward"}};

static void put_annotations(json_t *object, const sa_trace *t, bool *ok) {
    if (!t->annotations)
        return;
    json_t *annotations = json_object();
    for (int k = 0; k < 2; k++) {
        const sa_trace_unit *u = find_unit(t, directions[k][1]);
        if (u)
            put_matrix(annotations, directions[k][0], u->state, u->n, u->width, ok);
    }
    if (json_object_size(annotations) == 0)
        put_matrix(annotations, "values", t->annotations, t->source_length, t->dim_annotation, ok);
    put(object, "annotations", annotations, ok);
}

static void put_gates(json_t *object, const sa_trace_unit *u, bool *ok) {
    put_matrix(object, "update", u->update, u->n, u->width, ok);
    put_matrix(object, "reset", u->reset, u->n, u->width, ok);
    put_matrix(object, "candidate", u->candidate, u->n, u->width, ok);
}

static void put_encoder_gates(json_t *object, const sa_trace *t, bool *ok) {
    json_t *gates = json_object();
    for (int k = 0; k < 2; k++) {
        const sa_trace_unit *u = find_unit(t, directions[k][1]);
        if (!u)
            continue;
        json_t *one = json_object();
        put_gates(one, u, ok);
        put(gates, directions[k][0], one, ok);
    }
    put(object, "gates", gates, ok);
}

/* A decoder's unit has one place, that of coverage one for each position. */
static json_t *unit_of(const sa_trace_unit *u, bool *ok) {
    json_t *object = json_object();
    const struct {
        const char *key;
        const float *x;
    } part[] = {{"update", u->update}, {"reset", u->reset}, {"candidate", u->candidate}, {"state", u->state}};
    put(object, "name", json_string(u->name), ok);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        if (u->n == 1)
            put_vector(object, part[k].key, part[k].x, u->width, ok);
        else
            put_matrix(object, part[k].key, part[k].x, u->n, u->width, ok);
    return object;
}

static void put_likely(json_t *object, const char *key, const sa_likely *likely, int n, bool *ok) {
    if (!likely)
        return;
    json_t *array = json_array();
    for (int k = 0; k < n; k++) {
        json_t *one = json_object();
        put(one, "symbol", json_string(likely[k].symbol), ok);
        put(one, "p", number(likely[k].p), ok);
        append(array, one, ok);
    }
    put(object, key, array, ok);
}

static json_t *step_of(const sa_trace *t, const sa_trace_step *s, bool *ok) {
    json_t *object = json_object(), *units = json_array();
    int S = t->source_length, A = s->dim_att;
    put(object, "i", json_integer(s->step), ok);
    put_vector(object, "Wa_s", s->query, A, ok);
    put_matrix(object, "Ua_h", s->keys, S, A, ok);
    put_matrix(object, "sum", s->sum, S, A, ok);
    put_matrix(object, "tanh", s->squashed, S, A, ok);
    put_vector(object, "v_a", s->v_a, A, ok);
    put_vector(object, "energy", s->energy, S, ok);
    put_vector(object, "weights", s->weights, S, ok);
    put_vector(object, "context", s->context, s->dim_context, ok);
    put_vector(object, "state", s->state, s->dim_state, ok);
    for (int k = 0; k < s->n_units; k++)
        append(units, unit_of(&s->unit[k], ok), ok);
    put(object, "units", units, ok);
    put_vector(object, "before_maxout", s->before_maxout, 2L * s->dim_readout, ok);
    put_vector(object, "readout", s->readout, s->dim_readout, ok);
    put_likely(object, "next", s->next, s->n_next, ok);
    put_likely(object, "next_original", s->next_original, s->n_next, ok);
    return object;
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static void put_names(json_t *object, const sa_trace *t, bool *ok) {
    json_t *words = json_array(), *log_p = json_array();
    put(object, "preset", json_string(t->preset), ok);
    put(object, "decoder_order", t->decoder_order ? json_string(t->decoder_order) : json_null(), ok);
    put_texts(object, "source_words", t->source_word, t->n_words, ok);
    put_texts(object, "source_symbols", t->source_symbol, t->source_length, ok);
    for (int j = 0; j < t->source_length; j++)
        append(words, json_integer(t->word_of_symbol[j]), ok);
    put(object, "source_word", words, ok);
    put(object, "target", json_string(t->target), ok);
    put_texts(object, "target_symbols", t->target_symbol, t->target_length, ok);
    for (int i = 0; i < t->target_length; i++)
        append(log_p, number(t->log_p[i]), ok);
    put(object, "log_p", log_p, ok);
}

sa_status sa_trace_json(const sa_trace *t, bool gates, char **out, sa_error *error) {
    bool ok = true;
    int S = t->source_length, T = t->target_length;
    json_t *object = json_object();
    put_names(object, t, &ok);
    put_annotations(object, t, &ok);
    if (gates)
        put_encoder_gates(object, t, &ok);
    put_vector(object, "start", t->start, t->dim_start, &ok);
    put_matrix(object, "sensitivity", t->sensitivity, S, S, &ok);
    put_matrix(object, "weights", t->weights, T, S, &ok);
    put_matrix(object, "energies", t->energies, T, S, &ok);
    put_matrix(object, "annotation_gradient", t->annotation_gradient, T, S, &ok);
    put_matrix(object, "source_gradient", t->source_gradient, T, S, &ok);
    if (t->step)
        put(object, "step", step_of(t, t->step, &ok), &ok);
    *out = ok ? json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(7)) : NULL;
    json_decref(object);
    return *out ? SA_OK : sa_fail_memory(error, 0);
}
