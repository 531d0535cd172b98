/* What a Transformer has on both sides, and its encoder, which others have too. */
#ifndef MODEL_TRANSFORMER_PARTS_H
#define MODEL_TRANSFORMER_PARTS_H

#include "layer/sublayer.h"
#include "model/family.h"

typedef struct encoder_layer {
    attention_sublayer attention;
    forward_sublayer network;
} encoder_layer;

typedef struct transformer_encoder {
    int n;
    encoder_layer layer[MODEL_LAYERS_MAX];
} transformer_encoder;

/* Whether the heads share out the width. */
sa_status transformer_check(const sa_model_config *c, sa_error *error);

/* A sublayer side.layer.name, layer counted from 0. */
void transformer_declare_attention(attention_sublayer *s, const weight_scope *scope, const char *side, int layer,
                                   const char *name, const sa_model_config *c);
void transformer_declare_network(forward_sublayer *s, const weight_scope *scope, const char *side, int layer,
                                 const sa_model_config *c);
void transformer_encoder_declare(transformer_encoder *e, const weight_scope *scope, const sa_model_config *c);

/* Of each row, for dropout; and where it stands. */
typedef struct row_list {
    const int *sentence, *position;
} row_list;

/* Where dropout happens in a layer; the words are layer 0. */
enum { PLACE_ATTENTION, PLACE_LOOK, PLACE_NETWORK, PLACES };
unit_dropout transformer_dropout(const regularisation *r, unsigned side, int layer, int place, row_list rows);

/* sqrt(d) E w + P, with dropout. */
tensor *transformer_words(const model *m, tape *t, tensor *e, const regularisation *r, unsigned side,
                          row_list rows);

/* Reads the embedded words x of all positions, step by step. Returns the output of the highest layer, in the order
 * of `order` (N, d); NULL once the tape has failed. */
tensor *transformer_encode(const model *m, tape *t, const transformer_encoder *e, const source_batch *source,
                           tensor *x, source_order order, const regularisation *r);

#endif
