#include "cli.h"
#include <stdlib.h>
#include <unistd.h>

typedef struct heatmap_arguments {
    sa_translate_options search;
    const char *model;
    attention_choice attention;
    int columns; /* 0: those of the terminal */
    bool strict, quiet;
} heatmap_arguments;

static const option heatmap_options[] = {
    OPT_SECTION("Model and drawing"),
    OPT_STRING("model", 'm', "FILE", heatmap_arguments, model, "the model (required)"),
    ATTENTION_OPTION(heatmap_arguments, attention),
    OPT_NUMBER("columns", 0, "N", heatmap_arguments, columns, AT_LEAST(0),
               "width of the drawing; 0: the terminal's, or 100 where there is none"),
    OPT_FLAG("strict", 0, heatmap_arguments, strict,
             "end with an error at bytes of standard input that are not UTF-8, instead of replacing them"),
    OPT_FLAG("quiet", 'q', heatmap_arguments, quiet, "no warnings about long sentences and replaced bytes"),
    OPT_SECTION("Search"),
    SEARCH_OPTIONS(heatmap_arguments, search),
    OPT_END,
};

/* place: what a warning starts with. */
static int print_translation(const heatmap_arguments *a, const char *place, const sa_translation *t) {
    const sa_hypothesis *best = &t->hypothesis[0];
    sa_error error;
    char *drawing = NULL;
    if (t->pieces == 1 && best->attention == NULL) {
        cli_message("%s has no attention to draw: its decoder sees one vector of the whole sentence", a->model);
        return CLI_FAILED;
    }
    if (t->too_long && !a->quiet)
        cli_message("%s: a sentence longer than %d symbols; translated in %d pieces (--max-length)", place,
                    a->search.max_length, t->pieces);
    if (best->attention != NULL && sa_heatmap_text(t, 0, a->columns, &drawing, &error) != SA_OK)
        return cli_library_error(&error);
    printf("%s\nscore %.6f, normalized %.6f\n", best->text, best->score, best->normalized);
    if (drawing != NULL)
        fputs(drawing, stdout);
    else if (t->pieces > 1)
        puts("(too long to be drawn)");
    free(drawing);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_write_error("standard output");
    return CLI_OK;
}

/* Drawings after the first are set apart by an empty line. */
static int draw_sentence(const heatmap_arguments *a, const sa_model *model, const char *text, const char *place,
                         bool first) {
    sa_error error;
    sa_translation *translation;
    if (sa_translate(model, &text, 1, &a->search, &translation, &error) != SA_OK)
        return cli_library_error(&error);
    if (!first)
        putchar('\n');
    int status = print_translation(a, place, translation);
    sa_translations_free(translation, 1);
    return status;
}

static int draw_input(const heatmap_arguments *a, const sa_model *model) {
    sa_error error;
    sa_reader *reader;
    if (sa_reader_open(&reader, "-", a->strict, &error) != SA_OK)
        return cli_library_error(&error);
    int status = CLI_OK;
    size_t replaced = 0;
    while (status == CLI_OK) {
        char *line, place[64];
        size_t length;
        if (sa_reader_next(reader, &line, &length, &error) != SA_OK) {
            status = cli_library_error(&error);
            break;
        }
        if (line == NULL)
            break;
        snprintf(place, sizeof place, "standard input:%zu", sa_reader_line(reader));
        if (sa_reader_replaced(reader) > replaced && !a->quiet)
            cli_message("%s: not UTF-8 text: %zu replaced by U+FFFD; --strict makes this an error", place,
                        sa_reader_replaced(reader) - replaced);
        replaced = sa_reader_replaced(reader);
        status = draw_sentence(a, model, line, place, sa_reader_line(reader) == 1);
    }
    sa_reader_free(reader);
    return status;
}

static int heatmap_run(int argc, char **argv) {
    heatmap_arguments a = {0};
    sa_translate_options_init(&a.search);
    int n;
    int status = options_parse(&command_heatmap, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.model == NULL)
        return cli_usage_error(&command_heatmap, "which model? -m FILE is missing");
    if (a.columns == 0)
        a.columns = cli_columns(STDOUT_FILENO, 100);
    a.search.n_best = 1;
    a.search.attention = true;

    sa_error error;
    sa_model *model;
    if (sa_model_open(&model, a.model, &error) != SA_OK)
        return cli_library_error(&error);
    if (attention_choose(&a.attention, model, &error) != SA_OK) {
        sa_model_free(model);
        return cli_library_error(&error);
    }
    status = n == 0 ? draw_input(&a, model) : CLI_OK;
    for (int i = 0; i < n && status == CLI_OK; i++) {
        char place[32];
        snprintf(place, sizeof place, "sentence %d", i + 1);
        status = draw_sentence(&a, model, argv[i], place, i == 0);
    }
    sa_model_free(model);
    return status;
}

const command command_heatmap = {
    .name = "heatmap",
    .summary = "draw what a translation looked at",
    .synopsis = "-m MODEL [OPTION]... [SENTENCE]...",
    .about =
        "Translates sentences, given as arguments or as lines of standard input, and draws for each the weights of "
        "its attention: source symbols across, target symbols down, the darker the more that word was looked at. "
        "The translation and its score stand above the drawing.",
    .examples = "  softalign heatmap -m run/best.safetensors 'A man is asleep.'\n"
                "  softalign heatmap -m run/best.safetensors --columns 80 < in.en\n",
    .options = heatmap_options,
    .most_arguments = -1,
    .run = heatmap_run,
};
