/* The hypotheses of one sentence while they grow, and how they go on: the best of all extensions, or draws. */
#ifndef DECODE_BEAM_H
#define DECODE_BEAM_H

#include "decode/constraint.h"

typedef struct finished {
    const node *end;
    double score; /* what they are compared by */
} finished;

typedef struct beam {
    const source_sentence *sentence;
    int positions;    /* of the source */
    int live;         /* hypotheses still growing; their rows lie side by side */
    int places;       /* how many may: as many as are wanted less those that ended */
    const node **tip; /* their last words, best first, or by sample; a NULL one at the start */
    int max_length;
    finished *done; /* best first, or by sample */
    int n_done;
    int certain; /* symbols that the caller has seen to be so (decode/glimpse.h) */
} beam;

/* A word that continues a live hypothesis. */
typedef struct candidate {
    double score;
    int parent, word; /* parent: number among the live ones */
    int sample;
} candidate;

/* What choosing needs beside the beam; one for all sentences. */
typedef struct chooser {
    const sa_translate_options *options;
    constraints constraints;
    row_scores *scores;
    candidate *candidates; /* as many as a beam has places */
    scored *best;          /* as many, or top_k (at most V) when that is more */
    real *weight;          /* V, when sampling */
    double *cumulative;    /* score_blocks(V), when sampling */
    bool broken;           /* scores were not finite */
} chooser;

/* Fills c->candidates with what comes next, in the order of the next tips, and returns how many there are. row: of
 * the first live hypothesis in the last step. */
int beam_search_next(chooser *c, const beam *b, int row);
int beam_sample_next(chooser *c, const beam *b, int row);

#endif
