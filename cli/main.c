#include "cli.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const command *const commands[] = {
    &command_train,   &command_translate, &command_score,     &command_align, &command_heatmap,    &command_plot,
    &command_sheet,   &command_evaluate,  &command_explain,   &command_trace, &command_symmetrize, &command_inspect,
    &command_average, &command_quantize,  &command_shortlist, &command_bench, &command_doctor,     &command_serve,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *stream) {
    fputs("Usage: softalign SUBCOMMAND [OPTION]...\n"
          "       softalign --help | --version\n"
          "\n"
          "Trains attentional translation models, translates with them, and shows what they\n"
          "looked at. Data go to standard output, all else to standard error.\n"
          "\n"
          "Subcommands:\n",
          stream);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "Options:\n"
          "  -h, --help  print this help and end\n"
          "  --version   print the version and end\n"
          "\n"
          "'softalign SUBCOMMAND --help' lists the options of a subcommand.\n"
          "\n"
          "Examples:\n"
          "  softalign train --train corpus.en corpus.fr --valid dev.en dev.fr -o run\n"
          "  softalign translate -m run/best.safetensors < in.en > out.fr\n",
          stream);
}

static int refuse(const char *name) {
    const char *names[COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    if (name[0] == '-') {
        cli_message("unknown option %s (options follow the name of a subcommand)", name);
    } else {
        const char *near = nearest_name(name, names);
        cli_message("there is no subcommand '%s'%s%s%s", name, near != NULL ? "; did you mean '" : "",
                    near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    fputs("Try 'softalign --help'.\n", stderr);
    return CLI_USAGE;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("softalign %s\n", sa_version());
        return CLI_OK;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    return refuse(argv[1]);
}

int main(int argc, char **argv) {
    /* oneDNN asks for a few megabytes with every product: memory that was freed is kept rather than given back to
     * the system, which would have to clear it again. Worth 4% in training. */
    mallopt(M_MMAP_THRESHOLD, 6 << 20);
    mallopt(M_TRIM_THRESHOLD, 24 << 20);
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes shall be an error with a name, as a full disk is */
    int status = run(argc, argv);
    if (status != CLI_OK)
        return status;
    status = cli_close_output(stdout, "standard output");
    /* A stream that was closed from the start and never written to is no failure. */
    if (status == CLI_OK && fclose(stdout) != 0 && errno != EBADF)
        status = cli_write_error("standard output");
    return status;
}
