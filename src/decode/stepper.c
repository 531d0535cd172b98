#include "decode/stepper.h"

#include "math/vecmath.h"

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

bool stepper_begin(stepper *s, const ensemble *models, tape *t, const sa_shortlist *list, const vocab *target,
                   const source_sentence *sentences, int n, int rows_max) {
    *s = (stepper){.tape = t, .n = models->n};
    for (int m = 0; m < s->n; m++)
        s->member[m].model = models->model[m];
    s->row_encoded = malloc((size_t)rows_max * sizeof *s->row_encoded);
    tape_reset(t, false);
    if (!s->row_encoded || !row_scores_begin(&s->scores, models, t, list, target, sentences, n, rows_max))
        return false;
    if (!encode(s, sentences, n))
        return false;
    s->mark = arena_get_mark(t->arena);
    return true;
}

void stepper_end(stepper *s) {
    for (int m = 0; m < s->n; m++)
        kept_state_free(&s->member[m].kept);
    row_scores_end(&s->scores);
    free(s->row_encoded);
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
    row_scores_step(&s->scores, row_source, rows);
    for (int i = 0; i < rows; i++)
        s->row_encoded[i] = s->encoded[row_source[i]];
    for (int k = 0; k < s->n; k++) {
        stepper_member *m = &s->member[k];
        step_words words;
        step_output shown;
        if (!model_words(m->model, t, rows, row_word, &words) ||
            !model_step(m->model, t, &m->source, s->row_encoded, words, &m->state, &m->next, &shown))
            return false;
        s->scores.member[k].hidden = model_readout(m->model, t, &shown, &none, NULL);
        if (!s->scores.member[k].hidden)
            return false;
        add_weights(s, shown.weights);
    }
    average_weights(s);
    return true;
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
