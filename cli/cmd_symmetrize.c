#include "cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct symmetrize_arguments {
    sa_symmetrization method;
    int base;
    bool swap_reverse, swap, scores, strict;
} symmetrize_arguments;

static const option symmetrize_options[] = {
    OPT_SECTION("Links"),
    OPT_ENUM("method", 0, "NAME", symmetrize_arguments, method, symmetrization_names,
             "which links the two have together"),
    OPT_NUMBER("base", 0, "N", symmetrize_arguments, base, BETWEEN(0, 1), "what both files call the first word"),
    OPT_FLAG("swap-reverse", 0, symmetrize_arguments, swap_reverse,
             "the second file names the target word first (its own source)"),
    OPT_SECTION("Output"),
    OPT_FLAG("swap", 0, symmetrize_arguments, swap, "write the target word first"),
    OPT_FLAG(
        "scores", 0, symmetrize_arguments, scores,
        "write i-j:WEIGHT; a weight is the mean of both files', 0 where there is no link, 1 where it has none"),
    OPT_FLAG("strict", 0, symmetrize_arguments, strict,
             "end with an error at bytes that are not UTF-8, instead of replacing them"),
    OPT_END,
};

typedef struct links_input {
    sa_reader *reader;
    const char *name;
    bool swap;
} links_input;

/* The links of the next line; *end: there is none. */
static int next_links(links_input *in, int base, sa_links *links, bool *end) {
    sa_error error;
    char *line;
    size_t length;
    *links = (sa_links){0};
    if (sa_reader_next(in->reader, &line, &length, &error) != SA_OK)
        return cli_library_error(&error);
    *end = line == NULL;
    if (*end || sa_links_parse(links, line, base, in->swap, &error) == SA_OK)
        return CLI_OK;
    cli_message("%s:%zu: %s", in->name, sa_reader_line(in->reader), error.text);
    return CLI_FAILED;
}

static int write_both(const symmetrize_arguments *a, const sa_links pair[2]) {
    sa_error error;
    sa_links made;
    char *text;
    if (sa_links_symmetrize(&made, &pair[0], &pair[1], a->method, &error) != SA_OK)
        return cli_library_error(&error);
    sa_status status = sa_links_format(&made, a->swap, a->scores, &text, &error);
    sa_links_free(&made);
    if (status != SA_OK)
        return cli_library_error(&error);
    puts(text);
    free(text);
    return ferror(stdout) ? cli_write_error("standard output") : CLI_OK;
}

static int symmetrize_lines(const symmetrize_arguments *a, links_input in[2]) {
    bool end[2] = {false, false};
    int status = CLI_OK;
    while (status == CLI_OK) {
        sa_links pair[2] = {{0}, {0}};
        for (int i = 0; i < 2 && status == CLI_OK; i++)
            status = next_links(&in[i], a->base, &pair[i], &end[i]);
        if (status == CLI_OK && end[0] != end[1]) {
            int longer = end[0] ? 1 : 0;
            cli_message("%s has %zu lines, %s has more: line i of both must be of one pair", in[!longer].name,
                        sa_reader_line(in[!longer].reader), in[longer].name);
            status = CLI_FAILED;
        }
        if (status == CLI_OK && !end[0])
            status = write_both(a, pair);
        sa_links_free(&pair[0]);
        sa_links_free(&pair[1]);
        if (end[0])
            break;
    }
    int closed = cli_close_output(stdout, "standard output");
    return status == CLI_OK ? closed : status;
}

static int symmetrize_run(int argc, char **argv) {
    symmetrize_arguments a = {.method = SA_GROW_DIAG};
    int n;
    int status = options_parse(&command_symmetrize, &a, argc, argv, &n);
    if (status != CLI_GO_ON)
        return status;
    if (n != 2)
        return cli_usage_error(&command_symmetrize, "two files of links, FORWARD and REVERSE, are needed");
    if (strcmp(argv[0], "-") == 0 && strcmp(argv[1], "-") == 0)
        return cli_usage_error(&command_symmetrize, "standard input cannot be both files");
    links_input in[2] = {{.name = input_name(argv[0])}, {.name = input_name(argv[1]), .swap = a.swap_reverse}};
    sa_error error;
    status = CLI_OK;
    for (int i = 0; i < 2 && status == CLI_OK; i++)
        if (sa_reader_open(&in[i].reader, argv[i], a.strict, &error) != SA_OK)
            status = cli_library_error(&error);
    if (status == CLI_OK)
        status = symmetrize_lines(&a, in);
    sa_reader_free(in[0].reader);
    sa_reader_free(in[1].reader);
    return status;
}

const command command_symmetrize = {
    .name = "symmetrize",
    .summary = "make the word alignments of two directions one",
    .synopsis = "[OPTION]... FORWARD REVERSE",
    .about =
        "Reads two files of links, line i of both of the same pair of sentences, and writes the links that they "
        "have "
        "together: i-j for word i of the source and word j of the target, counted from 0, with blanks between. "
        "FORWARD is from an aligner that gives words of the target their source word, REVERSE from one of the "
        "other "
        "direction; but for the two finals their order does not matter.\n"
        "intersection: what both have. union: what one has. grow-diag: the intersection, then links of the union "
        "next to those, diagonally too, that link a word without any, until there are no more. grow-diag-final: "
        "then links of one file, last of the other, of a word without any. grow-diag-final-and: the same, of two "
        "such words.",
    .examples = "  softalign symmetrize forward.links reverse.links > links\n"
                "  softalign symmetrize --method intersection --swap-reverse en-fr.links fr-en.links\n",
    .options = symmetrize_options,
    .most_arguments = 2,
    .run = symmetrize_run,
};
