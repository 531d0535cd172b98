/* Sequences of different lengths, step by step, without padding. */
#ifndef TAPE_STEPS_H
#define TAPE_STEPS_H

/* B sequences, longest first: step j has a row for each of the n[j] sequences that are longer than j, so that rows
 * i of all steps belong to sequence i. Step j starts at row at[j] of a matrix that holds all steps; at[T] is the
 * number of its rows. */
typedef struct steps {
    int B, T; /* sequences; steps: the longest length */
    const int *n;
    const int *at; /* T + 1 */
} steps;

struct tape;
/* From B lengths that never rise, each at least 1; in the tape's arena. *out.n NULL fails the tape. */
void steps_make(struct tape *t, int B, const int *lengths, steps *out);

#endif
