#ifndef LAYER_GRU_CELL_H
#define LAYER_GRU_CELL_H

#include "layer/weight.h"
#include "op/gru.h"

/* A gated recurrent unit with its input's weights: W_zr (2H, m) for the gates, W (H, m) for the candidate, and
 * biases b (H) of the candidate and, where the form says so, b_zr (2H) of the gates; the rest of the step as in
 * gru_step. A unit without input has no W. With layer normalisation the biases are the step's. */
typedef struct gru_cell {
    param *W_zr, *W, *b_zr, *b;
    gru_weights step;
} gru_cell;

/* input, context 0: none. */
typedef struct gru_form {
    int input, context, width;
    sa_reset reset;
    bool normalised;
    bool gate_bias; /* Bahdanau et al. 2015 have none: their words have a bias */
    bool looped;    /* the input comes step by step, not all at once */
} gru_form;
void gru_cell_declare(gru_cell *g, const weight_scope *scope, const char *prefix, gru_form form);

/* The input's part of all steps at once: x (N, m). */
gru_input gru_cell_input(tape *t, const gru_cell *g, tensor *x);

/* Deep transition (Pascanu et al. 2014; Miceli Barone et al. 2017): units without input, one after the other, that
 * a state goes through within a step. n 0: it stays as it is. */
enum { GRU_TRANSITIONS_MAX = 8 };
typedef struct gru_transition {
    int n;
    gru_cell cell[GRU_TRANSITIONS_MAX];
} gru_transition;
/* Of n units prefix.1, prefix.2 ...; of the form input, context and gate_bias are not read. */
void gru_transition_declare(gru_transition *d, const weight_scope *scope, const char *prefix, int n, gru_form form);
/* s (n, H) -> (n, H) */
tensor *gru_transition_run(tape *t, const gru_transition *d, tensor *s);

/* Runs the cell, and the transition behind each of its steps, over whole sequences from states of zeros;
 * `reversed`: each from its last position to its first. x (rows of all steps, m), step by step. Returns the state
 * of each step, (n[j], H); NULL once the tape has failed. */
tensor **gru_cell_run(tape *t, const gru_cell *g, const gru_transition *deep, tensor *x, const steps *over,
                      bool reversed);

#endif
