#include "explain/importance.h"

#include "explain/distance.h"
#include "math/vecmath.h"
#include "op/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies of a sentence that are passed together. */
enum { COPIES = 32 };

static const regularisation none;

void importance_attention(const forced *f, float *out) {
    long n = (long)f->target.length * f->source.length;
    for (long k = 0; k < n; k++)
        out[k] = (float)f->weights[k];
}

void importance_carried(const forced *f, float *out) {
    int S = f->source.length, D = tensor_cols(f->h.h.values);
    for (int j = 0; j < S; j++) {
        double norm = sqrt(vec_sum_squares(f->h.h.values->data + (long)j * D, D));
        for (int i = 0; i < f->target.length; i++)
            out[(long)i * S + j] = (float)((double)f->weights[(long)i * S + j] * norm);
    }
}

/* A training pass without its loss: the hidden layer of all steps. */
typedef struct copies {
    int n;
    source_batch source;
    target_batch target;
    encoding h;
    tensor *hidden;
} copies;

static bool pass(const forced *f, int n, const sentence *source, const sentence *target, copies *out) {
    tape *t = f->t;
    step_words words;
    decoder_state state, end;
    step_output shown;
    out->n = n;
    if (!source_batch_make(t, n, source, &out->source) ||
        !target_batch_make(t, n, target, &out->source, &out->target) ||
        !model_encode(f->m, t, &out->source, &none, &out->h) ||
        !model_target_words(f->m, t, &out->target, &none, &words) ||
        !model_start(f->m, t, &out->h, n, out->target.source, &state) ||
        !model_steps(f->m, t, &out->h, &words, &none, &state, &end, &shown))
        return false;
    out->hidden = model_readout(f->m, t, &shown, &none, words.number);
    return !t->failed;
}

/* ---- gradient ---------------------------------------------------------------------------------------- */

typedef struct gradient_visit {
    const forced *f;
    const copies *c;
    int first; /* target word of copy 0 */
} gradient_visit;

/* d log p(y) / d scores */
static void differentiate_log(void *user, int row, real *p) {
    const gradient_visit *v = user;
    int y = v->f->target.ids[v->first + v->c->target.number[row]];
    for (int k = 0; k < v->f->V; k++)
        p[k] = -p[k];
    p[y] += 1;
}

/* The last step of each copy, in the order of rows of the first step. */
static tensor *last_steps(tape *t, const copies *c) {
    int *row = tape_bytes(t, (size_t)c->n * sizeof *row);
    for (int r = 0; row && r < c->n; r++)
        row[r] = c->target.steps.at[c->target.lengths[r] - 1] + r;
    return row ? op_gather(t, c->hidden, NULL, c->n, row) : NULL;
}

/* Of copy k, whose positions are as many as those of all others. */
static void read_gradient(const copies *c, int k, int S, float *out) {
    const tensor *x = c->h.x;
    int m = tensor_cols(x);
    double sum = 0;
    for (int j = 0; j < S; j++) {
        long at = ((long)c->source.steps.at[j] + c->source.row[k]) * m;
        out[j] = tensor_has_grad(x) ? (float)fabs((double)vec_dot(x->data + at, x->grad + at, m)) : 0;
        sum += (double)out[j];
    }
    for (int j = 0; j < S && sum > 0; j++)
        out[j] = (float)((double)out[j] / sum);
}

/* Copy k of the sentence ends with target word first + k, whose log p is differentiated. */
static bool gradient_of(const forced *f, int first, int n, float *out) {
    static const attention_control detached = {.detached = true};
    sentence source[COPIES], target[COPIES];
    copies c;
    gradient_visit visit = {f, &c, first};
    for (int k = 0; k < n; k++) {
        source[k] = f->source;
        target[k] = (sentence){f->target.ids, first + k + 1};
    }
    forced_rewind(f, true);
    f->t->attention = &detached;
    bool ok = pass(f, n, source, target, &c);
    f->t->attention = NULL;
    if (!ok || !output_visit(f->m, f->t, last_steps(f->t, &c), differentiate_log, &visit))
        return false;
    tape_backward(f->t);
    for (int k = 0; k < n && !f->t->failed; k++)
        read_gradient(&c, k, f->source.length, out + (long)(first + k) * f->source.length);
    return !f->t->failed;
}

bool importance_gradient(const forced *f, float *out) {
    for (int i = 0; i < f->target.length; i += COPIES)
        if (!gradient_of(f, i, f->target.length - i < COPIES ? f->target.length - i : COPIES, out))
            return false;
    return true;
}

/* ---- leave one out ----------------------------------------------------------------------------------- */

typedef struct omission_visit {
    const forced *f;
    const copies *c;
    int first; /* word that copy 0 leaves out */
    float *out;
} omission_visit;

/* All copies are of one length: every step has a row for each. */
static void measure_omission(void *user, int row, real *p) {
    const omission_visit *v = user;
    int i = row / v->c->n, k = v->c->target.number[row % v->c->n];
    v->out[(long)i * v->f->source.length + v->first + k] =
        (float)distance_tv(p, v->f->p + (long)i * v->f->V, v->f->V);
}

static bool omit(const forced *f, int first, int n, int *ids, float *out) {
    int S = f->source.length;
    sentence source[COPIES], target[COPIES];
    copies c;
    omission_visit visit = {f, &c, first, out};
    for (int k = 0; k < n; k++) {
        int *shorter = ids + (long)k * S, omitted = first + k;
        memcpy(shorter, f->source.ids, (size_t)omitted * sizeof *ids);
        memcpy(shorter + omitted, f->source.ids + omitted + 1, (size_t)(S - omitted - 1) * sizeof *ids);
        source[k] = (sentence){shorter, S - 1};
        target[k] = f->target;
    }
    forced_rewind(f, false);
    return pass(f, n, source, target, &c) && output_visit(f->m, f->t, c.hidden, measure_omission, &visit);
}

bool importance_leave_one_out(const forced *f, float *out) {
    int S = f->source.length;
    int *ids = malloc((size_t)COPIES * (size_t)S * sizeof *ids);
    bool ok = ids != NULL;
    if (!ok)
        tape_fail(f->t);
    for (int i = 0; i < f->target.length; i++)
        out[(long)i * S + S - 1] = NAN;
    for (int j = 0; j < S - 1 && ok; j += COPIES)
        ok = omit(f, j, S - 1 - j < COPIES ? S - 1 - j : COPIES, ids, out);
    free(ids);
    return ok;
}
