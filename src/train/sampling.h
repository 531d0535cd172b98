/* The training text of an epoch with its words cut otherwise (text/resegment.h). It is as large as the text itself,
 * so it lies in a file that is mapped, which loses its name as soon as it is there. */
#ifndef TRAIN_SAMPLING_H
#define TRAIN_SAMPLING_H

#include "base/thread.h"
#include "text/corpus.h"
#include "text/resegment.h"

typedef struct sampling {
    resegmenter *side[2]; /* NULL: symbols of that side are no subwords, and stay */
    corpus text;          /* of the epoch; empty: none was drawn */
} sampling;

/* One side's vocabulary at least is of subwords. */
sa_status sampling_open(sampling *s, const vocab *source, const vocab *target, sa_error *error);
void sampling_close(sampling *s);

/* What an epoch's text is drawn by. */
typedef struct sampling_draw {
    double share;
    int max_length; /* a side that would become longer, </s> not counted, stays as it is */
    uint64_t seed;
    int64_t epoch;
} sampling_draw;

/* Draws s->text, pair by pair as many as there are, in place of the last one. It depends on the text and the draw,
 * not on the pool. path: where the file can be for a moment. SA_FORMAT when `plain` is damaged (corpus_check). */
sa_status sampling_make(sampling *s, const corpus *plain, const sampling_draw *draw, pool *threads,
                        const char *path, sa_error *error);

#endif
