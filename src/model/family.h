/* What a family of models consists of: functions that read like its equations, in one file of this room, which
 * presets.c and nothing else knows by name. */
#ifndef MODEL_FAMILY_H
#define MODEL_FAMILY_H

#include "layer/weight.h"
#include "model/config.h"
#include "model/model.h"

struct family {
    size_t own; /* bytes of model.own, which begin cleared */
    /* A step looks at the source more than once, of which it shows one look: what is done with the weights of a
     * pass (op/attention.h) does not reach it. */
    bool many_looks;
    /* Of the fields that its presets read, those that this configuration leaves idle; NULL: none. */
    uint64_t (*idle)(const sa_model_config *c);
    /* What the table of fields cannot say; NULL: nothing. */
    sa_status (*check)(const sa_model_config *c, sa_error *error);
    /* NULL: text. */
    source_shape (*source)(const sa_model_config *c);
    /* All parameters, in the order of the file; the functions below declare those that every family has. */
    void (*declare)(model *m, const weight_scope *scope);
    /* As model_encode, from the embedded words x of all positions, step by step; NULL where the source is no text.
     */
    void (*encode)(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out);
    /* As in model.h; failure shows on the tape. */
    void (*start)(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out);
    void (*steps)(const model *m, tape *t, const encoding *source, const step_words *words, const regularisation *r,
                  const decoder_state *in, decoder_state *out, step_output *output);
    tensor *(*readout)(const model *m, tape *t, const step_output *shown, const regularisation *r,
                       const int *number);
    /* Width of what readout returns, which is that of the target embeddings when tied, and the option that sets
     * it. */
    int (*width)(const sa_model_config *c);
    const char *width_option;
};

/* biased: the lookups add a bias, as the code of Bahdanau et al. 2015 does. */
void model_declare_source(model *m, const weight_scope *scope, bool biased);
void model_declare_target(model *m, const weight_scope *scope, bool biased);
void model_declare_output(model *m, const weight_scope *scope);

/* The first rows of what has at least n. */
tensor *first_rows(tape *t, tensor *x, int n);

extern const family family_rnnsearch, family_hybrid, family_seq2seq, family_luong, family_gnmt, family_transformer,
    family_caption;

#endif
