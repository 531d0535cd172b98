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
    if (name)
        snprintf(name, n + 1, "%s", of->name);
    return name;
}

static sa_trace_unit *add_unit(witness *w, const param *of, int n, int width) {
    SA_ASSERT(w->n_units < TRACE_UNITS_MAX);
    sa_trace_unit *u = &w->unit[w->n_units++];
    float *numbers = arena_alloc(w->memory, 4 * (size_t)n * (size_t)width * sizeof *numbers);
    long all = (long)n * width;
    *u = (sa_trace_unit){.name = unit_name(w, of), .n = n, .width = width};
    if (!u->name || !numbers) {
        w->failed = true;
        return NULL;
    }
    memset(numbers, 0, 4 * (size_t)all * sizeof *numbers);
    u->update = numbers;
    u->reset = numbers + all;
    u->candidate = numbers + 2 * all;
    u->state = numbers + 3 * all;
    return u;
}

/* The unit that a parameter belongs to; NULL without memory. */
static sa_trace_unit *unit_of(witness *w, const param *of, const tensor *x, int width) {
    size_t n = strrchr(of->name, '.') ? (size_t)(strrchr(of->name, '.') - of->name) : strlen(of->name);
    if (w->failed || !w->unit)
        return NULL;
    for (int i = 0; i < w->n_units; i++)
        if (strncmp(w->unit[i].name, of->name, n) == 0 && w->unit[i].name[n] == '\0')
            return &w->unit[i];
    return add_unit(w, of, w->positions ? w->positions : (int)tensor_rows(x), width);
}

/* Rows of x, columns from ... from + width - 1, go to the places of a unit; in an encoder to the place of the loop.
 */
static void keep_rows(const witness *w, const tensor *x, int from, int width, float *to) {
    long rows = w->positions ? 1 : tensor_rows(x), first = w->positions ? w->t->loop_j : 0;
    for (long i = 0; i < rows; i++)
        for (int k = 0; k < width; k++)
            to[(first + i) * width + k] = (float)x->data[i * tensor_cols(x) + from + k];
}

static void see_gates(witness *w, const param *of, const tensor *x) {
    int width = tensor_cols(x) / 2;
    sa_trace_unit *u = unit_of(w, of, x, width);
    if (!u)
        return;
    keep_rows(w, x, 0, width, u->update);
    keep_rows(w, x, width, width, u->reset);
}

static void see_candidate(witness *w, const param *of, const tensor *x) {
    sa_trace_unit *u = unit_of(w, of, x, tensor_cols(x));
    if (u)
        keep_rows(w, x, 0, u->width, u->candidate);
}

static void see_state(witness *w, const param *of, const tensor *x) {
    sa_trace_unit *u = unit_of(w, of, x, tensor_cols(x));
    if (u)
        keep_rows(w, x, 0, u->width, u->state);
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
