/* Steps many hypotheses together, with one model or the average of several (decode/ensemble.h). */
#ifndef DECODE_STEPPER_H
#define DECODE_STEPPER_H

#include "decode/row_scores.h"
#include "model/kept_state.h"

/* A source sentence and what its translation must begin with. */
typedef struct source_sentence {
    const int *ids; /* length of them, </s> last */
    int length;
    uint64_t number;   /* of its line, which samples are drawn by */
    size_t line;       /* that the caller knows it by, and */
    int piece;         /* of which piece of it it is */
    const int *items;  /* of each kind how many a translation may have, in a model that protects them; NULL: none */
    const int *prefix; /* n_prefix words that the translation starts with */
    int n_prefix;
    int forced_length; /* of the translation, </s> counted; 0: as the options say */
    const char *open; /* the pieces that follow them start with this, or together make it up; NULL or "": nothing */
} source_sentence;

typedef struct stepper_member {
    const model *model;
    encoding source;
    decoder_state state, next;
    kept_state kept; /* between steps */
} stepper_member;

typedef struct stepper {
    tape *tape;
    int n;
    stepper_member member[SA_ENSEMBLE_MAX];
    const int *encoded; /* sentence -> its row in the encodings */
    int *row_encoded;   /* of each row of the last step */
    tensor *weights;    /* (rows, S) of the last step; NULL without attention */
    arena_mark mark;
    row_scores scores; /* of the last step */
} stepper;

/* Encodes n sentences; the first step has one row for each. Resets the tape, which all models may share. list: the
 * words that are scored; NULL: all. target: the models' vocabulary. False without memory. */
bool stepper_begin(stepper *s, const ensemble *models, tape *t, const sa_shortlist *list, const vocab *target,
                   const source_sentence *sentences, int n, int rows_max);
void stepper_end(stepper *s);

/* One step of rows hypotheses: row -> sentence, row -> the word before (-1 at the first step). */
bool stepper_step(stepper *s, const int *row_source, const int *row_word, int rows);
/* Ends a step: the next one has rows hypotheses, number i grown from row parent[i] of this one. */
bool stepper_keep(stepper *s, const int *parent, int rows);

#endif
