#include "cli_input.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct translate_arguments {
    sa_translate_options search;
    model_list models;
    const char *input, *output, *prefix, *dictionary;
    int n_best; /* 0: plain lines */
    bool scores, strict, quiet;
} translate_arguments;

static const option translate_options[] = {
    OPT_SECTION("Models and files"),
    MODELS_OPTION(translate_arguments, models),
    OPT_STRING("input", 'i', "FILE", translate_arguments, input,
               "text to translate, one sentence a line, plain or gzip; - is standard input"),
    OPT_STRING("output", 'o', "FILE", translate_arguments, output, "where translations go; - is standard output"),
    OPT_STRING("prefix", 0, "FILE", translate_arguments, prefix,
               "line i is what translation i must begin with. With subwords its last word may be a part of one, "
               "unless a blank follows; an empty line forces nothing"),
    OPT_FLAG("strict", 0, translate_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_SECTION("Search"),
    SEARCH_OPTIONS(translate_arguments, search),
    OPT_NUMBER("mini-batch", 0, "N", translate_arguments, search.mini_batch, BETWEEN(1, 1000000),
               "sentences decoded together; changes the speed, not the result"),
    OPT_SECTION("Unknown words"),
    OPT_FLAG("replace-unk", 0, translate_arguments, search.replace_unk,
             "write, for <unk>, the source word that it looked at most (with subwords: the piece)"),
    OPT_STRING("dictionary", 0, "FILE", translate_arguments, dictionary,
               "or the translation of that word in this file, if it has one: lines of source word, tab, target "
               "text; of several the first"),
    OPT_SECTION("Samples"),
    OPT_FLAG("sample", 0, translate_arguments, search.sample,
             "draw translations, as many as --n-best says, word by word from the model's probabilities"),
    OPT_NUMBER("temperature", 0, "T", translate_arguments, search.temperature, POSITIVE,
               "draw from p^(1/T): below 1 likelier words, above 1 more different ones"),
    OPT_NUMBER("top-k", 0, "K", translate_arguments, search.top_k, AT_LEAST(0),
               "draw from the K likeliest words only; 0: from all"),
    OPT_NUMBER("seed", 0, "N", translate_arguments, search.seed, ANY,
               "a line's samples depend on this, on the number of the line and of the sample, and on nothing else"),
    OPT_SECTION("What is written"),
    OPT_NUMBER("n-best", 0, "N", translate_arguments, n_best, BETWEEN(0, 1000),
               "write the N best of each line, N at most the beam size, in rows of 'line ||| text ||| score ||| "
               "normalized score', lines counted from 0; a ||| in a text becomes &#124;&#124;&#124;; 0: only the "
               "best, as plain text"),
    OPT_FLAG("scores", 0, translate_arguments, scores,
             "put the normalized score and a tab before each translation"),
    OPT_FLAG("word-scores", 0, translate_arguments, search.word_scores,
             "put a tab (in rows of --n-best: |||) and 'symbol:score' of each symbol behind each translation"),
    OPT_FLAG("symbols", 0, translate_arguments, search.symbols,
             "write the symbols of the model with blanks between instead of text; 'score --symbols' reads them"),
    OPT_FLAG("quiet", 'q', translate_arguments, quiet, "no warnings about cropped lines and replaced bytes"),
    OPT_END,
};

typedef struct translator {
    const translate_arguments *a;
    model_list models;
    sa_dictionary *dictionary;
    text_input input, prefix; /* prefix.reader NULL: none */
    FILE *output;
    const char *output_name;
    size_t capacity; /* lines of a window */
    size_t bytes;    /* of text in the window */
    char **line, **start;
    size_t n, done; /* lines in the window, and before it */
    warnings warnings;
} translator;

/* ---- lines in ---------------------------------------------------------------------------------------- */

/* A window ends at this much text too, so that long lines do not add up. */
static const size_t WINDOW_BYTES = 8u << 20;

/* The prefix of the line that was just read. */
static sa_status read_prefix(translator *t, char **start, sa_error *error) {
    sa_status status = text_next(&t->prefix, &t->warnings, start, error);
    if (status == SA_OK && *start == NULL) {
        status = error->status = SA_DATA;
        snprintf(error->text, sizeof error->text,
                 "%s ends after line %zu, but %s goes on: give each line a prefix, if an empty one", t->prefix.name,
                 sa_reader_line(t->prefix.reader), t->input.name);
    }
    return status;
}

/* Fills the window: waits for the first line, then takes what can be had without waiting. *end: no more lines. */
static sa_status read_window(translator *t, bool *end, sa_error *error) {
    t->n = t->bytes = 0;
    do {
        char *line, *start = NULL;
        sa_status status = text_next(&t->input, &t->warnings, &line, error);
        if (status == SA_OK && line != NULL && t->prefix.reader != NULL)
            status = read_prefix(t, &start, error);
        *end = status != SA_OK || line == NULL;
        if (*end) {
            free(line);
            return status;
        }
        t->start[t->n] = start;
        t->line[t->n++] = line;
        t->bytes += strlen(line);
    } while (t->n < t->capacity && t->bytes < WINDOW_BYTES && sa_reader_ready(t->input.reader));
    return SA_OK;
}

/* After the last line: prefixes that are left belong to nothing. */
static int check_prefix_ends(translator *t) {
    sa_error error;
    char *start;
    if (t->prefix.reader == NULL)
        return CLI_OK;
    if (text_next(&t->prefix, &t->warnings, &start, &error) != SA_OK)
        return cli_library_error(&error);
    if (start == NULL)
        return CLI_OK;
    free(start);
    cli_message("%s goes on after line %zu, where %s ends", t->prefix.name, t->done, t->input.name);
    return CLI_FAILED;
}

/* ---- translations out -------------------------------------------------------------------------------- */

static void write_translation(translator *t, const sa_translation *translation, size_t line) {
    const sa_hypothesis *best = &translation->hypothesis[0];
    if (t->a->n_best > 0) {
        for (int i = 0; i < translation->n; i++) {
            const sa_hypothesis *h = &translation->hypothesis[i];
            fprintf(t->output, "%zu ||| ", line);
            write_in_row(t->output, h->text);
            fprintf(t->output, " ||| %.6f ||| %.6f", h->score, h->normalized);
            if (t->a->search.word_scores)
                write_word_scores(t->output, h, true);
            fputc('\n', t->output);
        }
        return;
    }
    if (t->a->scores)
        fprintf(t->output, "%.6f\t", best->normalized);
    fputs(best->text, t->output);
    if (t->a->search.word_scores)
        write_word_scores(t->output, best, false);
    fputc('\n', t->output);
}

/* What sa_translate_ensemble is called with. n lines of the window. */
static sa_status translate_lines(translator *t, size_t n, sa_translation **out, sa_error *error) {
    sa_translate_options search = t->a->search;
    search.dictionary = t->dictionary;
    search.prefix = (const char *const *)t->start;
    search.first_line = t->done;
    return sa_translate_ensemble((const sa_model *const *)t->models.model, t->models.n,
                                 (const char *const *)t->line, n, &search, out, error);
}

/* Translates the window and writes it. Returns CLI_OK or the exit status. */
static int translate_window(translator *t) {
    sa_error error;
    sa_translation *translation;
    if (translate_lines(t, t->n, &translation, &error) != SA_OK)
        return cli_library_error(&error);
    for (size_t i = 0; i < t->n; i++) {
        if (translation[i].cropped && warnings_show(&t->warnings))
            cli_message("%s:%zu: longer than %d symbols; the rest was left out (--max-length)", t->input.name,
                        t->done + i + 1, t->a->search.max_length);
        write_translation(t, &translation[i], t->done + i);
    }
    sa_translations_free(translation, t->n);
    t->done += t->n;
    if (fflush(t->output) != 0 || ferror(t->output))
        return cli_write_error(t->output_name);
    return CLI_OK;
}

static int translate_all(translator *t) {
    sa_error error;
    bool end = false;
    while (!end) {
        sa_status read = read_window(t, &end, &error);
        int status = t->n > 0 ? translate_window(t) : CLI_OK;
        for (size_t i = 0; i < t->n; i++) {
            free(t->line[i]);
            free(t->start[i]);
        }
        if (status != CLI_OK)
            return status;
        /* The lines before a broken one have been written. */
        if (read != SA_OK)
            return cli_library_error(&error);
    }
    int status = check_prefix_ends(t);
    warnings_end(&t->warnings, t->input.name);
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------------- */

/* A file waits for nobody: the more lines are at hand, the better they sort by length. */
static size_t window_lines(const translate_arguments *a) {
    size_t lines = (size_t)a->search.mini_batch * (is_regular(a->input) ? 64 : 16);
    return lines < 65536 ? lines : 65536;
}

static sa_status open_inputs(translator *t, sa_error *error) {
    const translate_arguments *a = t->a;
    sa_status status = models_open(&t->models, error);
    if (status == SA_OK && a->dictionary != NULL)
        status = sa_dictionary_open(&t->dictionary, a->dictionary, a->strict, error);
    if (status == SA_OK)
        status = text_open(&t->input, a->input, a->strict, error);
    if (status == SA_OK && a->prefix != NULL)
        status = text_open(&t->prefix, a->prefix, a->strict, error);
    return status;
}

static int open_output(translator *t) {
    if (strcmp(t->a->output, "-") == 0)
        return CLI_OK;
    t->output_name = t->a->output;
    t->output = fopen(t->a->output, "w");
    return t->output != NULL ? CLI_OK : cli_write_error(t->output_name);
}

static int run_translator(translator *t) {
    sa_error error;
    if (open_inputs(t, &error) != SA_OK)
        return cli_library_error(&error);
    t->capacity = window_lines(t->a);
    t->line = malloc(t->capacity * sizeof *t->line);
    t->start = malloc(t->capacity * sizeof *t->start);
    if (t->line == NULL || t->start == NULL) {
        cli_message("not enough memory for a window of %zu lines; try a smaller --mini-batch", t->capacity);
        return CLI_FAILED;
    }
    /* No line: models that do not go together, and options that do not go with them, are told before work starts.
     */
    sa_translation *nothing;
    if (translate_lines(t, 0, &nothing, &error) != SA_OK)
        return cli_library_error(&error);
    sa_translations_free(nothing, 0);
    int status = open_output(t);
    if (t->output == NULL)
        return status;
    status = translate_all(t);
    /* After a failure the output is left as it is: what was written stays, and one message is enough. */
    if (status == CLI_OK)
        return cli_close_output(t->output, t->output_name);
    if (t->output != stdout)
        fclose(t->output);
    return status;
}

static int translate_files(const translate_arguments *a) {
    translator t = {.a = a,
                    .models = a->models,
                    .output = stdout,
                    .output_name = "standard output",
                    .warnings = {.quiet = a->quiet}};
    int status = run_translator(&t);
    free(t.line);
    free(t.start);
    text_close(&t.input);
    text_close(&t.prefix);
    sa_dictionary_free(t.dictionary);
    models_close(&t.models);
    return status;
}

static int check_files(const translate_arguments *a) {
    if (a->models.n == 0)
        return cli_usage_error(&command_translate, "which model? -m FILE is missing");
    const struct {
        const char *option, *path;
    } input[] = {{"input", a->input}, {"prefix", a->prefix}, {"dictionary", a->dictionary}};
    int from_stdin = 0;
    for (size_t i = 0; i < sizeof input / sizeof *input; i++) {
        if (input[i].path == NULL)
            continue;
        if (same_file(input[i].path, a->output))
            return cli_usage_error(&command_translate, "%s is both --%s and --output", a->output, input[i].option);
        from_stdin += strcmp(input[i].path, "-") == 0;
    }
    if (from_stdin > 1)
        return cli_usage_error(&command_translate,
                               "standard input can be one text only: --input, --prefix or --dictionary");
    for (int i = 0; i < a->models.n; i++)
        if (same_file(a->models.path[i], a->output))
            return cli_usage_error(&command_translate, "%s is both --model and --output", a->output);
    return CLI_GO_ON;
}

static int translate_run(int argc, char **argv) {
    translate_arguments a = {.input = "-", .output = "-"};
    sa_translate_options_init(&a.search);
    const sa_translate_options usual = a.search;
    int n;
    int status = options_parse(&command_translate, &a, argc, argv, &n);
    if (status == CLI_GO_ON)
        status = check_files(&a);
    if (status != CLI_GO_ON)
        return status;
    const sa_translate_options *s = &a.search;
    if (a.n_best > s->beam_size && !s->sample)
        return cli_usage_error(&command_translate, "--n-best %d is more than the %d hypotheses of --beam-size",
                               a.n_best, s->beam_size);
    if (a.n_best > 0 && a.scores)
        return cli_usage_error(&command_translate, "--scores adds nothing to --n-best, whose rows have the scores");
    if (a.dictionary != NULL && !s->replace_unk)
        return cli_usage_error(&command_translate, "--dictionary goes with --replace-unk");
    if (s->symbols && s->replace_unk)
        return cli_usage_error(&command_translate, "--replace-unk changes text; --symbols writes none");
    if (!s->sample && (s->temperature != usual.temperature || s->top_k != usual.top_k || s->seed != usual.seed))
        return cli_usage_error(&command_translate, "--temperature, --top-k and --seed go with --sample");
    a.search.n_best = a.n_best > 0 ? a.n_best : 1;
    return translate_files(&a);
}

const command command_translate = {
    .name = "translate",
    .summary = "translate lines of text",
    .synopsis = "-m MODEL [OPTION]... < SOURCE > TRANSLATION",
    .about =
        "Translates text with a trained model: one sentence a line in, one line out, in the same order. An empty "
        "line stays empty. When the input is a pipe or a terminal, what has come is translated before more is "
        "waited for.\n"
        "Scores are natural logarithms of probabilities, at most 0, higher is better. The score is the sum over "
        "the symbols of a translation, its end mark included; the normalized score is what translations are "
        "compared by: the sum divided by length^A with the A of --normalize, the end mark counted in the length, "
        "or with GNMT's penalties. 'softalign score' gives the same numbers for a given translation.",
    .examples = "  softalign translate -m run/best.safetensors < in.en > out.fr\n"
                "  echo 'A man is asleep.' | softalign translate -m run/best.safetensors --beam-size 5 --n-best 5\n"
                "  softalign translate -m a.safetensors -m b.safetensors --replace-unk < in.en > out.fr\n"
                "  softalign translate -m run/best.safetensors --sample --n-best 3 --top-k 10 < in.en\n",
    .options = translate_options,
    .run = translate_run,
};
