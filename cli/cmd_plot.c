#include "curves.h"

#include <stdlib.h>
#include <string.h>

typedef struct plot_arguments {
    const char *output;
    curve_x x;
    option_list names;
} plot_arguments;

static const option plot_options[] = {
    OPT_STRING("output", 'o', "FILE", plot_arguments, output, "the picture: .svg, .png or .pdf"),
    OPT_ENUM("x", 0, "UNIT", plot_arguments, x, curve_x_names, "what training curves run over"),
    OPT_LIST(
        "names", 0, "NAME...", plot_arguments, names,
        "what the runs, systems or files are called in the legend, in their order; all arguments up to the next "
        "option"),
    OPT_END,
};

/* Those that the legend gets instead of the names of files. */
static int rename_sets(curves *c, const option_list *names) {
    if (names->n == 0)
        return CLI_OK;
    if (names->n != c->n) {
        cli_message("--names has %d names for %d curves", names->n, c->n);
        return CLI_FAILED;
    }
    for (int i = 0; i < c->n; i++) {
        char *name = strdup(names->text[i]);
        if (name == NULL) {
            cli_message("%s", sa_status_text(SA_MEMORY));
            return CLI_FAILED;
        }
        free(c->set[i].name);
        c->set[i].name = name;
    }
    return CLI_OK;
}

static int plot_run(int argc, char **argv) {
    plot_arguments a = {.output = "plot.svg"};
    int n;
    int status = options_parse(&command_plot, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (n == 0)
        return cli_usage_error(&command_plot, "which run? its folder, or a file, is missing");
    curves c = {.x = a.x};
    status = CLI_OK;
    for (int i = 0; i < n && status == CLI_OK; i++)
        status = curves_read(&c, argv[i]);
    if (status == CLI_OK)
        status = rename_sets(&c, &a.names);
    if (status == CLI_OK)
        status = curves_draw(&c, a.output);
    curves_free(&c);
    return status;
}

const command command_plot = {
    .name = "plot",
    .summary = "draw training curves, scores by the length of sentences, and tests of attention",
    .synopsis = "[OPTION]... RUN...",
    .about =
        "Draws what runs recorded (folders, or their metrics.jsonl): training loss, cross-entropy and BLEU of the "
        "validations, and the learning rate, a line for each run. Or, of files that evaluate --by-length --json "
        "wrote, the scores by the length of the source sentence, a line for each system, with its confidence "
        "interval where there is one. Or, of files that explain --records wrote, a line for each file: how often "
        "correlations come, in parts of a tenth; by the largest weight of attention, median and quartiles of what "
        "permuted weights do to the outcome, and of how far adversarial weights go; and by how far the outcomes "
        "of the models compared are apart, how far their weights are.",
    .examples = "  softalign plot run -o curves.svg\n"
                "  softalign plot small large --x minutes --names 'small model' 'large model' -o curves.pdf\n"
                "  softalign evaluate --json --confidence --by-length test.en ref.fr -s a.fr b.fr > scores.json\n"
                "  softalign plot scores.json -o by-length.svg\n"
                "  softalign explain -m run/best.safetensors --records test.jsonl test.en test.fr\n"
                "  softalign plot test.jsonl -o explained.svg\n",
    .options = plot_options,
    .most_arguments = -1,
    .run = plot_run,
};
