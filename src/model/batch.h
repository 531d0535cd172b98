/* Sentences of a minibatch as a model reads them: longest first, step by step, without padding. */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "op/guide.h"

/* Ids of a sentence, </s> last. */
typedef struct sentence {
    const int *ids;
    int length;
} sentence;

/* B sources. Row i is the caller's sentence number[i]; sentence k is row row[k]. */
typedef struct source_batch {
    steps steps;
    const int *ids;          /* (rows of all steps) */
    const int *lengths;      /* B */
    const int *number, *row; /* B each */
} source_batch;

/* Their targets, in an order of their own. Row i is the caller's sentence number[i], its source is row source[i].
 */
typedef struct target_batch {
    steps steps;
    const int *ids;      /* (rows of all steps): the word that each step is to write */
    const int *previous; /* the word before it; -1 in the first step */
    const int *lengths, *number, *source;
    guide_rows guide; /* where the attention of rows of all steps ought to look; empty as it is made */
} target_batch;

/* In the tape's arena; ids are copied. False once the tape has failed. n at least 1, lengths at least 1. */
bool source_batch_make(tape *t, int n, const sentence *sentences, source_batch *out);
bool target_batch_make(tape *t, int n, const sentence *sentences, const source_batch *source, target_batch *out);

/* The sentence of each row of all steps, from the sentence of each row of the first. NULL fails the tape. */
int *batch_row_numbers(tape *t, const steps *s, const int *number);

/* The position of each row of all steps, those of the first step being at `first`. NULL fails the tape. */
int *batch_row_positions(tape *t, const steps *s, int first);

/* Positions of sources, one source after the other: where source i begins, and of each position the row of all
 * steps and the sentence. at NULL fails the tape. */
typedef struct source_order {
    const int *at, *row, *number;
} source_order;
source_order source_order_make(tape *t, const source_batch *source);
/* The row of all steps that is the last position of each source. NULL fails the tape. */
int *source_last_rows(tape *t, const source_batch *source);

/* Where dropout happens: each place draws masks of its own. Behind SITE_ENCODER and SITE_DECODER there is room for
 * those of layers. */
enum {
    SITE_SOURCE_EMBEDDING = 1,
    SITE_TARGET_EMBEDDING,
    SITE_ANNOTATIONS,
    SITE_STATE,
    SITE_READOUT,
    SITE_SOURCE_WORD,
    SITE_TARGET_WORD,
    SITE_LEXICAL,
    SITE_ENCODER = 100,
    SITE_DECODER = 200
};

#endif
