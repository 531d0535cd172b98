#include "evaluate.h"
#include "evaluate_lengths.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A metric as it is asked for. */
typedef struct metric_choice {
    const char *name;
    sa_metric_kind kind;
    int word_order; /* chrF: that of the name, whatever the options say; -1: the options' */
} metric_choice;

static const metric_choice choices[MOST_METRICS] = {
    {"bleu", SA_METRIC_BLEU, -1}, {"chrf", SA_METRIC_CHRF, -1}, {"chrf++", SA_METRIC_CHRF, 2},
    {"ter", SA_METRIC_TER, -1},   {"aer", SA_METRIC_AER, -1},
};

typedef struct metric_list {
    int n, choice[MOST_METRICS];
} metric_list;

typedef enum paired { PAIRED_NONE, PAIRED_BOOTSTRAP, PAIRED_RANDOMIZATION } paired;

typedef struct evaluate_arguments {
    metric_list metrics;
    sa_metric metric; /* the options of all kinds */
    bool lowercase;
    option_list systems;
    const char *input;  /* NULL: not given */
    const char *source; /* lines are scored by its lengths too; NULL: not given */
    int length_step;
    bool confidence;
    paired paired;
    int samples; /* 0: the usual number */
    uint64_t seed;
    int width;
    bool sentence, score_only, json, strict, quiet;
} evaluate_arguments;

static const char *const tokenizer_names[] = {
    [SA_TOK_13A] = "13a", [SA_TOK_INTL] = "intl", [SA_TOK_CHAR] = "char", [SA_TOK_NONE] = "none", NULL};
static const char *const smoothing_names[] = {[SA_SMOOTH_EXP] = "exp",
                                              [SA_SMOOTH_FLOOR] = "floor",
                                              [SA_SMOOTH_ADD_K] = "add-k",
                                              [SA_SMOOTH_NONE] = "none",
                                              NULL};
static const char *const paired_names[] = {
    [PAIRED_NONE] = "none", [PAIRED_BOOTSTRAP] = "bootstrap", [PAIRED_RANDOMIZATION] = "randomization", NULL};

static bool add_metric(metric_list *list, const char *name, size_t length) {
    for (int i = 0; i < MOST_METRICS; i++) {
        if (strlen(choices[i].name) != length || strncmp(choices[i].name, name, length) != 0)
            continue;
        for (int k = 0; k < list->n; k++)
            if (list->choice[k] == i)
                return false;
        list->choice[list->n++] = i;
        return true;
    }
    return false;
}

static const char *parse_metrics(const char *text, void *target) {
    metric_list list = {0};
    for (;; text++) {
        size_t length = strcspn(text, ",");
        if (!add_metric(&list, text, length))
            return "a list of bleu, chrf, chrf++ and ter, each once at most, with commas between, or aer";
        text += length;
        if (*text == '\0')
            break;
    }
    *(metric_list *)target = list;
    return NULL;
}

static void show_metrics(const void *target, char *text, size_t size) {
    const metric_list *list = target;
    size_t n = 0;
    for (int i = 0; i < list->n && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i > 0 ? "," : "", choices[list->choice[i]].name);
}

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
    OPT_SECTION("Texts"),
    OPT_STRING("input", 'i', "FILE", evaluate_arguments, input,
               "translations to score, one a line, plain or gzip; - is standard input, which is read when neither "
               "this nor --systems is given"),
    OPT_LIST("systems", 's', "FILE...", evaluate_arguments, systems,
             "translations of several systems, all arguments up to the next option: scores them in one table"),
    OPT_FLAG("strict", 0, evaluate_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_SECTION("Metrics"),
    OPT_CUSTOM("metrics", 'm', "LIST", evaluate_arguments, metrics, parse_metrics, show_metrics,
               "what is computed: bleu, chrf, chrf++ and ter, with commas between; or, of word alignments, aer"),
    OPT_FLAG("lowercase", 0, evaluate_arguments, lowercase,
             "compare texts in lower case: BLEU and chrF; TER always does, but for --ter-case-sensitive"),
    OPT_SECTION("How BLEU is computed"),
    OPT_ENUM("tokenize", 0, "NAME", evaluate_arguments, metric.bleu.tokenizer, tokenizer_names,
             "how lines are cut into tokens: as mteval-v13a does, by Unicode punctuation and symbols, into "
             "characters, or at blanks only"),
    OPT_ENUM("smooth-method", 0, "NAME", evaluate_arguments, metric.bleu.smoothing, smoothing_names,
             "what stands in for n-grams that never match"),
    OPT_CUSTOM("smooth-value", 0, "X", evaluate_arguments, metric.bleu.smooth_value, parse_smooth_value,
               show_smooth_value, "the value of floor (usually 0.1) or of add-k (usually 1)"),
    OPT_FLAG("effective-order", 0, evaluate_arguments, metric.bleu.effective_order,
             "leave out n-grams longer than every translation"),
    OPT_NUMBER("max-order", 0, "N", evaluate_arguments, metric.bleu.max_order, BETWEEN(1, SA_BLEU_MAX_ORDER),
               "longest n-grams compared; not in the signature"),
    OPT_SECTION("How chrF is computed"),
    OPT_NUMBER("chrf-char-order", 0, "N", evaluate_arguments, metric.chrf.char_order, BETWEEN(1, SA_CHRF_MAX_ORDER),
               "longest n-grams of characters"),
    OPT_NUMBER("chrf-word-order", 0, "N", evaluate_arguments, metric.chrf.word_order, BETWEEN(0, SA_CHRF_MAX_ORDER),
               "longest n-grams of words that chrf counts; chrf++ is chrf with 2"),
    OPT_NUMBER("chrf-beta", 0, "N", evaluate_arguments, metric.chrf.beta, BETWEEN(0, 100),
               "how many times as much recall counts as precision"),
    OPT_FLAG("chrf-whitespace", 0, evaluate_arguments, metric.chrf.whitespace,
             "white space belongs to the n-grams of characters"),
    OPT_FLAG("chrf-eps-smoothing", 0, evaluate_arguments, metric.chrf.eps_smoothing,
             "count every order, also one that a text is too short for, as chrF++.py and NLTK do"),
    OPT_SECTION("How TER is computed"),
    OPT_FLAG("ter-normalized", 0, evaluate_arguments, metric.ter.normalized, "cut punctuation off the words"),
    OPT_FLAG("ter-no-punct", 0, evaluate_arguments, metric.ter.no_punct, "take punctuation out"),
    OPT_FLAG("ter-asian-support", 0, evaluate_arguments, metric.ter.asian_support,
             "with these two, treat Chinese and Japanese punctuation too and make each ideograph a word"),
    OPT_FLAG("ter-case-sensitive", 0, evaluate_arguments, metric.ter.case_sensitive,
             "do not compare in lower case"),
    OPT_SECTION("How AER is computed"),
    OPT_NUMBER("aer-base", 0, "N", evaluate_arguments, metric.aer.base, BETWEEN(0, 1),
               "what the links to score call the first word"),
    OPT_NUMBER("aer-gold-base", 0, "N", evaluate_arguments, metric.aer.reference_base, BETWEEN(0, 1),
               "what the references call it"),
    OPT_FLAG("aer-swap", 0, evaluate_arguments, metric.aer.swap, "the links to score name the target word first"),
    OPT_SECTION("Significance"),
    OPT_FLAG("confidence", 0, evaluate_arguments, confidence,
             "give the 95% confidence interval of each score, by bootstrap resampling of the lines"),
    OPT_ENUM("paired", 0, "TEST", evaluate_arguments, paired, paired_names,
             "test each of --systems against the first of them: paired bootstrap resampling or paired approximate "
             "randomization"),
    OPT_NUMBER("samples", 0, "N", evaluate_arguments, samples, AT_LEAST(0),
               "how often the lines are drawn again; 0: 1000 times, for randomization 10000"),
    OPT_NUMBER("seed", 0, "N", evaluate_arguments, seed, ANY,
               "of the draws; the same seed draws the same lines, those of sacreBLEU"),
    OPT_SECTION("By length"),
    OPT_STRING(
        "by-length", 0, "SOURCE", evaluate_arguments, source,
        "score groups of lines too, by the number of words of their line in this file, with --confidence also with "
        "intervals; `softalign plot` draws what --json writes of it"),
    OPT_NUMBER("length-step", 0, "N", evaluate_arguments, length_step, AT_LEAST(1),
               "lengths of a group: 1 to N words, N + 1 to 2 N, ..."),
    OPT_SECTION("Output"),
    OPT_FLAG("sentence", 0, evaluate_arguments, sentence,
             "score each line by itself, BLEU with --effective-order, instead of all lines together"),
    OPT_FLAG("json", 0, evaluate_arguments, json, "write one JSON object with all numbers in full"),
    OPT_FLAG("score-only", 'b', evaluate_arguments, score_only,
             "print the numbers alone: a row for each system or sentence, with tabs between metrics"),
    OPT_NUMBER("width", 'w', "N", evaluate_arguments, width, BETWEEN(0, 15), "decimals of the scores"),
    OPT_FLAG("quiet", 'q', evaluate_arguments, quiet, "no warnings about the texts"),
    OPT_END,
};

static bool scores_links(const evaluate_arguments *a) {
    for (int i = 0; i < a->metrics.n; i++)
        if (choices[a->metrics.choice[i]].kind == SA_METRIC_AER)
            return true;
    return false;
}

/* ---- work -------------------------------------------------------------------------------------------- */

/* The library checks links too, but knows no file. */
static int check_links(const lines *l, int base) {
    sa_error error;
    for (size_t i = 0; i < l->n; i++) {
        sa_links links;
        if (sa_links_parse(&links, l->line[i], base, false, &error) != SA_OK) {
            cli_message("%s:%zu: %s", l->name, i + 1, error.text);
            return CLI_FAILED;
        }
        sa_links_free(&links);
    }
    return CLI_OK;
}

/* References are read first: a translation that comes through a pipe may take long, and a wrong name should not
 * have to wait for it. */
static int read_texts(const evaluate_arguments *a, evaluation *e, char **references) {
    int status = CLI_OK;
    for (int r = 0; r < e->n_references && status == CLI_OK; r++)
        status = lines_read(&e->reference[r], references[r], a->strict, a->quiet);
    for (int i = 0; i < e->n_systems && status == CLI_OK; i++)
        status = lines_read(&e->system[i], a->systems.text[i], a->strict, a->quiet);
    for (int k = 0; k < e->n_references + e->n_systems && status == CLI_OK; k++) {
        const lines *l = k < e->n_references ? &e->reference[k] : &e->system[k - e->n_references];
        if (l->n != e->system[0].n) {
            cli_message("%s has %zu lines, but %s has %zu; they must belong to each other line by line", l->name,
                        l->n, e->system[0].name, e->system[0].n);
            status = CLI_FAILED;
        }
    }
    for (int k = 0; k < e->n_references + e->n_systems && status == CLI_OK && scores_links(a); k++) {
        bool is_reference = k < e->n_references;
        status = check_links(is_reference ? &e->reference[k] : &e->system[k - e->n_references],
                             is_reference ? a->metric.aer.reference_base : a->metric.aer.base);
    }
    if (status == CLI_OK && e->system[0].n == 0) {
        cli_message("%s is empty: there is nothing to score", e->system[0].name);
        status = CLI_FAILED;
    }
    return status;
}

static void warn_of_texts(const evaluate_arguments *a, const evaluation *e) {
    bool has_bleu = false;
    for (int m = 0; m < e->n_metrics; m++)
        has_bleu = has_bleu || e->metric[m].kind == SA_METRIC_BLEU;
    sa_bleu_tokenizer tokenizer = a->metric.bleu.tokenizer;
    if (a->quiet || !has_bleu || (tokenizer != SA_TOK_13A && tokenizer != SA_TOK_INTL))
        return;
    for (int i = 0; i < e->n_systems; i++)
        warn_tokenised(&e->system[i]);
    warn_unspaced(&e->reference[0], tokenizer_names[tokenizer]);
}

static int count_all(evaluation *e) {
    sa_error error;
    const char *const **row = malloc((size_t)e->n_references * sizeof *row);
    if (row == NULL)
        return out_of_memory();
    for (int r = 0; r < e->n_references; r++)
        row[r] = (const char *const *)e->reference[r].line;
    int status = CLI_OK;
    for (int i = 0; i < e->n_systems; i++)
        for (int m = 0; m < e->n_metrics && status == CLI_OK; m++)
            if (sa_statistics_collect(&e->statistics[cell_of(e, i, m)], &e->metric[m],
                                      (const char *const *)e->system[i].line, e->system[i].n, row,
                                      (size_t)e->n_references, &error) != SA_OK)
                status = cli_library_error(&error);
    free(row);
    return status;
}

static int resample_all(const evaluate_arguments *a, evaluation *e) {
    static const sa_paired_test_kind kinds[] = {
        [PAIRED_BOOTSTRAP] = SA_PAIRED_BOOTSTRAP, [PAIRED_RANDOMIZATION] = SA_PAIRED_RANDOMIZATION};
    sa_resampling bootstrap = {a->samples > 0 ? a->samples : SA_BOOTSTRAP_SAMPLES, a->seed}, test = bootstrap;
    if (a->paired == PAIRED_RANDOMIZATION && a->samples == 0)
        test.samples = SA_RANDOMIZATION_SAMPLES;
    sa_error error;
    for (int i = 0; i < e->n_systems; i++)
        for (int m = 0; m < e->n_metrics; m++) {
            size_t cell = cell_of(e, i, m);
            if (a->confidence && sa_bootstrap(e->statistics[cell], &bootstrap, &e->interval[cell], &error) != SA_OK)
                return cli_library_error(&error);
            if (a->paired != PAIRED_NONE && i > 0 &&
                sa_paired_test(e->statistics[m], e->statistics[cell], kinds[a->paired], &test, &e->p_value[cell],
                               &error) != SA_OK)
                return cli_library_error(&error);
        }
    size_t n = 0;
    if (a->confidence || a->paired == PAIRED_BOOTSTRAP)
        n += (size_t)snprintf(e->resampling, sizeof e->resampling, "bs:%d|", bootstrap.samples);
    if (a->paired == PAIRED_RANDOMIZATION)
        n += (size_t)snprintf(e->resampling + n, sizeof e->resampling - n, "ar:%d|", test.samples);
    if (n > 0)
        snprintf(e->resampling + n, sizeof e->resampling - n, "seed:%" PRIu64 "|", a->seed);
    return CLI_OK;
}

static int score_by_length(const evaluate_arguments *a, evaluation *e) {
    const sa_resampling bootstrap = {a->samples > 0 ? a->samples : SA_BOOTSTRAP_SAMPLES, a->seed};
    lines source = {0};
    int status = lines_read(&source, a->source, a->strict, a->quiet);
    if (status == CLI_OK && source.n != e->system[0].n) {
        cli_message("%s has %zu lines, but %s has %zu; they must belong to each other line by line", source.name,
                    source.n, e->system[0].name, e->system[0].n);
        status = CLI_FAILED;
    }
    if (status == CLI_OK)
        status = lengths_score(e, &source, a->length_step, a->confidence ? &bootstrap : NULL);
    lines_free(&source);
    return status;
}

static int evaluate_texts(const evaluate_arguments *a, evaluation *e, char **references) {
    int status = read_texts(a, e, references);
    if (status != CLI_OK)
        return status;
    warn_of_texts(a, e);
    status = count_all(e);
    if (status == CLI_OK)
        status = resample_all(a, e);
    if (status == CLI_OK && a->source != NULL)
        status = score_by_length(a, e);
    return status == CLI_OK ? evaluation_report(e) : status;
}

static void set_metrics(const evaluate_arguments *a, evaluation *e) {
    e->n_metrics = a->metrics.n;
    for (int m = 0; m < e->n_metrics; m++) {
        const metric_choice *choice = &choices[a->metrics.choice[m]];
        sa_metric *metric = &e->metric[m];
        *metric = a->metric;
        metric->kind = choice->kind;
        metric->bleu.lowercase = metric->chrf.lowercase = a->lowercase;
        metric->bleu.effective_order |= a->sentence;
        if (choice->word_order >= 0)
            metric->chrf.word_order = choice->word_order;
    }
}

static int evaluate_files(const evaluate_arguments *a, char **references, int n_references) {
    evaluation e = {.n_systems = a->systems.n,
                    .n_references = n_references,
                    .test = a->paired != PAIRED_NONE ? paired_names[a->paired] : NULL,
                    .width = a->width,
                    .sentence = a->sentence,
                    .score_only = a->score_only,
                    .json = a->json};
    set_metrics(a, &e);
    size_t cells = (size_t)e.n_systems * (size_t)e.n_metrics;
    lines *text = calloc((size_t)(e.n_systems + n_references), sizeof *text);
    e.statistics = calloc(cells, sizeof *e.statistics);
    e.interval = a->confidence ? calloc(cells, sizeof *e.interval) : NULL;
    e.p_value = a->paired != PAIRED_NONE ? calloc(cells, sizeof *e.p_value) : NULL;
    int status;
    if (text == NULL || e.statistics == NULL || (a->confidence && e.interval == NULL) ||
        (a->paired != PAIRED_NONE && e.p_value == NULL)) {
        status = out_of_memory();
    } else {
        e.reference = text;
        e.system = text + n_references;
        status = evaluate_texts(a, &e, references);
    }
    for (int i = 0; text != NULL && i < e.n_systems + n_references; i++)
        lines_free(&text[i]);
    for (size_t i = 0; e.statistics != NULL && i < cells; i++)
        sa_statistics_free(e.statistics[i]);
    free(text);
    free(e.statistics);
    free(e.interval);
    free(e.p_value);
    lengths_free(&e);
    return status;
}

/* ---- arguments --------------------------------------------------------------------------------------- */

static int check_arguments(evaluate_arguments *a, char **references, int n) {
    const command *c = &command_evaluate;
    if (n == 0)
        return cli_usage_error(c, "which references? a file is missing%s",
                               a->systems.n > 0 ? " (those behind --systems are systems)" : "");
    if (scores_links(a) && a->metrics.n > 1)
        return cli_usage_error(c, "aer is computed of links, the other metrics of texts: not together");
    if (a->metric.bleu.smooth_value >= 0 && a->metric.bleu.smoothing != SA_SMOOTH_FLOOR &&
        a->metric.bleu.smoothing != SA_SMOOTH_ADD_K)
        return cli_usage_error(c, "--smooth-value goes with --smooth-method floor or add-k, not %s",
                               smoothing_names[a->metric.bleu.smoothing]);
    if (a->input != NULL && a->systems.n > 0)
        return cli_usage_error(c, "give --input or --systems, not both");
    if (a->paired != PAIRED_NONE && a->systems.n < 2)
        return cli_usage_error(c, "--paired compares systems: give two at least with --systems");
    if (a->sentence && (a->confidence || a->paired != PAIRED_NONE))
        return cli_usage_error(c, "--confidence and --paired are about all lines together: not with --sentence");
    if (a->score_only && (a->confidence || a->paired != PAIRED_NONE))
        return cli_usage_error(c, "--score-only leaves out what --confidence and --paired compute");
    if (a->source != NULL && (a->sentence || a->score_only))
        return cli_usage_error(c, "--by-length is about groups of lines: with neither --sentence nor --score-only");
    if (a->systems.n == 0)
        a->systems = (option_list){1, {a->input != NULL ? a->input : "-"}};
    int from_stdin = a->source != NULL && strcmp(a->source, "-") == 0;
    for (int i = 0; i < n; i++)
        from_stdin += strcmp(references[i], "-") == 0;
    for (int i = 0; i < a->systems.n; i++)
        from_stdin += strcmp(a->systems.text[i], "-") == 0;
    if (from_stdin > 1)
        return cli_usage_error(c, "standard input can be one text only, translations, a reference or a source");
    return CLI_GO_ON;
}

static int evaluate_run(int argc, char **argv) {
    evaluate_arguments a = {.metrics = {.n = 1}, .seed = SA_RESAMPLING_SEED, .length_step = 10, .width = 2};
    sa_metric_init(&a.metric, SA_METRIC_BLEU);
    int n;
    int status = options_parse(&command_evaluate, &a, argc, argv, &n);
    if (status == CLI_GO_ON)
        status = check_arguments(&a, argv, n);
    return status == CLI_GO_ON ? evaluate_files(&a, argv, n) : status;
}

const command command_evaluate = {
    .name = "evaluate",
    .summary = "score translations (BLEU, chrF, TER) or word alignments (AER) against references",
    .synopsis = "[OPTION]... REFERENCE... [-s SYSTEM...] < TRANSLATION",
    .about =
        "Prints corpus scores of translations, as sacreBLEU computes them, after the signature that says how. Each "
        "reference is a file with one line for each translation; of several, an empty line counts as missing. "
        "Texts are given as people write them, detokenised: cutting them is part of the metric. In BLEU and chrF "
        "more is better, in TER and AER, which count errors, less.\n"
        "With --metrics aer the lines are links of words, i-j, with blanks between, those of the references "
        "ipj where they are only possible; precision and recall are given too.",
    .examples = "  softalign evaluate ref.fr < out.fr\n"
                "  softalign evaluate --metrics bleu,chrf,ter --confidence -i out.fr ref1.fr ref2.fr\n"
                "  softalign evaluate --paired bootstrap ref.fr -s baseline.fr new.fr other.fr\n"
                "  softalign evaluate --sentence --tokenize intl ref.fr < out.fr\n"
                "  softalign evaluate --metrics aer --aer-gold-base 1 gold < links\n",
    .options = evaluate_options,
    .most_arguments = -1,
    .run = evaluate_run,
};
