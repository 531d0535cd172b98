#include "op/attention.h"

#include "math/vecmath.h"

static void additive_energies(const attention_row *r, int from, int to, real *e) {
    for (int j = from; j < to; j++)
        e[j] = vec_tanh_dot(r->v_a, r->q, r->keys + (long)j * r->A, r->A);
}

static void additive_parts(const attention_row *r, int from, int to, real *sum, real *squashed) {
    for (long j = from; j < to; j++) {
        for (int k = 0; k < r->A; k++)
            sum[j * r->A + k] = r->q[k] + r->keys[j * r->A + k];
        vec_tanh(squashed + j * r->A, sum + j * r->A, r->A);
    }
}

/* tanh is computed again, position by position. */
static void additive_backward(const attention_row *r, int from, int to, const real *de, real *dq, real *dkeys,
                              real *dv) {
    for (int j = from; j < to; j++)
        vec_tanh_dot_backward(de[j], r->v_a, r->q, r->keys + (long)j * r->A, dv, dq, dkeys + (long)j * r->A, r->A);
}

static void dot_energies(const attention_row *r, int from, int to, real *e) {
    for (int j = from; j < to; j++)
        e[j] = vec_dot(r->q, r->keys + (long)j * r->A, r->A);
}

static void dot_backward(const attention_row *r, int from, int to, const real *de, real *dq, real *dkeys,
                         real *dv) {
    (void)dv;
    for (int j = from; j < to; j++) {
        vec_axpy(dq, de[j], r->keys + (long)j * r->A, r->A);
        vec_axpy(dkeys + (long)j * r->A, de[j], r->q, r->A);
    }
}

static void location_energies(const attention_row *r, int from, int to, real *e) {
    for (int j = from; j < to; j++)
        e[j] = r->q[j];
}

static void location_backward(const attention_row *r, int from, int to, const real *de, real *dq, real *dkeys,
                              real *dv) {
    (void)r, (void)dkeys, (void)dv;
    for (int j = from; j < to; j++)
        dq[j] += de[j];
}

const attention_score score_additive = {additive_energies, additive_parts, additive_backward};
const attention_score score_dot = {dot_energies, NULL, dot_backward};
const attention_score score_location = {location_energies, NULL, location_backward};
