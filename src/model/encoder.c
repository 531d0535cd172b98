#include "model/model.h"

#include "op/dropout.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/shape.h"

/* Sources one after the other: where each begins, and which row of all steps each of their positions is. */
typedef struct by_sentence {
    int *at, *index, *number;
} by_sentence;

static by_sentence order_by_sentence(tape *t, const source_batch *source) {
    const steps *s = &source->steps;
    size_t rows = (size_t)s->at[s->T];
    by_sentence out = {tape_bytes(t, (size_t)s->B * sizeof(int)), tape_bytes(t, rows * sizeof(int)),
                       tape_bytes(t, rows * sizeof(int))};
    if (t->failed)
        return out;
    int at = 0;
    for (int i = 0; i < s->B; i++) {
        out.at[i] = at;
        for (int j = 0; j < source->lengths[i]; j++, at++) {
            out.index[at] = s->at[j] + i;
            out.number[at] = source->number[i];
        }
    }
    return out;
}

/* Bahdanau et al. 2015, A.2.1: annotations h_j = [forward state; backward state]; the summary is the backward state
 * at the first word. */
static void annotate(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                     encoding *out) {
    const steps *s = &source->steps;
    tensor **forward = gru_cell_run(t, &m->forward, x, s, false);
    tensor **backward = gru_cell_run(t, &m->backward, x, s, true);
    by_sentence order = order_by_sentence(t, source);
    if (!forward || !backward || t->failed)
        return;
    tensor *h = op_gather(t, tape_joined(t, s, forward), tape_joined(t, s, backward), s->at[s->T], order.index);
    h = op_dropout(t, h, r->dropout, SITE_ANNOTATIONS, order.number);
    out->h = (annotations){h, linear(t, h, m->U_a, NULL), order.at, source->lengths, s->T};
    out->summary = backward[0];
}

/* The encoder-decoder keeps the last state alone: c = h_T. */
static void summarise(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                      encoding *out) {
    const steps *s = &source->steps;
    tensor **forward = gru_cell_run(t, &m->forward, x, s, false);
    int *last = tape_bytes(t, (size_t)s->B * sizeof *last);
    if (!forward || !last)
        return;
    for (int i = 0; i < s->B; i++)
        last[i] = s->at[source->lengths[i] - 1] + i;
    tensor *c = op_gather(t, tape_joined(t, s, forward), NULL, s->B, last);
    out->summary = op_dropout(t, c, r->dropout, SITE_ANNOTATIONS, source->number);
}

bool model_encode(const model *m, tape *t, const source_batch *source, const regularisation *r, encoding *out) {
    *out = (encoding){0};
    const steps *s = &source->steps;
    tensor *x = embed(t, m->source_embedding, m->source_embedding_b, s->at[s->T], source->ids);
    x = op_dropout(t, x, r->dropout_emb, SITE_SOURCE_EMBEDDING, batch_row_numbers(t, s, source->number));
    if (!x)
        return false;
    if (m->preset->attends)
        annotate(m, t, source, x, r, out);
    else
        summarise(m, t, source, x, r, out);
    return !t->failed;
}
