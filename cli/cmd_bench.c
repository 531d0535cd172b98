#include "cli.h"

#include <string.h>

typedef struct bench_arguments {
    sa_train_options run;
    int batches, passes;
    bool json;
} bench_arguments;

static const char *const optimizer_names[] = {
    [SA_ADADELTA] = "adadelta", [SA_ADAM] = "adam", [SA_SGD] = "sgd", NULL};

static const char *const precision_names[] = {[SA_F32] = "f32", [SA_BF16] = "bf16", NULL};

static const option bench_options[] = {
    OPT_SECTION("Text"),
    OPT_PAIR("train", 't', "SRC TGT", bench_arguments, run.train_source, run.train_target,
             "two files of text, cut into words at blanks, that the minibatches are taken from"),
    OPT_SECTION("Model"),
    OPT_NAME("preset", 0, "NAME", bench_arguments, run.model.preset, NULL, sa_model_presets, "the model"),
    MODEL_OPTIONS(bench_arguments, run.model),
    OPT_SECTION("Measurement"),
    OPT_ENUM("optimizer", 0, "NAME", bench_arguments, run.optimizer, optimizer_names, "rule of the updates"),
    OPT_ENUM("precision", 0, "TYPE", bench_arguments, run.precision, precision_names,
             "what matrix products round their operands to"),
    OPT_NUMBER("mini-batch", 0, "N", bench_arguments, run.mini_batch, AT_LEAST(1), "sentences of an update"),
    OPT_NUMBER("shards", 0, "N", bench_arguments, run.shards, AT_LEAST(1), "pieces of a minibatch"),
    OPT_NUMBER("threads", 0, "N", bench_arguments, run.threads, AT_LEAST(1), "threads that work"),
    OPT_NUMBER("batches", 0, "N", bench_arguments, batches, AT_LEAST(1),
               "minibatches, evenly chosen from the text's first window of sorted ones"),
    OPT_NUMBER("passes", 0, "N", bench_arguments, passes, AT_LEAST(1),
               "times that each is measured, after one for warming up; the best time counts"),
    OPT_FLAG("json", 0, bench_arguments, json, "print one line of JSON"),
    OPT_END,
};

static void set_defaults(bench_arguments *a, const char *preset) {
    *a = (bench_arguments){.batches = 5, .passes = 2};
    sa_train_options_init(&a->run, preset, NULL);
    a->run.vocab_type = SA_VOCAB_WORD;
    a->run.optimizer = SA_ADAM;
    a->run.mini_batch = 80;
    a->run.threads = 1;
}

static void print_result(const bench_arguments *a, const sa_train_bench *b) {
    if (a->json) {
        printf("{\"preset\":\"%s\",\"parameters\":%.0f,\"mini_batch\":%d,\"shards\":%d,\"precision\":\"%s\","
               "\"threads\":%d,"
               "\"words_per_second\":%.1f,\"updates_per_second\":%.3f,\"gflops\":%.2f,\"gflops_products\":%.2f,"
               "\"share\":%.4f,\"peak_megabytes\":%.1f}\n",
               a->run.model.preset, b->parameters, a->run.mini_batch, a->run.shards,
               precision_names[a->run.precision], a->run.threads, b->words_per_second, b->updates_per_second,
               b->gflops_done, b->gflops_products, b->share, b->peak_megabytes);
        return;
    }
    printf("%s, %.2f M parameters, minibatch %d in %d shards, %s, %d thread%s\n", a->run.model.preset,
           b->parameters / 1e6, a->run.mini_batch, a->run.shards, precision_names[a->run.precision], a->run.threads,
           a->run.threads > 1 ? "s" : "");
    printf("target words/s     %10.0f\n", b->words_per_second);
    printf("updates/s          %10.2f\n", b->updates_per_second);
    printf("GF/s of updates    %10.1f\n", b->gflops_done);
    printf("GF/s of products   %10.1f   the same products alone\n", b->gflops_products);
    printf("share              %10.1f %%\n", 100 * b->share);
    printf("peak memory        %10.0f MB\n", b->peak_megabytes);
}

static int bench_run(int argc, char **argv) {
    bench_arguments a;
    int n;
    sa_error error;
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
    if (n != 1 || strcmp(argv[0], "train") != 0) {
        cli_message("say what to measure: softalign bench train --train SRC TGT");
        return CLI_USAGE;
    }
    if (a.run.train_source == NULL) {
        cli_message("no text to train on: name two files with --train SRC TGT");
        return CLI_USAGE;
    }
    sa_train_bench result;
    sa_status failed = sa_bench_train(&a.run, a.batches, a.passes, &result, &error);
    if (failed != SA_OK) {
        cli_message("%s", error.text);
        return failed == SA_USAGE ? CLI_USAGE : CLI_FAILED;
    }
    print_result(&a, &result);
    return CLI_OK;
}

const command command_bench = {
    .name = "bench",
    .summary = "measure how fast training is on this machine",
    .synopsis = "train --train SRC TGT [OPTION]...",
    .about =
        "Trains on some minibatches without keeping anything, and prints the speed beside that of the matrix "
        "products which the updates are made of, measured alone: the share tells how near the program is to what "
        "the machine can do.",
    .examples = "  softalign bench train --train corpus.en corpus.fr --vocab-size 10000 --dim-emb 256 \\\n"
                "      --dim-rnn 512 --dim-dec 512 --dim-att 512 --dim-maxout 256\n",
    .options = bench_options,
    .most_arguments = 1,
    .run = bench_run,
};
