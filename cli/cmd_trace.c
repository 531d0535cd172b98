#include "cli.h"

#include <softalign/trace.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHTS_MOST = 1000 };
typedef struct weight_list {
    int n;
    float weight[WEIGHTS_MOST];
} weight_list;

typedef struct trace_arguments {
    const char *model;
    sa_trace_options options;
    weight_list weights;
    bool gates;
} trace_arguments;

static const char *parse_weights(const char *text, void *target) {
    static const char expected[] = "a list of at most 1000 numbers of at least 0, with commas between";
    weight_list list = {0};
    for (;; text++) {
        char one[64];
        size_t length = strcspn(text, ",");
        double value;
        bool overflow;
        if (length >= sizeof one || list.n == WEIGHTS_MOST)
            return expected;
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (!parse_double(one, &value, &overflow) || overflow || !(value >= 0))
            return expected;
        list.weight[list.n++] = (float)value;
        text += length;
        if (*text == '\0')
            break;
    }
    *(weight_list *)target = list;
    return NULL;
}

static const option trace_options[] = {
    OPT_STRING("model", 'm', "FILE", trace_arguments, model, "the model (required)"),
    OPT_NUMBER("step", 0, "N", trace_arguments, options.step, AT_LEAST(-1),
               "show all vectors of this step of the decoder, counted from 0; -1: of none"),
    OPT_CUSTOM(
        "weights", 0, "A,B,...", trace_arguments, weights, parse_weights, show_nothing,
        "what if the step had looked elsewhere: these weights, one for each symbol of the source, </s> the last, "
        "in the place of its own, taken as they are"),
    OPT_NUMBER("next", 0, "N", trace_arguments, options.next, BETWEEN(0, 1000000),
               "likeliest next symbols of the step that are shown"),
    OPT_FLAG("gates", 0, trace_arguments, gates, "show the gates of the encoder's units"),
    OPT_BOOL("sensitivity", 0, trace_arguments, options.sensitivity,
             "find out which words each annotation listens to, which takes longer than all else"),
    OPT_FLAG("symbols", 0, trace_arguments, options.symbols,
             "TARGET is symbols with blanks between, as 'translate --symbols' writes them, and not text"),
    OPT_NUMBER("max-length", 0, "N", trace_arguments, options.max_length, BETWEEN(1, 1000000),
               "symbols, either side; longer ones are an error"),
    OPT_END,
};

static int trace(const trace_arguments *a, const char *source, const char *target) {
    sa_error error;
    sa_model *model;
    sa_trace *t = NULL;
    char *json = NULL;
    const sa_model_options in_full = {.precision = SA_F32}; /* of fewer bits there are no gradients */
    sa_status status = sa_model_open_with(&model, a->model, &in_full, &error);
    if (status != SA_OK)
        return cli_library_error(&error);
    status = sa_trace_make(&t, model, source, target, &a->options, &error);
    if (status == SA_OK)
        status = sa_trace_json(t, a->gates, &json, &error);
    sa_trace_free(t);
    sa_model_free(model);
    if (status != SA_OK)
        return cli_library_error(&error);
    puts(json);
    free(json);
    return cli_close_output(stdout, "standard output");
}

static int trace_run(int argc, char **argv) {
    trace_arguments a = {0};
    sa_trace_options_init(&a.options);
    int n;
    int status = options_parse(&command_trace, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.model == NULL)
        return cli_usage_error(&command_trace, "which model? -m FILE is missing");
    if (n == 0)
        return cli_usage_error(&command_trace, "what is to be traced? a SENTENCE is missing");
    if (a.weights.n > 0) {
        a.options.weights = a.weights.weight;
        a.options.n_weights = a.weights.n;
    }
    return trace(&a, argv[0], n > 1 ? argv[1] : NULL);
}

const command command_trace = {
    .name = "trace",
    .summary = "write every number on the way from a sentence to its translation",
    .synopsis = "-m MODEL [OPTION]... SENTENCE [TARGET]",
    .about =
        "Writes an object of JSON with what a model computes for a sentence and TARGET, or, without one, its best "
        "translation: annotations and which words each listens to, weights and energies of all steps, how much "
        "each "
        "source word and annotation matters to each target word (norms of gradients), and with --step the vectors "
        "of "
        "one step, from W_a s and U_a h_j to the likeliest next words.\n"
        "Models that look with several heads and those that describe pictures cannot be traced; of others there is "
        "what they have: annotations and energies where there is attention, gates where there are gated units.",
    .examples = "  softalign trace -m run/best.safetensors 'A man is asleep.'\n"
                "  softalign trace -m run/best.safetensors --step 1 'A man is asleep.' 'Un homme dort.'\n"
                "  softalign trace -m run/best.safetensors --step 0 --weights 0,1,0 'Hello world'\n",
    .options = trace_options,
    .most_arguments = 2,
    .run = trace_run,
};
