/* How a layer declares its parameters: name, shape, and the initial distribution that the model's `init` gives to
 * that kind of parameter. */
#ifndef LAYER_WEIGHT_H
#define LAYER_WEIGHT_H

#include "tape/param.h"

typedef enum weight_kind {
    WEIGHT_MATRIX,
    WEIGHT_RECURRENT, /* state to state: orthogonal blocks */
    WEIGHT_EMBEDDING,
    WEIGHT_ALIGNMENT,        /* W_a, U_a */
    WEIGHT_ALIGNMENT_VECTOR, /* v_a */
    WEIGHT_BIAS,
    WEIGHT_LSTM_BIAS, /* of gates i, f, o and candidate */
    WEIGHT_GAIN       /* factors of a normalisation: 1 in any case */
} weight_kind;

typedef struct weight_scope {
    params *params;
    const char *init; /* "paper": Bahdanau et al. 2015, B.1; "glorot": Glorot and Bengio 2010; "uniform" */
    double scale;     /* of uniform: all numbers U(-scale, scale), biases too (Sutskever et al. 2014) */
} weight_scope;

/* Declares prefix.name of shape (blocks * out, in); in 0: a vector. blocks of one matrix (gates) are initialised as
 * matrices of their own. NULL when memory ran out. */
param *weight_declare(const weight_scope *scope, const char *prefix, const char *name, weight_kind kind, int blocks,
                      int out, int in, param_use use);

#endif
