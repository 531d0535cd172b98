#include "cli.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct evaluate_arguments {
    sa_bleu_options bleu;
    const char *input;
    int width;
    bool sentence, score_only, strict, quiet;
} evaluate_arguments;

static const char *const tokenizer_names[] = {
    [SA_TOK_13A] = "13a", [SA_TOK_INTL] = "intl", [SA_TOK_CHAR] = "char", [SA_TOK_NONE] = "none", NULL};
static const char *const smoothing_names[] = {[SA_SMOOTH_EXP] = "exp",
                                              [SA_SMOOTH_FLOOR] = "floor",
                                              [SA_SMOOTH_ADD_K] = "add-k",
                                              [SA_SMOOTH_NONE] = "none",
                                              NULL};

static const char *parse_smooth_value(const char *text, void *target) {
    double value;
    bool overflow;
    if (!parse_double(text, &value, &overflow) || value < 0)
        return "a number of at least 0";
    *(double *)target = value;
    return NULL;
}

/* The default depends on the method; the help text states it. */
static void show_smooth_value(const void *target, char *text, size_t size) {
    (void)target;
    snprintf(text, size, "%s", "");
}

static const option evaluate_options[] = {
    OPT_SECTION("Input"),
    OPT_STRING("input", 'i', "FILE", evaluate_arguments, input,
               "translations to score, one a line, plain or gzip; - is standard input"),
    OPT_FLAG("strict", 0, evaluate_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_SECTION("How BLEU is computed"),
    OPT_ENUM("tokenize", 0, "NAME", evaluate_arguments, bleu.tokenizer, tokenizer_names,
             "how lines are cut into tokens: as mteval-v13a does, by Unicode punctuation and symbols, into "
             "characters, or at blanks only"),
    OPT_FLAG("lowercase", 0, evaluate_arguments, bleu.lowercase, "compare texts in lower case"),
    OPT_ENUM("smooth-method", 0, "NAME", evaluate_arguments, bleu.smoothing, smoothing_names,
             "what stands in for n-grams that never match"),
    OPT_CUSTOM("smooth-value", 0, "X", evaluate_arguments, bleu.smooth_value, parse_smooth_value, show_smooth_value,
               "the value of floor (usually 0.1) or of add-k (usually 1)"),
    OPT_FLAG("effective-order", 0, evaluate_arguments, bleu.effective_order,
             "leave out n-grams longer than every translation"),
    OPT_NUMBER("max-order", 0, "N", evaluate_arguments, bleu.max_order, BETWEEN(1, SA_BLEU_MAX_ORDER),
               "longest n-grams compared; not in the signature"),
    OPT_SECTION("Output"),
    OPT_FLAG("sentence", 0, evaluate_arguments, sentence,
             "score each line by itself, with --effective-order, instead of all lines together"),
    OPT_FLAG("score-only", 'b', evaluate_arguments, score_only, "print the number alone"),
    OPT_NUMBER("width", 'w', "N", evaluate_arguments, width, BETWEEN(0, 15), "decimals of the score"),
    OPT_FLAG("quiet", 'q', evaluate_arguments, quiet, "no warnings about the texts"),
    OPT_END,
};

/* The lines of a file. */
typedef struct lines {
    const char *name; /* for messages */
    char **line;
    size_t n, capacity;
} lines;

static void lines_free(lines *l) {
    for (size_t i = 0; i < l->n; i++)
        free(l->line[i]);
    free(l->line);
}

static int out_of_memory(void) {
    cli_message("%s", sa_status_text(SA_MEMORY));
    return CLI_FAILED;
}

static bool lines_append(lines *l, const char *text, size_t length) {
    if (l->n == l->capacity) {
        size_t capacity = l->capacity > 0 ? 2 * l->capacity : 1024;
        char **line = realloc(l->line, capacity * sizeof *line);
        if (line == NULL)
            return false;
        l->line = line;
        l->capacity = capacity;
    }
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, text, length + 1);
    l->line[l->n++] = copy;
    return true;
}

static void warn_replaced(const sa_reader *reader, const char *name) {
    size_t line, column;
    if (sa_reader_replaced(reader) == 0)
        return;
    sa_reader_first_replaced(reader, &line, &column);
    cli_message("%s:%zu:%zu: not UTF-8 text: %zu replaced by U+FFFD from here on; --strict makes this an error",
                name, line, column, sa_reader_replaced(reader));
}

/* What was read is in *l whether it fails or not. */
static int lines_read(lines *l, const char *path, const evaluate_arguments *a) {
    sa_error error;
    sa_reader *reader;
    l->name = input_name(path);
    if (sa_reader_open(&reader, path, a->strict, &error) != SA_OK)
        return cli_library_error(&error);
    int status = CLI_GO_ON;
    while (status == CLI_GO_ON) {
        char *line;
        size_t length;
        if (sa_reader_next(reader, &line, &length, &error) != SA_OK)
            status = cli_library_error(&error);
        else if (line == NULL)
            status = CLI_OK;
        else if (!lines_append(l, line, length))
            status = out_of_memory();
    }
    if (status == CLI_OK && !a->quiet)
        warn_replaced(reader, l->name);
    sa_reader_free(reader);
    return status;
}

/* ---- warnings ---------------------------------------------------------------------------------------- */

/* Texts with so many lines that end in " ." were tokenised and then not put together again. */
enum { TOKENISED_LINES = 100 };

static bool ends_in_lone_stop(const char *line) {
    size_t n = strlen(line);
    while (n > 0 && line[n - 1] == ' ')
        n--;
    return n >= 2 && line[n - 1] == '.' && line[n - 2] == ' ';
}

static void warn_tokenised(const lines *hypotheses) {
    size_t n = 0;
    for (size_t i = 0; i < hypotheses->n; i++)
        n += ends_in_lone_stop(hypotheses->line[i]);
    if (n >= TOKENISED_LINES)
        cli_message("%s looks tokenised: %zu lines end in ' .'. The score is that of other systems only when the "
                    "text is detokenised first; to compare tokens as they are, use --tokenize none",
                    hypotheses->name, n);
}

/* Thai to Burmese, Khmer, kana and Han: written without blanks between words. Three bytes in UTF-8. */
static bool is_unspaced(const unsigned char *s) {
    if ((s[0] & 0xF0) != 0xE0)
        return false;
    unsigned c = (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    return (c >= 0xE00 && c < 0xF00) || (c >= 0x1000 && c < 0x10A0) || (c >= 0x1780 && c < 0x1800) ||
           (c >= 0x3040 && c < 0x3100) || (c >= 0x3400 && c < 0xA000);
}

static void warn_unspaced(const lines *reference, const char *tokenizer) {
    size_t characters = 0, unspaced = 0;
    for (size_t i = 0; i < reference->n; i++)
        for (const unsigned char *s = (const unsigned char *)reference->line[i]; *s != '\0'; s++) {
            characters += (*s & 0xC0) != 0x80;
            unspaced += is_unspaced(s);
        }
    if (2 * unspaced > characters)
        cli_message("%s is mostly in a script without blanks between words, which --tokenize %s does not cut; use "
                    "--tokenize char",
                    reference->name, tokenizer);
}

/* ---- scores ------------------------------------------------------------------------------------------ */

static void print_score(const evaluate_arguments *a, const sa_bleu_result *r) {
    if (a->score_only) {
        printf("%.*f\n", a->width, r->bleu);
        return;
    }
    printf("BLEU|%s = %.*f ", r->signature, a->width, r->bleu);
    for (int i = 0; i < a->bleu.max_order; i++)
        printf("%s%.1f", i > 0 ? "/" : "", r->precision[i]);
    double ratio = r->reference_length > 0 ? (double)r->hypothesis_length / (double)r->reference_length : 0;
    printf(" (BP = %.3f ratio = %.3f hyp_len = %" PRId64 " ref_len = %" PRId64 ")\n", r->brevity_penalty, ratio,
           r->hypothesis_length, r->reference_length);
}

/* Scores lines first ... first + n - 1. row has room for a pointer a reference. */
static int score(const evaluate_arguments *a, const lines *hypotheses, const lines *references, size_t n_references,
                 size_t first, size_t n, const char *const **row) {
    sa_error error;
    sa_bleu_result result;
    for (size_t r = 0; r < n_references; r++)
        row[r] = (const char *const *)references[r].line + first;
    if (sa_bleu((const char *const *)hypotheses->line + first, n, row, n_references, &a->bleu, &result, &error) !=
        SA_OK)
        return cli_library_error(&error);
    print_score(a, &result);
    return CLI_OK;
}

static int score_all(const evaluate_arguments *a, const lines *hypotheses, const lines *references,
                     size_t n_references) {
    const char *const **row = malloc(n_references * sizeof *row);
    if (row == NULL)
        return out_of_memory();
    int status = CLI_OK;
    if (!a->sentence)
        status = score(a, hypotheses, references, n_references, 0, hypotheses->n, row);
    for (size_t i = 0; a->sentence && i < hypotheses->n && status == CLI_OK; i++)
        status = score(a, hypotheses, references, n_references, i, 1, row);
    free(row);
    return status == CLI_OK ? cli_close_output(stdout, "standard output") : status;
}

/* references: one for each of the paths, all empty. They are read first: a translation that comes through a pipe
 * may take long, and a wrong name should not have to wait for it. */
static int read_files(const evaluate_arguments *a, lines *hypotheses, lines *references, char **path, size_t n) {
    int status = CLI_OK;
    for (size_t r = 0; r < n && status == CLI_OK; r++)
        status = lines_read(&references[r], path[r], a);
    if (status == CLI_OK)
        status = lines_read(hypotheses, a->input, a);
    for (size_t r = 0; r < n && status == CLI_OK; r++)
        if (references[r].n != hypotheses->n) {
            cli_message("%s has %zu lines, but %s has %zu; they must belong to each other line by line",
                        references[r].name, references[r].n, hypotheses->name, hypotheses->n);
            status = CLI_FAILED;
        }
    return status;
}

static int evaluate_files(const evaluate_arguments *a, lines *hypotheses, lines *references, char **path,
                          size_t n) {
    int status = read_files(a, hypotheses, references, path, n);
    if (status != CLI_OK)
        return status;
    if (hypotheses->n == 0) {
        cli_message("%s is empty: there is nothing to score", hypotheses->name);
        return CLI_FAILED;
    }
    if (!a->quiet && (a->bleu.tokenizer == SA_TOK_13A || a->bleu.tokenizer == SA_TOK_INTL)) {
        warn_tokenised(hypotheses);
        warn_unspaced(&references[0], tokenizer_names[a->bleu.tokenizer]);
    }
    return score_all(a, hypotheses, references, n);
}

static int evaluate_run(int argc, char **argv) {
    evaluate_arguments a = {.input = "-", .width = 2};
    sa_bleu_options_init(&a.bleu);
    int n;
    int status = options_parse(&command_evaluate, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (n == 0)
        return cli_usage_error(&command_evaluate, "which references? a file is missing");
    if (a.bleu.smooth_value >= 0 && a.bleu.smoothing != SA_SMOOTH_FLOOR && a.bleu.smoothing != SA_SMOOTH_ADD_K)
        return cli_usage_error(&command_evaluate, "--smooth-value goes with --smooth-method floor or add-k, not %s",
                               smoothing_names[a.bleu.smoothing]);
    int from_stdin = strcmp(a.input, "-") == 0;
    for (int i = 0; i < n; i++)
        from_stdin += strcmp(argv[i], "-") == 0;
    if (from_stdin > 1)
        return cli_usage_error(&command_evaluate, "standard input can be one text only, translations (--input) or "
                                                  "a reference");
    if (a.sentence)
        a.bleu.effective_order = true;

    lines hypotheses = {0};
    lines *references = calloc((size_t)n, sizeof *references);
    status = references != NULL ? evaluate_files(&a, &hypotheses, references, argv, (size_t)n) : out_of_memory();
    lines_free(&hypotheses);
    for (int i = 0; references != NULL && i < n; i++)
        lines_free(&references[i]);
    free(references);
    return status;
}

const command command_evaluate = {
    .name = "evaluate",
    .summary = "score translations against references (BLEU)",
    .synopsis = "[OPTION]... REFERENCE... < TRANSLATION",
    .about =
        "Prints the corpus BLEU of translations, as sacreBLEU computes it, after the signature that says how. Each "
        "reference is a file with one line for each translation; of several, an empty line counts as missing. "
        "Texts are given as people write them, detokenised: cutting them is part of the metric.",
    .examples = "  softalign evaluate ref.fr < out.fr\n"
                "  softalign evaluate --lowercase --score-only -i out.fr ref1.fr ref2.fr\n"
                "  softalign evaluate --sentence --tokenize intl ref.fr < out.fr\n",
    .options = evaluate_options,
    .most_arguments = -1,
    .run = evaluate_run,
};
