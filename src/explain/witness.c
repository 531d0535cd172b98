#include "explain/witness.h"

#include <stdio.h>
#include <string.h>

float *trace_copy(arena *memory, const real *x, long n, bool *failed) {
    float *out = x ? arena_alloc(memory, (size_t)n * sizeof *out) : NULL;
    *failed = *failed || (x && !out);
    for (long k = 0; out && k < n; k++)
        out[k] = (float)x[k];
    return out;
}

/* ---- gated units ------------------------------------------------------------------------------------- */

/* "decoder.gru.U" is a parameter of "decoder.gru". */
static const char *unit_name(witness *w, const param *of) {
    const char *end = strrchr(of->name, '.');
    size_t n = end ? (size_t)(end - of->name) : strlen(of->name);
    char *name = arena_alloc(w->memory, n + 1);
    w->failed = w->failed || !name;
    if (name)
        snprintf(name, n + 1, "%s", of->name);
    return name;
}

static bool make_room(witness *w) {
    if (w->n_units < w->capacity)
        return true;
    int capacity = w->capacity ? 2 * w->capacity : 4;
    sa_trace_unit *more = arena_alloc(w->memory, (size_t)capacity * sizeof *more);
    if (!more) {
        w->failed = true;
        return false;
    }
    if (w->n_units)
        memcpy(more, w->unit, (size_t)w->n_units * sizeof *more);
    w->unit = more;
    w->capacity = capacity;
    return true;
}

/* The unit that a parameter belongs to, which may be new; NULL where units are not wanted, or without memory. */
static sa_trace_unit *unit_of(witness *w, const param *of, const tensor *x, int width) {
    if (!w->keeps_units)
        return NULL;
    const char *name = unit_name(w, of);
    if (!name)
        return NULL;
    for (int i = 0; i < w->n_units; i++)
        if (strcmp(w->unit[i].name, name) == 0)
            return &w->unit[i];
    if (!make_room(w))
        return NULL;
    sa_trace_unit *u = &w->unit[w->n_units++];
    *u = (sa_trace_unit){.name = name, .n = w->positions ? w->positions : (int)tensor_rows(x), .width = width};
    return u;
}

/* Rows of x, columns from ... from + width - 1, go to the places of a unit; in an encoder to the place of the loop.
 */
static void keep_rows(witness *w, const sa_trace_unit *u, const tensor *x, int from, float **to) {
    long rows = w->positions ? 1 : tensor_rows(x), first = w->positions ? w->t->loop_j : 0;
    if (!*to)
        *to = arena_alloc(w->memory, (size_t)u->n * (size_t)u->width * sizeof **to);
    w->failed = w->failed || !*to;
    for (long i = 0; *to && i < rows; i++)
        for (int k = 0; k < u->width; k++)
            (*to)[(first + i) * u->width + k] = (float)x->data[i * tensor_cols(x) + from + k];
}

static void see_gates(witness *w, const param *of, const tensor *x) {
    sa_trace_unit *u = unit_of(w, of, x, tensor_cols(x) / 2);
    if (!u)
        return;
    keep_rows(w, u, x, 0, &u->update);
    keep_rows(w, u, x, u->width, &u->reset);
}

static void see_candidate(witness *w, const param *of, const tensor *x) {
    sa_trace_unit *u = unit_of(w, of, x, tensor_cols(x));
    if (u)
        keep_rows(w, u, x, 0, &u->candidate);
}

static void see_state(witness *w, const param *of, const tensor *x) {
    sa_trace_unit *u = unit_of(w, of, x, tensor_cols(x));
    if (u)
        keep_rows(w, u, x, 0, &u->state);
}

/* ---- attention and readout --------------------------------------------------------------------------- */

static void see_energies(witness *w, const param *of, const tensor *x) {
    (void)of;
    w->looked = true;
    for (long j = 0; w->energies && j < tensor_count(x); j++)
        w->energies[j] = (float)x->data[j];
}

/* Of the additive score alone the vectors are shown. */
static void see_query(witness *w, const param *of, const tensor *x) {
    if (!w->step || !of)
        return;
    w->step->dim_att = tensor_cols(x);
    w->step->query = trace_copy(w->memory, x->data, tensor_count(x), &w->failed);
    w->step->v_a = trace_copy(w->memory, of->value, param_count(of), &w->failed);
}

static void see_keys(witness *w, const param *of, const tensor *x) {
    if (w->step && of)
        w->step->keys = trace_copy(w->memory, x->data, tensor_count(x), &w->failed);
}

static void see_sum(witness *w, const param *of, const tensor *x) {
    if (w->step && of)
        w->step->sum = trace_copy(w->memory, x->data, tensor_count(x), &w->failed);
}

static void see_tanh(witness *w, const param *of, const tensor *x) {
    if (w->step && of)
        w->step->squashed = trace_copy(w->memory, x->data, tensor_count(x), &w->failed);
}

static void see_maxout(witness *w, const param *of, const tensor *x) {
    (void)of;
    if (w->step)
        w->step->before_maxout = trace_copy(w->memory, x->data, tensor_count(x), &w->failed);
}

/* ---- the witness ------------------------------------------------------------------------------------- */

static void see(void *user, const char *part, const param *of, const tensor *x) {
    static const struct {
        const char *part;
        void (*take)(witness *w, const param *of, const tensor *x);
    } takers[] = {
        {"gates", see_gates},       {"candidate", see_candidate}, {"state", see_state},
        {"energies", see_energies}, {"query", see_query},         {"keys", see_keys},
        {"sum", see_sum},           {"tanh", see_tanh},           {"maxout", see_maxout},
    };
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(takers[i].part, part) == 0)
            takers[i].take(user, of, x);
}

void witness_begin(witness *w, tape *t, arena *memory) {
    w->of_tape = (tape_witness){see, w};
    w->t = t;
    w->memory = memory;
    t->witness = &w->of_tape;
}

void witness_end(witness *w) {
    w->t->witness = NULL;
}
