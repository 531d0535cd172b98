/* A target that a model is made to write, word by word, and what it looked at: the states before all steps are
 * kept, so that a step can be made again with other weights of attention while all else stays as it was. */
#ifndef EXPLAIN_FORCED_H
#define EXPLAIN_FORCED_H

#include "model/model.h"

typedef struct forced {
    const model *m;
    tape *t;
    sentence source, target;
    int V; /* symbols of the target vocabulary */
    encoding h;
    decoder_state *before; /* of each step, one row */
    real *weights;         /* (T, S); NULL: the model does not attend */
    real *p;               /* (T, V): p(. | words before, source) */
    bool finite;           /* all of p are */
    arena_mark mark;       /* of the tape, after all this */
} forced;

/* Makes the steps of one pair. m looks once a step, or not at all (sa_explain and sa_trace say so). Resets the
 * tape, in whose arena everything lies. False once the tape has failed. */
bool forced_begin(forced *f, const model *m, tape *t, sentence source, sentence target);
/* Forgets what was made since; recording: whether what follows is to be differentiated. */
void forced_rewind(const forced *f, bool recording);

/* Step i again as it was, and what it showed. Returns the readout's hidden layer (1, width); NULL once the tape has
 * failed. */
tensor *forced_repeat(const forced *f, int i, step_output *shown);

/* Steps at[0 ... n - 1] again, each with a row of its own of given (n, S) for its weights. at: all 0, or none. A
 * batch of steps of several places is right because a step knows of its place only whether it is the first, and
 * where a window of local attention lies, which given weights need not. Returns the readout's hidden layer (n,
 * width), and what the steps showed in *shown, which may be NULL; NULL once the tape has failed. When the tape
 * records, given gets its gradient in backward (attention_control). */
tensor *forced_again(const forced *f, int n, const int *at, tensor *given, step_output *shown);

/* Goes through the probabilities of rows of a hidden layer. When the tape records, p gives way to the gradient of
 * what is differentiated with respect to the row's scores. */
typedef void output_visitor(void *user, int row, real *p);
/* Makes scores and probabilities in chunks of rows and shows each to the visitor; when the tape records, leaves the
 * gradient in hidden, which must have no other reader. False once the tape has failed. */
bool output_visit(const model *m, tape *t, tensor *hidden, output_visitor *visit, void *user);
/* From dy/dp[v] = g(v), in *slope's place, to the gradient of scores x with p = softmax(x): p (g - sum g p), in
 * p's. */
void output_through_softmax(real *p, const real *slope, int V);

#endif
