/* Steps many hypotheses together, with one model or the average of several (decode/ensemble.h). */
#ifndef DECODE_STEPPER_H
#define DECODE_STEPPER_H

#include "decode/ensemble.h"
#include "decode/top.h"
#include "model/kept_state.h"

/* A source sentence and what its translation must begin with. */
typedef struct source_sentence {
    const int *ids; /* length of them, </s> last */
    int length;
    uint64_t number;   /* of its line, which samples are drawn by */
    const int *items;  /* of each kind how many a translation may have, in a model that protects them; NULL: none */
    const int *prefix; /* n_prefix words that the translation starts with */
    int n_prefix;
    const char *open; /* the pieces that follow them start with this, or together make it up; NULL or "": nothing */
} source_sentence;

typedef struct stepper_member {
    const model *model;
    encoding source;
    decoder_state state, next;
    kept_state kept; /* between steps */
    tensor *scores;  /* (rows, V) of the last step */
    double log_sum;  /* of the row that stepper_row gave last */
} stepper_member;

typedef struct stepper {
    tape *tape;
    int n, vocab;
    stepper_member member[SA_ENSEMBLE_MAX];
    const int *encoded; /* sentence -> its row in the encodings */
    int *row_encoded;   /* of each row of the last step */
    tensor *weights;    /* (rows, S) of the last step; NULL without attention */
    arena_mark mark;
    int row;               /* that stepper_row gave last */
    real *block, *average; /* of that row: maxima of blocks; with several models the row itself */
    real *scratch;
} stepper;

/* Encodes n sentences; the first step has one row for each. Resets the tape, which all models may share. False
 * without memory. */
bool stepper_begin(stepper *s, const ensemble *models, tape *t, const source_sentence *sentences, int n,
                   int rows_max);
void stepper_end(stepper *s);

/* One step of rows hypotheses: row -> sentence, row -> the word before (-1 at the first step). */
bool stepper_step(stepper *s, const int *row_source, const int *row_word, int rows);
/* Scores of a row of the last step, to choose by (of several models, -infinity where log p is below -87). Valid,
 * and the caller's to change, until the next call. False when the models' scores are not finite. */
bool stepper_row(stepper *s, int row, score_row *out);
/* log p, at most 0, of a word of the row that stepper_row gave last, unless it was forbidden there. */
double stepper_log_prob(const stepper *s, int word);
/* Ends a step: the next one has rows hypotheses, number i grown from row parent[i] of this one. */
bool stepper_keep(stepper *s, const int *parent, int rows);

#endif
