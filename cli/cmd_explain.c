#include "explain_writer.h"
#include "pair_input.h"

#include <errno.h>
#include <string.h>

typedef struct explain_arguments {
    sa_explain_options options;
    const char *model, *tsv, *records;
    model_list others;
    const char *source, *target; /* target NULL: TSV in source */
    bool json, strict, quiet;
} explain_arguments;

static const option explain_options[] = {
    OPT_SECTION("Models and files"),
    OPT_STRING("model", 'm', "FILE", explain_arguments, model, "the model (required)"),
    OPT_CUSTOM(
        "compare", 0, "FILE", explain_arguments, others, parse_model_path, show_nothing,
        "another model of the same vocabularies, to measure how far its attention and its probabilities are from "
        "the model's; can be given again"),
    OPT_STRING("tsv", 0, "FILE", explain_arguments, tsv,
               "pairs in one file, source, tab, target on each line, instead of two files"),
    OPT_STRING("records", 0, "FILE", explain_arguments, records,
               "write an object of JSON for each pair, a line each; - is standard output, in place of the summary"),
    OPT_FLAG("json", 0, explain_arguments, json, "write the summary as an object of JSON, with all digits"),
    OPT_FLAG(
        "symbols", 0, explain_arguments, options.symbols,
        "targets are symbols with blanks between, as 'translate --symbols' writes them, and not text, which may "
        "be cut into others"),
    OPT_FLAG("strict", 0, explain_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_FLAG("quiet", 'q', explain_arguments, quiet, "no progress, and no warnings about replaced bytes"),
    OPT_SECTION("Tests"),
    OPT_NUMBER("permutations", 0, "N", explain_arguments, options.permutations, BETWEEN(0, 100000),
               "random orders of the weights of each symbol; 0: none"),
    OPT_NUMBER(
        "adversaries", 0, "N", explain_arguments, options.adversaries, BETWEEN(0, 256),
        "other weights with about the same outcome, sought together for each symbol; 5 is usual and takes long; "
        "0: none"),
    OPT_NUMBER("adversary-steps", 0, "N", explain_arguments, options.adversary_steps, BETWEEN(0, 1000000),
               "steps of the search for them"),
    OPT_NUMBER("epsilon", 0, "X", explain_arguments, options.epsilon, BETWEEN(0, 1),
               "how far, in total variation distance, adversaries may move the probabilities"),
    OPT_NUMBER("seed", 0, "N", explain_arguments, options.seed, ANY, "start of all random numbers"),
    OPT_NUMBER("max-length", 0, "N", explain_arguments, options.max_length, BETWEEN(1, 1000000),
               "symbols, either side; longer pairs are left out, and counted"),
    OPT_NUMBER("threads", 0, "N", explain_arguments, options.threads, BETWEEN(0, 1000000),
               "threads that work; 0: one for each core; the result does not depend on it"),
    OPT_END,
};

enum { PAIRS_TOGETHER = 4 }; /* of which a window has a number */

typedef struct explainer {
    const explain_arguments *a;
    sa_model *model;
    model_list others;
    pair_input pairs;
    double symbols; /* of targets so far */
    FILE *records;  /* NULL: none wanted */
    sa_explain_summary summary;
    warnings warnings;
} explainer;

static sa_status explain(explainer *e, size_t n, sa_explanation **out, sa_error *error) {
    sa_explain_options o = e->a->options;
    o.first_line = e->pairs.done;
    return sa_explain(e->model, (const sa_model *const *)e->others.model, e->others.n,
                      (const char *const *)e->pairs.from, (const char *const *)e->pairs.to, n, &o, out, error);
}

static int no_memory(void) {
    cli_message("%s", sa_status_text(SA_MEMORY));
    return CLI_FAILED;
}

static const char *records_name(const explainer *e) {
    return e->records == stdout ? "standard output" : e->a->records;
}

static int explain_window(explainer *e) {
    sa_error error;
    sa_explanation *x;
    const pair_input *in = &e->pairs;
    if (explain(e, in->n, &x, &error) != SA_OK)
        return cli_library_error(&error);
    bool ok = true;
    for (size_t i = 0; i < in->n; i++) {
        sa_explain_summary_add(&e->summary, &x[i]);
        e->symbols += x[i].target_length;
        if (e->records != NULL)
            ok = explain_write_record(e->records, &x[i], in->done + i + 1, e->a->options.max_length) && ok;
    }
    sa_explanations_free(x, in->n);
    if (!ok)
        return no_memory();
    if (e->records != NULL && (fflush(e->records) != 0 || ferror(e->records)))
        return cli_write_error(records_name(e));
    status_line_count(&e->warnings.line, in->source.reader, in->done + in->n, e->symbols);
    return CLI_OK;
}

static int explain_all(explainer *e) {
    sa_error error;
    bool end = false;
    while (!end) {
        sa_status read = pair_input_read(&e->pairs, &end, &error);
        int status = e->pairs.n > 0 ? explain_window(e) : CLI_OK;
        pair_input_forget(&e->pairs);
        if (status != CLI_OK)
            return status;
        if (read != SA_OK)
            return cli_library_error(&error);
    }
    warnings_end(&e->warnings, e->pairs.source.name);
    return CLI_OK;
}

static int write_summary(const explainer *e) {
    const explain_subject subject = {&e->a->options, e->others.path, e->others.n};
    if (e->records == stdout)
        return CLI_OK;
    if (!e->a->json)
        explain_write_table(stdout, &e->summary, &subject);
    else if (!explain_write_json(stdout, &e->summary, &subject))
        return no_memory();
    return fflush(stdout) != 0 || ferror(stdout) ? cli_write_error("standard output") : CLI_OK;
}

static int open_records(explainer *e) {
    const char *path = e->a->records;
    if (path == NULL)
        return CLI_OK;
    e->records = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (e->records != NULL)
        return CLI_OK;
    cli_message("%s: %s", path, strerror(errno));
    return CLI_FAILED;
}

static int run_explainer(explainer *e) {
    const explain_arguments *a = e->a;
    sa_error error;
    sa_status status = sa_model_open_with(&e->model, a->model, &e->others.options, &error);
    if (status == SA_OK)
        status = models_open(&e->others, &error);
    if (status == SA_OK)
        status = pair_input_open(&e->pairs, a->source, a->target, a->strict, PAIRS_TOGETHER, &e->warnings, &error);
    /* No pair: models that cannot be explained, or do not go together, are told before work starts. */
    sa_explanation *nothing;
    if (status == SA_OK)
        status = explain(e, 0, &nothing, &error);
    if (status != SA_OK)
        return cli_library_error(&error);
    sa_explanations_free(nothing, 0);
    int result = open_records(e);
    if (result != CLI_OK)
        return result;
    if (!a->quiet)
        status_line_begin(&e->warnings.line);
    sa_explain_summary_init(&e->summary);
    result = explain_all(e);
    status_line_clear(&e->warnings.line);
    return result == CLI_OK ? write_summary(e) : result;
}

static int explain_run(int argc, char **argv) {
    explain_arguments a = {0};
    sa_explain_options_init(&a.options);
    int n;
    int status = options_parse(&command_explain, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.model == NULL)
        return cli_usage_error(&command_explain, "which model? -m FILE is missing");
    if (a.others.n == SA_ENSEMBLE_MAX)
        return cli_usage_error(&command_explain, "there can be %d models to compare with", SA_ENSEMBLE_MAX - 1);
    status = pair_input_arguments(&command_explain, n, argv, a.tsv, &a.source, &a.target);
    if (status != CLI_GO_ON)
        return status;
    const char *const inputs[] = {a.source, a.target};
    for (int i = 0; i < 2; i++)
        if (a.records != NULL && inputs[i] != NULL && same_file(inputs[i], a.records))
            return cli_usage_error(&command_explain, "--records %s is an input as well", a.records);
    explainer e = {.a = &a, .others = a.others, .warnings = {.quiet = a.quiet}};
    e.others.options.precision = SA_F32; /* of fewer bits there are no gradients */
    status = run_explainer(&e);
    if (e.records != NULL && e.records != stdout && fclose(e.records) != 0 && status == CLI_OK)
        status = cli_write_error(a.records);
    pair_input_close(&e.pairs);
    models_close(&e.others);
    sa_model_free(e.model);
    return status;
}

const command command_explain = {
    .name = "explain",
    .summary = "test how far attention explains given translations",
    .synopsis = "-m MODEL [OPTION]... SOURCE TARGET | --tsv FILE",
    .about =
        "For each symbol of given translations: what the model looked at, what its probabilities depend on by "
        "other "
        "measures (gradient times input, leaving a word out, attention times the norm of what it carries) and how "
        "far "
        "these agree (Kendall's tau); what becomes of the probabilities when the weights of attention are "
        "permuted; "
        "and, with --adversaries, how different weights can be that leave them almost as they are. A summary goes "
        "to "
        "standard output: mean, deviation and share of significant correlations, of all symbols and by the largest "
        "weight of attention.\n"
        "The tests are those of Jain and Wallace (2019) and Wiegreffe and Pinter (2019); docs/explain.md says what "
        "they show and what they do not.",
    .examples = "  softalign explain -m run/best.safetensors test.en test.fr\n"
                "  softalign explain -m run/best.safetensors --records test.jsonl --adversaries 5 test.en test.fr\n"
                "  softalign explain -m run/best.safetensors --compare seed2/best.safetensors test.en test.fr\n",
    .options = explain_options,
    .most_arguments = 2,
    .run = explain_run,
};
