/* What may follow a hypothesis, beside what the models say: forced starts, least length, n-grams that may not come
 * twice, no <unk>, no more symbols for protected items than the source has. Probabilities stay those of the models:
 * what is ruled out is not chosen, and that is all. */
#ifndef DECODE_CONSTRAINT_H
#define DECODE_CONSTRAINT_H

#include "decode/stepper.h"
#include "text/vocab.h"

/* A word of a hypothesis; hypotheses share their beginnings. */
typedef struct node {
    const struct node *parent; /* NULL: the first word */
    int word, depth;           /* depth: words up to this one */
    int sample;                /* which sample it is of; 0 in beam search */
    int opened;                /* bytes of the sentence's open word that are written */
    double score;              /* sum of log p up to this word */
    const real *attention;     /* over the source; NULL: not kept */
} node;

typedef struct constraints {
    const sa_translate_options *options;
    const vocab *target;
    int *words; /* room for the words of the longest hypothesis */
} constraints;

/* Most symbols of a translation, </s> counted: by the positions of the source, but room for a forced start and for
 * the least length. At it </s> is the only choice. */
int constraint_max_length(const sa_translate_options *options, const source_sentence *source, int positions);

/* The word that must follow the hypothesis that ends in tip (NULL: nothing is written yet), or -1. */
int constraint_forced(const source_sentence *source, const node *tip, int max_length);
/* Forbids in row what may not follow. May leave nothing. */
void constraint_apply(const constraints *c, const source_sentence *source, const node *tip, score_row *row);
/* node.opened of a word that follows tip. */
int constraint_opened(const constraints *c, const source_sentence *source, const node *tip, int word);

#endif
