#include "explain/influence.h"

#include "base/rng.h"
#include "explain/copies.h"
#include "math/vecmath.h"

#include <math.h>
#include <stdlib.h>

static const regularisation none;

bool influence_has_positions(const forced *f) {
    return f->h.h.values || f->h.states;
}

/* ---- gradients of a pass ----------------------------------------------------------------------------- */

/* Rows of a tensor that belong to the positions of copy k. */
static tensor *positions_of(const encoding *h) {
    return h->h.values ? h->h.values : h->states;
}

static long word_row(const source_batch *s, int k, int j) {
    return s->steps.at[j] + s->row[k];
}

static long position_row(const encoding *h, const source_batch *s, int k, int j) {
    return h->h.values ? h->h.at[s->row[k]] + j : word_row(s, k, j);
}

static double square(const tensor *x, long row) {
    int n = tensor_cols(x);
    return tensor_has_grad(x) ? (double)vec_sum_squares(x->grad + row * n, n) : 0;
}

bool influence_on_output(const forced *f, float *words, float *positions) {
    int S = f->source.length;
    copies c;
    for (int first = 0; first < f->target.length; first += COPIES) {
        if (!copies_differentiate(f, first, NULL, &c))
            return false;
        for (int k = 0; k < c.n; k++)
            for (int j = 0; j < S; j++) {
                long at = (long)(first + k) * S + j;
                words[at] = (float)sqrt(square(c.h.x, word_row(&c.source, k, j)));
                if (positions)
                    positions[at] = (float)sqrt(square(positions_of(&c.h), position_row(&c.h, &c.source, k, j)));
            }
    }
    return true;
}

/* ---- within the source ------------------------------------------------------------------------------- */

/* Row `probe` of n vectors of signs: those of a Hadamard matrix, again and again along the vector, each times one
 * of its own. Rows of columns that differ modulo n are orthogonal, so that only pairs that agree modulo n can
 * disturb the sum over probes. */
static real sign_of(int probe, int n, int i) {
    rng draw = rng_at(1, 0, (uint64_t)i, 0);
    int parity = __builtin_popcount((unsigned)probe & (unsigned)(i % n)) + (int)rng_below(&draw, 2);
    return parity % 2 ? -1 : 1;
}

static int probes_for(int width) {
    int n = 1;
    while (n < width && n < INFLUENCE_PROBES)
        n *= 2;
    return n;
}

/* Copy k of the source goes back from annotation (first + k) / probes, in the direction of one probe. */
static bool probe_copies(const forced *f, int first, int n, int probes, double *squares) {
    int S = f->source.length;
    sentence source[COPIES];
    source_batch batch;
    encoding h;
    for (int k = 0; k < n; k++)
        source[k] = f->source;
    forced_rewind(f, true);
    if (!source_batch_make(f->t, n, source, &batch) || !model_encode(f->m, f->t, &batch, &none, &h))
        return false;
    tensor *positions = positions_of(&h);
    int D = tensor_cols(positions);
    tensor_grad_clear_once(positions);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < D; i++)
            positions->grad[position_row(&h, &batch, k, (first + k) / probes) * D + i] =
                sign_of((first + k) % probes, probes, i);
    tape_backward(f->t);
    for (int k = 0; k < n && !f->t->failed; k++)
        for (int j = 0; j < S; j++)
            squares[(long)((first + k) / probes) * S + j] += square(h.x, word_row(&batch, k, j));
    return !f->t->failed;
}

static void share_out(const double *squares, int n, float *out) {
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += sqrt(squares[k]);
    for (int k = 0; k < n; k++)
        out[k] = sum > 0 ? (float)(sqrt(squares[k]) / sum) : 0;
}

bool influence_within_source(const forced *f, float *out) {
    int S = f->source.length, probes = probes_for(tensor_cols(positions_of(&f->h)));
    double *squares = calloc((size_t)S * (size_t)S, sizeof *squares);
    bool ok = squares != NULL;
    if (!ok)
        tape_fail(f->t);
    for (int first = 0; first < S * probes && ok; first += COPIES)
        ok = probe_copies(f, first, S * probes - first < COPIES ? S * probes - first : COPIES, probes, squares);
    for (int j = 0; j < S && ok; j++)
        share_out(squares + (long)j * S, S, out + (long)j * S);
    free(squares);
    return ok;
}
