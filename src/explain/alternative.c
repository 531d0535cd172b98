#include "explain/alternative.h"

#include "base/rng.h"
#include "explain/distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERMUTATIONS = 1, STARTS };       /* places of random draws */
enum { ROWS_TOGETHER = 256 };            /* steps that are made again together */
static const double PENALTY = 500;       /* of a TVD beyond the margin */
static const double MARGIN = 5;          /* epsilon over the TVD that costs nothing */
static const double START_DEVIATION = 3; /* of the logarithms of starting weights */

/* One step with other weights each row. */
typedef struct trial {
    const forced *f;
    const alternative_options *o;
    const alternative_result *out;
    int n;
    const int *at;     /* step of each row */
    const real *given; /* (n, S) */
    double *tvd;       /* of each row */
    real *slope;       /* (V): for the visitor */
    bool seek;         /* differentiate what TVD costs */
} trial;

/* ---- trials ------------------------------------------------------------------------------------------ */

/* A row that is better than all before it of its step, within epsilon, becomes the step's adversary. */
static void offer(const trial *r, int row) {
    int i = r->at[row], S = r->f->source.length;
    const real *a = r->given + (long)row * S;
    if (!r->out->jsd || r->tvd[row] > r->o->epsilon)
        return;
    double jsd = distance_js(a, r->f->weights + (long)i * S, S);
    if (jsd <= r->out->jsd[i])
        return;
    r->out->jsd[i] = jsd;
    r->out->tvd[i] = r->tvd[row];
    for (int j = 0; j < S; j++)
        r->out->adversary[(long)i * S + j] = (float)a[j];
}

static void measure(void *user, int row, real *p) {
    const trial *r = user;
    int V = r->f->V;
    const real *q = r->f->p + (long)r->at[row] * V;
    r->tvd[row] = distance_tv(p, q, V);
    offer(r, row);
    if (!r->seek)
        return;
    real factor = r->tvd[row] > r->o->epsilon / MARGIN ? (real)(PENALTY / 2) : 0;
    for (int v = 0; v < V; v++)
        r->slope[v] = p[v] > q[v] ? factor : p[v] < q[v] ? -factor : 0;
    output_through_softmax(p, r->slope, V);
}

/* Makes the steps and measures them; *dgiven, when seeking: d (what TVD costs) / d given, in the arena. */
static bool try_all(const trial *r, const real **dgiven) {
    forced_rewind(r->f, r->seek);
    tensor *given = tape_matrix(r->f->t, r->n, r->f->source.length);
    if (!given)
        return false;
    memcpy(given->data, r->given, (size_t)tensor_count(given) * sizeof *given->data);
    tensor *hidden = forced_again(r->f, r->n, r->at, given, NULL);
    if (!output_visit(r->f->m, r->f->t, hidden, measure, (void *)r))
        return false;
    if (!r->seek)
        return true;
    tape_backward(r->f->t);
    if (!tensor_has_grad(given))
        tensor_grad_clear_once(given);
    *dgiven = given->grad;
    return !r->f->t->failed;
}

/* Places of words that were looked at; returns how many. */
static size_t find_words(const forced *f, int i, size_t *place) {
    size_t n = 0;
    for (int j = 0; j + 1 < f->source.length; j++)
        if (f->weights[(long)i * f->source.length + j] > 0)
            place[n++] = (size_t)j;
    return n;
}

/* ---- permutations ------------------------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, compare_doubles);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Room for the rows of one step or several. */
typedef struct workplace {
    int *at;
    real *given, *slope;
    double *tvd;
    size_t *place, *order;
} workplace;

static bool permute_step(const forced *f, const alternative_options *o, const alternative_result *out, int i,
                         const workplace *w) {
    int S = f->source.length;
    const real *a = f->weights + (long)i * S;
    size_t n = find_words(f, i, w->place);
    out->permuted[i] = (double)NAN;
    if (n < 2)
        return true;
    rng draw = rng_at(o->seed, o->line, (uint64_t)i, PERMUTATIONS);
    for (int k = 0; k < o->permutations; k++) {
        real *row = w->given + (long)k * S;
        memcpy(w->order, w->place, n * sizeof *w->order);
        rng_shuffle(&draw, w->order, n);
        memcpy(row, a, (size_t)S * sizeof *row);
        for (size_t j = 0; j < n; j++)
            row[w->place[j]] = a[w->order[j]];
        w->at[k] = i;
    }
    trial r = {.f = f, .o = o, .out = out, .n = o->permutations, .at = w->at, .given = w->given, .tvd = w->tvd};
    if (!try_all(&r, NULL))
        return false;
    out->permuted[i] = median(w->tvd, o->permutations);
    return true;
}

/* ---- adversaries ------------------------------------------------------------------------------------- */

/* The logarithms that are sought, for k adversaries of n steps, (n k, S), with Adam's averages. */
typedef struct seeker {
    const forced *f;
    const alternative_options *o;
    int n, first; /* steps, the first of them */
    double *z, *mean, *square, *largest;
    double *slope; /* (S) */
    const workplace *w;
} seeker;

static void start(const seeker *s) {
    int S = s->f->source.length, k = s->o->adversaries;
    for (int i = 0; i < s->n; i++) {
        rng draw = rng_at(s->o->seed, s->o->line, (uint64_t)(s->first + i), STARTS);
        for (long j = 0; j < (long)k * S; j++)
            s->z[(long)i * k * S + j] = START_DEVIATION * rng_normal(&draw);
        for (int r = 0; r < k; r++)
            s->w->at[i * k + r] = s->first + i;
    }
}

/* The weights of a row: what the words had in all, by softmax(z). */
static void weights_of(const seeker *s, int row) {
    int S = s->f->source.length, i = s->w->at[row];
    const real *a = s->f->weights + (long)i * S;
    const double *z = s->z + (long)row * S;
    real *out = s->w->given + (long)row * S;
    size_t n = find_words(s->f, i, s->w->place);
    double largest = -(double)INFINITY, sum = 0, mass = 0;
    memcpy(out, a, (size_t)S * sizeof *out);
    for (size_t j = 0; j < n; j++) {
        largest = fmax(largest, z[s->w->place[j]]);
        mass += (double)a[s->w->place[j]];
    }
    for (size_t j = 0; j < n; j++)
        sum += exp(z[s->w->place[j]] - largest);
    for (size_t j = 0; j < n; j++)
        out[s->w->place[j]] = (real)(mass * exp(z[s->w->place[j]] - largest) / sum);
}

/* What is minimised, differentiated with respect to the weights of a row: dtvd, less the slopes of divergences from
 * the model's weights and from those of the step's other rows. */
static void weigh_slopes(const seeker *s, int row, const real *dtvd) {
    int S = s->f->source.length, k = s->o->adversaries, i = s->w->at[row], from = row / k * k;
    const real *a = s->f->weights + (long)i * S, *own = s->w->given + (long)row * S;
    for (int j = 0; j < S; j++)
        s->slope[j] = (double)dtvd[(long)row * S + j] - distance_js_slope((double)own[j], (double)a[j]);
    for (int r = from; r < from + k; r++)
        for (int j = 0; r != row && j < S; j++)
            s->slope[j] -=
                distance_js_slope((double)own[j], (double)s->w->given[(long)r * S + j]) / ((double)k * (k - 1));
}

/* One update of a row's z from the slopes of its weights: step counts from 1. */
static void improve(const seeker *s, int row, int step) {
    static const double rate = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    int S = s->f->source.length;
    const real *own = s->w->given + (long)row * S;
    size_t n = find_words(s->f, s->w->at[row], s->w->place);
    double mass = 0, mean = 0;
    for (size_t j = 0; j < n; j++) {
        mass += (double)own[s->w->place[j]];
        mean += (double)own[s->w->place[j]] * s->slope[s->w->place[j]];
    }
    for (size_t j = 0; j < n; j++) {
        long at = (long)row * S + (long)s->w->place[j];
        double g = (double)own[s->w->place[j]] * (s->slope[s->w->place[j]] - mean / mass);
        s->mean[at] = beta1 * s->mean[at] + (1 - beta1) * g;
        s->square[at] = beta2 * s->square[at] + (1 - beta2) * g * g;
        s->largest[at] = fmax(s->largest[at], s->square[at]);
        s->z[at] -=
            rate / (1 - pow(beta1, step)) * s->mean[at] / (sqrt(s->largest[at] / (1 - pow(beta2, step))) + epsilon);
    }
}

/* Steps first ... first + n - 1, of which 0 comes alone. */
static bool seek(const seeker *s, const alternative_result *out) {
    int rows = s->n * s->o->adversaries;
    size_t bytes = (size_t)rows * (size_t)s->f->source.length * sizeof(double);
    memset(s->mean, 0, bytes);
    memset(s->square, 0, bytes);
    memset(s->largest, 0, bytes);
    start(s);
    trial r = {.f = s->f,
               .o = s->o,
               .out = out,
               .n = rows,
               .at = s->w->at,
               .given = s->w->given,
               .tvd = s->w->tvd,
               .slope = s->w->slope,
               .seek = true};
    for (int step = 0; step <= s->o->steps; step++) {
        const real *dtvd;
        for (int row = 0; row < rows; row++)
            weights_of(s, row);
        r.seek = step < s->o->steps; /* the last is only measured */
        if (!try_all(&r, &dtvd))
            return false;
        for (int row = 0; row < rows && r.seek; row++) {
            weigh_slopes(s, row, dtvd);
            improve(s, row, step + 1);
        }
    }
    return true;
}

static bool seek_all(const forced *f, const alternative_options *o, const alternative_result *out,
                     const workplace *w) {
    int S = f->source.length, T = f->target.length, most = ROWS_TOGETHER / o->adversaries;
    most = most < 1 ? 1 : most;
    size_t count = (size_t)most * (size_t)o->adversaries * (size_t)S;
    double *numbers = malloc((4 * count + (size_t)S) * sizeof *numbers);
    if (!numbers) {
        tape_fail(f->t);
        return false;
    }
    seeker s = {.f = f,
                .o = o,
                .z = numbers,
                .mean = numbers + count,
                .square = numbers + 2 * count,
                .largest = numbers + 3 * count,
                .slope = numbers + 4 * count,
                .w = w};
    bool ok = true;
    for (int at = 0; at < T && ok; at += s.n) {
        s.first = at;
        s.n = at == 0 ? 1 : T - at < most ? T - at : most;
        ok = seek(&s, out);
    }
    free(numbers);
    return ok;
}

/* ---- both -------------------------------------------------------------------------------------------- */

/* The model's own weights are the first candidates. */
static void begin_with_own(const forced *f, const alternative_result *out) {
    long n = (long)f->target.length * f->source.length;
    for (int i = 0; i < f->target.length; i++)
        out->jsd[i] = out->tvd[i] = 0;
    for (long k = 0; k < n; k++)
        out->adversary[k] = (float)f->weights[k];
}

bool alternative_find(const forced *f, const alternative_options *o, const alternative_result *out) {
    size_t S = (size_t)f->source.length, rows = o->adversaries > ROWS_TOGETHER ? o->adversaries : ROWS_TOGETHER;
    rows = (size_t)o->permutations > rows ? (size_t)o->permutations : rows;
    workplace w = {.at = malloc(rows * sizeof *w.at),
                   .given = malloc(rows * S * sizeof *w.given),
                   .slope = malloc((size_t)f->V * sizeof *w.slope),
                   .tvd = malloc(rows * sizeof *w.tvd),
                   .place = malloc(S * sizeof *w.place),
                   .order = malloc(S * sizeof *w.order)};
    bool ok = w.at && w.given && w.slope && w.tvd && w.place && w.order;
    if (!ok)
        tape_fail(f->t);
    if (ok && o->adversaries > 0)
        begin_with_own(f, out);
    for (int i = 0; i < f->target.length && o->permutations > 0 && ok; i++)
        ok = permute_step(f, o, out, i, &w);
    if (ok && o->adversaries > 0 && S > 2)
        ok = seek_all(f, o, out, &w);
    free(w.at);
    free(w.given);
    free(w.slope);
    free(w.tvd);
    free(w.place);
    free(w.order);
    return ok;
}
