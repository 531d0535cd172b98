/* A model: configuration, parameters, and the functions that encode a source and write a target, step by step. The
 * same encode, start, step and readout serve training, search, alignment and explanation. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "layer/gru_cell.h"
#include "model/batch.h"
#include "op/attention_additive.h"

/* What the encoder leaves. */
typedef struct encoding {
    annotations h;   /* values NULL: the model does not attend */
    tensor *summary; /* (B, n): what the first decoder state is made of, and the fixed context without attention */
} encoding;

/* What a decoder carries from step to step, each (rows, width). Search gathers rows of all parts alike. A state may
 * have more rows than the step that reads it: the rest are of sentences that are over. */
enum { STATE_PARTS_MAX = 4 };
typedef struct decoder_state {
    int n;
    tensor *part[STATE_PARTS_MAX];
} decoder_state;

/* The previous words of a step. */
typedef struct step_words {
    tensor *e;   /* (rows, m): E y */
    gru_input x; /* W E y */
} step_words;

/* What a step shows to the readout. */
typedef struct step_output {
    tensor *s, *c, *e; /* (rows, d), (rows, D), (rows, m) */
    tensor *weights;   /* (rows, S): the alignment of the word about to be written; NULL without attention */
} step_output;

/* Rates of a training pass; zero elsewhere. */
typedef struct regularisation {
    float dropout, dropout_emb, label_smoothing;
} regularisation;

typedef struct model model;

typedef struct preset {
    const char *name;
    bool attends; /* bidirectional annotations and attention; else one direction and its last state */
    sa_model_config defaults;
} preset;

struct model {
    sa_model_config config;
    const preset *preset;
    params params;

    param *source_embedding, *source_embedding_b;
    gru_cell forward, backward;
    param *W_s, *b_s;
    param *W_a, *U_a, *v_a;
    param *target_embedding, *target_embedding_b;
    gru_cell decoder;
    param *U_o, *V_o, *C_o, *b_o;
    param *W_1, *W_out, *b_out; /* W_out: output.W_o, or the target embedding when tied */
};

/* The preset of that name; NULL: none. */
const preset *preset_find(const char *name);
/* Checks the configuration and declares all parameters, without memory for values. */
sa_status model_declare(model *m, const sa_model_config *config, sa_error *error);
void model_clear(model *m);

/* Encodes; false once the tape has failed. */
bool model_encode(const model *m, tape *t, const source_batch *source, const regularisation *r, encoding *out);
/* The decoder's first state, n rows; rows: row -> source; NULL: row i is source i. */
bool model_start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out);
/* E y of n words, -1 where no word stands yet; number: sentence of each, for dropout (NULL when not recording). */
tensor *model_embed_words(const model *m, tape *t, int n, const int *ids, const regularisation *r,
                          const int *number);
/* The words of a step by themselves: embedded, with what they give to the decoder's update. */
bool model_words(const model *m, tape *t, int n, const int *ids, step_words *out);

/* One step: from the state and the previous word to what the readout reads, and the next state.
 *   look-first:   [if not first: s = f(s, y_{i-1}, c)]   c = look(s)   out = (s, c, y_{i-1})
 *   update-first: c = look(s)   s = f(s, y_{i-1}, c)   out = (s, c, y_{i-1})
 * first: no word has been written yet, for any row; look-first does not read words.x then. rows: row -> source;
 * NULL: row i is source i. */
bool model_step(const model *m, tape *t, const encoding *source, const int *rows, bool first, step_words words,
                const decoder_state *in, decoder_state *out, step_output *output);

/* The readout's hidden layer (N, l or rank) of rows that steps showed; number: sentence of each row, for dropout.
 */
tensor *model_readout(const model *m, tape *t, tensor *s, tensor *c, tensor *e, const regularisation *r,
                      const int *number);
/* Scores over the target vocabulary (N, V), not normalised. */
tensor *model_scores(const model *m, tape *t, tensor *hidden);

#endif
