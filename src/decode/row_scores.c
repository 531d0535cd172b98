#include "decode/row_scores.h"

#include "base/block.h"
#include "math/vecmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Enough for the product to be fast, and few enough for their scores to stay in the cache until they were searched.
 */
static int rows_at_once(int width) {
    enum { LEAST = 16, MOST = 64, CACHED = 640 << 10 };
    int rows = (int)(CACHED / sizeof(real)) / width;
    return rows < LEAST ? LEAST : rows > MOST ? MOST : rows;
}

/* Numbers of a row of scores. */
static int width_of(const row_scores *r) {
    return r->selects ? r->member[0].part.n : r->vocab;
}

static bool make_parts(row_scores *r, const sa_shortlist *list, const vocab *target,
                       const struct source_sentence *sentences, int n) {
    r->selects = true;
    if (!selection_make(&r->chosen, list, target, sentences, n))
        return false;
    for (row_member *m = r->member; m < r->member + r->n; m++)
        if (!output_part_make(&m->part, m->model, r->tape->gemm, r->chosen.id, r->chosen.n))
            return false;
    r->spread = malloc((size_t)r->vocab * sizeof *r->spread);
    for (int i = 0; r->spread && i < r->vocab; i++)
        r->spread[i] = -INFINITY;
    return r->spread;
}

bool row_scores_begin(row_scores *r, const ensemble *models, tape *t, const sa_shortlist *list, const vocab *target,
                      const struct source_sentence *sentences, int n, int rows_max) {
    *r = (row_scores){.tape = t, .n = models->n, .vocab = models->model[0]->config.vocab_target, .spread_of = -1};
    size_t V = (size_t)r->vocab;
    for (int m = 0; m < r->n; m++)
        r->member[m].model = models->model[m];
    if (list && !make_parts(r, list, target, sentences, n))
        return false;
    r->most = rows_at_once(width_of(r));
    size_t count = (size_t)(rows_max < r->most ? rows_max : r->most) * (size_t)width_of(r);
    for (int m = 0; m < r->n; m++)
        if (!(r->member[m].scores = block_new(count * sizeof(real))))
            return false;
    r->sentence = malloc((size_t)rows_max * sizeof *r->sentence);
    r->block = calloc((size_t)score_blocks(r->vocab), sizeof *r->block);
    r->x = r->selects ? malloc(V * sizeof *r->x) : NULL;
    r->average = r->n > 1 ? malloc(V * sizeof *r->average) : NULL;
    r->scratch = r->n > 1 ? malloc(V * sizeof *r->scratch) : NULL;
    return r->sentence && r->block && (r->x || !r->selects) && ((r->average && r->scratch) || r->n == 1);
}

void row_scores_end(row_scores *r) {
    for (int m = 0; m < r->n; m++) {
        output_part_free(&r->member[m].part);
        free(r->member[m].scores);
    }
    selection_free(&r->chosen);
    free(r->sentence);
    free(r->block);
    free(r->x);
    free(r->average);
    free(r->scratch);
    free(r->spread);
}

void row_scores_step(row_scores *r, const int *of, int rows) {
    memcpy(r->sentence, of, (size_t)rows * sizeof *of);
    r->rows = rows;
    r->scored = 0;
}

/* The one place where search makes scores over the target vocabulary. */
static bool score(row_scores *r, int row) {
    int n = r->rows - row < r->most ? r->rows - row : r->most;
    for (row_member *m = r->member; m < r->member + r->n; m++)
        if (!(r->selects ? output_part_scores(&m->part, r->tape->gemm, m->hidden, row, n, m->scores)
                         : model_scores(m->model, r->tape, m->hidden, row, n, m->scores)))
            return tape_fail(r->tape);
    r->first = row;
    r->scored = n;
    return true;
}

static real *scores_of(const row_scores *r, const row_member *m) {
    return m->scores + (long)(r->row - r->first) * width_of(r);
}

/* The words of a sentence. */
static int words_of(const row_scores *r, int k, const int **word, const int **column) {
    int from = r->chosen.start[k];
    *word = r->chosen.word + from;
    *column = r->chosen.column + from;
    return r->chosen.start[k + 1] - from;
}

/* The scores of the row's words, *n of them: of all, or of its sentence's, in r->x. */
static real *gather(row_scores *r, const row_member *m, int *n) {
    real *x = scores_of(r, m);
    *n = r->vocab;
    if (!r->selects)
        return x;
    const int *word, *column;
    *n = words_of(r, r->sentence[r->row], &word, &column);
    for (int i = 0; i < *n; i++)
        r->x[i] = x[column[i]];
    return r->x;
}

/* A sentence's words' scores among those of all words, in the place of another sentence's. */
static real *spread(row_scores *r, const real *x) {
    const int *word, *column;
    int k = r->sentence[r->row];
    if (r->spread_of >= 0 && r->spread_of != k)
        for (int i = words_of(r, r->spread_of, &word, &column); i-- > 0;)
            r->spread[word[i]] = -INFINITY;
    r->spread_of = k;
    for (int i = words_of(r, k, &word, &column); i-- > 0;)
        r->spread[word[i]] = x[i];
    return r->spread;
}

/* log of the mean probability, in r->average. */
static real *average(row_scores *r, int *n) {
    memset(r->average, 0, (size_t)r->vocab * sizeof *r->average);
    for (row_member *m = r->member; m < r->member + r->n; m++) {
        const real *x = gather(r, m, n);
        real largest = vec_max(x, *n), sum = vec_exp_shift(r->scratch, x, largest, *n);
        m->log_sum = (double)largest + log((double)sum);
        vec_axpy(r->average, 1 / (sum * (real)r->n), r->scratch, *n);
    }
    vec_log(r->average, r->average, *n);
    return r->average;
}

bool row_scores_get(row_scores *r, int row, score_row *out) {
    if ((row < r->first || row >= r->first + r->scored) && !score(r, row))
        return false;
    r->row = row;
    int n = 0;
    real *x = r->n > 1 ? average(r, &n) : gather(r, r->member, &n);
    if (r->selects && r->n == 1) {
        real largest = vec_max(x, n);
        r->member->log_sum = (double)largest + log((double)vec_sum_exp(x, largest, n));
    }
    *out = (score_row){r->selects ? spread(r, x) : x, r->vocab, r->block, 0};
    score_row_measure(out);
    if (!r->selects && r->n == 1)
        r->member->log_sum = score_row_log_sum(out);
    if (r->n == 1)
        out->log_sum = r->member->log_sum;
    bool finite = true;
    for (int m = 0; m < r->n; m++)
        finite = finite && isfinite(r->member[m].log_sum);
    return finite;
}

double row_scores_log_prob(const row_scores *r, int word) {
    double log_p[SA_ENSEMBLE_MAX];
    int column = r->selects ? r->chosen.place[word] : word;
    for (int m = 0; m < r->n; m++)
        log_p[m] = (double)scores_of(r, &r->member[m])[column] - r->member[m].log_sum;
    return ensemble_log_prob(log_p, r->n);
}
