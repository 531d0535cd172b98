#ifndef LAYER_SUBLAYER_H
#define LAYER_SUBLAYER_H

#include "layer/weight.h"
#include "op/attention_multihead.h"
#include "op/norm.h"

/* What the layers of a Transformer consist of (Vaswani et al. 2017, 3.1): y = norm(x + dropout(f(x))). */

typedef struct sublayer_norm {
    param *gain, *bias;
} sublayer_norm;

/* f = W_o multihead(W_q x, W_kv z): self-attention where z is x. W_q, W_o (d, d), W_kv (2d, d): rows of keys, then
 * of values; no biases. */
typedef struct attention_sublayer {
    param *W_q, *W_kv, *W_o;
    int heads;
    sublayer_norm norm;
} attention_sublayer;

/* f = W_2 max(W_1 x + b_1, 0) + b_2 */
typedef struct forward_sublayer {
    param *W_1, *b_1, *W_2, *b_2;
    sublayer_norm norm;
} forward_sublayer;

void attention_sublayer_declare(attention_sublayer *s, const weight_scope *scope, const char *prefix, int d,
                                int heads);
/* width: of the hidden layer. */
void forward_sublayer_declare(forward_sublayer *s, const weight_scope *scope, const char *prefix, int d, int width);

/* Keys and values of z (N, d): (N, 2d). */
tensor *attention_sublayer_keys(tape *t, const attention_sublayer *s, tensor *z);
/* x (rows, d), kv and the rest as in attention_multihead. Both return y (rows, d). */
tensor *attention_sublayer_run(tape *t, const attention_sublayer *s, tensor *x, tensor *kv, const tensor *past,
                               const attention_groups *groups, const unit_dropout *dropout, shown_weights *shown);
tensor *forward_sublayer_run(tape *t, const forward_sublayer *s, tensor *x, const unit_dropout *dropout);

#endif
