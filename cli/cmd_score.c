#include "pair_input.h"

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

typedef struct scorer {
    const score_arguments *a;
    model_list models;
    pair_input pairs;
    double symbols; /* of targets so far */
    warnings warnings;
} scorer;

/* What sa_score_pairs is called with. n pairs of the window. */
static sa_status score_pairs(scorer *s, size_t n, sa_translation **out, sa_error *error) {
    return sa_score_pairs((const sa_model *const *)s->models.model, s->models.n, (const char *const *)s->pairs.from,
                          (const char *const *)s->pairs.to, n, &s->a->search, out, error);
}

static int score_window(scorer *s) {
    sa_error error;
    sa_translation *scored;
    pair_input *in = &s->pairs;
    if (score_pairs(s, in->n, &scored, &error) != SA_OK)
        return cli_library_error(&error);
    for (size_t i = 0; i < in->n; i++) {
        const sa_hypothesis *h = &scored[i].hypothesis[0];
        if (scored[i].too_long && warnings_show(&s->warnings))
            cli_message("%s:%zu: a side longer than %d symbols; the rest was left out (--max-length)",
                        in->source.name, in->done + i + 1, s->a->search.max_length);
        printf("%.6f\t%.6f", h->score, h->normalized);
        if (s->a->search.word_scores)
            write_word_scores(stdout, h, false);
        putchar('\n');
        s->symbols += h->length;
    }
    sa_translations_free(scored, in->n);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_write_error("standard output");
    status_line_count(&s->warnings.line, in->source.reader, in->done + in->n, s->symbols);
    return CLI_OK;
}

static int score_all(scorer *s) {
    sa_error error;
    bool end = false;
    while (!end) {
        sa_status read = pair_input_read(&s->pairs, &end, &error);
        int status = s->pairs.n > 0 ? score_window(s) : CLI_OK;
        pair_input_forget(&s->pairs);
        if (status != CLI_OK)
            return status;
        if (read != SA_OK)
            return cli_library_error(&error);
    }
    warnings_end(&s->warnings, s->pairs.source.name);
    return CLI_OK;
}

static int run_scorer(scorer *s) {
    const score_arguments *a = s->a;
    sa_error error;
    sa_status status = models_open(&s->models, &error);
    if (status == SA_OK)
        status =
            pair_input_open(&s->pairs, a->source, a->target, a->strict, a->search.mini_batch, &s->warnings, &error);
    if (status != SA_OK)
        return cli_library_error(&error);
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
    status = pair_input_arguments(&command_score, n, argv, a.tsv, &a.source, &a.target);
    if (status != CLI_GO_ON)
        return status;
    scorer s = {.a = &a, .models = a.models, .warnings = {.quiet = a.quiet}};
    status = run_scorer(&s);
    pair_input_close(&s.pairs);
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
