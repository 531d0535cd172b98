#include "explain/importance.h"

#include "explain/copies.h"
#include "explain/distance.h"
#include "math/vecmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- gradient ---------------------------------------------------------------------------------------- */

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

bool importance_gradient(const forced *f, float *out) {
    static const attention_control detached = {.detached = true};
    copies c;
    for (int first = 0; first < f->target.length; first += COPIES) {
        if (!copies_differentiate(f, first, &detached, &c))
            return false;
        for (int k = 0; k < c.n; k++)
            read_gradient(&c, k, f->source.length, out + (long)(first + k) * f->source.length);
    }
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
    return copies_pass(f, n, source, target, &c) && output_visit(f->m, f->t, c.hidden, measure_omission, &visit);
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
