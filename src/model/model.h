/* A model: configuration, parameters, and the functions that encode a source and write a target, step by step. The
 * same encode, start, step and readout serve training, search, alignment and explanation: a training pass makes all
 * steps of its targets at once, search one after the other. What they compute is the family's (model/family.h). */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "layer/coverage.h"
#include "layer/lexical.h"
#include "model/batch.h"

enum { MODEL_LAYERS_MAX = 16 };

/* What the encoder leaves: annotations to attend to (values NULL: the model does not attend), and what else the
 * family's decoder starts from or reads. */
enum { ENCODING_PARTS_MAX = 2 * MODEL_LAYERS_MAX };
typedef struct encoding {
    int n;     /* sources */
    tensor *x; /* (rows of all steps of the source, m): its embedded words */
    annotations h;
    annotations words; /* x, source after source, without keys; of a model with a lexical layer */
    /* (rows of all steps, n): where no annotations are kept, the encoder's states, for who explains. */
    tensor *states;
    coverage_source coverage;
    tensor *part[ENCODING_PARTS_MAX];
} encoding;

/* What a decoder carries from step to step: how many it has made; parts, each (rows, width), of which search
 * gathers rows, of all alike; and memories, to which every step adds rows that stay where they are. Before steps, a
 * memory holds what all steps so far added, and trail (rows, length) says which of its rows are a row's own past;
 * after them it holds what these steps added. Between two steps of a search, kept_state.h makes one of the other. A
 * part may have more rows than the step that reads it: the rest are of sentences that are over. */
enum { STATE_PARTS_MAX = 2 * MODEL_LAYERS_MAX + 4 };
typedef struct decoder_state {
    int length, n, n_memories;
    tensor *part[STATE_PARTS_MAX], *memory[MODEL_LAYERS_MAX];
    const int *trail;
} decoder_state;

/* The words before the steps that are to be made. */
typedef struct step_words {
    steps steps;       /* of one step: T = 1 */
    tensor *e;         /* (rows of all steps, m): E y; zeros where no word stands yet */
    const int *source; /* source of each row of the first step; NULL: row i is of source i */
    const int *number; /* sentence of each row of all steps, for dropout; NULL when not recording */
    const double *nll; /* of each sentence -log p, which is there when backward begins; NULL when not recording */
    double nll_scale;  /* what its gradient is multiplied by */
} step_words;

/* What steps show to the readout, rows of all of them. */
typedef struct step_output {
    tensor *s, *c, *e; /* (rows, d), (rows, D), (rows, m); c, e: NULL in a family that reads them not */
    tensor *weights;   /* (rows, S): the alignment of the word about to be written; NULL without attention */
    tensor *words;     /* (rows, m): the source's words in those shares; NULL without a lexical layer */
} step_output;

/* How a model that looks at one place learns where (op/attention_hard.h); zeros: it looks where its weights are
 * largest, and learns nothing of it. */
typedef struct hard_learning {
    float reward, entropy;
    float expected;  /* share of the sentences that see the mean of all places instead */
    double baseline; /* -log p of a sentence, as was usual lately */
} hard_learning;

/* What a training pass does beyond computing the loss; zero elsewhere. */
typedef struct regularisation {
    float dropout, dropout_emb, label_smoothing;
    float dropout_src, dropout_trg; /* of whole words */
    float r_drop; /* the agreement of op/xent.h: every pair must stand there twice, one after the other */
    float guide;  /* weight of the guided attention's cross-entropy beside that of words */
    float doubly_stochastic; /* op/attention_sums.h */
    int picture_shift;       /* pixels that a picture is moved at most, in each direction */
    hard_learning hard;
} regularisation;

typedef struct family family;
typedef struct model model;

typedef struct preset {
    const char *name;
    const family *family;
    bool attends;
    uint64_t fields; /* of the configuration that it may read: bits CONFIG_BIT(id) of model/config.h */
    sa_model_config defaults;
} preset;

struct model {
    sa_model_config config;
    const preset *preset;
    params params;

    param *source_embedding, *source_embedding_b;
    param *target_embedding, *target_embedding_b;
    lexical_layer lexical;
    param *W_1, *W_out,
        *b_out; /* W_out: output.W_o, or the target embedding when tied; W_1 NULL: no output rank.
                   Behind its own columns W_out has those of W_lex, where there is a lexical layer */
    void *own;  /* the family's parameters */
};

/* The preset of that name; NULL: none. */
const preset *preset_find(const char *name);
/* What a source is. Text has as many positions as symbols, and differs in length; anything else does not. */
typedef struct source_shape {
    sa_vocab_type type; /* where it is no text */
    int count, width;   /* as in vocab_options */
    int length;         /* symbols of a source, </s> counted; 0: it is text */
    int positions;      /* that a decoder looks at */
} source_shape;
source_shape model_source_shape(const sa_model_config *c);
/* Positions of a source of so many symbols. */
int model_positions(const sa_model_config *c, int length);
/* Whether what a step shows as its weights can be learnt from. */
bool model_weights_learn(const sa_model_config *c);

/* The fields that a configuration of the preset reads: some depend on others. */
uint64_t preset_reads(const preset *p, const sa_model_config *c);
/* Whether models can be made of the configuration. */
sa_status model_check(const sa_model_config *config, sa_error *error);
/* Checks the configuration and declares all parameters, without memory for values. */
sa_status model_declare(model *m, const sa_model_config *config, sa_error *error);
void model_clear(model *m);

/* Encodes; false once the tape has failed. */
bool model_encode(const model *m, tape *t, const source_batch *source, const regularisation *r, encoding *out);
/* The decoder's state before the first step, n rows; rows: row -> source; NULL: row i is source i. */
bool model_start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out);
/* The words before all steps of a training pass; those before one step, n rows, -1 where no word stands yet. */
bool model_target_words(const model *m, tape *t, const target_batch *target, const regularisation *r,
                        step_words *out);
bool model_words(const model *m, tape *t, int n, const int *ids, step_words *out);

/* Makes the steps of `words`: from the state before the first of them to what the readout reads of each, and the
 * state after the last. Weights of attention are those that tape.attention gives, if it gives any, else what the
 * configuration says. */
bool model_steps(const model *m, tape *t, const encoding *source, const step_words *words, const regularisation *r,
                 const decoder_state *in, decoder_state *out, step_output *output);
/* One step when not training. rows: row -> source; NULL: row i is source i. */
bool model_step(const model *m, tape *t, const encoding *source, const int *rows, step_words words,
                const decoder_state *in, decoder_state *out, step_output *output);

/* The readout's hidden layer (N, l or rank, and m of a lexical layer) of rows that steps showed; number: sentence
 * of each row, for dropout.
 */
tensor *model_readout(const model *m, tape *t, const step_output *shown, const regularisation *r,
                      const int *number);
/* Scores over the target vocabulary (n, V), not normalised, of n rows of hidden from row `from` on. False without
 * memory. */
bool model_scores(const model *m, tape *t, const tensor *hidden, int from, int n, real *scores);

#endif
