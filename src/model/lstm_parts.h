/* What the families of stacked long short-term memories have in common. */
#ifndef MODEL_LSTM_PARTS_H
#define MODEL_LSTM_PARTS_H

#include "layer/lstm_stack.h"
#include "model/family.h"

/* Layers side.1 ... side.n of width dim-rnn on words. context: width of what else the lowest layer reads; 0:
 * nothing. looped: the layers run step by step. */
void lstm_stack_declare(lstm_stack *s, const weight_scope *scope, const char *side, const sa_model_config *c,
                        int context, bool looped);

/* Reads the source with all layers, from its last word to the first where the configuration says so. out->part gets
 * the states that the layers end with, h and c of each. Returns the output of the highest, step by step. */
tensor *lstm_encode(const model *m, tape *t, const lstm_stack *s, const source_batch *source, tensor *x,
                    const regularisation *r, encoding *out);

/* Puts the state that layer i ends with, counted from 0: at the first word when it read backwards, else at each
 * sentence's last. */
void lstm_end_put(tape *t, const source_batch *source, const lstm_run *run, bool reversed, encoding *out, int i);

/* A decoder's first state is what lstm_encode left: h and c of each layer are the first parts. */
void lstm_hand_over(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out);
void lstm_states_get(const decoder_state *s, int layers, lstm_state *out);
void lstm_states_put(decoder_state *s, int layers, const lstm_state *from);

/* Readout of families that read scores out of the highest layer's output as it is. */
tensor *lstm_readout(const model *m, tape *t, const step_output *shown, const regularisation *r, const int *number);
int lstm_width(const sa_model_config *c);

#endif
