#include "op/attention_hard.h"

#include "base/rng.h"
#include "math/vecmath.h"

#include <math.h>
#include <string.h>

enum { SOFT = -1 }; /* in the place of a place */

typedef struct hard_record {
    op_record record;
    hard_form form;
    tensor *z, *soft, *weights;
    annotations h;
    const int *source;
    int *place; /* (rows) */
} hard_record;

static int length_of(const annotations *h, const int *source, int i) {
    return h->lengths[source ? source[i] : i];
}

static real *row_of_place(const annotations *h, const int *source, int i, int place, real *rows) {
    return rows + ((long)h->at[source ? source[i] : i] + place) * tensor_cols(h->values);
}

static int largest(const real *a, int n) {
    int best = 0;
    for (int j = 1; j < n; j++)
        best = a[j] > a[best] ? j : best;
    return best;
}

/* A place by the weights; rounding may leave their sum below 1. */
static int drawn(const real *a, int n, double u) {
    int j = 0;
    for (double sum = (double)a[0]; sum <= u && j + 1 < n; sum += (double)a[j])
        j++;
    return j;
}

static int place_of(tape *t, const hard_form *f, int i, const real *a, int n) {
    if (!f->draws)
        return largest(a, n);
    uint64_t sentence = (uint64_t)(t->first_sentence + f->number[i]);
    rng whole = rng_at(t->seed, t->update, sentence, f->site);
    if (rng_uniform(&whole) < f->expected)
        return SOFT;
    rng random = rng_at(t->seed, t->update, sentence, f->site + ((uint64_t)(f->step + 1) << 32));
    return drawn(a, n, rng_uniform(&random));
}

/* Of what has no weight no logarithm is taken: nobody looks there, and it does not change. */
static void teach_weights(const hard_record *r, int i, int n, int place) {
    const hard_form *f = &r->form;
    const real *a = r->weights->data + (long)i * tensor_cols(r->weights);
    real *da = r->weights->grad + (long)i * tensor_cols(r->weights);
    if (a[place] > 0)
        da[place] += (real)(f->scale * f->reward * (f->nll[f->number[i]] - f->baseline) / (double)a[place]);
    for (int j = 0; f->entropy > 0 && j < n; j++)
        if (a[j] > 0)
            da[j] += (real)(f->scale * f->entropy * (log((double)a[j]) + 1));
}

static void hard_backward(tape *t, op_record *record) {
    (void)t;
    hard_record *r = (hard_record *)record;
    int D = tensor_cols(r->z);
    bool any = tensor_has_grad(r->z);
    tensor_grad_clear_once(r->soft);
    tensor_grad_clear_once(r->weights);
    tensor_grad_clear_once(r->h.values);
    for (int i = 0; i < (int)tensor_rows(r->z); i++) {
        const real *dz = r->z->grad + (long)i * D;
        int place = r->place[i];
        if (any)
            vec_add(place == SOFT ? r->soft->grad + (long)i * D
                                  : row_of_place(&r->h, r->source, i, place, r->h.values->grad),
                    dz, D);
        if (place != SOFT && r->form.draws)
            teach_weights(r, i, length_of(&r->h, r->source, i), place);
    }
}

tensor *attention_hard(tape *t, const hard_form *form, tensor *soft, tensor *weights, const annotations *h,
                       const int *source) {
    if (!soft || !weights)
        return tape_fail(t);
    int rows = (int)tensor_rows(soft), D = tensor_cols(soft), S = tensor_cols(weights);
    tensor *z = tape_like(t, soft);
    int *place = tape_bytes(t, (size_t)rows * sizeof *place);
    if (!z || !place)
        return NULL;
    for (int i = 0; i < rows; i++) {
        place[i] = place_of(t, form, i, weights->data + (long)i * S, length_of(h, source, i));
        const real *from =
            place[i] == SOFT ? soft->data + (long)i * D : row_of_place(h, source, i, place[i], h->values->data);
        memcpy(z->data + (long)i * D, from, (size_t)D * sizeof *from);
    }
    hard_record *r = tape_record(t, sizeof *r, hard_backward);
    if (r)
        *r = (hard_record){r->record, *form, z, soft, weights, *h, source, place};
    return t->failed ? NULL : z;
}
