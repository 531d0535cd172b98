#include "cli_input.h"
#include "gallery.h"
#include "matrix_reader.h"
#include "symbol_labels.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum colour_use { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour_use;
static const char *const colour_names[] = {
    [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never", NULL};

typedef enum mark_kind { MARK_NONE, MARK_LARGEST } mark_kind;
static const char *const mark_names[] = {[MARK_NONE] = "none", [MARK_LARGEST] = "largest", NULL};

static const char *const palette_names[] = {[SA_PALETTE_BLUES] = "blues",
                                            [SA_PALETTE_GREYS] = "greys",
                                            [SA_PALETTE_VIRIDIS] = "viridis",
                                            [SA_PALETTE_PAPER] = "paper",
                                            NULL};

typedef struct heatmap_arguments {
    sa_translate_options search;
    const char *model, *matrix;
    attention_choice attention;
    sa_model_options open;
    bool pairs;
    const char *output;
    sa_palette palette;
    bool numbers, subwords;
    mark_kind mark;
    const char *links;
    colour_use colour;
    int columns; /* 0: those of the terminal */
    bool strict, quiet;
} heatmap_arguments;

static const option heatmap_options[] = {
    OPT_SECTION("What is drawn"),
    OPT_STRING("model", 'm', "FILE", heatmap_arguments, model, "the model (required, unless --matrix is given)"),
    ATTENTION_OPTION(heatmap_arguments, attention),
    PRECISION_OPTION(heatmap_arguments, open),
    OPT_FLAG(
        "pairs", 0, heatmap_arguments, pairs,
        "draw given translations: arguments are SENTENCE TRANSLATION SENTENCE TRANSLATION ..., lines have a tab "
        "between the two"),
    OPT_STRING("matrix", 0, "FILE", heatmap_arguments, matrix,
               "draw, without a model, what is in a file of lines that translate --alignment --output-format jsonl "
               "wrote; - is standard input"),
    OPT_NUMBER("n-best", 0, "N", heatmap_arguments, search.n_best, AT_LEAST(1),
               "draw the N best translations of each sentence, N at most --beam-size"),
    OPT_SECTION("Drawing"),
    OPT_STRING(
        "output", 'o', "FILE", heatmap_arguments, output,
        "write a picture: .svg, .png or .pdf. Several are pages of a PDF; otherwise FILE gets -1, -2, ... before "
        "its ending. Without this, text goes to standard output"),
    OPT_ENUM("palette", 0, "NAME", heatmap_arguments, palette, palette_names,
             "colours from 0 to 1: white to blue, white to black, violet to yellow, or black to white"),
    OPT_FLAG("numbers", 0, heatmap_arguments, numbers, "write each weight, in hundredths, on its cell"),
    OPT_ENUM("mark", 0, "WHICH", heatmap_arguments, mark, mark_names,
             "frame hard links: the largest weight of each target word, where it is not that of </s>"),
    OPT_STRING(
        "links", 0, "FILE", heatmap_arguments, links,
        "frame the hard links of a file instead, i-j between words that count from 0, a line for each drawing"),
    OPT_FLAG("subwords", 0, heatmap_arguments, subwords,
             "draw the model's symbols, instead of joining pieces to words and naming words that it does not know"),
    OPT_ENUM("color", 0, "WHEN", heatmap_arguments, colour, colour_names,
             "of text: colours instead of blocks of grey; auto: on a terminal, unless NO_COLOR is set"),
    OPT_NUMBER("columns", 0, "N", heatmap_arguments, columns, AT_LEAST(0),
               "width of the text; 0: the terminal's, or 100 where there is none"),
    OPT_FLAG("strict", 0, heatmap_arguments, strict,
             "end with an error at bytes of the input that are not UTF-8, instead of replacing them"),
    OPT_FLAG("quiet", 'q', heatmap_arguments, quiet, "no warnings about long sentences and replaced bytes"),
    OPT_SECTION("Search"),
    SEARCH_OPTIONS(heatmap_arguments, search),
    OPT_END,
};

/* ---- with a model ------------------------------------------------------------------------------------ */

/* What the functions below work with. */
typedef struct job {
    const heatmap_arguments *a;
    sa_model *model;
    gallery *to;
} job;

/* A hypothesis of a sentence. target: its text. */
static int add_hypothesis(const job *j, const sa_translation *t, int k, const char *source, const char *target) {
    const sa_hypothesis *h = &t->hypothesis[k];
    const bool words = !j->a->subwords;
    char **row = symbol_labels(h->symbol, words ? h->word : NULL, h->length, target),
         **column = symbol_labels(t->source_symbol, words ? t->source_word : NULL, t->source_length, source);
    int status = CLI_FAILED;
    if (row == NULL || column == NULL)
        cli_message("%s", sa_status_text(SA_MEMORY));
    else
        status = gallery_add(j->to,
                             &(exhibit){.text = h->text,
                                        .score = h->score,
                                        .normalized = h->normalized,
                                        .row = row,
                                        .rows = h->length,
                                        .column = column,
                                        .columns = t->source_length,
                                        .weight = h->attention,
                                        .absent = t->pieces > 1 ? "too long to be drawn" : "empty: nothing to draw",
                                        .number = k + 1,
                                        .of = t->n});
    symbol_labels_free(row, h->length);
    symbol_labels_free(column, t->source_length);
    return status;
}

/* place: what a warning starts with. target: NULL, or the translation that was given. */
static int add_translation(const job *j, const char *place, const sa_translation *t, const char *source,
                           const char *target) {
    if (t->pieces == 1 && t->hypothesis[0].attention == NULL) {
        cli_message("%s has no attention to draw: its decoder sees one vector of the whole sentence", j->a->model);
        return CLI_FAILED;
    }
    if (t->too_long && !j->a->quiet)
        cli_message("%s: a sentence longer than %d symbols; translated in %d pieces (--max-length)", place,
                    j->a->search.max_length, t->pieces);
    int status = CLI_OK;
    for (int k = 0; k < t->n && status == CLI_OK; k++)
        status = add_hypothesis(j, t, k, source, target != NULL ? target : t->hypothesis[k].text);
    return status;
}

/* target: NULL, or the translation to draw. */
static int add_sentence(const job *j, const char *source, const char *target, const char *place) {
    sa_error error;
    sa_translation *translation;
    const sa_model *model = j->model;
    sa_status status = target == NULL
                           ? sa_translate(model, &source, 1, &j->a->search, &translation, &error)
                           : sa_score_pairs(&model, 1, &source, &target, 1, &j->a->search, &translation, &error);
    if (status != SA_OK)
        return cli_library_error(&error);
    int result = add_translation(j, place, translation, source, target);
    sa_translations_free(translation, 1);
    return result;
}

static int add_line(const job *j, char *line, const char *place) {
    if (j->a->matrix != NULL)
        return matrix_add(j->to, line, place, j->a->search.n_best);
    if (!j->a->pairs)
        return add_sentence(j, line, NULL, place);
    char *tab = strchr(line, '\t');
    if (tab == NULL && line[strspn(line, " ")] != '\0') {
        cli_message("%s: no tab between a sentence and its translation (--pairs)", place);
        return CLI_FAILED;
    }
    if (tab != NULL)
        *tab = '\0';
    return add_sentence(j, line, tab != NULL ? tab + 1 : "", place);
}

/* ---- input ------------------------------------------------------------------------------------------- */

static int add_input(const job *j) {
    const char *path = j->a->matrix != NULL ? j->a->matrix : "-";
    warnings w = {.quiet = j->a->quiet};
    if (!w.quiet)
        status_line_begin(&w.line);
    text_input input;
    sa_error error;
    if (text_open(&input, path, j->a->strict, &error) != SA_OK)
        return cli_library_error(&error);
    int status = CLI_OK;
    while (status == CLI_OK) {
        char *line, place[256];
        if (text_next(&input, &w, &line, &error) != SA_OK) {
            status = cli_library_error(&error);
            break;
        }
        if (line == NULL)
            break;
        snprintf(place, sizeof place, "%.200s:%zu", input.name, sa_reader_line(input.reader));
        status = add_line(j, line, place);
        free(line);
    }
    text_close(&input);
    warnings_end(&w, "heatmap");
    return status;
}

static int add_arguments(const job *j, char **argument, int n) {
    int status = CLI_OK, each = j->a->pairs ? 2 : 1;
    for (int i = 0; i < n && status == CLI_OK; i += each) {
        char place[32];
        snprintf(place, sizeof place, "sentence %d", i / each + 1);
        status = add_sentence(j, argument[i], j->a->pairs ? argument[i + 1] : NULL, place);
    }
    return status;
}

/* ---- arguments --------------------------------------------------------------------------------------- */

static int check_arguments(const heatmap_arguments *a, int n) {
    const command *c = &command_heatmap;
    if (a->model == NULL && a->matrix == NULL)
        return cli_usage_error(c, "which model? -m FILE is missing");
    if (a->model != NULL && a->matrix != NULL)
        return cli_usage_error(c, "give --model or --matrix, not both");
    if (a->matrix != NULL && (n > 0 || a->pairs))
        return cli_usage_error(c, "--matrix has the translations: neither sentences nor --pairs go with it");
    if (a->links != NULL && (a->mark != MARK_NONE || a->subwords))
        return cli_usage_error(c, "--links marks words: with neither --mark nor --subwords");
    if (a->pairs && n % 2 == 1)
        return cli_usage_error(c, "--pairs: the translation of the last sentence is missing");
    if (a->pairs && a->search.n_best > 1)
        return cli_usage_error(c, "--n-best asks for translations, which --pairs gives");
    if (a->matrix == NULL && a->search.n_best > a->search.beam_size)
        return cli_usage_error(c, "--n-best %d is more than --beam-size %d", a->search.n_best, a->search.beam_size);
    return CLI_GO_ON;
}

static bool wants_colours(colour_use use) {
    const char *terminal = getenv("TERM"), *refused = getenv("NO_COLOR");
    if (use != COLOUR_AUTO)
        return use == COLOUR_ALWAYS;
    return isatty(STDOUT_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0 &&
           (refused == NULL || refused[0] == '\0');
}

static int heatmap_run(int argc, char **argv) {
    heatmap_arguments a = {0};
    sa_model_options_init(&a.open);
    sa_translate_options_init(&a.search);
    a.search.n_best = 1;
    int n;
    int status = options_parse(&command_heatmap, &a, argc, argv, &n);
    if (status == CLI_GO_ON)
        status = check_arguments(&a, n);
    if (status != CLI_GO_ON)
        return status;
    a.search.attention = true;
    gallery to = {.path = a.output,
                  .options = {.palette = a.palette,
                              .numbers = a.numbers,
                              .colours = wants_colours(a.colour),
                              .width = a.columns > 0 ? a.columns : cli_columns(STDOUT_FILENO, 100)},
                  .subwords = a.subwords,
                  .links_name = a.links,
                  .mark_largest = a.mark == MARK_LARGEST};
    job j = {.a = &a, .to = &to};
    sa_error error;
    if ((a.links != NULL && sa_reader_open(&to.links, a.links, a.strict, &error) != SA_OK) ||
        (a.model != NULL && sa_model_open_with(&j.model, a.model, &a.open, &error) != SA_OK) ||
        (j.model != NULL && attention_choose(&a.attention, j.model, &error) != SA_OK))
        status = cli_library_error(&error);
    else
        status = gallery_close(&to, n == 0 ? add_input(&j) : add_arguments(&j, argv, n));
    sa_model_free(j.model);
    sa_reader_free(to.links);
    return status;
}

const command command_heatmap = {
    .name = "heatmap",
    .summary = "draw what a translation looked at",
    .synopsis = "-m MODEL [OPTION]... [SENTENCE]...",
    .about =
        "Translates sentences, given as arguments or as lines of standard input, and draws for each the weights of "
        "its attention: source words across, target words down, the darker the more that word was looked at. Text "
        "has the translation and its score above the drawing; -o makes a figure for a paper.\n"
        "Words that the model reads in pieces are put together: a source word gets the sum of the weights of its "
        "pieces, a target word the mean.",
    .examples = "  softalign heatmap -m run/best.safetensors 'A man is asleep.'\n"
                "  softalign heatmap -m run/best.safetensors --mark largest -o figure.pdf < in.en\n"
                "  softalign heatmap -m run/best.safetensors --pairs -o figure.svg 'A man.' 'Un homme.'\n"
                "  softalign heatmap --matrix out.jsonl --numbers -o figure.png\n",
    .options = heatmap_options,
    .most_arguments = -1,
    .run = heatmap_run,
};
