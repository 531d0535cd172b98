/* Texts that a subcommand reads line by line, and warnings about them. */
#ifndef CLI_CLI_INPUT_H
#define CLI_CLI_INPUT_H

#include "status_line.h"

/* Warnings of one run: after the tenth they are only counted. */
typedef struct warnings {
    bool quiet;
    size_t n;
    status_line line; /* goes off the terminal before a warning; begun unless quiet */
} warnings;
/* Counts one more; whether it is to be shown, and room for it. */
bool warnings_show(warnings *w);
/* Says how many were not shown. */
void warnings_end(warnings *w, const char *name);

typedef struct text_input {
    sa_reader *reader;
    const char *name; /* for messages */
    size_t replaced;  /* bytes, warned of */
} text_input;

/* "-" is standard input. On failure *input is empty. */
sa_status text_open(text_input *input, const char *path, bool strict, sa_error *error);
/* The next line, which the caller frees; *line = NULL at the end. Warns of replaced bytes. */
sa_status text_next(text_input *input, warnings *w, char **line, sa_error *error);
void text_close(text_input *input);

/* Whether a path is a regular file ("-": standard input is), which can be read again and is all there. */
bool is_regular(const char *path);
/* Whether two paths are one regular file ("-" as the first: standard input). */
bool same_file(const char *input, const char *output);

#endif
