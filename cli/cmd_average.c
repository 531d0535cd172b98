#include "cli_input.h"

typedef struct average_arguments {
    const char *output;
} average_arguments;

static const option average_options[] = {
    OPT_STRING("output", 'o', "FILE", average_arguments, output, "the model file to write (required)"),
    OPT_END,
};

static int average_run(int argc, char **argv) {
    average_arguments a = {0};
    int n;
    int status = options_parse(&command_average, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (n < 2)
        return cli_usage_error(&command_average, "of which models? two at least are needed");
    if (a.output == NULL)
        return cli_usage_error(&command_average, "where to? -o FILE is missing");
    for (int i = 0; i < n; i++)
        if (same_file(argv[i], a.output))
            return cli_usage_error(&command_average, "%s is both a model and --output", a.output);
    sa_error error;
    if (sa_model_average((const char *const *)argv, n, a.output, &error) != SA_OK)
        return cli_library_error(&error);
    return CLI_OK;
}

const command command_average = {
    .name = "average",
    .summary = "write the mean of several models of one run",
    .synopsis = "MODEL MODEL... -o FILE",
    .about =
        "Writes a model whose parameters are the means of those of the given ones, which must be alike: one "
        "configuration, the same vocabularies, not quantized. It is for models of one run, as 'train --keep' "
        "leaves "
        "them, or of runs that began with one model (--start-from): models that began apart have parameters that "
        "mean different things, and 'translate' takes those together (-m A -m B) instead. 'train --average' does "
        "something else: it follows every update of the latest few hundred, and is what most runs need; the mean "
        "of "
        "files reaches back over epochs, and can be made and compared when training is over.",
    .examples = "  softalign train --train a.en a.fr --valid dev.en dev.fr --keep 5 -o run\n"
                "  softalign average run/update-*.safetensors -o average.safetensors\n",
    .most_arguments = -1,
    .options = average_options,
    .run = average_run,
};
