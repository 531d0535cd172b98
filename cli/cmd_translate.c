#include "cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct translate_arguments {
    sa_translate_options search;
    const char *model, *input, *output;
    int n_best; /* 0: plain lines */
    bool scores, strict, quiet;
} translate_arguments;

static const option translate_options[] = {
    OPT_SECTION("Model and files"),
    OPT_STRING("model", 'm', "FILE", translate_arguments, model, "the model (required)"),
    OPT_STRING("input", 'i', "FILE", translate_arguments, input,
               "text to translate, one sentence a line, plain or gzip; - is standard input"),
    OPT_STRING("output", 'o', "FILE", translate_arguments, output, "where translations go; - is standard output"),
    OPT_FLAG("strict", 0, translate_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_SECTION("Search"),
    SEARCH_OPTIONS(translate_arguments, search),
    OPT_NUMBER("mini-batch", 0, "N", translate_arguments, search.mini_batch, AT_LEAST(1),
               "sentences decoded together; changes the speed, not the result"),
    OPT_SECTION("What is written"),
    OPT_NUMBER("n-best", 0, "N", translate_arguments, n_best, AT_LEAST(0),
               "write the N best of each line, N at most the beam size, in rows of 'line ||| text ||| score ||| "
               "normalized score', lines counted from 0; a ||| in a text becomes &#124;&#124;&#124;; 0: only the "
               "best, as plain text"),
    OPT_FLAG("scores", 0, translate_arguments, scores,
             "put the normalized score and a tab before each translation"),
    OPT_FLAG("quiet", 'q', translate_arguments, quiet, "no warnings about cropped lines and replaced bytes"),
    OPT_END,
};

/* Warnings after this many are only counted. */
enum { MOST_WARNINGS = 10 };

typedef struct translator {
    const translate_arguments *a;
    sa_model *model;
    sa_reader *reader;
    FILE *output;
    const char *input_name, *output_name;
    size_t capacity; /* lines of a window */
    size_t bytes;    /* of text in the window */
    char **line;
    size_t n, done; /* lines in the window, and before it */
    size_t replaced;
    size_t warnings;
} translator;

/* A window ends at this much text too, so that long lines do not add up. */
static const size_t WINDOW_BYTES = 8u << 20;

static bool may_warn(translator *t) {
    return !t->a->quiet && t->warnings++ < MOST_WARNINGS;
}

static void warn_replaced(translator *t) {
    size_t now = sa_reader_replaced(t->reader), line = sa_reader_line(t->reader), first_line, column;
    size_t count = now - t->replaced;
    t->replaced = now;
    if (count == 0 || !may_warn(t))
        return;
    char place[32] = "";
    sa_reader_first_replaced(t->reader, &first_line, &column);
    if (first_line == line)
        snprintf(place, sizeof place, ":%zu", column);
    cli_message("%s:%zu%s: not UTF-8 text: %zu replaced by U+FFFD; --strict makes this an error", t->input_name,
                line, place, count);
}

/* Fills the window: waits for the first line, then takes what can be had without waiting. *end: no more lines. */
static sa_status read_window(translator *t, bool *end, sa_error *error) {
    t->n = t->bytes = 0;
    do {
        char *line;
        size_t length;
        sa_status status = sa_reader_next(t->reader, &line, &length, error);
        *end = status != SA_OK || line == NULL;
        if (*end)
            return status;
        warn_replaced(t);
        t->line[t->n] = malloc(length + 1);
        if (t->line[t->n] == NULL) {
            *end = true;
            error->status = SA_MEMORY;
            snprintf(error->text, sizeof error->text, "not enough memory for line %zu", sa_reader_line(t->reader));
            return SA_MEMORY;
        }
        memcpy(t->line[t->n++], line, length + 1);
        t->bytes += length;
    } while (t->n < t->capacity && t->bytes < WINDOW_BYTES && sa_reader_ready(t->reader));
    return SA_OK;
}

/* A text whose ||| would split the row is written with the entity that Moses uses for |. */
static void write_escaped(FILE *output, const char *text) {
    const char *bars;
    while ((bars = strstr(text, "|||")) != NULL) {
        fwrite(text, 1, (size_t)(bars - text), output);
        fputs("&#124;&#124;&#124;", output);
        text = bars + 3;
    }
    fputs(text, output);
}

static void write_translation(translator *t, const sa_translation *translation, size_t line) {
    if (t->a->n_best > 0) {
        for (int i = 0; i < translation->n; i++) {
            const sa_hypothesis *h = &translation->hypothesis[i];
            fprintf(t->output, "%zu ||| ", line);
            write_escaped(t->output, h->text);
            fprintf(t->output, " ||| %.6f ||| %.6f\n", h->score, h->normalized);
        }
        return;
    }
    if (t->a->scores)
        fprintf(t->output, "%.6f\t", translation->hypothesis[0].normalized);
    fputs(translation->hypothesis[0].text, t->output);
    fputc('\n', t->output);
}

/* Translates the window and writes it. Returns CLI_OK or the exit status. */
static int translate_window(translator *t) {
    sa_error error;
    sa_translation *translation;
    if (sa_translate(t->model, (const char *const *)t->line, t->n, &t->a->search, &translation, &error) != SA_OK)
        return cli_library_error(&error);
    for (size_t i = 0; i < t->n; i++) {
        if (translation[i].cropped && may_warn(t))
            cli_message("%s:%zu: longer than %d symbols; the rest was left out (--max-length)", t->input_name,
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
        for (size_t i = 0; i < t->n; i++)
            free(t->line[i]);
        if (status != CLI_OK)
            return status;
        /* The lines before a broken one have been written. */
        if (read != SA_OK)
            return cli_library_error(&error);
    }
    if (t->warnings > MOST_WARNINGS)
        cli_message("%s: %zu more warnings like these were not shown", t->input_name, t->warnings - MOST_WARNINGS);
    return CLI_OK;
}

/* A file waits for nobody: the more lines are at hand, the better they sort by length. */
static size_t window_lines(const translate_arguments *a) {
    struct stat s;
    int failed = strcmp(a->input, "-") == 0 ? fstat(0, &s) : stat(a->input, &s);
    size_t batches = failed == 0 && S_ISREG(s.st_mode) ? 64 : 16;
    size_t lines = (size_t)a->search.mini_batch * batches;
    return lines < 65536 ? lines : 65536;
}

/* Opening for writing would empty it, a file that is read. "-" is standard input. */
static bool same_file(const char *input, const char *output) {
    struct stat in, out;
    int failed = strcmp(input, "-") == 0 ? fstat(0, &in) : stat(input, &in);
    return failed == 0 && stat(output, &out) == 0 && S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
           in.st_ino == out.st_ino;
}

static int translate_files(const translate_arguments *a) {
    translator t = {.a = a, .input_name = input_name(a->input), .output = stdout, .output_name = "standard output"};
    sa_error error;
    int status = CLI_FAILED;
    if (sa_model_open(&t.model, a->model, &error) != SA_OK)
        return cli_library_error(&error);
    if (sa_reader_open(&t.reader, a->input, a->strict, &error) != SA_OK) {
        status = cli_library_error(&error);
        goto end;
    }
    t.capacity = window_lines(a);
    t.line = malloc(t.capacity * sizeof *t.line);
    if (t.line == NULL) {
        cli_message("not enough memory for a window of %zu lines; try a smaller --mini-batch", t.capacity);
        goto end;
    }
    if (strcmp(a->output, "-") != 0) {
        t.output_name = a->output;
        t.output = fopen(a->output, "w");
        if (t.output == NULL) {
            status = cli_write_error(a->output);
            goto end;
        }
    }
    status = translate_all(&t);
    /* After a failure the output is left as it is: what was written stays, and one message is enough. */
    if (status == CLI_OK)
        status = cli_close_output(t.output, t.output_name);
    else if (t.output != stdout)
        fclose(t.output);
end:
    free(t.line);
    sa_reader_free(t.reader);
    sa_model_free(t.model);
    return status;
}

static int translate_run(int argc, char **argv) {
    translate_arguments a = {.input = "-", .output = "-"};
    sa_translate_options_init(&a.search);
    int n;
    int status = options_parse(&command_translate, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.model == NULL)
        return cli_usage_error(&command_translate, "which model? -m FILE is missing");
    if (a.n_best > a.search.beam_size)
        return cli_usage_error(&command_translate, "--n-best %d is more than the %d hypotheses of --beam-size",
                               a.n_best, a.search.beam_size);
    if (a.n_best > 0 && a.scores)
        return cli_usage_error(&command_translate, "--scores adds nothing to --n-best, whose rows have the scores");
    if (same_file(a.input, a.output))
        return cli_usage_error(&command_translate, "%s is both --input and --output", a.output);
    if (same_file(a.model, a.output))
        return cli_usage_error(&command_translate, "%s is both --model and --output", a.output);
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
        "the symbols of a translation, its end mark included; the normalized score is the sum divided by "
        "length^A with the A of --normalize, the end mark counted in the length.",
    .examples =
        "  softalign translate -m run/best.safetensors < in.en > out.fr\n"
        "  echo 'A man is asleep.' | softalign translate -m run/best.safetensors --beam-size 5 --n-best 5\n",
    .options = translate_options,
    .run = translate_run,
};
