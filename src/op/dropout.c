#include "op/dropout.h"

#include "base/rng.h"
#include "math/vecmath.h"

#include <string.h>

typedef struct dropout_record {
    op_record record;
    tensor *x, *y;
    const real *mask; /* (sentences, D) */
    const int *sentence;
} dropout_record;

static void dropout_backward(tape *t, op_record *record) {
    (void)t;
    dropout_record *r = (dropout_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    int D = tensor_cols(r->x);
    tensor_grad_clear_once(r->x);
    for (long i = 0; i < tensor_rows(r->x); i++)
        vec_mul_add(r->x->grad + i * D, r->y->grad + i * D, r->mask + (long)r->sentence[i] * D, D);
}

const real *dropout_draw(tape *t, int sentences, int D, float rate, unsigned site) {
    if (rate <= 0 || !t->recording)
        return NULL;
    real *mask = tape_bytes(t, (size_t)sentences * (size_t)D * sizeof *mask);
    if (!mask)
        return NULL;
    uint32_t limit = (uint32_t)((double)rate * 4294967296.0);
    real keep = (real)(1 / (1 - (double)rate));
    for (int i = 0; i < sentences; i++) {
        rng random = rng_at(t->seed, t->update, (uint64_t)(t->first_sentence + i), site);
        for (int j = 0; j < D; j++)
            mask[(long)i * D + j] = rng_u32(&random) < limit ? 0 : keep;
    }
    return mask;
}

tensor *op_dropout_drawn(tape *t, tensor *x, const real *mask, const int *sentence) {
    if (!x || t->failed)
        return tape_fail(t);
    if (!mask)
        return x;
    tensor *y = tape_like(t, x);
    if (!y)
        return NULL;
    int D = tensor_cols(x);
    for (long i = 0; i < tensor_rows(x); i++)
        vec_mul(y->data + i * D, x->data + i * D, mask + (long)sentence[i] * D, D);
    dropout_record *r = tape_record(t, sizeof *r, dropout_backward);
    if (r) {
        r->x = x;
        r->y = y;
        r->mask = mask;
        r->sentence = sentence;
    }
    return t->failed ? NULL : y;
}

tensor *op_dropout(tape *t, tensor *x, float rate, unsigned site, const int *sentence) {
    if (!x || t->failed)
        return tape_fail(t);
    if (rate <= 0 || !t->recording)
        return x;
    int sentences = 0;
    for (long i = 0; i < tensor_rows(x); i++)
        sentences = sentence[i] >= sentences ? sentence[i] + 1 : sentences;
    return op_dropout_drawn(t, x, dropout_draw(t, sentences, tensor_cols(x), rate, site), sentence);
}

void unit_dropout_row(const tape *t, const unit_dropout *d, long i, real *x, int n) {
    if (d->rate <= 0 || !t->recording)
        return;
    uint64_t sentence = (uint64_t)(t->first_sentence + d->sentence[i]);
    rng random = rng_at(t->seed, t->update, sentence, d->site + ((uint64_t)d->position[i] << 32));
    uint32_t limit = (uint32_t)((double)d->rate * 4294967296.0);
    real keep = (real)(1 / (1 - (double)d->rate));
    if (!d->whole) {
        vec_drop(x, x, rng_u64(&random), limit, keep, n);
        return;
    }
    bool dropped = rng_u32(&random) < limit;
    for (int k = 0; k < n; k++)
        x[k] = dropped ? 0 : keep * x[k];
}

typedef struct units_record {
    op_record record;
    tensor *x, *y;
    unit_dropout dropout;
} units_record;

/* The gradient of y is needed no more: it is dropped where it lies. */
static void units_backward(tape *t, op_record *record) {
    units_record *r = (units_record *)record;
    if (!tensor_has_grad(r->y))
        return;
    int n = tensor_cols(r->x);
    tensor_grad_clear_once(r->x);
    for (long i = 0; i < tensor_rows(r->x); i++) {
        unit_dropout_row(t, &r->dropout, i, r->y->grad + i * n, n);
        vec_add(r->x->grad + i * n, r->y->grad + i * n, n);
    }
}

tensor *op_dropout_units(tape *t, tensor *x, const unit_dropout *d) {
    if (!x || t->failed)
        return tape_fail(t);
    if (d->rate <= 0 || !t->recording)
        return x;
    tensor *y = tape_like(t, x);
    if (!y)
        return NULL;
    int n = tensor_cols(x);
    memcpy(y->data, x->data, (size_t)tensor_count(x) * sizeof *y->data);
    for (long i = 0; i < tensor_rows(x); i++)
        unit_dropout_row(t, d, i, y->data + i * n, n);
    units_record *r = tape_record(t, sizeof *r, units_backward);
    if (r) {
        r->x = x;
        r->y = y;
        r->dropout = *d;
    }
    return t->failed ? NULL : y;
}
