/* What a decoder says of the words that it looks at, whatever their context (Nguyen and Chiang 2018): names and
 * rare words keep their translation.
 *   f_i = tanh(sum_j a_ij E x_j)     l_i = f_i + tanh(W f_i + b)
 * Scores of the vocabulary then get W_lex l_i, whose bias is that of the output layer. */
#ifndef LAYER_LEXICAL_H
#define LAYER_LEXICAL_H

#include "layer/weight.h"
#include "op/weigh.h"

typedef struct lexical_layer {
    param *W, *b; /* (m, m), (m); W NULL: there is none */
} lexical_layer;

/* m: width of an embedded word. */
void lexical_declare(lexical_layer *l, const weight_scope *scope, int m);
/* From sum_j a_ij E x_j of rows (op/weigh.h) to their l, (rows, m). */
tensor *lexical_read(tape *t, const lexical_layer *l, tensor *words);

#endif
