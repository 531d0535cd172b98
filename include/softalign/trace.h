/* softalign: every number that a model computes on its way from a sentence to its translation, for those who want
 * to look at it, or teach it. Errors, ownership, threads and text are as in softalign.h.
 *
 *   sa_trace *t;
 *   char *json;
 *   if (!sa_trace_make(&t, model, "A man is asleep.", NULL, NULL, &e) && !sa_trace_json(t, &json, &e))
 *       puts(json);
 *   free(json);
 *   sa_trace_free(t);
 *
 * Letters are those of docs/equations.md: S symbols of the source, T of the target, </s> counted in both; A, the
 * width of the alignment model's hidden layer; D, that of an annotation; H, that of a state. A matrix (T, S) has
 * the number of target symbol i and source symbol j at i * S + j. Positions and steps count from 0. What a model
 * does not have is NULL.
 */
#ifndef SOFTALIGN_TRACE_H
#define SOFTALIGN_TRACE_H

#include <softalign.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sa_trace_options {
    int step; /* whose parts are shown; -1: none */
    /* What if the step had looked elsewhere: n_weights = S weights, finite and not negative, in the place of its
     * own, taken as they are. NULL: not asked. */
    const float *weights;
    int n_weights;
    int next;         /* likeliest next symbols of the step that are shown */
    bool sensitivity; /* fill it: takes longer than all else */
    int max_length;   /* symbols, either side; longer pairs are an error */
    bool symbols;     /* the target is symbols with blanks between */
    sa_protect protect;
} sa_trace_options;
/* No step, 10 next symbols, sensitivity, 200 symbols. */
SA_API void sa_trace_options_init(sa_trace_options *options);

/* A gated unit at n places, (n, width) each: z, r, h~ and the state that it makes of them. */
typedef struct sa_trace_unit {
    const char *name; /* as its parameters begin: "encoder.forward", "encoder.backward", "decoder.gru" */
    int n, width;
    float *update, *reset, *candidate, *state;
} sa_trace_unit;

typedef struct sa_likely {
    const char *symbol;
    double p;
} sa_likely;

/* One step of the decoder. */
typedef struct sa_trace_step {
    int step;
    int dim_att, dim_context, dim_state, dim_readout;
    /* Of additive scores: W_a s (A), U_a h_j (S, A), what tanh is taken of (S, A), tanh (S, A) and v_a (A). The sum
     * has the term of coverage too, where a model has one. */
    float *query, *keys, *sum, *squashed, *v_a;
    float *energy, *weights;        /* (S); NaN where the step does not look */
    float *context, *state;         /* D, H: what the readout reads */
    float *before_maxout, *readout; /* 2 l, l: what the scores of symbols are made of */
    int n_units; /* gated units that ran: none in a first step of look-first, which holds its state */
    sa_trace_unit *unit;
    int n_next;
    sa_likely *next,
        *next_original; /* next_original: with the model's own weights; NULL unless others were given */
} sa_trace_step;

typedef struct sa_trace {
    const char *preset, *decoder_order; /* decoder_order: NULL in presets without one */
    char *target;                       /* what was given or translated */
    int source_length, target_length;   /* S, T */
    int n_words;
    char **source_word;   /* the words of the source */
    int *word_of_symbol;  /* (S); -1: of none, as </s> */
    char **source_symbol; /* (S) */
    char **target_symbol; /* (T) */
    double *log_p;        /* (T) of each target symbol */

    int dim_annotation; /* 0: the model keeps no vector for each position */
    float *annotations; /* (S, D): annotations; where the decoder has no attention, the states of the encoder */
    int n_units;        /* of the encoder, at all S positions */
    sa_trace_unit *unit;
    float *sensitivity; /* (S, S): |d h_j / d x_k|, x_k the embedded word, rows sum to 1: what h_j listens to. An
                           estimate where an annotation is wide. NULL unless asked for */
    float *start;       /* the decoder's state before the first step, as wide as a state; of gated units */
    int dim_start;

    float *weights, *energies;  /* (T, S) */
    float *annotation_gradient; /* (T, S): |d log p(y_i) / d h_j| */
    float *source_gradient;     /* (T, S): |d log p(y_i) / d x_k| */

    sa_trace_step *step; /* NULL unless asked for */
    void *memory;        /* of all this */
} sa_trace;

/* Traces a pair; target NULL: the best translation by sa_translate's defaults. SA_USAGE where a source is no text,
 * the model looks with several heads, its values are in fewer bits, or an option is out of range; SA_DATA where a
 * side is blank or too long. Free with sa_trace_free. */
SA_API sa_status sa_trace_make(sa_trace **out, const sa_model *model, const char *source, const char *target,
                               const sa_trace_options *options, sa_error *error);
SA_API void sa_trace_free(sa_trace *trace);
/* As an object of JSON; gates: with the gates of the encoder's units. The caller frees *out. */
SA_API sa_status sa_trace_json(const sa_trace *trace, bool gates, char **out, sa_error *error);

#ifdef __cplusplus
}
#endif
#endif
