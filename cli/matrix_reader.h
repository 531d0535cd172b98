/* Matrices from lines of JSON, as `softalign translate --output-format jsonl --alignment` writes them. */
#ifndef CLI_MATRIX_READER_H
#define CLI_MATRIX_READER_H

#include "gallery.h"

/* Adds what a line holds to the gallery: the hypotheses, at most `most` of them, or the translation itself.
 * Members: source_symbols   strings, one for each column symbols          strings, one for each row alignment rows
 * of numbers; null: there is none text, score, normalized   of the translation; may be missing hypotheses objects
 * with all of these but the first A blank line, or one that says why it has no translation ("error"), is drawn as
 * that. place: "file:line", for the message about a line that is otherwise. Returns the exit status. */
int matrix_add(gallery *g, const char *line, const char *place, int most);

#endif
