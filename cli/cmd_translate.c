#include "cli_input.h"
#include "translation_writer.h"

#include <stdlib.h>
#include <string.h>

typedef struct translate_arguments {
    sa_translate_options search;
    model_list models;
    const char *input, *output, *prefix, *dictionary, *shortlist_file;
    input_format input_format;
    output_format output_format;
    int column;
    int n_best; /* 0: only the best */
    sa_alignment_options links;
    bool protect, no_protect, scores, strict, quiet;
} translate_arguments;

static const option translate_options[] = {
    OPT_SECTION("Models and files"),
    MODELS_OPTION(translate_arguments, models),
    OPT_STRING("input", 'i', "FILE", translate_arguments, input,
               "text to translate, one sentence a line, plain or gzip; - is standard input"),
    OPT_ENUM(
        "input-format", 0, "NAME", translate_arguments, input_format, input_format_names,
        "what a line is: the text; fields with tabs between, one of them the text (--column); or a JSON object "
        "whose member \"text\" is the text"),
    OPT_NUMBER("column", 0, "N", translate_arguments, column, AT_LEAST(1), "the field of tsv with the text"),
    OPT_STRING("output", 'o', "FILE", translate_arguments, output, "where translations go; - is standard output"),
    OPT_STRING("prefix", 0, "FILE", translate_arguments, prefix,
               "line i is what translation i must begin with. With subwords its last word may be a part of one, "
               "unless a blank follows; an empty line forces nothing"),
    OPT_FLAG(
        "strict", 0, translate_arguments, strict,
        "end with an error at bytes that are not UTF-8, instead of replacing them, and at lines that are not of "
        "the input format, instead of answering them with an empty line or an error object"),
    OPT_FLAG("quiet", 'q', translate_arguments, quiet,
             "no progress, and no warnings about long lines, added items and replaced bytes"),
    OPT_SECTION("Text"),
    OPT_FLAG("split-sentences", 0, translate_arguments, search.split_sentences,
             "lines are paragraphs: translate each of their sentences by itself, and join the translations"),
    OPT_FLAG(
        "protect", 0, translate_arguments, protect,
        "insist on a model that was trained with --protect, and so copies numbers, addresses, placeholders, tags "
        "and emoji from the source; such a model does it anyway"),
    OPT_FLAG("no-protect", 0, translate_arguments, no_protect, "let it translate them like other text"),
    OPT_SECTION("Search"),
    SEARCH_OPTIONS(translate_arguments, search),
    OPT_STRING("shortlist", 0, "FILE", translate_arguments, shortlist_file,
               "score only words that this file has for the words of the sentence (softalign shortlist)"),
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
    OPT_ENUM("output-format", 0, "NAME", translate_arguments, output_format, output_format_names,
             "text: translations; tsv: the input's fields, translation, score, normalized score; jsonl: objects; "
             "n-best: rows of 'line ||| text ||| F0= score ||| normalized score', lines counted from 0, a ||| in a "
             "text written &#124;&#124;&#124;; auto: like the input, or n-best for text with --n-best"),
    OPT_NUMBER(
        "n-best", 0, "N", translate_arguments, n_best, BETWEEN(0, 1000),
        "write the N best of each line, N at most the beam size, in rows of n-best or a list of jsonl; 0: only "
        "the best"),
    OPT_FLAG("scores", 0, translate_arguments, scores,
             "with text: put the normalized score and a tab before each translation"),
    OPT_FLAG(
        "word-scores", 0, translate_arguments, search.word_scores,
        "put a tab (in rows of n-best: |||) and 'symbol:score' of each symbol behind each translation, or lists of "
        "them into jsonl"),
    OPT_FLAG(
        "alignment", 0, translate_arguments, search.attention,
        "write links of words, i-j with blanks between, from 0, source first, in a field of their own: behind the "
        "text, in tsv behind the scores, in jsonl as \"links\"; jsonl also has the attention, a row for each "
        "target symbol, a number for each source symbol"),
    ALIGNMENT_OPTIONS(translate_arguments, links),
    OPT_FLAG("symbols", 0, translate_arguments, search.symbols,
             "write the symbols of the model with blanks between instead of text; 'score --symbols' reads them"),
    OPT_END,
};

typedef struct translator {
    const translate_arguments *a;
    model_list models;
    sa_dictionary *dictionary;
    sa_shortlist *shortlist;
    text_input input, prefix; /* prefix.reader NULL: none */
    translation_writer writer;
    const char *output_name;
    size_t capacity; /* lines of a window */
    size_t bytes;    /* of text in the window */
    record *record;
    const char **text; /* of each record, "" for a broken one */
    char **start;
    size_t n, done; /* lines in the window, and before it */
    size_t broken;  /* lines so far */
    double symbols; /* of translations so far */
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

/* A broken line is told, and with --strict the end. */
static sa_status note_broken(translator *t, const record *r, sa_error *error) {
    size_t line = sa_reader_line(t->input.reader);
    t->broken++;
    if (t->a->strict) {
        snprintf(error->text, sizeof error->text, "%s:%zu: %s", t->input.name, line, r->problem);
        return error->status = SA_DATA;
    }
    if (warnings_show(&t->warnings))
        cli_message("%s:%zu: %s; --strict ends at such a line", t->input.name, line, r->problem);
    return SA_OK;
}

/* The next line of the window; *end when there is none. */
static sa_status read_record(translator *t, bool *end, sa_error *error) {
    char *line, *start = NULL;
    record *r = &t->record[t->n];
    sa_status status = text_next(&t->input, &t->warnings, &line, error);
    *end = line == NULL;
    if (*end)
        return status;
    t->bytes += strlen(line);
    status = record_make(r, t->a->input_format, t->a->column, line, error);
    if (status == SA_OK && r->text == NULL)
        status = note_broken(t, r, error);
    if (status == SA_OK && t->prefix.reader != NULL)
        status = read_prefix(t, &start, error);
    if (status != SA_OK) {
        record_free(r);
        return status;
    }
    t->text[t->n] = r->text != NULL ? r->text : "";
    t->start[t->n++] = start;
    return SA_OK;
}

/* Fills the window: waits for the first line, then takes what can be had without waiting. *end: no more lines. */
static sa_status read_window(translator *t, bool *end, sa_error *error) {
    sa_status status;
    t->n = t->bytes = 0;
    do
        status = read_record(t, end, error);
    while (status == SA_OK && !*end && t->n < t->capacity && t->bytes < WINDOW_BYTES &&
           sa_reader_ready(t->input.reader));
    *end = *end || status != SA_OK;
    return status;
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

/* What sa_translate_ensemble is called with. n lines of the window. */
static sa_status translate_lines(translator *t, size_t n, sa_translation **out, sa_error *error) {
    sa_translate_options search = t->a->search;
    search.dictionary = t->dictionary;
    search.shortlist = t->shortlist;
    search.prefix = (const char *const *)t->start;
    search.first_line = t->done;
    return sa_translate_ensemble((const sa_model *const *)t->models.model, t->models.n, t->text, n, &search, out,
                                 error);
}

/* What a user should know of a line's translation. */
static void warn(translator *t, const sa_translation *translation, size_t line) {
    if (translation->too_long && warnings_show(&t->warnings))
        cli_message(
            "%s:%zu: a sentence longer than %d symbols; the line was translated in %d pieces (--max-length)",
            t->input.name, line + 1, t->a->search.max_length, translation->pieces);
    int added = translation->hypothesis[0].items_added;
    if (added > 0 && warnings_show(&t->warnings))
        cli_message("%s:%zu: %d protected item%s missing in the translation and put where it looked at %s",
                    t->input.name, line + 1, added, added == 1 ? " was" : "s were", added == 1 ? "it" : "them");
}

/* The links of each hypothesis as text; none where a line is too long for attention. */
static sa_status make_links(const translator *t, const char *source, const sa_translation *translation,
                            char **links, sa_error *error) {
    sa_status status = SA_OK;
    for (int k = 0; k < translation->n && status == SA_OK; k++) {
        sa_alignment made = {0};
        if (translation->hypothesis[k].length == 0 || translation->hypothesis[k].attention != NULL)
            status = sa_alignment_make(&made, translation, k, source, &t->a->links, error);
        if (status == SA_OK)
            status = sa_links_format(&made.links, false, false, &links[k], error);
        sa_alignment_free(&made);
    }
    return status;
}

/* Writes the translation of record i of the window. */
static sa_status write_record(translator *t, size_t i, const sa_translation *translation, sa_error *error) {
    const record *r = &t->record[i];
    bool linked = t->a->search.attention && r->text != NULL;
    t->writer.links = linked ? calloc((size_t)translation->n, sizeof *t->writer.links) : NULL;
    sa_status status = SA_OK;
    if (linked && t->writer.links == NULL) {
        status = error->status = SA_MEMORY;
        snprintf(error->text, sizeof error->text, "%s", sa_status_text(SA_MEMORY));
    } else if (linked) {
        status = make_links(t, r->text, translation, t->writer.links, error);
    }
    if (status == SA_OK)
        write_translation(&t->writer, r, r->text != NULL ? translation : NULL, t->done + i);
    for (int k = 0; t->writer.links != NULL && k < translation->n; k++)
        free(t->writer.links[k]);
    free(t->writer.links);
    t->writer.links = NULL;
    return status;
}

/* Translates the window and writes it. Returns CLI_OK or the exit status. */
static int translate_window(translator *t) {
    sa_error error;
    sa_translation *translation;
    if (translate_lines(t, t->n, &translation, &error) != SA_OK)
        return cli_library_error(&error);
    sa_status status = SA_OK;
    for (size_t i = 0; i < t->n && status == SA_OK; i++) {
        warn(t, &translation[i], t->done + i);
        status = write_record(t, i, &translation[i], &error);
        t->symbols += translation[i].hypothesis[0].length;
    }
    sa_translations_free(translation, t->n);
    if (status != SA_OK)
        return cli_library_error(&error);
    t->done += t->n;
    if (fflush(t->writer.file) != 0 || ferror(t->writer.file))
        return cli_write_error(t->output_name);
    status_line_count(&t->warnings.line, t->input.reader, t->done, t->symbols);
    return CLI_OK;
}

static void forget_window(translator *t) {
    for (size_t i = 0; i < t->n; i++) {
        record_free(&t->record[i]);
        free(t->start[i]);
    }
    t->n = 0;
}

static int translate_all(translator *t) {
    sa_error error;
    bool end = false;
    while (!end) {
        sa_status read = read_window(t, &end, &error);
        int status = t->n > 0 ? translate_window(t) : CLI_OK;
        forget_window(t);
        if (status != CLI_OK)
            return status;
        /* The lines before a broken one have been written. */
        if (read != SA_OK)
            return cli_library_error(&error);
    }
    int status = check_prefix_ends(t);
    warnings_end(&t->warnings, t->input.name);
    if (t->broken > 0) {
        cli_message("%s: %zu of %zu lines could not be read and have no translation", t->input.name, t->broken,
                    t->done);
        status = CLI_FAILED;
    }
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
    t->models.options.threads = a->search.threads;
    sa_status status = models_open(&t->models, error);
    if (status == SA_OK && a->dictionary != NULL)
        status = sa_dictionary_open(&t->dictionary, a->dictionary, a->strict, error);
    if (status == SA_OK && a->shortlist_file != NULL)
        status = sa_shortlist_open(&t->shortlist, a->shortlist_file, t->models.model[0], error);
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
    t->writer.file = fopen(t->a->output, "w");
    return t->writer.file != NULL ? CLI_OK : cli_write_error(t->output_name);
}

static int run_translator(translator *t) {
    sa_error error;
    if (open_inputs(t, &error) != SA_OK)
        return cli_library_error(&error);
    t->capacity = window_lines(t->a);
    t->record = malloc(t->capacity * sizeof *t->record);
    t->text = malloc(t->capacity * sizeof *t->text);
    t->start = malloc(t->capacity * sizeof *t->start);
    if (t->record == NULL || t->text == NULL || t->start == NULL) {
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
    if (t->writer.file == NULL)
        return status;
    if (!t->a->quiet)
        status_line_begin(&t->warnings.line);
    status = translate_all(t);
    status_line_clear(&t->warnings.line);
    /* After a failure the output is left as it is: what was written stays, and one message is enough. */
    if (status == CLI_OK)
        return cli_close_output(t->writer.file, t->output_name);
    if (t->writer.file != stdout)
        fclose(t->writer.file);
    return status;
}

static int translate_files(const translate_arguments *a) {
    translator t = {.a = a,
                    .models = a->models,
                    .writer = {.format = a->output_format,
                               .file = stdout,
                               .scores = a->scores,
                               .word_scores = a->search.word_scores,
                               .alignment = a->search.attention,
                               .hypotheses = a->n_best > 0},
                    .output_name = "standard output",
                    .warnings = {.quiet = a->quiet}};
    int status = run_translator(&t);
    free(t.record);
    free(t.text);
    free(t.start);
    text_close(&t.input);
    text_close(&t.prefix);
    sa_dictionary_free(t.dictionary);
    sa_shortlist_free(t.shortlist);
    models_close(&t.models);
    return status;
}

static int check_files(const translate_arguments *a) {
    if (a->models.n == 0)
        return cli_usage_error(&command_translate, "which model? -m FILE is missing");
    const struct {
        const char *option, *path;
    } input[] = {{"input", a->input},
                 {"prefix", a->prefix},
                 {"dictionary", a->dictionary},
                 {"shortlist", a->shortlist_file}};
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

/* Options that go together or do not. */
static int check_options(translate_arguments *a) {
    const sa_translate_options *s = &a->search;
    static const output_format like_input[] = {
        [INPUT_TEXT] = OUTPUT_TEXT, [INPUT_TSV] = OUTPUT_TSV, [INPUT_JSONL] = OUTPUT_JSONL};
    if (a->output_format == OUTPUT_AUTO)
        a->output_format =
            a->n_best > 0 && a->input_format == INPUT_TEXT ? OUTPUT_N_BEST : like_input[a->input_format];
    const output_format format = a->output_format;
    sa_translate_options usual;
    sa_translate_options_init(&usual);
    bool sampling = s->temperature != usual.temperature || s->top_k != usual.top_k || s->seed != usual.seed;
    const struct {
        bool wrong;
        const char *message;
    } check[] = {
        {a->scores && format == OUTPUT_N_BEST, "--scores adds nothing to --n-best, whose rows have the scores"},
        {a->scores && format != OUTPUT_TEXT, "--scores goes with text; other formats have the scores"},
        {a->n_best > 0 && (format == OUTPUT_TEXT || format == OUTPUT_TSV),
         "text and tsv have one translation a line; --n-best goes with jsonl and n-best"},
        {!s->attention && (a->links.shift || a->links.subwords || a->links.threshold > 0),
         "--align-shift, --align-subwords and --align-threshold go with --alignment"},
        {a->dictionary != NULL && !s->replace_unk, "--dictionary goes with --replace-unk"},
        {s->symbols && s->replace_unk, "--replace-unk changes text; --symbols writes none"},
        {!s->sample && sampling, "--temperature, --top-k and --seed go with --sample"},
        {a->protect && a->no_protect, "--protect and --no-protect exclude each other"},
        {a->column > 1 && a->input_format != INPUT_TSV, "--column goes with --input-format tsv"},
    };
    if (a->n_best > s->beam_size && !s->sample)
        return cli_usage_error(&command_translate, "--n-best %d is more than the %d hypotheses of --beam-size",
                               a->n_best, s->beam_size);
    for (size_t i = 0; i < sizeof check / sizeof *check; i++)
        if (check[i].wrong)
            return cli_usage_error(&command_translate, "%s", check[i].message);
    return CLI_GO_ON;
}

static int translate_run(int argc, char **argv) {
    translate_arguments a = {.models.options.precision = SA_AS_STORED, .input = "-", .output = "-", .column = 1};
    sa_translate_options_init(&a.search);
    int n;
    int status = options_parse(&command_translate, &a, argc, argv, &n);
    if (status == CLI_GO_ON)
        status = check_files(&a);
    if (status == CLI_GO_ON)
        status = check_options(&a);
    if (status != CLI_GO_ON)
        return status;
    a.search.n_best = a.n_best > 0 ? a.n_best : 1;
    a.search.protect = a.protect ? SA_PROTECT_ON : a.no_protect ? SA_PROTECT_OFF : SA_PROTECT_AUTO;
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
        "With --input-format jsonl, members of an object other than \"text\" are kept. A line that is not as the "
        "format says is answered by {\"line\": N, \"error\": ...} in jsonl, an empty translation elsewhere, and "
        "the "
        "exit status is 1 at the end.\n"
        "A sentence of more than --max-length symbols is cut at the ends of clauses, else at blanks, and "
        "translated in "
        "pieces, with a warning.\n"
        "Scores are natural logarithms of probabilities, at most 0, higher is better. The score is the sum over "
        "the symbols of a translation, its end mark included; the normalized score is what translations are "
        "compared by: the sum divided by length^A with the A of --normalize, the end mark counted in the length, "
        "or with GNMT's penalties. 'softalign score' gives the same numbers for a given translation.",
    .examples = "  softalign translate -m run/best.safetensors < in.en > out.fr\n"
                "  echo 'A man is asleep.' | softalign translate -m run/best.safetensors --beam-size 5 --n-best 5\n"
                "  softalign translate -m a.safetensors -m b.safetensors --replace-unk < in.en > out.fr\n"
                "  softalign translate -m run/best.safetensors --sample --n-best 3 --top-k 10 < in.en\n"
                "  softalign translate -m run/best.safetensors --input-format jsonl --alignment < in.jsonl\n"
                "  softalign translate -m run/best.safetensors --split-sentences < paragraphs.en\n",
    .options = translate_options,
    .run = translate_run,
};
