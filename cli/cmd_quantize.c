#include "cli_input.h"

typedef struct quantize_arguments {
    const char *model, *output;
    enum { TO_BF16, TO_INT8 } type;
} quantize_arguments;

static const char *const type_names[] = {[TO_BF16] = "bf16", [TO_INT8] = "int8", NULL};
static const sa_precision types[] = {[TO_BF16] = SA_BF16, [TO_INT8] = SA_INT8};

static const option quantize_options[] = {
    OPT_STRING("model", 'm', "FILE", quantize_arguments, model, "the model (required)"),
    OPT_STRING("output", 'o', "FILE", quantize_arguments, output, "the model file to write (required)"),
    OPT_ENUM("precision", 0, "TYPE", quantize_arguments, type, type_names, "type of the weights"),
    OPT_END,
};

static int quantize_run(int argc, char **argv) {
    quantize_arguments a = {.type = TO_INT8};
    int n;
    int status = options_parse(&command_quantize, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (a.model == NULL)
        return cli_usage_error(&command_quantize, "which model? -m FILE is missing");
    if (a.output == NULL)
        return cli_usage_error(&command_quantize, "where to? -o FILE is missing");
    if (same_file(a.model, a.output))
        return cli_usage_error(&command_quantize, "%s is both --model and --output", a.output);
    sa_error error;
    if (sa_model_quantize(a.model, a.output, types[a.type], &error) != SA_OK)
        return cli_library_error(&error);
    return CLI_OK;
}

const command command_quantize = {
    .name = "quantize",
    .summary = "write a model in fewer bits, to translate with",
    .synopsis = "-m MODEL -o FILE [--precision bf16|int8]",
    .about =
        "Writes a model file whose weights and embeddings are bfloat16 (half the size) or 8-bit numbers with a "
        "scale for each row (a quarter). Every subcommand that takes a model takes such a file, and is faster "
        "with it on processors that have instructions for the type; results are those of 'translate "
        "--precision' with the model it was made of. Training cannot go on from it.",
    .examples = "  softalign quantize -m run/best.safetensors -o model.int8.safetensors\n",
    .options = quantize_options,
    .run = quantize_run,
};
