#include "cli.h"

#include <string.h>

/* Values of which every combination is measured. */
enum { LIST_MOST = 16 };
typedef struct int_list {
    int n, at[LIST_MOST];
} int_list;

typedef struct bench_arguments {
    sa_train_options run;
    sa_bench_translate_options translate;
    int_list precision, mini_batch, threads, beam_size;
    int batches, passes;
    bool json;
} bench_arguments;

/* One combination. */
typedef struct bench_case {
    int precision, mini_batch, threads, beam_size;
    bool first; /* of all: the head of a table stands above its line */
} bench_case;

/* ---- options ----------------------------------------------------------------------------------------- */

/* Calls add for each part between commas; it may cut nothing off. */
static bool parse_list(const char *text, int_list *list, bool (*parse)(const char *part, int *value)) {
    *list = (int_list){0};
    for (;;) {
        char part[32];
        size_t length = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : 0), text);
        if (list->n == LIST_MOST || !parse(part, &list->at[list->n++]))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

static bool parse_count(const char *part, int *value) {
    int64_t number;
    bool overflow;
    bool ok = parse_int64(part, &number, &overflow) && number >= 1 && number <= 1000000;
    *value = ok ? (int)number : 0;
    return ok;
}

static bool parse_precision(const char *part, int *value) {
    for (*value = 0; precision_names[*value] != NULL; ++*value)
        if (strcmp(part, precision_names[*value]) == 0)
            return true;
    return false;
}

static const char *parse_counts(const char *text, void *target) {
    return parse_list(text, target, parse_count) ? NULL : "numbers from 1, with commas between";
}

static const char *parse_precisions(const char *text, void *target) {
    return parse_list(text, target, parse_precision) ? NULL : "f32, bf16, int8 or stored, or several with commas";
}

static const char *const optimizer_names[] = {
    [SA_ADADELTA] = "adadelta", [SA_ADAM] = "adam", [SA_SGD] = "sgd", NULL};

static const option bench_options[] = {
    OPT_SECTION("Model"),
    OPT_NAME("preset", 0, "NAME", bench_arguments, run.model.preset, NULL, sa_model_presets, "the model"),
    MODEL_OPTIONS(bench_arguments, run.model),
    OPT_STRING(
        "model", 'm', "FILE", bench_arguments, translate.model,
        "translate: a model file, instead of random weights whose translations are 1.08 times as long as their "
        "sources"),
    OPT_STRING("shortlist", 0, "FILE", bench_arguments, translate.shortlist,
               "translate: score only words that this file has, which 'softalign shortlist' made for that model"),
    OPT_SECTION("Text"),
    OPT_PAIR("train", 't', "SRC TGT", bench_arguments, run.train_source, run.train_target,
             "train: two files of text, cut into words at blanks, that the minibatches are taken from"),
    OPT_STRING("source", 's', "FILE", bench_arguments, translate.source, "translate: the text"),
    OPT_NUMBER("sentences", 0, "N", bench_arguments, translate.sentences, AT_LEAST(1),
               "translate: how many of the text, evenly chosen"),
    OPT_SECTION("Measurement"),
    OPT_CUSTOM(
        "precision", 0, "TYPE,...", bench_arguments, precision, parse_precisions, show_nothing,
        "what products round their operands to; train: f32 or bf16 (default: f32), translate: also int8, and "
        "stored, that of the file (default: f32,bf16,int8). Of lists every combination is measured"),
    OPT_CUSTOM("mini-batch", 0, "N,...", bench_arguments, mini_batch, parse_counts, show_nothing,
               "sentences of an update (default: 80), or translated together (default: 1,64)"),
    OPT_CUSTOM("beam-size", 0, "N,...", bench_arguments, beam_size, parse_counts, show_nothing,
               "translate: hypotheses kept at each step (default: 1,5)"),
    OPT_CUSTOM("threads", 0, "N,...", bench_arguments, threads, parse_counts, show_nothing,
               "threads that work (default: 1)"),
    OPT_ENUM("optimizer", 0, "NAME", bench_arguments, run.optimizer, optimizer_names, "train: rule of the updates"),
    OPT_NUMBER("shards", 0, "N", bench_arguments, run.shards, AT_LEAST(1), "train: pieces of a minibatch"),
    OPT_NUMBER("batches", 0, "N", bench_arguments, batches, AT_LEAST(1),
               "train: minibatches, evenly chosen from the text's first window of sorted ones"),
    OPT_NUMBER("passes", 0, "N", bench_arguments, passes, AT_LEAST(1),
               "times that each minibatch, or all sentences, are measured, after one for warming up; the best time "
               "counts"),
    OPT_FLAG("json", 0, bench_arguments, json, "print a line of JSON for each measurement"),
    OPT_END,
};

static void set_defaults(bench_arguments *a, const char *preset) {
    *a = (bench_arguments){.batches = 5, .passes = 2, .translate.sentences = 1000};
    sa_train_options_init(&a->run, preset, NULL);
    a->run.vocab_type = SA_VOCAB_WORD;
    a->run.optimizer = SA_ADAM;
}

/* ---- training ---------------------------------------------------------------------------------------- */

static void print_training(const bench_arguments *a, const sa_train_options *o, const sa_train_bench *b) {
    const char *precision = precision_names[o->precision];
    if (a->json) {
        printf("{\"preset\":\"%s\",\"parameters\":%.0f,\"mini_batch\":%d,\"shards\":%d,\"precision\":\"%s\","
               "\"threads\":%d,"
               "\"words_per_second\":%.1f,\"updates_per_second\":%.3f,\"gflops\":%.2f,\"gflops_products\":%.2f,"
               "\"share\":%.4f,\"peak_megabytes\":%.1f}\n",
               o->model.preset, b->parameters, o->mini_batch, o->shards, precision, o->threads, b->words_per_second,
               b->updates_per_second, b->gflops_done, b->gflops_products, b->share, b->peak_megabytes);
        return;
    }
    printf("%s, %.2f M parameters, minibatch %d in %d shards, %s, %d thread%s\n", o->model.preset,
           b->parameters / 1e6, o->mini_batch, o->shards, precision, o->threads, o->threads > 1 ? "s" : "");
    printf("target words/s     %10.0f\n", b->words_per_second);
    printf("updates/s          %10.2f\n", b->updates_per_second);
    printf("GF/s of updates    %10.1f\n", b->gflops_done);
    printf("GF/s of products   %10.1f   the same products alone\n", b->gflops_products);
    printf("share              %10.1f %%\n", 100 * b->share);
    printf("peak memory        %10.0f MB\n", b->peak_megabytes);
}

static sa_status bench_train(const bench_arguments *a, const bench_case *c, sa_error *error) {
    sa_train_options options = a->run;
    sa_train_bench result;
    options.precision = (sa_precision)c->precision;
    options.mini_batch = c->mini_batch;
    options.threads = c->threads;
    sa_status status = sa_bench_train(&options, a->batches, a->passes, &result, error);
    if (status == SA_OK)
        print_training(a, &options, &result);
    return status;
}

/* ---- translation ------------------------------------------------------------------------------------- */

static void print_translation(const bench_arguments *a, const bench_case *c, const sa_translate_bench *b) {
    const char *precision = precision_names[c->precision];
    if (a->json) {
        printf("{\"parameters\":%.0f,\"precision\":\"%s\",\"threads\":%d,\"mini_batch\":%d,\"beam_size\":%d,"
               "\"sentences_per_second\":%.2f,\"words_per_second\":%.1f,\"gflops\":%.2f,\"gflops_products\":%.2f,"
               "\"share\":%.4f,\"first_seconds\":%.4f,\"peak_megabytes\":%.1f}\n",
               b->parameters, precision, c->threads, c->mini_batch, c->beam_size, b->sentences_per_second,
               b->words_per_second, b->gflops_done, b->gflops_products, b->share, b->first_seconds,
               b->peak_megabytes);
        return;
    }
    if (c->first)
        puts(
            "precision  threads  mini-batch  beam-size  sentences/s   words/s    GF/s  products   share  first ms  "
            "peak MB");
    printf("%9s  %7d  %10d  %9d  %11.1f  %8.0f  %6.1f  %8.1f  %5.1f%%  %8.1f  %7.0f\n", precision, c->threads,
           c->mini_batch, c->beam_size, b->sentences_per_second, b->words_per_second, b->gflops_done,
           b->gflops_products, 100 * b->share, 1e3 * b->first_seconds, b->peak_megabytes);
}

static sa_status bench_translate(const bench_arguments *a, const bench_case *c, sa_error *error) {
    sa_bench_translate_options options = a->translate;
    sa_translate_bench result;
    options.config = a->run.model;
    options.precision = (sa_precision)c->precision;
    options.mini_batch = c->mini_batch;
    options.threads = c->threads;
    options.beam_size = c->beam_size;
    options.passes = a->passes;
    sa_status status = sa_bench_translate(&options, &result, error);
    if (status == SA_OK)
        print_translation(a, c, &result);
    return status;
}

/* ---- the subcommand ---------------------------------------------------------------------------------- */

typedef struct bench_kind {
    const char *name;
    int_list precision, mini_batch, beam_size; /* where the options name none */
    sa_status (*run)(const bench_arguments *a, const bench_case *c, sa_error *error);
} bench_kind;

static const bench_kind kinds[] = {
    {"train", {1, {SA_F32}}, {1, {80}}, {1, {1}}, bench_train},
    {"translate", {3, {SA_F32, SA_BF16, SA_INT8}}, {2, {1, 64}}, {2, {1, 5}}, bench_translate},
};

static const bench_kind *find_kind(int n, char **argv) {
    for (size_t i = 0; n == 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[0], kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

static const int_list *or_default(const int_list *list, const int_list *usual) {
    return list->n > 0 ? list : usual;
}

static int run_cases(const bench_kind *kind, const bench_arguments *a) {
    static const int_list one = {1, {1}};
    const int_list *precision = or_default(&a->precision, &kind->precision);
    const int_list *mini_batch = or_default(&a->mini_batch, &kind->mini_batch);
    const int_list *beam_size = or_default(&a->beam_size, &kind->beam_size);
    const int_list *threads = or_default(&a->threads, &one);
    sa_error error;
    for (int i = 0; i < threads->n; i++)
        for (int j = 0; j < beam_size->n; j++)
            for (int k = 0; k < mini_batch->n; k++)
                for (int l = 0; l < precision->n; l++) {
                    const bench_case one_case = {precision->at[l], mini_batch->at[k], threads->at[i],
                                                 beam_size->at[j], i + j + k + l == 0};
                    if (kind->run(a, &one_case, &error) != SA_OK)
                        return cli_library_error(&error);
                    fflush(stdout);
                }
    return CLI_OK;
}

static int check_arguments(const bench_kind *kind, const bench_arguments *a) {
    if (kind == NULL)
        return cli_usage_error(&command_bench, "say what to measure: bench train, or bench translate");
    bool training = kind == &kinds[0];
    if (training && a->run.train_source == NULL)
        return cli_usage_error(&command_bench, "no text to train on: name two files with --train SRC TGT");
    if (training && a->beam_size.n > 0)
        return cli_usage_error(&command_bench, "--beam-size goes with bench translate");
    if (!training && a->translate.source == NULL)
        return cli_usage_error(&command_bench, "no text to translate: name a file with --source FILE");
    return CLI_GO_ON;
}

static int bench_run(int argc, char **argv) {
    bench_arguments a;
    int n;
    char preset[sizeof a.run.model.preset];
    set_defaults(&a, "rnnsearch");
    int status = options_preview(&command_bench, &a, argc, argv); /* its sizes are the defaults of the others */
    if (status != CLI_GO_ON)
        return status;
    memcpy(preset, a.run.model.preset, sizeof preset);
    set_defaults(&a, preset);
    status = options_parse(&command_bench, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    const bench_kind *kind = find_kind(n, argv);
    status = check_arguments(kind, &a);
    return status == CLI_GO_ON ? run_cases(kind, &a) : status;
}

const command command_bench = {
    .name = "bench",
    .summary = "measure how fast training and translation are on this machine",
    .synopsis = "train --train SRC TGT [OPTION]... | translate --source FILE [OPTION]...",
    .about =
        "Trains on some minibatches without keeping anything, or translates sentences without writing them, and "
        "prints the speed beside that of the matrix products which the work is made of, measured alone: the share "
        "tells how near the program is to what the machine can do. Of translation it also tells the time from "
        "opening the model to the first translation.",
    .examples =
        "  softalign bench train --train corpus.en corpus.fr --vocab-size 10000 --dim-emb 256 \\\n"
        "      --dim-rnn 512 --dim-dec 512 --dim-att 512 --dim-maxout 256\n"
        "  softalign bench translate -m run/best.safetensors --source test.en --precision f32,int8 --threads 1,2\n",
    .options = bench_options,
    .most_arguments = 1,
    .run = bench_run,
};
