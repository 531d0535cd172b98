#include "cli_input.h"
#include <stdlib.h>
#include <string.h>

typedef struct sheet_arguments {
    sa_translate_options search;
    const char *model, *output, *references;
    int columns;
    bool strict;
} sheet_arguments;

static const option sheet_options[] = {
    OPT_SECTION("Model and drawing"),
    OPT_STRING("model", 'm', "FILE", sheet_arguments, model, "the model (required)"),
    OPT_STRING("output", 'o', "FILE", sheet_arguments, output,
               "the sheet (required); its ending says what it becomes: .svg, .png or .pdf"),
    OPT_STRING("references", 0, "FILE", sheet_arguments, references,
               "what people say of the pictures, one line each, which is put under the captions"),
    OPT_NUMBER("columns", 0, "N", sheet_arguments, columns, BETWEEN(1, 100), "pictures side by side"),
    OPT_FLAG("strict", 0, sheet_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_SECTION("Search"),
    SEARCH_OPTIONS(sheet_arguments, search),
    OPT_END,
};

/* Lines of a file, or arguments. */
typedef struct lines {
    char **text;
    size_t n, capacity;
} lines;

static void lines_free(lines *l) {
    for (size_t i = 0; i < l->n; i++)
        free(l->text[i]);
    free(l->text);
}

/* Takes the text, whatever comes of it; NULL was no memory. */
static bool lines_add(lines *l, char *text) {
    if (l->n == l->capacity) {
        size_t capacity = l->capacity > 0 ? 2 * l->capacity : 64;
        char **grown = realloc(l->text, capacity * sizeof *grown);
        if (grown != NULL) {
            l->text = grown;
            l->capacity = capacity;
        }
    }
    if (text == NULL || l->n == l->capacity) {
        free(text);
        return false;
    }
    l->text[l->n++] = text;
    return true;
}

static int fail_memory(void) {
    cli_message("%s", sa_status_text(SA_MEMORY));
    return CLI_FAILED;
}

static int read_lines(lines *out, const char *path, bool strict) {
    text_input input;
    warnings w = {.quiet = true};
    sa_error error;
    if (text_open(&input, path, strict, &error) != SA_OK)
        return cli_library_error(&error);
    int status = CLI_OK;
    for (char *line = ""; line != NULL && status == CLI_OK;) {
        if (text_next(&input, &w, &line, &error) != SA_OK)
            status = cli_library_error(&error);
        else if (line != NULL && !lines_add(out, line))
            status = fail_memory();
    }
    text_close(&input);
    return status;
}

static int draw_sheet(const sheet_arguments *a, const sa_model *model, const lines *pictures,
                      const lines *references) {
    sa_error error;
    sa_translation *captions;
    const char *const *paths = (const char *const *)pictures->text;
    if (sa_translate(model, paths, pictures->n, &a->search, &captions, &error) != SA_OK)
        return cli_library_error(&error);
    const sa_caption_sheet sheet = {.pictures = paths,
                                    .captions = captions,
                                    .references = (const char *const *)references->text,
                                    .n = pictures->n,
                                    .columns = a->columns};
    sa_status status = sa_caption_sheet_write(&sheet, a->output, &error);
    sa_translations_free(captions, pictures->n);
    return status == SA_OK ? CLI_OK : cli_library_error(&error);
}

static int caption_lines(const sheet_arguments *a, const lines *pictures, const lines *references) {
    sa_error error;
    sa_model *model;
    if (a->references != NULL && references->n != pictures->n) {
        cli_message("%s has %zu lines for %zu pictures", a->references, references->n, pictures->n);
        return CLI_FAILED;
    }
    if (sa_model_open(&model, a->model, &error) != SA_OK)
        return cli_library_error(&error);
    int status;
    if (sa_model_vocab_type(model, SA_SOURCE) == SA_VOCAB_PICTURE) {
        status = draw_sheet(a, model, pictures, references);
    } else {
        cli_message("%s reads text, not pictures: 'softalign heatmap' draws what it looked at", a->model);
        status = CLI_FAILED;
    }
    sa_model_free(model);
    return status;
}

static int sheet_run(int argc, char **argv) {
    sheet_arguments a = {.columns = 2};
    sa_translate_options_init(&a.search);
    int n;
    int status = options_parse(&command_sheet, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.model == NULL)
        return cli_usage_error(&command_sheet, "which model? -m FILE is missing");
    if (a.output == NULL)
        return cli_usage_error(&command_sheet, "where to? -o FILE is missing");
    a.search.n_best = 1;
    a.search.attention = true;
    lines pictures = {0}, references = {0};
    status = CLI_OK;
    for (int i = 0; i < n && status == CLI_OK; i++)
        status = lines_add(&pictures, strdup(argv[i])) ? CLI_OK : fail_memory();
    if (n == 0)
        status = read_lines(&pictures, "-", a.strict);
    if (status == CLI_OK && a.references != NULL)
        status = read_lines(&references, a.references, a.strict);
    if (status == CLI_OK)
        status = caption_lines(&a, &pictures, &references);
    lines_free(&pictures);
    lines_free(&references);
    return status;
}

const command command_sheet = {
    .name = "sheet",
    .summary = "draw pictures with captions and what each word looked at",
    .synopsis = "-m MODEL -o FILE [OPTION]... [PICTURE]...",
    .about =
        "Describes pictures, given as arguments or as lines of standard input, with a model that was trained to, "
        "and "
        "draws one sheet of them: each picture with its caption, and once more for every word, light where that "
        "word looked. Pictures are PNG or JPEG files.",
    .examples =
        "  softalign sheet -m run/best.safetensors -o sheet.png bird.png car.jpeg\n"
        "  softalign sheet -m run/best.safetensors -o sheet.pdf --references test.captions < test.pictures\n",
    .options = sheet_options,
    .most_arguments = -1,
    .run = sheet_run,
};
