#include "op/attention.h"

#include "math/vecmath.h"

#include <math.h>
#include <string.h>

typedef struct attention_record {
    op_record record;
    attention_form form;
    tensor *q, *weights, *context;
    annotations h;
    const int *source;
    attention_control control;
    long first;                        /* row of control.given that belongs to row 0 */
    tensor *energies, *sum, *squashed; /* for the tape's witness; NULL: there is none */
} attention_record;

/* The positions that a row looks at, from <= j < to, and where it expects to find what it looks for. */
typedef struct reach {
    int from, to;
    real p;
} reach;

static real sigmoid(real x) {
    real y;
    vec_sigmoid(&y, &x, 1);
    return y;
}

static reach reach_of(const attention_record *r, int i, int length) {
    const attention_form *f = &r->form;
    reach out = {0, length, 0};
    if (f->window) {
        int centre = f->centre ? f->centre[i] : 0;
        if (f->place) {
            out.p = (real)length * sigmoid(f->place->data[i]);
            centre = out.p >= 0 ? (int)out.p : 0; /* also where a number is damaged */
        }
        centre = centre < length ? centre : length - 1;
        out.from = centre > f->window ? centre - f->window : 0;
        out.to = length - centre > f->window ? centre + f->window + 1 : length;
    }
    int known = tensor_cols(r->q); /* positions that location scores */
    if (f->score == &score_location && out.to > known) {
        out.to = known;
        out.from = out.from < known ? out.from : known - 1;
    }
    return out;
}

/* exp(-(j - p)^2 / (2 (D/2)^2)) */
static real bell(const attention_form *f, real p, int j) {
    double away = 2 * ((double)j - (double)p) / f->window;
    return (real)exp(-away * away / 2);
}

static attention_row row_of(const attention_record *r, int i, int k) {
    long at = r->h.at[k];
    int A = tensor_cols(r->q), D = tensor_cols(r->h.values);
    return (attention_row){.q = r->q->data + (long)i * A,
                           .keys = r->h.keys ? r->h.keys->data + at * A : NULL,
                           .values = r->h.values->data + at * D,
                           .v_a = r->form.v_a ? r->form.v_a->value : NULL,
                           .length = r->h.lengths[k],
                           .A = A,
                           .D = D};
}

/* ---- coverage ---------------------------------------------------------------------------------------- */

/* Room for what one row needs: V_a transposed (d, A) and its gradient, keys of a row (S, A) and theirs,
 * those of its weights (S) and of its query (A). */
typedef struct workbench {
    real *V_t, *dV_t, *keys, *dkeys, *da, *dq;
} workbench;

static int coverage_width(const attention_record *r) {
    return r->form.coverage ? r->form.V_a->dim[1] : 0;
}

static bool set_up(tape *t, const attention_record *r, workbench *b) {
    long S = r->h.longest, A = tensor_cols(r->q), d = coverage_width(r), keys = d ? S * A : 0;
    real *room = tape_scratch(t, 2 * d * A + 2 * keys + S + A);
    if (!room)
        return false;
    b->V_t = room;
    b->dV_t = b->V_t + d * A;
    b->keys = b->dV_t + d * A;
    b->dkeys = b->keys + keys;
    b->da = b->dkeys + keys;
    b->dq = b->da + S;
    for (long k = 0; k < d; k++)
        for (long u = 0; u < A; u++) {
            b->V_t[k * A + u] = r->form.V_a->value[u * d + k];
            b->dV_t[k * A + u] = 0;
        }
    return true;
}

/* The row's keys give way to those with coverage, where it looks. */
static void cover_keys(const attention_record *r, int i, reach w, const workbench *b, attention_row *row) {
    int d = coverage_width(r);
    if (!d)
        return;
    for (long j = w.from; j < w.to; j++) {
        const real *C = r->form.coverage->data + ((long)i * r->h.longest + j) * d;
        memcpy(b->keys + j * row->A, row->keys + j * row->A, (size_t)row->A * sizeof(real));
        for (int k = 0; k < d; k++)
            vec_axpy(b->keys + j * row->A, C[k], b->V_t + (long)k * row->A, row->A);
    }
    row->keys = b->keys;
}

/* Gradients of covered keys, in b->dkeys, to those of what they were made of. */
static void uncover_keys(const attention_record *r, int i, reach w, const workbench *b, int A, real *dkeys) {
    int d = coverage_width(r);
    for (long j = w.from; j < w.to; j++) {
        long at = ((long)i * r->h.longest + j) * d;
        const real *g = b->dkeys + j * A;
        vec_add(dkeys + j * A, g, A);
        for (int k = 0; k < d; k++) {
            vec_axpy(b->dV_t + (long)k * A, r->form.coverage->data[at + k], g, A);
            r->form.coverage->grad[at + k] += vec_dot(b->V_t + (long)k * A, g, A);
        }
    }
}

/* ---- forward ----------------------------------------------------------------------------------------- */

static void softmax(real *a, int n) {
    real largest = a[0];
    for (int j = 1; j < n; j++)
        largest = a[j] > largest ? a[j] : largest;
    real scale = 1 / vec_exp_shift(a, a, largest, n);
    for (int j = 0; j < n; j++)
        a[j] *= scale;
}

static void weigh(const attention_row *r, int from, int to, const real *a, real *c) {
    memset(c, 0, (size_t)r->D * sizeof *c);
    for (int j = from; j < to; j++)
        vec_axpy(c, a[j], r->values + (long)j * r->D, r->D);
}

void attention_additive_row(const attention_row *r, real *a, real *c) {
    score_additive.energies(r, 0, r->length, a);
    softmax(a, r->length);
    weigh(r, 0, r->length, a, c);
}

/* ---- what a witness sees ----------------------------------------------------------------------------- */

static tensor *unknown(tape *t, int rows, int cols) {
    tensor *x = tape_matrix(t, rows, cols);
    for (long k = 0; x && k < (long)rows * cols; k++)
        x->data[k] = (real)NAN;
    return x;
}

static bool make_shown(tape *t, attention_record *r) {
    if (!t->witness || r->control.given || r->control.uniform)
        return true;
    int rows = (int)tensor_rows(r->q), S = r->h.longest;
    r->energies = unknown(t, rows, S);
    if (r->form.score->parts) {
        r->sum = unknown(t, rows, S * tensor_cols(r->q));
        r->squashed = unknown(t, rows, S * tensor_cols(r->q));
    }
    return !t->failed;
}

static void keep_shown(const attention_record *r, int i, const attention_row *row, reach w, const real *e) {
    long S = r->h.longest;
    memcpy(r->energies->data + i * S + w.from, e + w.from, (size_t)(w.to - w.from) * sizeof *e);
    if (r->form.score->parts)
        r->form.score->parts(row, w.from, w.to, r->sum->data + i * S * row->A, r->squashed->data + i * S * row->A);
}

static void show(tape *t, const attention_record *r) {
    if (!r->energies)
        return;
    tape_show(t, "query", r->form.v_a, r->q);
    tape_show(t, "keys", r->form.v_a, r->h.keys);
    tape_show(t, "energies", r->form.v_a, r->energies);
    tape_show(t, "sum", r->form.v_a, r->sum);
    tape_show(t, "tanh", r->form.v_a, r->squashed);
}

/* a (S), cleared, of row i; returns where it may be other than 0. */
static reach find_weights(const attention_record *r, int i, attention_row row, const workbench *b, real *a) {
    if (r->control.given) {
        memcpy(a, r->control.given->data + (r->first + i) * r->h.longest, (size_t)row.length * sizeof *a);
        return (reach){0, row.length, 0};
    }
    reach w = reach_of(r, i, row.length);
    if (r->control.uniform) {
        for (int j = w.from; j < w.to; j++)
            a[j] = 1 / (real)(w.to - w.from);
        return w;
    }
    cover_keys(r, i, w, b, &row);
    r->form.score->energies(&row, w.from, w.to, a);
    if (r->energies)
        keep_shown(r, i, &row, w, a);
    softmax(a + w.from, w.to - w.from);
    for (int j = w.from; r->form.place && j < w.to; j++)
        a[j] *= bell(&r->form, w.p, j);
    return w;
}

static void look(const attention_record *r, int i, const workbench *b) {
    int S = r->h.longest, k = r->source ? r->source[i] : i;
    attention_row row = row_of(r, i, k);
    real *a = r->weights->data + (long)i * S;
    memset(a, 0, (size_t)S * sizeof *a);
    reach w = find_weights(r, i, row, b, a);
    weigh(&row, w.from, w.to, a, r->context->data + (long)i * row.D);
}

/* ---- backward ---------------------------------------------------------------------------------------- */

/* The gradient of p, from those of the weights, in place of what p was made of: p = length * sigmoid(place). */
static void leave_place(const attention_record *r, int i, const attention_row *row, reach w, const real *da) {
    const real *a = r->weights->data + (long)i * r->h.longest;
    double sum = 0, D = r->form.window;
    for (int j = w.from; j < w.to; j++)
        sum += (double)da[j] * (double)a[j] * (j - (double)w.p) * 4 / (D * D);
    r->form.place->data[i] = (real)(sum * (double)w.p * (1 - (double)w.p / row->length));
}

/* From the gradients da of weights a to those of energies, in their place: with the softmax s and the factor g of a
 * weight, a = g s, de_j = s_j (g_j da_j - sum_k a_k da_k). */
static void leave_energies(const attention_record *r, reach w, const real *a, real mean, real *da) {
    for (int j = w.from; j < w.to; j++) {
        real g = r->form.place ? bell(&r->form, w.p, j) : 1;
        da[j] = r->form.place ? a[j] / g * (g * da[j] - mean) : a[j] * (da[j] - mean);
    }
}

static bool is_consumed(const tensor *x) {
    return x->grad == x->data;
}

/* From gradients of energies to those of query and keys. */
static void leave_scores(const attention_record *r, int i, attention_row row, reach w, const workbench *b,
                         real *dv) {
    real *dkeys = r->h.keys ? r->h.keys->grad + (long)r->h.at[r->source ? r->source[i] : i] * row.A : NULL;
    bool covered = r->form.coverage != NULL;
    cover_keys(r, i, w, b, &row);
    memset(b->dq, 0, (size_t)row.A * sizeof *b->dq);
    if (covered)
        memset(b->dkeys + (long)w.from * row.A, 0, (size_t)(w.to - w.from) * (size_t)row.A * sizeof(real));
    r->form.score->backward(&row, w.from, w.to, b->da, b->dq, covered ? b->dkeys : dkeys, dv);
    if (covered)
        uncover_keys(r, i, w, b, row.A, dkeys);
}

/* da_j = dc . h_j, and what other readers of the weights left. Where q is consumed, its gradient ends in its place.
 */
static void backward_row(const attention_record *r, int i, real *dv, const workbench *b) {
    real *da = b->da;
    int S = r->h.longest, k = r->source ? r->source[i] : i;
    attention_row row = row_of(r, i, k);
    reach w = reach_of(r, i, row.length);
    const real *a = r->weights->data + (long)i * S, *dc = r->context->grad + (long)i * row.D;
    const real *more = tensor_has_grad(r->weights) ? r->weights->grad + (long)i * S : NULL;
    real *dh = r->h.values->grad + (long)r->h.at[k] * row.D, mean = 0;
    for (int j = w.from; j < w.to; j++) {
        da[j] = vec_dot(dc, row.values + (long)j * row.D, row.D) + (more ? more[j] : 0);
        mean += a[j] * da[j];
        vec_axpy(dh + (long)j * row.D, a[j], dc, row.D);
    }
    if (r->form.place)
        leave_place(r, i, &row, w, da);
    leave_energies(r, w, a, mean, da);
    leave_scores(r, i, row, w, b, dv);
    if (is_consumed(r->q))
        memcpy(r->q->data + (long)i * row.A, b->dq, (size_t)row.A * sizeof *b->dq);
    else
        vec_add(r->q->grad + (long)i * row.A, b->dq, row.A);
}

static void add_transposed(real *to, const real *from, int rows, int cols) {
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < cols; j++)
            to[i * cols + j] += from[j * rows + i];
}

static void clear(const tensor *x) {
    if (x && is_consumed(x))
        memset(x->data, 0, (size_t)tensor_count(x) * sizeof(real));
}

static bool is_constant(const attention_control *c) {
    return c->detached || c->uniform || c->given;
}

/* Of weights that are constants: dh_j += a_j dc, and what is to be known of given ones, to which other readers of
 * the weights add. */
static void backward_constant_row(const attention_record *r, int i) {
    int S = r->h.longest, k = r->source ? r->source[i] : i;
    attention_row row = row_of(r, i, k);
    const real *a = r->weights->data + (long)i * S, *dc = r->context->grad + (long)i * row.D;
    const tensor *given = r->control.given;
    real *dh = r->h.values->grad ? r->h.values->grad + (long)r->h.at[k] * row.D : NULL;
    real *da = given && given->grad ? given->grad + (r->first + i) * S : NULL;
    const real *more = tensor_has_grad(r->weights) ? r->weights->grad + (long)i * S : NULL;
    for (int j = 0; dh && j < row.length; j++)
        vec_axpy(dh + (long)j * row.D, a[j], dc, row.D);
    for (int j = 0; da && j < row.length; j++)
        da[j] = vec_dot(dc, row.values + (long)j * row.D, row.D) + (more ? more[j] : 0);
}

static void backward_constant(const attention_record *r) {
    tensor *given = r->control.given;
    if (r->h.values->grad)
        tensor_grad_clear_once(r->h.values);
    if (given && given->grad)
        tensor_grad_clear_once(given);
    for (int i = 0; i < (int)tensor_rows(r->q); i++)
        backward_constant_row(r, i);
}

static void attention_backward(tape *t, op_record *record) {
    attention_record *r = (attention_record *)record;
    bool read = tensor_has_grad(r->context) || tensor_has_grad(r->weights), constant = is_constant(&r->control);
    if (!read || constant) {
        clear(r->q);
        clear(r->form.place);
    }
    if (read)
        tensor_grad_clear_once(r->context);
    if (read && constant)
        backward_constant(r);
    if (!read || constant)
        return;
    real *dv = r->form.v_a ? tape_direct_grad(t, r->form.v_a) : NULL;
    real *dV = r->form.coverage ? tape_direct_grad(t, r->form.V_a) : NULL;
    workbench b;
    if ((r->form.v_a && !dv) || (r->form.coverage && !dV) || !set_up(t, r, &b))
        return;
    tensor_grad_clear_once(r->h.values);
    if (!is_consumed(r->q))
        tensor_grad_clear_once(r->q);
    if (r->h.keys)
        tensor_grad_clear_once(r->h.keys);
    if (dV)
        tensor_grad_clear_once(r->form.coverage);
    for (int i = 0; i < (int)tensor_rows(r->q); i++)
        backward_row(r, i, dv, &b);
    if (dV)
        add_transposed(dV, b.dV_t, tensor_cols(r->q), coverage_width(r));
}

tensor *attention(tape *t, const attention_form *form, tensor *q, const annotations *h, const int *source,
                  tensor **weights) {
    if (!q || !h->values || (form->score != &score_location && !h->keys))
        return tape_fail(t);
    int rows = (int)tensor_rows(q);
    SA_ASSERT(!h->keys || tensor_cols(h->keys) == tensor_cols(q));
    SA_ASSERT(!form->v_a || form->v_a->dim[0] == tensor_cols(q));
    SA_ASSERT(!form->coverage || (h->keys && form->V_a->dim[0] == tensor_cols(q) &&
                                  tensor_cols(form->coverage) == h->longest * form->V_a->dim[1]));
    attention_record now = {.form = *form, .q = q, .h = *h, .source = source};
    if (t->attention) {
        now.control = *t->attention;
        now.first = t->loop ? t->loop->at[t->loop_j] : 0;
    }
    SA_ASSERT(!now.control.given ||
              (tensor_cols(now.control.given) == h->longest && now.first + rows <= tensor_rows(now.control.given)));
    now.weights = tape_matrix(t, rows, h->longest);
    now.context = tape_matrix(t, rows, tensor_cols(h->values));
    workbench b;
    if (!now.weights || !now.context || !make_shown(t, &now) || !set_up(t, &now, &b))
        return NULL;
    for (int i = 0; i < rows; i++)
        look(&now, i, &b);
    show(t, &now);
    attention_record *r = tape_record(t, sizeof *r, attention_backward);
    if (r) {
        now.record = r->record;
        *r = now;
    }
    if (weights)
        *weights = now.weights;
    return t->failed ? NULL : now.context;
}
