#include "cli_input.h"

#include <string.h>

typedef struct shortlist_arguments {
    sa_shortlist_options learn;
    const char *model, *tsv, *output;
    bool quiet;
} shortlist_arguments;

static const option shortlist_options[] = {
    OPT_SECTION("Model and files"),
    OPT_STRING("model", 'm', "FILE", shortlist_arguments, model,
               "the model whose vocabularies it is for (required)"),
    OPT_PAIR("train", 't', "SRC TGT", shortlist_arguments, learn.train_source, learn.train_target,
             "parallel text to learn from, plain or gzip, such as the training text"),
    OPT_STRING("train-tsv", 0, "FILE", shortlist_arguments, tsv,
               "or one file, source and target with a tab between"),
    OPT_STRING("output", 'o', "FILE", shortlist_arguments, output, "the shortlist to write (required)"),
    OPT_FLAG("strict", 0, shortlist_arguments, learn.strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_FLAG("quiet", 'q', shortlist_arguments, quiet, "do not say what the shortlist is worth"),
    OPT_SECTION("Words"),
    OPT_NUMBER("frequent", 0, "N", shortlist_arguments, learn.frequent, AT_LEAST(0),
               "most frequent words, which every sentence may have"),
    OPT_NUMBER("best", 0, "N", shortlist_arguments, learn.best, AT_LEAST(1),
               "words that translate a symbol of the source best"),
    OPT_NUMBER("pairs", 0, "N", shortlist_arguments, learn.pairs, AT_LEAST(1),
               "pairs read at most, from the beginning of the text"),
    OPT_NUMBER("max-length", 0, "N", shortlist_arguments, learn.max_length, AT_LEAST(1),
               "pairs with more symbols on either side are left out"),
    OPT_NUMBER("threads", 0, "N", shortlist_arguments, learn.threads, AT_LEAST(0),
               "threads that encode the text; 0: one for each core"),
    OPT_END,
};

static int check_arguments(shortlist_arguments *a) {
    if (a->model == NULL)
        return cli_usage_error(&command_shortlist, "which model? -m FILE is missing");
    if (a->output == NULL)
        return cli_usage_error(&command_shortlist, "where to? -o FILE is missing");
    if ((a->learn.train_source == NULL) == (a->tsv == NULL))
        return cli_usage_error(&command_shortlist, "one text to learn from: --train SRC TGT, or --train-tsv FILE");
    if (a->tsv != NULL)
        a->learn.train_source = a->tsv;
    const char *const inputs[] = {a->model, a->learn.train_source, a->learn.train_target};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (inputs[i] != NULL && same_file(inputs[i], a->output))
            return cli_usage_error(&command_shortlist, "%s is both read and written", a->output);
    return CLI_GO_ON;
}

static int shortlist_run(int argc, char **argv) {
    shortlist_arguments a = {0};
    sa_shortlist_options_init(&a.learn);
    int n;
    int status = options_parse(&command_shortlist, &a, argc, argv, &n);
    if (status == CLI_GO_ON)
        status = check_arguments(&a);
    if (status != CLI_GO_ON)
        return status;
    sa_error error;
    sa_model *model;
    sa_shortlist_result result;
    if (sa_model_open(&model, a.model, &error) != SA_OK)
        return cli_library_error(&error);
    sa_status learned = sa_shortlist_learn(model, &a.learn, a.output, &result, &error);
    sa_model_free(model);
    if (learned != SA_OK)
        return cli_library_error(&error);
    if (!a.quiet)
        cli_message("%s: learned from %lld pairs; %.0f words for a sentence, among them %.2f%% of those that its "
                    "translation has",
                    a.output, (long long)result.pairs, result.words_per_sentence, 100 * result.coverage);
    return CLI_OK;
}

const command command_shortlist = {
    .name = "shortlist",
    .summary = "learn which words translations may need, for faster ones",
    .synopsis = "-m MODEL --train SRC TGT -o FILE [OPTION]...",
    .about =
        "Learns from parallel text which target words go with a source word, by counting links, and writes for "
        "each the best, and the most frequent words of all. 'translate --shortlist FILE' then scores "
        "only the words of a sentence's own list, which spares most of the work of the output layer; "
        "probabilities are those among these words. A translation does not depend on what is translated "
        "together with it.",
    .examples = "  softalign shortlist -m run/best.safetensors --train corpus.en corpus.fr -o en-fr.shortlist\n"
                "  softalign translate -m run/best.safetensors --shortlist en-fr.shortlist < in.en > out.fr\n",
    .options = shortlist_options,
    .run = shortlist_run,
};
