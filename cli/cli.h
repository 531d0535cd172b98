/* What the subcommands share: a table of options that is parsed and printed as help, and messages.
 *
 * A subcommand is one file cmd_NAME.c with a `const command command_NAME` and a line in main.c:
 *
 *   typedef struct count_arguments {
 *       bool quiet;
 *       int width;
 *       const char *input;
 *   } count_arguments;
 *
 *   static const option count_options[] = {
 *       OPT_SECTION("Input and output"),
 *       OPT_STRING("input", 'i', "FILE", count_arguments, input, "text to count; - is standard input"),
 *       OPT_NUMBER("width", 0, "N", count_arguments, width, AT_LEAST(1), "columns of the table"),
 *       OPT_FLAG("quiet", 'q', count_arguments, quiet, "say nothing but errors"),
 *       OPT_END,
 *   };
 *
 *   static int count_run(int argc, char **argv) {
 *       count_arguments a = {.width = 80, .input = "-"}; // what --help shows as the defaults
 *       int n; // arguments that are not options: argv[0] ... argv[n - 1]
 *       int status = options_parse(&command_count, &a, argc, argv, &n);
 *       if (status != CLI_GO_ON)
 *           return status;
 *       ...
 *   }
 *
 * Exit status: 0 done, 1 failed, 2 used wrongly, 141 when the reader of the output left. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <math.h>
#include <softalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_PIPE = 141, CLI_GO_ON = -1 };

/* ---- options ----------------------------------------------------------------------------------------- */

typedef enum option_kind {
    OPTION_END,
    OPTION_SECTION,
    OPTION_FLAG,   /* bool, set to true */
    OPTION_INT,    /* int */
    OPTION_INT64,  /* int64_t */
    OPTION_UINT64, /* uint64_t */
    OPTION_FLOAT,  /* float */
    OPTION_DOUBLE, /* double */
    OPTION_STRING, /* const char *, points into argv */
    OPTION_BOOL,   /* bool: no or yes */
    OPTION_ENUM,   /* an enum: the place of the value among the names, from 0 */
    OPTION_NAME,   /* char[], a copy of one of the names */
    OPTION_PAIR,   /* two const char *: --train SRC TGT */
    OPTION_LIST,   /* option_list: every argument up to the next option */
    OPTION_CUSTOM  /* parse and show */
} option_kind;

/* Values outside are refused with a message that names the bounds. */
typedef struct option_range {
    bool checked;
    double low, high;
    bool above; /* low itself is outside */
    bool below; /* high itself is outside */
} option_range;

#define ANY                                                                                                        \
    { 0 }
#define AT_LEAST(low_)                                                                                             \
    { .checked = true, .low = (low_), .high = HUGE_VAL }
#define POSITIVE                                                                                                   \
    { .checked = true, .high = HUGE_VAL, .above = true }
#define BETWEEN(low_, high_)                                                                                       \
    { .checked = true, .low = (low_), .high = (high_) }
#define FRACTION                                                                                                   \
    { .checked = true, .low = 0, .high = 1, .below = true } /* 0 <= x < 1 */

enum { OPTION_LIST_MOST = 64 };
typedef struct option_list {
    int n;
    const char *text[OPTION_LIST_MOST]; /* point into argv */
} option_list;

typedef struct option {
    option_kind kind;
    char letter;           /* short name, or 0 */
    const char *name;      /* long name without dashes; title of a section */
    const char *argument;  /* "N", "FILE"; NULL for a flag */
    const char *help;      /* lower case, no full stop; names and the default are added by options_help */
    size_t offset, second; /* of the target inside the structure given to options_parse */
    size_t size;           /* of the target; OPTION_NAME */
    option_range range;
    const char *const *names;             /* NULL-terminated */
    const char *const *(*names_of)(void); /* the same, where the library keeps the list */
    /* Sets *target of a valid text and returns NULL, else returns what the option expects ("a size or two"). */
    const char *(*parse)(const char *text, void *target);
    /* Writes the value for --help; an empty text shows none. */
    void (*show)(const void *target, char *text, size_t size);
} option;

#define OPT_END                                                                                                    \
    { .kind = OPTION_END }
#define OPT_SECTION(title)                                                                                         \
    { .kind = OPTION_SECTION, .name = (title) }
#define OPT_FLAG(name_, letter_, type, member, help_)                                                              \
    {                                                                                                              \
        .kind = _Generic(((type *)0)->member, bool                                                                 \
                         : OPTION_FLAG),                                                                           \
        .letter = (letter_), .name = (name_), .offset = offsetof(type, member), .help = (help_)                    \
    }
/* The kind of number follows the type of the member. range: ANY, AT_LEAST(x), POSITIVE, BETWEEN(x, y), FRACTION. */
#define OPT_NUMBER(name_, letter_, argument_, type, member, range_, help_)                                         \
    {                                                                                                              \
        .kind = _Generic(((type *)0)->member, int                                                                  \
                         : OPTION_INT, int64_t                                                                     \
                         : OPTION_INT64, uint64_t                                                                  \
                         : OPTION_UINT64, float                                                                    \
                         : OPTION_FLOAT, double                                                                    \
                         : OPTION_DOUBLE),                                                                         \
        .letter = (letter_), .name = (name_), .argument = (argument_), .offset = offsetof(type, member),           \
        .range = range_, .help = (help_)                                                                           \
    }
/* A bool that may begin true. */
#define OPT_BOOL(name_, letter_, type, member, help_)                                                              \
    {                                                                                                              \
        .kind = _Generic(((type *)0)->member, bool                                                                 \
                         : OPTION_BOOL),                                                                           \
        .letter = (letter_), .name = (name_), .argument = "no|yes", .offset = offsetof(type, member),              \
        .names = no_yes_names, .help = (help_)                                                                     \
    }
#define OPT_STRING(name_, letter_, argument_, type, member, help_)                                                    \
    {                                                                                                                 \
        .kind = _Generic(((type *)0)->member, const char * : OPTION_STRING),                                        \
     .letter = (letter_),                                                                                        \
     .name = (name_),                                                                                            \
     .argument = (argument_),                                                                                    \
     .offset = offsetof(type, member),                                                                           \
     .help = (help_) \
    }
/* A member of an enum type whose values 0, 1, ... have these names. */
#define OPT_ENUM(name_, letter_, argument_, type, member, names_, help_)                                           \
    {                                                                                                              \
        .kind = _Generic(((type *)0)->member, unsigned                                                             \
                         : OPTION_ENUM),                                                                           \
        .letter = (letter_), .name = (name_), .argument = (argument_), .offset = offsetof(type, member),           \
        .names = (names_), .help = (help_)                                                                         \
    }
/* A member of type char[] that holds one of the names. */
#define OPT_NAME(name_, letter_, argument_, type, member, names_, names_of_, help_)                                \
    {                                                                                                              \
        .kind = OPTION_NAME, .letter = (letter_), .name = (name_), .argument = (argument_),                        \
        .offset = offsetof(type, member), .size = sizeof(((type *)0)->member), .names = (names_),                  \
        .names_of = (names_of_), .help = (help_)                                                                   \
    }
#define OPT_PAIR(name_, letter_, argument_, type, first_, second_, help_)                                          \
    {                                                                                                              \
        .kind = OPTION_PAIR, .letter = (letter_), .name = (name_), .argument = (argument_),                        \
        .offset = offsetof(type, first_), .second = offsetof(type, second_), .help = (help_)                       \
    }
#define OPT_LIST(name_, letter_, argument_, type, member, help_)                                                   \
    {                                                                                                              \
        .kind = _Generic(((type *)0)->member, option_list                                                          \
                         : OPTION_LIST),                                                                           \
        .letter = (letter_), .name = (name_), .argument = (argument_), .offset = offsetof(type, member),           \
        .help = (help_)                                                                                            \
    }
#define OPT_CUSTOM(name_, letter_, argument_, type, member, parse_, show_, help_)                                  \
    {                                                                                                              \
        .kind = OPTION_CUSTOM, .letter = (letter_), .name = (name_), .argument = (argument_),                      \
        .offset = offsetof(type, member), .parse = (parse_), .show = (show_), .help = (help_)                      \
    }

typedef struct command {
    const char *name;
    const char *summary;               /* one line, lower case, for `softalign --help` */
    const char *synopsis;              /* what follows the name: "-m MODEL [OPTION]... < SRC > TGT" */
    const char *about;                 /* a few sentences, wrapped when printed; \n starts a new paragraph */
    const char *examples;              /* lines printed as they are, each ended by \n */
    const option *options;             /* ended by OPT_END; -h, --help is added */
    int most_arguments;                /* how many arguments beside options are taken; -1: any number */
    int (*run)(int argc, char **argv); /* argv[0] is the name of the subcommand; returns the exit status */
} command;

extern const command command_train, command_translate, command_score, command_align, command_heatmap, command_plot,
    command_sheet, command_evaluate, command_explain, command_symmetrize, command_inspect, command_average,
    command_quantize, command_shortlist, command_trace, command_bench, command_doctor, command_serve;

/* Reads the options in argv[1 ...] into *target, which holds the defaults, as getopt_long does: options and
 * arguments in any order, `--name value`, `--name=value`, `-n value`, `-nvalue`, `-ab`, unambiguous beginnings of
 * long names, `--` before arguments that start with a dash. The last one given wins, but a list grows. The other
 * arguments are moved to argv[0 ...], *n_arguments of them.
 * Returns CLI_GO_ON, or the exit status: 0 after --help, which wins over all else, 2 after a message. */
int options_parse(const command *c, void *target, int argc, char **argv, int *n_arguments);
/* The same, but argv stays as it is: for an option that sets the defaults of others (--preset) and so has to be
 * known before options_parse. */
int options_preview(const command *c, void *target, int argc, char **argv);
/* -h, --help: in every subcommand without being in its table. */
extern const option help_option;
/* Prints the help of a subcommand; *target holds the defaults. */
void options_help(FILE *stream, const command *c, const void *target);
/* The value in *base, the structure of the option's table, as --help shows it: empty for flags, pairs and lists. */
void option_show(const option *o, const void *base, char *text, size_t size);
/* The names an option takes, NULL for one that takes others; and a list as "word, bpe or unigram". */
const char *const *option_names(const option *o);
void join_names(const char *const *names, char *text, size_t size);
/* The name nearest to a mistyped one, or NULL when none is near. names is NULL-terminated. */
const char *nearest_name(const char *text, const char *const *names);

/* Whole text as a decimal number, whatever the locale. False when it is not one; *overflow says that it is one
 * but outside the type. */
bool parse_int64(const char *text, int64_t *value, bool *overflow);
bool parse_uint64(const char *text, uint64_t *value, bool *overflow);
bool parse_double(const char *text, double *value, bool *overflow);

/* ---- options of several subcommands ------------------------------------------------------------------ */

/* Lines of an option table; config and options are the names of members of the structure. */

/* sa_model_config without preset. */
#define MODEL_OPTIONS(type, config)                                                                                \
    OPT_CUSTOM("vocab-size", 0, "N[,M]", type, config, parse_vocab_size, show_vocab_size,                          \
               "most symbols a side, </s> and <unk> included; M: of the target side, if different"),               \
        OPT_NUMBER("dim-emb", 0, "N", type, config.dim_emb, AT_LEAST(1), "size of the word embeddings"),           \
        OPT_NUMBER("dim-rnn", 0, "N", type, config.dim_rnn, AT_LEAST(1),                                           \
                   "size of the encoder's state, each direction"),                                                 \
        OPT_NUMBER("dim-dec", 0, "N", type, config.dim_dec, AT_LEAST(1), "size of the decoder's state"),           \
        OPT_NUMBER("dim-att", 0, "N", type, config.dim_att, AT_LEAST(1), "hidden units of the alignment model"),   \
        OPT_NUMBER("dim-maxout", 0, "N", type, config.dim_maxout, AT_LEAST(1), "maxout units of the readout"),     \
        OPT_NUMBER("output-rank", 0, "N", type, config.output_rank, AT_LEAST(0),                                   \
                   "rank of the output matrix, written as a product of two; 0: one full matrix"),                  \
        OPT_FLAG("tied-target", 0, type, config.tied_target,                                                       \
                 "the output matrix is the target embeddings; needs a readout of their width: --output-rank, "     \
                 "or else --dim-maxout or --dim-rnn, equal to --dim-emb"),                                         \
        OPT_FLAG("tied-source", 0, type, config.tied_source,                                                       \
                 "the source embeddings are the target embeddings; needs --joint-vocab"),                          \
        OPT_ENUM("decoder-order", 0, "ORDER", type, config.order, order_names,                                     \
                 "whether a decoder step looks at the source or updates its state first, or looks between two "    \
                 "updates"),                                                                                       \
        OPT_ENUM("reset", 0, "PLACE", type, config.reset, reset_names,                                             \
                 "whether the GRU's reset gate acts before or after the product with U"),                          \
        OPT_ENUM("decoder-start", 0, "FROM", type, config.decoder_start, start_names,                              \
                 "what the decoder's first state is made of: the backward state at the first word, or the mean "   \
                 "of all annotations"),                                                                            \
        OPT_ENUM("layer-norm", 0, "WHERE", type, config.layer_norm, norm_names,                                    \
                 "where layer normalisation acts: nowhere, in the encoder's units, or in the decoder's, the "      \
                 "alignment model and the readout too; needs --reset after"),                                      \
        OPT_NUMBER("encoder-transition", 0, "N", type, config.encoder_transition, BETWEEN(0, 8),                   \
                   "units without input that each step of the encoder goes through behind the one that reads"),    \
        OPT_NUMBER("decoder-transition", 0, "N", type, config.decoder_transition, BETWEEN(0, 8),                   \
                   "the same of the decoder; not with --decoder-order look-first"),                                \
        OPT_NUMBER("layers", 0, "N", type, config.layers, BETWEEN(1, 16),                                          \
                   "layers of the encoder and, but for rnnsearch, small and hybrid, of the decoder"),              \
        OPT_ENUM("cell", 0, "NAME", type, config.cell, cell_names,                                                 \
                 "the recurrent unit: with or without tanh on what a memory shows"),                               \
        OPT_NUMBER("residual-from", 0, "N", type, config.residual_from, BETWEEN(0, 16),                            \
                   "the lowest layer, counted from 1, whose input is added to its output; 0: none"),               \
        OPT_ENUM("attention-weights", 0, "KIND", type, config.attention_weights, weights_names,                    \
                 "what the weights of attention are: learned, or all alike, to learn what they are good for"),     \
        OPT_FLAG("word-encoder", 0, type, config.word_encoder,                                                     \
                 "annotations of words by themselves, without a look at the others, to learn the same"),           \
        OPT_BOOL("reverse-source", 0, type, config.reverse_source,                                                 \
                 "whether the encoder reads from the last word to the first"),                                     \
        OPT_ENUM("attention", 0, "WHERE", type, config.attention, attention_names,                                 \
                 "where the decoder looks: everywhere, around the position that it is at, or around one that it "  \
                 "predicts"),                                                                                      \
        OPT_NUMBER("attention-window", 0, "N", type, config.attention_window, AT_LEAST(1),                         \
                   "with local attention: positions on each side of the middle one"),                              \
        OPT_ENUM("score", 0, "NAME", type, config.score, score_names, "how a position is scored for attention"),   \
        OPT_NUMBER("max-location", 0, "N", type, config.max_location, AT_LEAST(1),                                 \
                   "with --score location: positions that can be looked at"),                                      \
        OPT_BOOL("input-feeding", 0, type, config.input_feeding,                                                   \
                 "whether what was read out goes into the next step"),                                             \
        OPT_ENUM("coverage", 0, "KIND", type, config.coverage, coverage_names,                                     \
                 "what the next look knows of those before: nothing; the sum of weights at each position; that "   \
                 "sum by a position's fertility; or the state of a gated unit"),                                   \
        OPT_NUMBER("dim-coverage", 0, "N", type, config.dim_coverage, AT_LEAST(1),                                 \
                   "with --coverage neural: numbers for each position"),                                           \
        OPT_FLAG("lexical-model", 0, type, config.lexical_model,                                                   \
                 "the source words that a step looks at have a say of their own in what is written, whatever "     \
                 "their context"),                                                                                 \
        OPT_NUMBER("heads", 0, "N", type, config.heads, AT_LEAST(1), "heads of every attention"),                  \
        OPT_NUMBER("dim-ffn", 0, "N", type, config.dim_ffn, AT_LEAST(1),                                           \
                   "hidden units of a layer's network on each position"),                                          \
        OPT_NUMBER("dec-layers", 0, "N", type, config.dec_layers, BETWEEN(0, 16),                                  \
                   "layers of the decoder; 0: as many as of the encoder"),                                         \
        OPT_NUMBER("align-layer", 0, "N", type, config.align_layer, BETWEEN(0, 16),                                \
                   "layer of the decoder whose attention is shown as the alignment; 0: the last but one"),         \
        OPT_NUMBER("align-head", 0, "N", type, config.align_head, AT_LEAST(0),                                     \
                   "head of it that is shown; 0: the mean of all"),                                                \
        OPT_NUMBER("picture-side", 0, "N", type, config.picture_side, BETWEEN(8, 1024),                            \
                   "pixels a side of the square that pictures are scaled to, a multiple of 8"),                    \
        OPT_NUMBER(                                                                                                \
            "features", 0, "N", type, config.features, AT_LEAST(0),                                                \
            "read N descriptions of each picture from a file, instead of making them of its pixels; 0: make "      \
            "them"),                                                                                               \
        OPT_NUMBER("dim-feature", 0, "N", type, config.dim_feature, AT_LEAST(1),                                   \
                   "size of a description; of those that are made a multiple of 4"),                               \
        OPT_FLAG("hard-attention", 0, type, config.hard_attention,                                                 \
                 "each step looks at one place, drawn in training, instead of at a mean of all"),                  \
        OPT_NAME("init", 0, "NAME", type, config.init, init_names, NULL, "how the parameters start"),              \
        OPT_NUMBER("init-scale", 0, "X", type, config.init_scale, POSITIVE,                                        \
                   "with --init uniform: all parameters start within +- X")

/* Which attention of a Transformer is its alignment, where that was said. */
typedef struct attention_choice {
    bool made;
    int layer, head; /* head 0: the mean of all */
} attention_choice;
#define ATTENTION_OPTION(type, choice)                                                                             \
    OPT_CUSTOM("attention-from", 0, "L[.H]", type, choice, parse_attention, show_nothing,                          \
               "with a Transformer: its alignment is the attention of layer L of the decoder, the mean of all "    \
               "heads, or of head H, both counted from 1; else what training named")
const char *parse_attention(const char *text, void *target);
sa_status attention_choose(const attention_choice *choice, sa_model *model, sa_error *error);

/* Models that work together: every -m adds one. Target: a model_list. */
typedef struct model_list {
    attention_choice attention; /* of each */
    const char *path[SA_ENSEMBLE_MAX];
    sa_model *model[SA_ENSEMBLE_MAX]; /* NULL until opened */
    int n;
    sa_model_options options; /* that they are opened with */
} model_list;
#define MODELS_OPTION(type, list)                                                                                  \
    OPT_CUSTOM("model", 'm', "FILE", type, list, parse_model_path, show_nothing,                                   \
               "the model (required); given again, models with the same vocabularies work together: the "          \
               "probability of a word is the mean of theirs"),                                                     \
        ATTENTION_OPTION(type, list.attention), PRECISION_OPTION(type, list.options)
/* For a field of type sa_model_options. */
#define PRECISION_OPTION(type, options)                                                                            \
    OPT_ENUM("precision", 0, "TYPE", type, options.precision, precision_names,                                     \
             "round weights, and what they are multiplied with, to this type; stored: that of the file")
const char *parse_model_path(const char *text, void *target);
void show_nothing(const void *target, char *text, size_t size);
sa_status models_open(model_list *list, sa_error *error);
void models_close(model_list *list);

/* Members of sa_translate_options: what translations are compared by. */
#define RANKING_OPTIONS(type, options)                                                                             \
    OPT_NUMBER("normalize", 0, "A", type, options.normalize, AT_LEAST(0),                                          \
               "compare scores divided by length^A; 0: sums as they are"),                                         \
        OPT_NUMBER("length-penalty", 0, "A", type, options.length_penalty, AT_LEAST(0),                            \
                   "divide by ((5 + length) / 6)^A instead, as GNMT does; 0: by what --normalize says"),           \
        OPT_NUMBER("coverage-penalty", 0, "B", type, options.coverage_penalty, AT_LEAST(0),                        \
                   "add B times the sum, over source positions, of log min(1, attention received), as GNMT does")

/* Members of sa_alignment_options. */
#define ALIGNMENT_OPTIONS(type, choice)                                                                            \
    OPT_NUMBER("align-shift", 0, "N", type, choice.shift, BETWEEN(0, 1),                                           \
               "whose weights a target word has: 0: those of the step that writes it; 1: those of the next step, " \
               "which reads it"),                                                                                  \
        OPT_FLAG(                                                                                                  \
            "align-subwords", 0, type, choice.subwords,                                                            \
            "align the model's symbols and not the words of the texts, which are what stands between blanks"),     \
        OPT_NUMBER(                                                                                                \
            "align-threshold", 0, "P", type, choice.threshold, BETWEEN(0, 1),                                      \
            "link each target word to all source words with at least so much weight; 0: to the one with the "      \
            "most, and to none where </s> has more")

/* Those that every subcommand which translates has. */
#define SEARCH_OPTIONS(type, options)                                                                              \
    OPT_NUMBER("beam-size", 0, "N", type, options.beam_size, AT_LEAST(1),                                          \
               "hypotheses kept at each step; 1: greedy search"),                                                  \
        RANKING_OPTIONS(type, options),                                                                            \
        OPT_NUMBER("max-length-factor", 0, "X", type, options.max_length_factor, POSITIVE,                         \
                   "a translation has at most X symbols for each of the source, and 10 more"),                     \
        OPT_NUMBER("min-length", 0, "N", type, options.min_length, BETWEEN(0, 1000000),                            \
                   "a translation has at least N symbols, its end mark not counted"),                              \
        OPT_NUMBER("no-repeat-ngram", 0, "N", type, options.no_repeat_ngram, BETWEEN(0, 1000000),                  \
                   "no N symbols in a row come twice in a translation; 0: they may"),                              \
        OPT_FLAG("forbid-unk", 0, type, options.forbid_unk, "never write <unk>: take the next best symbol"),       \
        OPT_NUMBER("max-length", 0, "N", type, options.max_length, AT_LEAST(1),                                    \
                   "symbols translated at once; a longer sentence is translated in pieces, with a warning"),       \
        OPT_NUMBER("threads", 0, "N", type, options.threads, AT_LEAST(0),                                          \
                   "threads that work; 0: one for each core")

extern const char *const precision_names[]; /* of models; training knows the first two */
extern const char *const weights_names[],
    *const order_names[], *const reset_names[], *const start_names[], *const norm_names[], *const init_names[],
                                                                                               *const cell_names[];
extern const char *const coverage_names[], *const attention_names[], *const score_names[], *const no_yes_names[];
extern const char *const vocab_type_names[]; /* that training can be asked for */
extern const char *const vocab_kind_names[]; /* of every sa_vocab_type */
extern const char *const symmetrization_names[];
/* Target: a sa_model_config, whose vocab_source and vocab_target are set. */
const char *parse_vocab_size(const char *text, void *target);
void show_vocab_size(const void *target, char *text, size_t size);

/* A text in a row whose fields are parted by |||: one that it has itself is written with the entity that Moses uses
 * for |, a line end as a blank. */
void write_in_row(FILE *output, const char *text);
/* A tab, or ||| in a row, and "symbol:score" of each symbol, with blanks between; one in a symbol becomes _. */
void write_word_scores(FILE *output, const sa_hypothesis *h, bool in_row);

/* "standard input" for "-", else the path. */
const char *input_name(const char *path);

/* ---- messages ---------------------------------------------------------------------------------------- */

/* "softalign: ..." and a line end on standard error, in one write. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, then where to find help; returns CLI_USAGE. */
int cli_usage_error(const command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The message of an error of the library; returns CLI_USAGE for SA_USAGE, CLI_FAILED else. */
int cli_library_error(const sa_error *error);
/* After a failed write to a stream, errno still set: quiet CLI_PIPE when its reader left, else a message and
 * CLI_FAILED. */
int cli_write_error(const char *name);
/* Flushes and, unless it is stdout, closes. Returns CLI_OK, or what cli_write_error returns. */
int cli_close_output(FILE *stream, const char *name);

/* Width of the terminal: COLUMNS, or what the terminal says, or otherwise the fallback. */
int cli_columns(int descriptor, int fallback);

#endif
