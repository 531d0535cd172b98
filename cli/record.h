/* Lines of input that hold a text to translate, and what else stands in them. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <jansson.h>

#include "cli.h"

typedef enum input_format { INPUT_TEXT, INPUT_TSV, INPUT_JSONL } input_format;
extern const char *const input_format_names[];

typedef struct record {
    char *line;     /* as it was read */
    char *text;     /* to translate; NULL when the line is broken */
    json_t *object; /* of a line of JSON; NULL elsewhere */
    char *problem;  /* what is wrong with a broken line */
} record;

/* Takes the line apart, which then belongs to the record. column: of a TSV line, from 1.
 *   text    the line is the text
 *   tsv     the text is in that column; other fields are kept
 *   jsonl   the line is an object whose "text" is the text; other members are kept. A blank line is an empty text
 * A line that is not so is broken, which is no failure: text is NULL, problem says why. SA_MEMORY. */
sa_status record_make(record *out, input_format format, int column, char *line, sa_error *error);
void record_free(record *r);

#endif
