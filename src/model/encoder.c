#include "model/model.h"

#include "model/site.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/shape.h"

/* Bahdanau et al. 2015, A.2.1: annotations h_j = [forward state; backward state]; the summary is the backward state
 * at the first word. */
static void annotate(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                     encoding *out) {
    int B = source->B, S = source->S;
    tensor **forward = gru_cell_run(t, &m->forward, x, source->lengths, false);
    tensor **backward = gru_cell_run(t, &m->backward, x, source->lengths, true);
    if (!forward || !backward)
        return;
    tensor *h = op_join_steps(t, S, forward, backward);
    h = op_dropout(t, h, r->dropout, SITE_ANNOTATIONS, site_rows(t, B, S, SITE_SENTENCE_MAJOR));
    out->h = (annotations){h, linear(t, h, m->U_a, NULL), source->lengths};
    out->summary = backward[0];
}

/* The encoder-decoder keeps the last state alone: c = h_T. Padding keeps a state, so the last step holds it. */
static void summarise(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                      encoding *out) {
    tensor **forward = gru_cell_run(t, &m->forward, x, source->lengths, false);
    if (!forward)
        return;
    out->summary = op_dropout(t, forward[source->S - 1], r->dropout, SITE_ANNOTATIONS,
                              site_rows(t, source->B, 1, SITE_SENTENCE_MAJOR));
}

bool model_encode(const model *m, tape *t, const source_batch *source, const regularisation *r, encoding *out) {
    *out = (encoding){0};
    tensor *x = embed(t, m->source_embedding, m->source_embedding_b, source->ids, source->S, source->B);
    x = op_dropout(t, x, r->dropout_emb, SITE_SOURCE_EMBEDDING,
                   site_rows(t, source->B, source->S, SITE_TIME_MAJOR));
    if (!x)
        return false;
    if (m->preset->attends)
        annotate(m, t, source, x, r, out);
    else
        summarise(m, t, source, x, r, out);
    return !t->failed;
}
