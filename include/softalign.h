/* softalign: attentional machine translation (RNNsearch and its relatives).
 *
 *   sa_error e;
 *   sa_model *m;
 *   if (sa_model_open(&m, "run/best.safetensors", &e)) { fprintf(stderr, "%s\n", e.text); return 1; }
 *   const char *line = "A man is asleep.";
 *   sa_translation *t;
 *   if (!sa_translate(m, &line, 1, NULL, &t, &e)) { puts(t[0].hypothesis[0].text); sa_translations_free(t, 1); }
 *   sa_model_free(m);
 *
 * Errors     Functions that can fail return an sa_status, SA_OK (0) on success, and fill *error (NULL is
 *            allowed) with a text that says what, where and what to do. The library never prints or exits.
 * Ownership  What a function returns through a pointer belongs to the caller, who frees it with the function
 *            named there. Strings passed in are read during the call only.
 * Threads    A model is read-only once opened: several threads may translate with one. Everything else belongs
 *            to one thread at a time.
 * Text       UTF-8. Scores are natural logarithms, at most 0, higher is better.
 */
#ifndef SOFTALIGN_H
#define SOFTALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SA_API __attribute__((visibility("default")))
#define SA_VERSION "0.1.0"

/* ---- errors ------------------------------------------------------------------------------------------ */

#define SA_STATUS_LIST(X)                                                                                          \
    X(OK, "no error")                                                                                              \
    X(USAGE, "wrong option or argument")                                                                           \
    X(IO, "file cannot be read or written")                                                                        \
    X(DATA, "the data are not what they should be")                                                                \
    X(FORMAT, "not a model file, or a damaged one")                                                                \
    X(MEMORY, "not enough memory")                                                                                 \
    X(NUMERIC, "a number is no longer finite")                                                                     \
    X(STOPPED, "stopped on request")

typedef enum sa_status {
#define X(name, text) SA_##name,
    SA_STATUS_LIST(X)
#undef X
} sa_status;

typedef struct sa_error {
    sa_status status;
    char text[1024];
} sa_error;

/* The program's version, "0.1.0". */
SA_API const char *sa_version(void);
/* What a status means in general, in a few words. */
SA_API const char *sa_status_text(sa_status status);

/* ---- the machine ------------------------------------------------------------------------------------- */

typedef struct sa_machine {
    char processor[128];
    char instruction_sets[256]; /* of the processor, as Linux names them: "avx avx2 fma avx512f ..." */
    char product_set[32];       /* what matrix products make use of, as oneDNN names it: "avx512_core_bf16" */
    char precisions[64];        /* that products have instructions for: "f32 bf16 int8" */
    int cores;                  /* that this process may use */
    uint64_t memory, memory_available, memory_limit; /* bytes; 0 where unknown, or where there is no limit */
    char libraries[128];                             /* "oneDNN 2.6.3, jansson 2.14, zlib 1.2.13" */
} sa_machine;

SA_API sa_status sa_machine_describe(sa_machine *out, sa_error *error);

/* ---- reading text ------------------------------------------------------------------------------------ */

/* Lines of a file, gzip or plain (told by its first bytes), "-" for standard input. Only LF ends a line; a CR
 * before it is dropped, any other CR reads as a blank; a byte order mark at the start of a line is dropped; NUL
 * and bytes that are not UTF-8 become U+FFFD (one per maximal wrong sequence, as WHATWG counts) and are counted,
 * or are an error when strict. */
typedef struct sa_reader sa_reader;
SA_API sa_status sa_reader_open(sa_reader **out, const char *path, bool strict, sa_error *error);
/* Byte order marks stay in the lines, for scores that count them as characters like sacreBLEU's. */
SA_API void sa_reader_keep_marks(sa_reader *reader);
/* The next line, without its LF, zero-terminated, valid until the next call; *line = NULL at the end. */
SA_API sa_status sa_reader_next(sa_reader *reader, char **line, size_t *length, sa_error *error);
/* Whether a next line can be had without waiting for the writer of a pipe or terminal. */
SA_API bool sa_reader_ready(sa_reader *reader);
/* Lines returned so far, and how many bytes or sequences were replaced. */
SA_API size_t sa_reader_line(const sa_reader *reader);
SA_API size_t sa_reader_replaced(const sa_reader *reader);
/* Where the first replacement was: line and byte column, from 1; 0 and 0 when there was none. */
SA_API void sa_reader_first_replaced(const sa_reader *reader, size_t *line, size_t *column);
/* How much of the file was read, 0 ... 1; below 0 where that cannot be known (a pipe). */
SA_API double sa_reader_share(const sa_reader *reader);
SA_API void sa_reader_free(sa_reader *reader);

/* ---- models ------------------------------------------------------------------------------------------ */

typedef enum sa_order {
    SA_LOOK_FIRST,   /* look at the source, emit, then update the state with the word emitted (the authors' code) */
    SA_UPDATE_FIRST, /* look, update the state with the previous word, emit from it (the paper's text) */
    SA_CONDITIONAL   /* update with the previous word, look, update with what was seen, emit (dl4mt, Nematus) */
} sa_order;

/* What a decoder's first state is made of. */
typedef enum sa_decoder_start {
    SA_START_BACKWARD, /* the backward state at the first word */
    SA_START_MEAN      /* the mean of all annotations */
} sa_decoder_start;

/* Where layer normalisation acts (Ba et al. 2016). */
typedef enum sa_layer_norm {
    SA_NORM_NONE,
    SA_NORM_ENCODER, /* in the steps of the encoder's units */
    SA_NORM_ALL      /* in those of the decoder, the alignment model, the first state and the readout too */
} sa_layer_norm;

typedef enum sa_reset {
    SA_RESET_BEFORE, /* tanh(W x + U (r * h)): the paper's */
    SA_RESET_AFTER   /* tanh(W x + r * (U h)) */
} sa_reset;

typedef enum sa_cell {
    SA_CELL_LSTM,       /* h = o * tanh(c) */
    SA_CELL_LSTM_LINEAR /* h = o * c (Wu et al. 2016) */
} sa_cell;

/* Where a decoder looks (Luong et al. 2015). */
typedef enum sa_attention_scope {
    SA_ATTEND_GLOBAL,  /* everywhere */
    SA_ATTEND_LOCAL_M, /* around the position that has the number of the step */
    SA_ATTEND_LOCAL_P  /* around one that it predicts, and the less the farther from it */
} sa_attention_scope;

/* How it scores a position with annotation h, from its state s. */
typedef enum sa_attention_score {
    SA_SCORE_DOT,     /* s . h */
    SA_SCORE_GENERAL, /* s . W h */
    SA_SCORE_CONCAT,  /* v . tanh(W s + U h) */
    SA_SCORE_LOCATION /* W s, a number for each position */
} sa_attention_score;

/* What the weights of attention are: tests of what they are good for (docs/explain.md) train models otherwise. */
typedef enum sa_attention_weights {
    SA_WEIGHTS_LEARNED, /* as the score says */
    SA_WEIGHTS_UNIFORM, /* all positions looked at alike */
    SA_WEIGHTS_GIVEN    /* those of another model, with which it was trained: it cannot work by itself */
} sa_attention_weights;
/* What a decoder remembers of where it looked (Tu et al. 2016), for each position of the source. */
typedef enum sa_coverage {
    SA_COVERAGE_NONE,
    SA_COVERAGE_LINGUISTIC, /* the sum of the weights that it got */
    SA_COVERAGE_FERTILITY,  /* that sum divided by how much it is expected to get, between 0 and 2 */
    SA_COVERAGE_NEURAL      /* the state of a gated unit */
} sa_coverage;

/* How a line of a side is cut into symbols. */
typedef enum sa_vocab_type {
    SA_VOCAB_WORD,
    SA_VOCAB_BPE,
    SA_VOCAB_UNIGRAM,
    /* of a source only: */
    SA_VOCAB_PICTURE, /* the line is the path of a picture, PNG or JPEG, whose pixels are the symbols */
    SA_VOCAB_FEATURES /* FILE:ROW names a row of the tensor "features" of a safetensors file, whose numbers are */
} sa_vocab_type;

/* What defines a model's computation. Filled by sa_model_config_preset, then changed field by field; a preset reads
 * some of the fields (sa_model_config_has). */
typedef struct sa_model_config {
    char preset[32];
    int vocab_source, vocab_target; /* symbols a side, </s> and <unk> included */
    int dim_emb;                    /* m: word embeddings */
    int dim_rnn;                    /* n: encoder state, each direction */
    int dim_dec;                    /* decoder state */
    int dim_att;                    /* n': hidden layer of the alignment model */
    int dim_maxout;                 /* l: maxout units of the readout */
    int output_rank;                /* 0: logits = W_o t; else logits = W_2 (W_1 t) with W_1 : rank x l */
    sa_order order;
    sa_reset reset;
    sa_decoder_start decoder_start;
    sa_layer_norm layer_norm;                   /* not with SA_RESET_BEFORE */
    int encoder_transition, decoder_transition; /* units without input that a state goes through in each step */
    bool tied_target;                           /* output matrix = target embeddings */
    bool tied_source;                           /* source embeddings = target embeddings: needs one vocabulary */
    int layers;                                 /* of the encoder, and as many of the decoder */
    sa_cell cell;
    int residual_from;   /* lowest layer, counted from 1, whose input is added to its output; 0: none */
    bool reverse_source; /* the encoder reads from the last word to the first */
    sa_attention_scope attention;
    int attention_window; /* D of local attention: 2 D + 1 positions are looked at */
    sa_attention_score score;
    sa_attention_weights
        attention_weights; /* other than learned: what scores them keeps the values it began with */
    bool word_encoder;  /* annotations of words by themselves, tanh(W x + b): nothing else of the source is known */
    int max_location;   /* positions that SA_SCORE_LOCATION scores; others get no weight */
    bool input_feeding; /* what was read out goes into the next step */
    sa_coverage coverage;
    int dim_coverage; /* of SA_COVERAGE_NEURAL: numbers for each position */
    bool
        lexical_model; /* the words looked at have a say of their own in what is written (Nguyen and Chiang 2018) */
    int heads;         /* of every attention of a Transformer */
    int dim_ffn;       /* hidden layer of its network on each position */
    int dec_layers;    /* layers of its decoder; 0: as many as of the encoder */
    int align_layer;   /* of the decoder, counted from 1, whose attention is shown; 0: the last but one */
    int align_head;    /* counted from 1; 0: the mean of all */
    int picture_side;  /* pixels a side of the square that a picture is scaled to, a multiple of 8 */
    int features;      /* descriptions of places that are read from a file; 0: they are made of a picture */
    int dim_feature;   /* their width */
    bool hard_attention; /* a step looks at one place, not at a mean of all */
    char init[16];       /* "paper" (Bahdanau et al. 2015, B.1), "glorot" or "uniform" */
    float init_scale;    /* of uniform: all numbers begin within +- this */
} sa_model_config;

/* Fails with SA_USAGE and the list of presets when there is no such name. */
SA_API sa_status sa_model_config_preset(sa_model_config *config, const char *preset, sa_error *error);
/* The names of all presets, NULL-terminated; constant. */
SA_API const char *const *sa_model_presets(void);
/* Whether models of the configuration's preset have an option, named as on the command line ("dim-att"). Fields of
 * those that they have not must keep the preset's values, or be 0. */
SA_API bool sa_model_config_has(const sa_model_config *config, const char *option);
/* What such an option with names for values says ("conditional", of "decoder-order"); constant. NULL where the
 * preset's models have not the option, where its values have no names, or where config has none of them. */
SA_API const char *sa_model_config_choice(const sa_model_config *config, const char *option);

typedef struct sa_model sa_model;

/* What the operands of matrix products are rounded to; sums and everything else stay in 32 bits.
 *
 * Training: SA_F32, or SA_BF16, which is about twice as fast on processors that have it (AVX512_BF16, AMX) and an
 * error (SA_USAGE) elsewhere.
 * Translation: weights and embeddings are rounded to bfloat16, or to 8 bits with a scale for each row, and so are
 * the vectors that they are multiplied with, each by itself, so that results do not depend on what is translated
 * together. Where the processor has no instructions for a type (AVX512_BF16, AVX512_VNNI, AMX), weights alone are
 * rounded. SA_AS_STORED: what the file has; SA_F32 of a quantized file: the numbers that its weights stand for,
 * which explanations and traces need. */
typedef enum sa_precision { SA_F32, SA_BF16, SA_INT8, SA_AS_STORED } sa_precision;

typedef struct sa_model_options {
    sa_precision precision;
    int threads; /* that prepare the weights; 0: all cores */
} sa_model_options;

/* SA_AS_STORED, all cores. */
SA_API void sa_model_options_init(sa_model_options *options);
/* Maps a model file written by training or sa_model_quantize, to translate with. Options NULL: the defaults. */
SA_API sa_status sa_model_open_with(sa_model **out, const char *path, const sa_model_options *options,
                                    sa_error *error);
/* The same with the defaults. */
SA_API sa_status sa_model_open(sa_model **out, const char *path, sa_error *error);
/* Writes the model at `path` with its weights in SA_BF16 or SA_INT8: half, or a quarter of its size. It translates
 * as the model itself does when it is opened with that precision, bit for bit; training cannot go on from it. */
SA_API sa_status sa_model_quantize(const char *path, const char *output, sa_precision precision, sa_error *error);
/* Writes the model whose parameters are the means of those of n files, at least two, which are alike: one
 * configuration, the same vocabularies, not quantized (SA_DATA otherwise). Of use for models of one run. */
SA_API sa_status sa_model_average(const char *const *paths, int n, const char *output, sa_error *error);
/* A model of that configuration without values: can be inspected, not used. */
SA_API sa_status sa_model_plan(sa_model **out, const sa_model_config *config, sa_error *error);
SA_API void sa_model_free(sa_model *model);

SA_API const sa_model_config *sa_model_get_config(const sa_model *model);
/* Chooses the attention of a Transformer that is its alignment: layer of the decoder and head of it, counted
 * from 1. 0: the last layer but one; the mean of the layer's heads. Until then it is the one that training named.
 * SA_USAGE where the model has no such layer or head, or nothing to choose from. Not while a thread translates with
 * it. */
SA_API sa_status sa_model_show_attention(sa_model *model, int layer, int head, sa_error *error);

typedef struct sa_parameter {
    const char *name; /* as in the file: "decoder.gru.U" */
    int rank;         /* 1 or 2 */
    int64_t dim[2];
    int64_t count; /* product of dim */
} sa_parameter;

SA_API int sa_model_parameter_count(const sa_model *model);
SA_API sa_parameter sa_model_parameter(const sa_model *model, int index);

typedef enum sa_side { SA_SOURCE, SA_TARGET } sa_side;
/* Vocabulary of a side: how words are cut, its size, and the text of symbol id. NULL / 0 when planned only. */
SA_API sa_vocab_type sa_model_vocab_type(const sa_model *model, sa_side side);
SA_API int sa_model_vocab_size(const sa_model *model, sa_side side);
SA_API const char *sa_model_vocab_piece(const sa_model *model, sa_side side, int id);
/* What is done to characters before words are cut: "identity", "nfc", ... NULL when planned only. */
SA_API const char *sa_model_normalization(const sa_model *model);
/* Whether the model was trained to bring numbers, addresses, placeholders of programs, tags and emoji through. */
SA_API bool sa_model_protects(const sa_model *model);
/* Text stored beside the tensors ("config", "training", "format", ...); NULL when there is none. The value of
 * "training" is a JSON object: updates, epochs, validation values, options of the run. */
SA_API const char *sa_model_metadata(const sa_model *model, const char *key);

/* ---- translation ------------------------------------------------------------------------------------- */

/* Translations of words: lines of source word, tab, target text, plain or gzip, "-" for standard input. Of several
 * lines for one word the first counts. */
typedef struct sa_dictionary sa_dictionary;
SA_API sa_status sa_dictionary_open(sa_dictionary **out, const char *path, bool strict, sa_error *error);
SA_API void sa_dictionary_free(sa_dictionary *dictionary);

/* Numbers, addresses, placeholders of programs ({name}, %1$s), tags and emoji. A model that was trained to protect
 * them (sa_model_protects) sees a symbol for each and writes such symbols. Each is filled with an item of the
 * source, the one that it looked at; every item is used once, and one that the model left out is put behind the
 * word that looked at it most: none is lost, changed or repeated. */
typedef enum sa_protect {
    SA_PROTECT_AUTO, /* in models that were trained to */
    SA_PROTECT_ON,   /* the same, and SA_USAGE with a model that was not */
    SA_PROTECT_OFF   /* items are text as any other */
} sa_protect;

/* Target words that translations of a sentence may have: some frequent ones, and for each of its symbols the best
 * translations. With one, only these are scored, and probabilities are those among them. */
typedef struct sa_shortlist sa_shortlist;

typedef struct sa_shortlist_options {
    const char *train_source, *train_target; /* parallel text; train_target NULL: one TSV file */
    bool strict;                             /* invalid UTF-8 is an error */
    int frequent;                            /* most frequent words, which every list has */
    int best;                                /* for each source symbol */
    int64_t pairs;                           /* read at most */
    int max_length;                          /* symbols, either side; longer pairs are dropped */
    int threads;                             /* 0: all cores */
} sa_shortlist_options;

typedef struct sa_shortlist_result {
    int64_t pairs;             /* learned from */
    double coverage;           /* share of their targets' symbols that are in the list of the source */
    double words_per_sentence; /* in its list, on average */
} sa_shortlist_result;

/* 100 frequent words, 20 for each symbol, from 200,000 pairs of at most 100 symbols. */
SA_API void sa_shortlist_options_init(sa_shortlist_options *options);
/* Learns one for the vocabularies of the model, and writes it. result may be NULL. */
SA_API sa_status sa_shortlist_learn(const sa_model *model, const sa_shortlist_options *options, const char *output,
                                    sa_shortlist_result *result, sa_error *error);
/* SA_DATA when it was made for other vocabularies than the model's. */
SA_API sa_status sa_shortlist_open(sa_shortlist **out, const char *path, const sa_model *model, sa_error *error);
SA_API void sa_shortlist_free(sa_shortlist *shortlist);

/* What is seen of a line while it is translated. */
typedef struct sa_glimpse {
    size_t line;      /* its place among the lines */
    int piece;        /* that is translated, of those that the line was cut into, from 0 */
    int length;       /* symbols that it begins with for certain: all hypotheses that can still win do */
    const char *text; /* of these, up to the first whose text is known at the end only: a protected item, or what
                         replaces <unk>. NULL where nothing was added, or unless watch_text */
} sa_glimpse;
/* Called after each step of search for each line that goes on, on the threads that work. false: nobody wants the
 * line any more, and what there is of it is its translation. */
typedef bool sa_watch(const sa_glimpse *glimpse, void *user);

typedef struct sa_translate_options {
    int beam_size; /* 1: greedy */
    int n_best;    /* at most beam_size; or the number of samples */

    /* What hypotheses are compared by: score / length^normalize, </s> counted; or, where length_penalty is above 0,
     * score / ((5 + length) / 6)^length_penalty. Plus coverage_penalty * sum over source positions of
     * log min(1, attention received). None is negative. */
    float normalize, length_penalty, coverage_penalty;

    float max_length_factor; /* at most factor * source symbols + 10 target symbols */
    int min_length;          /* at least as many before </s> */
    int no_repeat_ngram;     /* no n symbols come twice in a translation; 0: off */

    bool forbid_unk;                 /* never <unk> */
    bool replace_unk;                /* the source word that <unk> looked at most, in its place */
    const sa_dictionary *dictionary; /* or what this has for that word; NULL: copy */
    const sa_shortlist *shortlist;   /* the words that are scored; NULL: all. It must be for the model */
    const char *const *prefix;       /* n texts that the translations begin with; it and each may be NULL. With
                                      * subwords the last word of one may be a part of a word; a blank ends it */

    bool sample;         /* draw n_best translations instead of searching */
    float temperature;   /* from p^(1 / temperature) */
    int top_k;           /* of the best words only; 0: of all */
    uint64_t seed;       /* what is drawn depends on it, the line's number and the sample's, nothing else */
    uint64_t first_line; /* number of lines[0] */

    bool split_sentences; /* translate each sentence of a line by itself */
    sa_protect protect;

    int max_length;   /* source symbols translated at once. sa_translate cuts what is longer into pieces, at ends of
                         sentences or clauses, else at blanks; sa_score_pairs leaves the rest out */
    int mini_batch;   /* sentences decoded together */
    int threads;      /* 0: all cores */
    bool attention;   /* fill attention and the symbols */
    bool word_scores; /* fill word_score and the symbols */
    bool symbols;     /* texts of translations (sa_score_pairs: the targets) are symbols with blanks between */
    sa_watch *watch;  /* NULL: nobody watches. Not with sa_score_pairs, which makes all steps at once */
    void *watch_user; /* what it is called with */
    bool watch_text;  /* fill glimpses' text */
} sa_translate_options;

SA_API void sa_translate_options_init(sa_translate_options *options);

typedef struct sa_hypothesis {
    char *text;         /* detokenised line */
    double score;       /* sum of log p, </s> included */
    double normalized;  /* what hypotheses are compared by; the mean of its pieces' */
    int length;         /* target symbols, </s> included */
    char **symbol;      /* length texts; NULL unless asked for */
    double *word_score; /* log p of each symbol; NULL unless asked for */
    float *attention;   /* (length x source_length), rows sum to 1; NULL unless asked for, where the model has none,
                           and   where a line of several pieces would need more than 2^24 numbers */
    int *word;       /* with attention: the word of text that each symbol begins or goes on with, counted from 0 at
                        blanks; -1: none, as </s>. NULL unless attention was asked for */
    int items_added; /* protected items that the model left out */
} sa_hypothesis;

typedef struct sa_translation {
    int n; /* hypotheses, best first (samples: as drawn); 1 at least */
    sa_hypothesis *hypothesis;
    int source_length;    /* source symbols, </s> included; 0 for an empty line */
    char **source_symbol; /* NULL unless asked for */
    int *source_word;     /* of each: the word of the line, as in a hypothesis */
    int pieces;           /* translated one by one, their symbols one behind the other here; 0 for an empty line */
    bool too_long;        /* a sentence was longer than max_length, and was cut */
} sa_translation;

/* Translates n lines; (*out)[i] belongs to lines[i]. A text that holds LF is translated line by line, and so is its
 * translation, blank lines at its end left out. An empty or blank line gives one empty hypothesis of score
 * 0 and the model is not run. Options NULL: the defaults. Free with sa_translations_free(*out, n). */
SA_API sa_status sa_translate(const sa_model *model, const char *const *lines, size_t n,
                              const sa_translate_options *options, sa_translation **out, sa_error *error);
SA_API void sa_translations_free(sa_translation *translations, size_t n);

/* The same with several models whose vocabularies are the same (SA_USAGE otherwise): the probability of a word is
 * the arithmetic mean of theirs, attention the mean over those that attend. */
#define SA_ENSEMBLE_MAX 16
SA_API sa_status sa_translate_ensemble(const sa_model *const *models, int n_models, const char *const *lines,
                                       size_t n, const sa_translate_options *options, sa_translation **out,
                                       sa_error *error);

/* Scores given translations (forced decoding): (*out)[i] has one hypothesis, which is targets[i] as the models'
 * vocabulary cuts it (a translation may have been cut otherwise: see symbols), with the values that sa_translate
 * would give it. Of the options those count that do not steer the search. Two empty lines score 0, and the model is
 * not run. max_length holds for both sides. Free with sa_translations_free(*out, n). */
SA_API sa_status sa_score_pairs(const sa_model *const *models, int n_models, const char *const *sources,
                                const char *const *targets, size_t n, const sa_translate_options *options,
                                sa_translation **out, sa_error *error);

/* How fast translation is, measured. */
typedef struct sa_bench_translate_options {
    const char *model; /* a model file; or NULL: random weights of `config`, whose translations are made 1.08 times
                          as long as their sources */
    sa_model_config config; /* not looked at when there is a file */
    const char *shortlist;  /* a file for that model; NULL: all words are scored */
    const char *source;     /* text to translate; blank lines are left out */
    int sentences;          /* of it, evenly chosen */
    sa_precision precision;
    int beam_size, mini_batch;
    int threads; /* 0: all cores */
    int passes;  /* over the sentences, after one for warming up; the best counts */
} sa_bench_translate_options;

typedef struct sa_translate_bench {
    double parameters;
    double sentences_per_second;
    double words_per_second; /* target symbols, end marks left out; of random weights all symbols */
    double gflops_done;      /* billions of product operations a second, of whole translations */
    double gflops_products;  /* the same products, each by itself, on the same threads */
    double share;            /* gflops_done / gflops_products */
    double first_seconds;    /* from opening the model to the first translation, of one sentence */
    double peak_megabytes;   /* most resident memory of this process meanwhile */
} sa_translate_bench;

SA_API sa_status sa_bench_translate(const sa_bench_translate_options *options, sa_translate_bench *out,
                                    sa_error *error);

#include <softalign/evaluation.h>
#include <softalign/training.h>
#include <softalign/word_alignment.h>

/* ---- the paper's core, by itself --------------------------------------------------------------------- */

/* Additive attention (Bahdanau, Cho, Bengio 2015, A.1.2), one query.
 *   e_j = v_a . tanh(W_a s + U_a h_j)     a = softmax(e)     c = sum_j a_j h_j
 * s (d_dec), h (T x d_enc), W_a (d_att x d_dec), U_a (d_att x d_enc), v_a (d_att), all row-major;
 * context (d_enc) and weights (T) are written. The maximum is subtracted before exp: no energy overflows.
 * SA_USAGE when a size is below 1. */
typedef struct sa_attention_shape {
    int T, d_dec, d_enc, d_att;
} sa_attention_shape;
SA_API sa_status sa_attention(sa_attention_shape shape, const float *s, const float *h, const float *W_a,
                              const float *U_a, const float *v_a, float *context, float *weights, sa_error *error);

#include <softalign/drawing.h>

#ifdef __cplusplus
}
#endif
#endif
