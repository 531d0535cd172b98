#include "explain/forced.h"

#include "math/vecmath.h"
#include "op/linear.h"

#include <math.h>
#include <string.h>

static const regularisation none;

/* ---- probabilities ----------------------------------------------------------------------------------- */

static void softmax(real *x, int n) {
    real scale = 1 / vec_exp_shift(x, x, vec_max(x, n), n);
    for (int i = 0; i < n; i++)
        x[i] *= scale;
}

bool output_visit(const model *m, tape *t, tensor *hidden, output_visitor *visit, void *user) {
    enum { CHUNK_ROWS = 128 };
    if (!hidden || t->failed) {
        tape_fail(t);
        return false;
    }
    int N = (int)tensor_rows(hidden), l = tensor_cols(hidden), V = m->W_out->dim[0];
    int rows = N < CHUNK_ROWS ? N : CHUNK_ROWS;
    real *scores = tape_scratch(t, (long)rows * V);
    for (int at = 0; at < N && !t->failed; at += rows) {
        int n = N - at < rows ? N - at : rows;
        if (!model_scores(m, t, hidden, at, n, scores))
            tape_fail(t);
        for (int i = 0; i < n && !t->failed; i++) {
            softmax(scores + (long)i * V, V);
            visit(user, at + i, scores + (long)i * V);
        }
        if (t->recording && !t->failed &&
            !linear_product_back(t, matrix_of(scores, n, V, V), m->W_out,
                                 matrix_of(hidden->grad + (long)at * l, n, l, l), false))
            tape_fail(t);
    }
    if (t->recording)
        hidden->has_grad = true;
    return !t->failed;
}

void output_through_softmax(real *p, const real *slope, int V) {
    real mean = vec_dot(p, slope, V);
#pragma omp simd
    for (int v = 0; v < V; v++)
        p[v] *= slope[v] - mean;
}

/* ---- the pass ---------------------------------------------------------------------------------------- */

static void keep_row(void *user, int row, real *p) {
    forced *f = user;
    (void)row;
    memcpy(f->p, p, (size_t)f->V * sizeof *p);
    f->finite = f->finite && isfinite(vec_sum(p, f->V));
}

/* Step i from before[i]; *after: the state behind it. */
static tensor *step_from(const forced *f, int i, decoder_state *after, step_output *shown) {
    tape *t = f->t;
    int *previous = tape_bytes(t, sizeof *previous);
    step_words words;
    if (!previous)
        return NULL;
    *previous = i > 0 ? f->target.ids[i - 1] : -1;
    if (!model_words(f->m, t, 1, previous, &words) ||
        !model_step(f->m, t, &f->h, NULL, words, &f->before[i], after, shown))
        return NULL;
    return model_readout(f->m, t, shown, &none, NULL);
}

tensor *forced_repeat(const forced *f, int i, step_output *shown) {
    decoder_state after;
    return step_from(f, i, &after, shown);
}

static bool make_step(forced *f, int i, decoder_state *after) {
    step_output shown;
    tensor *hidden = step_from(f, i, after, &shown);
    if (!hidden)
        return false;
    if (f->weights)
        memcpy(f->weights + (long)i * f->source.length, shown.weights->data,
               (size_t)f->source.length * sizeof *f->weights);
    forced row = *f; /* whose p is the row of this step */
    row.p = f->p + (long)i * f->V;
    bool ok = output_visit(f->m, f->t, hidden, keep_row, &row);
    f->finite = row.finite;
    return ok;
}

bool forced_begin(forced *f, const model *m, tape *t, sentence source, sentence target) {
    *f = (forced){.m = m, .t = t, .source = source, .target = target, .V = m->W_out->dim[0], .finite = true};
    int S = source.length, T = target.length;
    source_batch batch;
    decoder_state unused;
    tape_reset(t, false);
    f->before = tape_bytes(t, (size_t)T * sizeof *f->before);
    f->weights = m->preset->attends ? tape_reals(t, (long)T * S) : NULL;
    f->p = tape_reals(t, (long)T * f->V);
    if (t->failed || !source_batch_make(t, 1, &source, &batch) || !model_encode(m, t, &batch, &none, &f->h) ||
        !model_start(m, t, &f->h, 1, NULL, &f->before[0]))
        return false;
    for (int i = 0; i < T; i++)
        if (!make_step(f, i, i + 1 < T ? &f->before[i + 1] : &unused))
            return false;
    f->mark = arena_get_mark(t->arena);
    return true;
}

void forced_rewind(const forced *f, bool recording) {
    tape_rewind(f->t, f->mark, recording);
}

/* Part k of the states before those steps, one row behind the other; NULL where there is none yet. */
static tensor *gather_part(const forced *f, int n, const int *at, int k) {
    if (!f->before[at[0]].part[k])
        return NULL;
    int cols = tensor_cols(f->before[at[0]].part[k]);
    tensor *out = tape_matrix(f->t, n, cols);
    for (int r = 0; out && r < n; r++)
        memcpy(out->data + (long)r * cols, f->before[at[r]].part[k]->data, (size_t)cols * sizeof *out->data);
    return out;
}

tensor *forced_again(const forced *f, int n, const int *at, tensor *given, step_output *shown) {
    tape *t = f->t;
    attention_control *control = tape_bytes(t, sizeof *control);
    int *source = tape_bytes(t, (size_t)n * sizeof *source),
        *previous = tape_bytes(t, (size_t)n * sizeof *previous);
    if (!given || t->failed)
        return tape_fail(t);
    *control = (attention_control){.given = given};
    for (int r = 0; r < n; r++) {
        SA_ASSERT((at[r] == 0) == (at[0] == 0));
        source[r] = 0;
        previous[r] = at[r] > 0 ? f->target.ids[at[r] - 1] : -1;
    }
    decoder_state in = f->before[at[0]], after;
    for (int k = 0; k < in.n; k++)
        in.part[k] = gather_part(f, n, at, k);
    step_words words;
    step_output unseen;
    shown = shown ? shown : &unseen;
    t->attention = control;
    bool ok =
        model_words(f->m, t, n, previous, &words) && model_step(f->m, t, &f->h, source, words, &in, &after, shown);
    t->attention = NULL;
    return ok ? model_readout(f->m, t, shown, &none, NULL) : tape_fail(t);
}
