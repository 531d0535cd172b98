#include "cli_input.h"
#include <stdlib.h>
#include <string.h>

typedef struct score_arguments {
    sa_translate_options search;
    model_list models;
    const char *source, *target; /* target NULL: TSV in source */
    const char *tsv;
    bool strict, quiet;
} score_arguments;

static const option score_options[] = {
    OPT_SECTION("Models and files"),
    MODELS_OPTION(score_arguments, models),
    OPT_STRING("tsv", 0, "FILE", score_arguments, tsv,
               "pairs in one file, source, tab, target on each line, instead of two files"),
    OPT_FLAG(
        "symbols", 0, score_arguments, search.symbols,
        "targets are symbols with blanks between, as 'translate --symbols' writes them, and not text, which may "
        "be cut into others"),
    OPT_FLAG("strict", 0, score_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_SECTION("Scores"),
    RANKING_OPTIONS(score_arguments, search),
    OPT_FLAG("word-scores", 0, score_arguments, search.word_scores,
             "put a tab and 'symbol:score' of each symbol behind the scores"),
    OPT_NUMBER("max-length", 0, "N", score_arguments, search.max_length, AT_LEAST(1),
               "symbols read of a line, either side; what is longer is cropped, with a warning"),
    OPT_NUMBER("mini-batch", 0, "N", score_arguments, search.mini_batch, BETWEEN(1, 1000000),
               "pairs scored together; changes the speed, not the result"),
    OPT_NUMBER("threads", 0, "N", score_arguments, search.threads, AT_LEAST(0),
               "threads that work; 0: one for each core"),
    OPT_FLAG("quiet", 'q', score_arguments, quiet,
             "no progress, and no warnings about cropped lines and replaced bytes"),
    OPT_END,
};

/* Pairs of a window: enough to sort by length. It ends at this much text too. */
enum { WINDOW_BATCHES = 64, WINDOW_MOST = 65536 };
static const size_t WINDOW_BYTES = 8u << 20;

typedef struct scorer {
    const score_arguments *a;
    model_list models;
    text_input source, target; /* target.reader NULL: TSV */
    size_t capacity;
    char **from, **to; /* the window */
    size_t n, done;
    double symbols; /* of targets so far */
    warnings warnings;
} scorer;

/* ---- pairs in ---------------------------------------------------------------------------------------- */

static sa_status fail_at_end(scorer *s, sa_error *error) {
    char *line;
    text_input *rest[] = {&s->source, &s->target};
    for (int i = 0; i < 2; i++)
        do {
            sa_status status = text_next(rest[i], &(warnings){.quiet = true}, &line, error);
            if (status != SA_OK)
                return status;
            free(line);
        } while (line != NULL);
    error->status = SA_DATA;
    snprintf(error->text, sizeof error->text,
             "%s has %zu lines, %s has %zu: line i of one must be the translation of line i of the other",
             s->source.name, sa_reader_line(s->source.reader), s->target.name, sa_reader_line(s->target.reader));
    return SA_DATA;
}

/* Cuts the line at its tab; the target is a copy. */
static sa_status cut_pair(scorer *s, char *line, char **to, sa_error *error) {
    size_t fields = 1;
    for (const char *c = line; (c = strchr(c, '\t')) != NULL; c++)
        fields++;
    if (fields != 2) {
        error->status = SA_DATA;
        snprintf(error->text, sizeof error->text, "%s:%zu: %zu field%s, where source, tab, target are needed",
                 s->source.name, sa_reader_line(s->source.reader), fields, fields == 1 ? "" : "s");
        return SA_DATA;
    }
    char *tab = strchr(line, '\t');
    *tab = '\0';
    *to = strdup(tab + 1);
    if (*to == NULL) {
        error->status = SA_MEMORY;
        snprintf(error->text, sizeof error->text, "%s", sa_status_text(SA_MEMORY));
        return SA_MEMORY;
    }
    return SA_OK;
}

/* The next pair; *from NULL at the end. On failure nothing is left to free. */
static sa_status read_pair(scorer *s, char **from, char **to, sa_error *error) {
    *to = NULL;
    sa_status status = text_next(&s->source, &s->warnings, from, error);
    if (status == SA_OK && s->target.reader != NULL) {
        status = text_next(&s->target, &s->warnings, to, error);
        if (status == SA_OK && (*from == NULL) != (*to == NULL))
            status = fail_at_end(s, error);
    } else if (status == SA_OK && *from != NULL) {
        status = cut_pair(s, *from, to, error);
    }
    if (status != SA_OK) {
        free(*from);
        free(*to);
        *from = *to = NULL;
    }
    return status;
}

/* Fills the window: waits for the first pair, then takes what can be had without waiting. *end: no more pairs. */
static sa_status read_window(scorer *s, bool *end, sa_error *error) {
    size_t bytes = 0;
    s->n = 0;
    do {
        char *from, *to;
        sa_status status = read_pair(s, &from, &to, error);
        *end = from == NULL;
        if (*end)
            return status;
        s->from[s->n] = from;
        s->to[s->n++] = to;
        bytes += strlen(from) + strlen(to);
    } while (s->n < s->capacity && bytes < WINDOW_BYTES && sa_reader_ready(s->source.reader));
    return SA_OK;
}

/* Lines of a file, to compare before work starts. */
static sa_status count_lines(const char *path, bool strict, size_t *n, sa_error *error) {
    sa_reader *reader;
    char *line;
    size_t length;
    sa_status status = sa_reader_open(&reader, path, strict, error);
    if (status != SA_OK)
        return status;
    do
        status = sa_reader_next(reader, &line, &length, error);
    while (status == SA_OK && line != NULL);
    *n = sa_reader_line(reader);
    sa_reader_free(reader);
    return status;
}

/* What can be read twice is; of a pipe the lines are counted as they come. */
static sa_status compare_counts(const score_arguments *a, sa_error *error) {
    size_t n[2];
    const char *path[] = {a->source, a->target};
    if (a->target == NULL || strcmp(a->source, "-") == 0 || strcmp(a->target, "-") == 0 || !is_regular(a->source) ||
        !is_regular(a->target))
        return SA_OK;
    for (int i = 0; i < 2; i++) {
        sa_status status = count_lines(path[i], a->strict, &n[i], error);
        if (status != SA_OK)
            return status;
    }
    if (n[0] == n[1])
        return SA_OK;
    error->status = SA_DATA;
    snprintf(error->text, sizeof error->text,
             "%s has %zu lines, %s has %zu: line i of one must be the translation of line i of the other", path[0],
             n[0], path[1], n[1]);
    return SA_DATA;
}

/* ---- scores out -------------------------------------------------------------------------------------- */

/* What sa_score_pairs is called with. n pairs of the window. */
static sa_status score_pairs(scorer *s, size_t n, sa_translation **out, sa_error *error) {
    return sa_score_pairs((const sa_model *const *)s->models.model, s->models.n, (const char *const *)s->from,
                          (const char *const *)s->to, n, &s->a->search, out, error);
}

static int score_window(scorer *s) {
    sa_error error;
    sa_translation *scored;
    if (score_pairs(s, s->n, &scored, &error) != SA_OK)
        return cli_library_error(&error);
    for (size_t i = 0; i < s->n; i++) {
        const sa_hypothesis *h = &scored[i].hypothesis[0];
        if (scored[i].too_long && warnings_show(&s->warnings))
            cli_message("%s:%zu: a side longer than %d symbols; the rest was left out (--max-length)",
                        s->source.name, s->done + i + 1, s->a->search.max_length);
        printf("%.6f\t%.6f", h->score, h->normalized);
        if (s->a->search.word_scores)
            write_word_scores(stdout, h, false);
        putchar('\n');
        s->symbols += h->length;
    }
    sa_translations_free(scored, s->n);
    s->done += s->n;
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_write_error("standard output");
    status_line_count(&s->warnings.line, s->source.reader, s->done, s->symbols);
    return CLI_OK;
}

static int score_all(scorer *s) {
    sa_error error;
    bool end = false;
    while (!end) {
        sa_status read = read_window(s, &end, &error);
        int status = s->n > 0 ? score_window(s) : CLI_OK;
        for (size_t i = 0; i < s->n; i++) {
            free(s->from[i]);
            free(s->to[i]);
        }
        if (status != CLI_OK)
            return status;
        if (read != SA_OK)
            return cli_library_error(&error);
    }
    warnings_end(&s->warnings, s->source.name);
    return CLI_OK;
}

static int run_scorer(scorer *s) {
    const score_arguments *a = s->a;
    sa_error error;
    sa_status status = models_open(&s->models, &error);
    if (status == SA_OK)
        status = compare_counts(a, &error);
    if (status == SA_OK)
        status = text_open(&s->source, a->source, a->strict, &error);
    if (status == SA_OK && a->target != NULL)
        status = text_open(&s->target, a->target, a->strict, &error);
    if (status != SA_OK)
        return cli_library_error(&error);
    s->capacity = (size_t)a->search.mini_batch * WINDOW_BATCHES;
    s->capacity = s->capacity < WINDOW_MOST ? s->capacity : WINDOW_MOST;
    s->from = malloc(s->capacity * sizeof *s->from);
    s->to = malloc(s->capacity * sizeof *s->to);
    if (s->from == NULL || s->to == NULL) {
        cli_message("not enough memory for a window of %zu pairs; try a smaller --mini-batch", s->capacity);
        return CLI_FAILED;
    }
    /* No pair: models that do not go together, and options that do not go with them, are told before work starts.
     */
    sa_translation *nothing;
    if (score_pairs(s, 0, &nothing, &error) != SA_OK)
        return cli_library_error(&error);
    sa_translations_free(nothing, 0);
    if (!a->quiet)
        status_line_begin(&s->warnings.line);
    int result = score_all(s);
    status_line_clear(&s->warnings.line);
    return result;
}

static int score_run(int argc, char **argv) {
    score_arguments a = {.models.options.precision = SA_AS_STORED};
    sa_translate_options_init(&a.search);
    int n;
    int status = options_parse(&command_score, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.models.n == 0)
        return cli_usage_error(&command_score, "which model? -m FILE is missing");
    if (a.tsv != NULL ? n > 0 : n != 2)
        return cli_usage_error(&command_score, a.tsv != NULL ? "two files and --tsv exclude each other"
                                                             : "two files, SOURCE and TARGET, or --tsv FILE are "
                                                               "needed");
    a.source = a.tsv != NULL ? a.tsv : argv[0];
    a.target = a.tsv != NULL ? NULL : argv[1];
    if (a.target != NULL && strcmp(a.source, "-") == 0 && strcmp(a.target, "-") == 0)
        return cli_usage_error(&command_score, "standard input cannot be both source and target");
    scorer s = {.a = &a, .models = a.models, .warnings = {.quiet = a.quiet}};
    status = run_scorer(&s);
    free(s.from);
    free(s.to);
    text_close(&s.source);
    text_close(&s.target);
    models_close(&s.models);
    return status;
}

const command command_score = {
    .name = "score",
    .summary = "score given translations with a model",
    .synopsis = "-m MODEL [OPTION]... SOURCE TARGET | --tsv FILE",
    .about =
        "Says how probable a model finds given translations: for each pair of lines one line with the score, a tab "
        "and the normalized score. They are the numbers that 'softalign translate' gives its own translations with "
        "the same options: natural logarithms, at most 0, higher is better; the score is the sum over the symbols "
        "of "
        "the target line and its end mark.\n"
        "Each text is cut into symbols as in training. An empty target is scored as the end mark alone; a pair of "
        "two empty lines scores 0.",
    .examples = "  softalign score -m run/best.safetensors in.en in.fr > scores\n"
                "  softalign score -m run/best.safetensors --tsv pairs.tsv.gz --word-scores\n",
    .options = score_options,
    .most_arguments = 2,
    .run = score_run,
};
