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
    SA_LOOK_FIRST,  /* look at the source, emit, then update the state with the word emitted (the authors' code) */
    SA_UPDATE_FIRST /* look, update the state with the previous word, emit from it (the paper's text) */
} sa_order;

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
    bool tied_target; /* output matrix = target embeddings */
    bool tied_source; /* source embeddings = target embeddings: needs one vocabulary */
    int layers;       /* of the encoder, and as many of the decoder */
    sa_cell cell;
    int residual_from;   /* lowest layer, counted from 1, whose input is added to its output; 0: none */
    bool reverse_source; /* the encoder reads from the last word to the first */
    sa_attention_scope attention;
    int attention_window; /* D of local attention: 2 D + 1 positions are looked at */
    sa_attention_score score;
    int max_location;    /* positions that SA_SCORE_LOCATION scores; others get no weight */
    bool input_feeding;  /* what was read out goes into the next step */
    int heads;           /* of every attention of a Transformer */
    int dim_ffn;         /* hidden layer of its network on each position */
    int dec_layers;      /* layers of its decoder; 0: as many as of the encoder */
    int align_layer;     /* of the decoder, counted from 1, whose attention is shown; 0: the last but one */
    int align_head;      /* counted from 1; 0: the mean of all */
    int picture_side;    /* pixels a side of the square that a picture is scaled to, a multiple of 8 */
    int features;        /* descriptions of places that are read from a file; 0: they are made of a picture */
    int dim_feature;     /* their width */
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

typedef struct sa_model sa_model;

/* Maps a model file written by training. */
SA_API sa_status sa_model_open(sa_model **out, const char *path, sa_error *error);
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

/* ---- training ---------------------------------------------------------------------------------------- */

typedef enum sa_optimizer { SA_ADADELTA, SA_ADAM, SA_SGD } sa_optimizer;
typedef enum sa_valid_metric { SA_VALID_CROSS_ENTROPY, SA_VALID_PERPLEXITY, SA_VALID_BLEU } sa_valid_metric;
/* What the operands of matrix products are rounded to. Sums, parameters and everything else stay in 32 bits. bf16
 * is about twice as fast on processors that have it (AVX512_BF16, AMX) and an error (SA_USAGE) elsewhere. */
typedef enum sa_precision { SA_F32, SA_BF16 } sa_precision;
/* How the learning rate goes on once the warm-up, if any, has raised it evenly to its value. */
typedef enum sa_schedule {
    SA_SCHEDULE_CONSTANT, /* stays */
    SA_SCHEDULE_LINEAR,   /* falls evenly to 0 at the first limit (after_...) that is reached */
    SA_SCHEDULE_INV_SQRT, /* times sqrt(warmup / update) (Vaswani et al. 2017, 5.3) */
    SA_SCHEDULE_PLATEAU /* times plateau_factor after each plateau_patience validations in a row without a new best
                         */
} sa_schedule;

typedef struct sa_train_options {
    /* data: two files, or one TSV file in *_source with *_target NULL. "-" and gzip are read as they stand.
     * Training text that can be read only once is copied, without a name, to tmp_dir. */
    const char *train_source, *train_target;
    const char *valid_source, *valid_target; /* NULL: hold out held_out pairs of the training text */
    int held_out;
    const char *output; /* folder of the run */
    const char
        *tmp_dir; /* folder for the file that the training text is made into; NULL: output. Runs can share it */
    bool resume, overwrite;
    bool strict; /* invalid UTF-8 is an error */

    sa_model_config model; /* vocab_* are upper bounds here */
    sa_vocab_type vocab_type;
    bool joint_vocab;
    const char *normalization; /* of characters: "identity", "nfc"; with subwords also SentencePiece's "nfkc",
                                  "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf" */
    bool protect; /* with subwords: numbers, addresses, placeholders, tags and emoji that both sides have
                     become symbols, which translations copy (sa_model_protects) */

    float dropout, dropout_emb; /* readout and annotations; embeddings. One mask a sentence. */
    float label_smoothing;
    float doubly_stochastic; /* weight of the loss of places not looked at once in all, where a model attends */
    int picture_shift;       /* pictures are moved by up to so many pixels in each direction */

    sa_optimizer optimizer;
    float learning_rate; /* 0: the optimiser's usual one */
    float adadelta_rho, adadelta_epsilon, adam_beta1, adam_beta2, adam_epsilon;
    int warmup; /* updates */
    sa_schedule schedule;
    float plateau_factor;
    int plateau_patience;
    float clip_norm;    /* 0: off */
    bool loss_per_word; /* divide the loss by words, not by sentences */
    float average;      /* exponential moving average of the parameters; 0: off */

    int mini_batch;       /* sentences at most; 0: any number, if mini_batch_words is positive */
    int mini_batch_words; /* target symbols at most, padding and </s> counted; 0: any number */
    bool mini_batch_fit; /* finds both, so that the passes of any minibatch take about `workspace` at most. A resume
                            keeps what was found */
    int workspace;       /* MB, of a million bytes */
    int optimizer_delay; /* minibatches of an update; the last one of an epoch takes what is left */
    int window;          /* minibatches that are sorted together */
    int max_length;      /* symbols, either side; longer pairs are dropped */
    int64_t after_updates; /* 0: no limit; the first limit reached ends the run */
    double after_epochs, after_minutes;

    int64_t valid_freq;                    /* updates; 0: once an epoch */
    sa_valid_metric early_stopping_metric; /* also chooses what "best" is */
    int early_stopping;                    /* patience in validations; 0: off */
    int valid_beam;                        /* beam size of the translations that BLEU is computed of */

    sa_precision precision;
    uint64_t seed;
    int threads;           /* of each process; 0: all cores */
    int shards;            /* pieces of a minibatch; part of the run, not of the machine; at least one a process */
    int64_t progress_freq; /* updates between progress events; 0: about every 10 seconds */
} sa_train_options;

/* Defaults of the preset; everything else zero. */
SA_API sa_status sa_train_options_init(sa_train_options *options, const char *preset, sa_error *error);

typedef enum sa_train_event_kind {
    SA_EVENT_MESSAGE,    /* text */
    SA_EVENT_UPDATE,     /* after every update, a chance to stop: update only */
    SA_EVENT_PROGRESS,   /* numbers since the last one */
    SA_EVENT_VALIDATION, /* cross_entropy, perplexity, bleu, improved */
    SA_EVENT_DONE        /* text: why it ended */
} sa_train_event_kind;

typedef struct sa_train_event {
    sa_train_event_kind kind;
    const char *text;
    int64_t update;
    double epoch; /* 2.25: a quarter into the third */
    double loss;  /* training loss a target word, natural log */
    double learning_rate, gradient_norm;
    double words_per_second;                /* target words, end marks left out */
    double seconds;                         /* of training, validations included, resumed ones too */
    double seconds_left;                    /* an estimate; negative: unknown */
    double cross_entropy, perplexity, bleu; /* bleu 0 when it was not computed */
    bool improved;
} sa_train_event;

/* Called from the training thread. Anything but 0 ends the run after the current update: the state is saved
 * and sa_train returns SA_STOPPED. While texts are still being read, nothing has been changed, and nothing will be.
 */
typedef int sa_train_callback(const sa_train_event *event, void *user);

/* Before it begins, a message tells how much memory the run will take at most; SA_MEMORY when less is left of the
 * machine's memory, a control group's, or the limits of the process. */
SA_API sa_status sa_train(const sa_train_options *options, sa_train_callback *callback, void *user,
                          sa_error *error);

/* Processes that mpirun started, on one machine or several, train one model when they call sa_train with the same
 * options and read the same files: they share out the shards of every minibatch and sum their gradients. Rank 0
 * validates, writes, and hears of everything; other callbacks get SA_EVENT_UPDATE only, and can stop the run as
 * well. All ranks return the same status; a text that is empty means that rank 0 has it. A program that uses MPI
 * itself has initialised it before, and finalises it; otherwise sa_train does both, which MPI allows once in a
 * process.
 *
 * Which of how many processes this is, by the environment that mpirun made: 0 of 1 when there was none. */
SA_API void sa_train_ranks(int *rank, int *size);

/* How fast training is, measured. */
typedef struct sa_train_bench {
    double parameters;
    double words_per_second; /* target words, end marks left out */
    double updates_per_second;
    double gflops_done;     /* billions of product operations a second, of whole updates */
    double gflops_products; /* the same products, each by itself, on the same threads */
    double share;           /* gflops_done / gflops_products */
    double peak_megabytes;  /* most resident memory of this process so far */
    double pairs, words;    /* of the text: pairs that are not dropped, and their target words */
} sa_train_bench;

/* Trains on `batches` minibatches of the text's first window, evenly chosen, `passes` times after a warm-up, and
 * keeps each one's best time (other load only adds time). The model's vocabulary sizes are taken as they are, even
 * where the text has fewer words. Writes no files; output, validation text and limits are not looked at. */
SA_API sa_status sa_bench_train(const sa_train_options *options, int batches, int passes, sa_train_bench *out,
                                sa_error *error);

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
    int items_added;    /* protected items that the model left out */
} sa_hypothesis;

typedef struct sa_translation {
    int n; /* hypotheses, best first (samples: as drawn); 1 at least */
    sa_hypothesis *hypothesis;
    int source_length;    /* source symbols, </s> included; 0 for an empty line */
    char **source_symbol; /* NULL unless asked for */
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

/* ---- evaluation -------------------------------------------------------------------------------------- */

/* Metrics have the definitions and, to the last digits, the values of sacreBLEU 2. In all of them hypotheses[i] is
 * line i and references[r][i] reference r of it; a NULL or blank reference is left out where a line has others.
 * Options NULL: sacreBLEU's defaults. Texts are given detokenised. */

#define SA_SIGNATURE_SIZE 160 /* "nrefs:1|case:mixed|...": how a score was made */

#define SA_BLEU_MAX_ORDER 8

typedef enum sa_bleu_tokenizer { SA_TOK_13A, SA_TOK_INTL, SA_TOK_CHAR, SA_TOK_NONE } sa_bleu_tokenizer;
typedef enum sa_bleu_smoothing {
    SA_SMOOTH_EXP,
    SA_SMOOTH_FLOOR,
    SA_SMOOTH_ADD_K,
    SA_SMOOTH_NONE
} sa_bleu_smoothing;

typedef struct sa_bleu_options {
    sa_bleu_tokenizer tokenizer;
    sa_bleu_smoothing smoothing;
    double smooth_value; /* negative: the method's usual one (floor 0.1, add-k 1) */
    bool lowercase;
    bool effective_order;
    int max_order; /* 4 */
} sa_bleu_options;

typedef struct sa_bleu_result {
    double bleu;                         /* 0 ... 100 */
    double precision[SA_BLEU_MAX_ORDER]; /* percent, smoothed */
    int64_t correct[SA_BLEU_MAX_ORDER], total[SA_BLEU_MAX_ORDER];
    double brevity_penalty;
    int64_t hypothesis_length, reference_length;
    char signature[SA_SIGNATURE_SIZE]; /* nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:... */
} sa_bleu_result;

/* 13a, exp, mixed case, order 4. */
SA_API void sa_bleu_options_init(sa_bleu_options *options);
/* Corpus BLEU (Papineni et al. 2002). */
SA_API sa_status sa_bleu(const char *const *hypotheses, size_t n, const char *const *const *references,
                         size_t n_references, const sa_bleu_options *options, sa_bleu_result *result,
                         sa_error *error);
/* From counts: correct, total, lengths and options in, bleu, precision and brevity penalty out. */
SA_API void sa_bleu_compute(sa_bleu_result *result, const sa_bleu_options *options);

#define SA_CHRF_MAX_ORDER 10

typedef struct sa_chrf_options {
    int char_order; /* 6: longest n-grams of characters, 1 ... SA_CHRF_MAX_ORDER */
    int word_order; /* 0: longest n-grams of words, 0 ... SA_CHRF_MAX_ORDER; 2 makes it chrF++ */
    int beta;       /* 2: how many times as much recall counts as precision; 0 ... 100 */
    bool lowercase;
    bool whitespace;    /* white space belongs to the n-grams of characters */
    bool eps_smoothing; /* every order counts, also one that a text is too short for, as in chrF++.py */
} sa_chrf_options;

typedef struct sa_chrf_result {
    double chrf;                       /* 0 ... 100 */
    char signature[SA_SIGNATURE_SIZE]; /* nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:... */
} sa_chrf_result;

SA_API void sa_chrf_options_init(sa_chrf_options *options);
/* Corpus chrF (Popovic 2015, 2017): with P and R the precision and recall of n-grams, averaged over the orders,
 *   chrF = 100 (1 + beta^2) P R / (beta^2 P + R)
 * from counts summed over the lines, each against the reference that gives the line its best score. */
SA_API sa_status sa_chrf(const char *const *hypotheses, size_t n, const char *const *const *references,
                         size_t n_references, const sa_chrf_options *options, sa_chrf_result *result,
                         sa_error *error);

typedef struct sa_ter_options {
    bool case_sensitive; /* else lower case */
    bool normalized;     /* punctuation is cut off the words */
    bool no_punct;       /* punctuation is taken out */
    bool asian_support;  /* the two above also for Chinese and Japanese; normalized: a word for each ideograph */
} sa_ter_options;

typedef struct sa_ter_result {
    double ter;                        /* from 0, less is better; above 100 when there are more edits than words */
    double edits, reference_length;    /* of all lines; the length is the mean over a line's references */
    char signature[SA_SIGNATURE_SIZE]; /* nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:... */
} sa_ter_result;

SA_API void sa_ter_options_init(sa_ter_options *options);
/* Translation edit rate (Snover et al. 2006): insertions, deletions and substitutions of words and shifts of
 * phrases that make the hypothesis the nearest reference, per 100 words of the references; found as Tercom finds
 * them, greedily and in a beam. */
SA_API sa_status sa_ter(const char *const *hypotheses, size_t n, const char *const *const *references,
                        size_t n_references, const sa_ter_options *options, sa_ter_result *result, sa_error *error);

typedef enum sa_metric_kind { SA_METRIC_BLEU, SA_METRIC_CHRF, SA_METRIC_TER } sa_metric_kind;

/* A metric and its options; those of other kinds are not looked at. */
typedef struct sa_metric {
    sa_metric_kind kind;
    sa_bleu_options bleu;
    sa_chrf_options chrf;
    sa_ter_options ter;
} sa_metric;

/* The defaults of every kind. */
SA_API void sa_metric_init(sa_metric *metric, sa_metric_kind kind);

/* What a metric counts in each line of a translation. Counted once, it gives the score of the whole, of single
 * lines, and of texts that are drawn from it; it is constant, and the texts are needed no more. */
typedef struct sa_statistics sa_statistics;
SA_API sa_status sa_statistics_collect(sa_statistics **out, const sa_metric *metric, const char *const *hypotheses,
                                       size_t n, const char *const *const *references, size_t n_references,
                                       sa_error *error);
SA_API void sa_statistics_free(sa_statistics *statistics);
/* "BLEU", "chrF2++" or "TER", and how the scores are made; live as long as the statistics. */
SA_API const char *sa_statistics_name(const sa_statistics *statistics);
SA_API const char *sa_statistics_signature(const sa_statistics *statistics);

typedef struct sa_score {
    double score;
    union {
        sa_bleu_result bleu;
        sa_chrf_result chrf;
        sa_ter_result ter;
    } detail; /* of the metric's kind */
} sa_score;

/* The score of lines first ... first + n - 1: all of them are the corpus, one is a sentence (for which BLEU is
 * usually made with effective_order). Lines outside are the programmer's mistake. */
SA_API void sa_statistics_score(const sa_statistics *statistics, size_t first, size_t n, sa_score *score);

/* Resampling. The draws, and so the values, are those of sacreBLEU with the same seed. */
typedef struct sa_resampling {
    int samples; /* from 1 */
    uint64_t seed;
} sa_resampling;
/* What NULL stands for. */
#define SA_BOOTSTRAP_SAMPLES 1000
#define SA_RANDOMIZATION_SAMPLES 10000
#define SA_RESAMPLING_SEED 12345

typedef struct sa_interval {
    double mean; /* of the scores of the samples */
    double half; /* half the width of the interval that holds 95% of them */
} sa_interval;

/* The 95% confidence interval of a corpus score: it is computed again of samples of as many lines, drawn with
 * replacement (Koehn 2004). */
SA_API sa_status sa_bootstrap(const sa_statistics *statistics, const sa_resampling *resampling,
                              sa_interval *interval, sa_error *error);

typedef enum sa_paired_test_kind {
    SA_PAIRED_BOOTSTRAP,    /* lines are drawn with replacement, the same for both systems (Koehn 2004) */
    SA_PAIRED_RANDOMIZATION /* each line's translations change sides or do not (Riezler and Maxwell 2005) */
} sa_paired_test_kind;

/* How likely a difference of the corpus scores as large as that of the two would be if the systems were equally
 * good. d is the difference, d_i that of sample i, N the number of samples:
 *   bootstrap      p = (1 + number of i with |d_i| - mean_j |d_j| > |d|) / (N + 1)
 *   randomization  p = (1 + number of i with |d_i| > |d|) / (N + 1)
 * and 1 where d is 0.
 * SA_USAGE unless both are of one metric and of as many lines. */
SA_API sa_status sa_paired_test(const sa_statistics *baseline, const sa_statistics *system,
                                sa_paired_test_kind kind, const sa_resampling *resampling, double *p_value,
                                sa_error *error);

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

/* ---- drawing ----------------------------------------------------------------------------------------- */

/* The attention of a hypothesis as text: source symbols across, target symbols down, blocks of grey (0 light or
 * absent, 1 full), at most `columns` wide. The string belongs to the caller (free). */
SA_API sa_status sa_heatmap_text(const sa_translation *translation, int hypothesis, int columns, char **out,
                                 sa_error *error);

/* What models said of pictures, on one sheet. captions[i]: of sa_translate for the line pictures[i], with
 * attention; references[i] is written under it, where there are any (NULL: none). Each picture stands in `columns`
 * columns with its caption, and once more for every word, light where that word looked and the darker the less. */
typedef struct sa_caption_sheet {
    const char *const *pictures;
    const sa_translation *captions;
    const char *const *references;
    size_t n;
    int columns;
} sa_caption_sheet;
/* The ending of the path says what it becomes: .svg, .png or .pdf. Of a caption that is longer the first 21 words
 * are drawn. Pictures are read again: SA_IO or SA_DATA where that fails. SA_USAGE when a caption has no weights. */
SA_API sa_status sa_caption_sheet_write(const sa_caption_sheet *sheet, const char *path, sa_error *error);

#ifdef __cplusplus
}
#endif
#endif
