/* Pairs of lines that a subcommand reads: two files, or one TSV file. */
#ifndef CLI_PAIR_INPUT_H
#define CLI_PAIR_INPUT_H

#include "cli_input.h"

/* Where they are; target NULL: source is TSV. */
typedef struct pair_files {
    const char *source, *target;
} pair_files;
/* From --tsv (NULL: not given) and the n arguments. CLI_GO_ON, or the exit status after a message. */
int pair_files_choose(pair_files *out, const command *c, const char *tsv, int n, char **argv);

typedef struct pair_input {
    text_input source, target; /* target.reader NULL: TSV */
} pair_input;

/* Two regular files must have as many lines; of a pipe the lines are counted as they come. Close it after a failure
 * too. */
sa_status pair_input_open(pair_input *input, pair_files files, bool strict, sa_error *error);
void pair_input_close(pair_input *input);

/* Pairs that are worked on together. */
typedef struct pair_window {
    char **from, **to;
    size_t n, capacity;
} pair_window;
/* capacity at least 1. False without memory; free it then too. */
bool pair_window_new(pair_window *w, size_t capacity);
void pair_window_free(pair_window *w);
/* Fills the window anew: waits for the first pair, then takes what can be had without waiting, up to its capacity
 * or some megabytes of text. *end: no more pairs. On failure the window has the pairs before. */
sa_status pair_window_fill(pair_window *w, pair_input *input, warnings *warn, bool *end, sa_error *error);

#endif
