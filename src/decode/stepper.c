#include "decode/stepper.h"

#include "math/vecmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const regularisation none;

static bool encode(stepper *s, const source_sentence *sentences, int n) {
    tape *t = s->tape;
    sentence *in_order = tape_bytes(t, (size_t)n * sizeof *in_order);
    if (!in_order)
        return false;
    for (int i = 0; i < n; i++)
        in_order[i] = (sentence){sentences[i].ids, sentences[i].length};
    source_batch batch;
    if (!source_batch_make(t, n, in_order, &batch))
        return false;
    s->encoded = batch.row;
    for (stepper_member *m = s->member; m < s->member + s->n; m++)
        if (!model_encode(m->model, t, &batch, &none, &m->source) ||
            !model_start(m->model, t, &m->source, n, batch.row, &m->state))
            return false;
    return true;
}

bool stepper_begin(stepper *s, const ensemble *models, tape *t, const source_sentence *sentences, int n,
                   int rows_max) {
    *s = (stepper){.tape = t, .n = models->n};
    s->vocab = models->model[0]->config.vocab_target;
    for (int m = 0; m < s->n; m++)
        s->member[m].model = models->model[m];
    size_t V = (size_t)s->vocab;
    s->block = calloc((size_t)score_blocks(s->vocab), sizeof *s->block);
    s->row_encoded = malloc((size_t)rows_max * sizeof *s->row_encoded);
    if (s->n > 1) {
        s->average = malloc(V * sizeof *s->average);
        s->scratch = malloc(V * sizeof *s->scratch);
    }
    if (!s->block || !s->row_encoded || (s->n > 1 && (!s->average || !s->scratch)))
        return false;
    tape_reset(t, false);
    if (!encode(s, sentences, n))
        return false;
    s->mark = arena_get_mark(t->arena);
    return true;
}

void stepper_end(stepper *s) {
    for (int m = 0; m < s->n; m++)
        kept_state_free(&s->member[m].kept);
    free(s->block);
    free(s->row_encoded);
    free(s->average);
    free(s->scratch);
}

/* The one place where search makes scores over the target vocabulary. */
static tensor *score(const model *m, tape *t, const step_output *shown) {
    return model_scores(m, t, model_readout(m, t, shown, &none, NULL));
}

/* Adds the weights of one more model that attends. */
static void add_weights(stepper *s, tensor *weights) {
    if (!s->weights)
        s->weights = weights;
    else if (weights)
        vec_add(s->weights->data, weights->data, (int)tensor_count(weights));
}

static void average_weights(stepper *s) {
    int attending = 0;
    for (int m = 0; m < s->n; m++)
        attending += s->member[m].model->preset->attends;
    for (long i = 0; attending > 1 && i < tensor_count(s->weights); i++)
        s->weights->data[i] /= (real)attending;
}

bool stepper_step(stepper *s, const int *row_source, const int *row_word, int rows) {
    tape *t = s->tape;
    s->weights = NULL;
    for (int i = 0; i < rows; i++)
        s->row_encoded[i] = s->encoded[row_source[i]];
    for (stepper_member *m = s->member; m < s->member + s->n; m++) {
        step_words words;
        step_output shown;
        if (!model_words(m->model, t, rows, row_word, &words) ||
            !model_step(m->model, t, &m->source, s->row_encoded, words, &m->state, &m->next, &shown))
            return false;
        m->scores = score(m->model, t, &shown);
        if (!m->scores)
            return false;
        add_weights(s, shown.weights);
    }
    average_weights(s);
    return true;
}

static real *scores_of(const stepper *s, const stepper_member *m) {
    return m->scores->data + (long)s->row * s->vocab;
}

/* row->x = log of the mean probability. */
static void average_rows(stepper *s, score_row *row) {
    row->x = s->average;
    memset(row->x, 0, (size_t)row->n * sizeof *row->x);
    for (stepper_member *m = s->member; m < s->member + s->n; m++) {
        const real *x = scores_of(s, m);
        real largest = vec_max(x, row->n), sum = vec_exp_shift(s->scratch, x, largest, row->n);
        m->log_sum = (double)largest + log((double)sum);
        vec_axpy(row->x, 1 / (sum * (real)s->n), s->scratch, row->n);
    }
    vec_log(row->x, row->x, row->n);
}

bool stepper_row(stepper *s, int row, score_row *out) {
    s->row = row;
    *out = (score_row){scores_of(s, &s->member[0]), s->vocab, s->block, 0};
    if (s->n > 1)
        average_rows(s, out);
    score_row_measure(out);
    if (s->n == 1)
        out->log_sum = s->member[0].log_sum = score_row_log_sum(out);
    bool finite = true;
    for (int m = 0; m < s->n; m++)
        finite = finite && isfinite(s->member[m].log_sum);
    return finite;
}

double stepper_log_prob(const stepper *s, int word) {
    double log_p[SA_ENSEMBLE_MAX];
    for (int m = 0; m < s->n; m++)
        log_p[m] = (double)scores_of(s, &s->member[m])[word] - s->member[m].log_sum;
    return ensemble_log_prob(log_p, s->n);
}

bool stepper_keep(stepper *s, const int *parent, int rows) {
    for (stepper_member *m = s->member; m < s->member + s->n; m++)
        if (!kept_state_take(&m->kept, &m->next, parent, rows))
            return false;
    arena_release(s->tape->arena, s->mark);
    for (stepper_member *m = s->member; m < s->member + s->n && rows > 0; m++)
        if (!kept_state_give(&m->kept, s->tape, &m->state))
            return false;
    return true;
}
