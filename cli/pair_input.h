/* Pairs of lines that a subcommand reads in windows: from two files, or a TSV file. */
#ifndef CLI_PAIR_INPUT_H
#define CLI_PAIR_INPUT_H

#include "cli_input.h"

typedef struct pair_input {
    text_input source, target; /* target.reader NULL: TSV */
    warnings *warnings;
    size_t capacity; /* pairs of a window */
    char **from, **to;
    size_t n, done; /* pairs in the window, and before it */
} pair_input;

/* target NULL: TSV in source. Counts the lines of both files first, where they can be read twice: counts that
 * differ are SA_DATA. A window has enough pairs to sort by length. */
sa_status pair_input_open(pair_input *out, const char *source, const char *target, bool strict, int mini_batch,
                          warnings *told, sa_error *error);
void pair_input_close(pair_input *in);
/* Fills the window: waits for the first pair, then takes what can be had without waiting. *end: no more pairs. What
 * was read before a failure is in the window. */
sa_status pair_input_read(pair_input *in, bool *end, sa_error *error);
/* Empties the window. */
void pair_input_forget(pair_input *in);
/* Which files a subcommand was given: SOURCE TARGET, or --tsv FILE. CLI_GO_ON, or the status of a message. */
int pair_input_arguments(const command *c, int n, char **argv, const char *tsv, const char **source,
                         const char **target);

#endif
