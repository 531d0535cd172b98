/* Translations as lines of output: a line for each line of input, but for n-best lists. */
#ifndef CLI_TRANSLATION_WRITER_H
#define CLI_TRANSLATION_WRITER_H

#include "record.h"

typedef enum output_format { OUTPUT_AUTO, OUTPUT_TEXT, OUTPUT_TSV, OUTPUT_JSONL, OUTPUT_N_BEST } output_format;
extern const char *const output_format_names[];

typedef struct translation_writer {
    output_format format; /* not OUTPUT_AUTO */
    FILE *file;
    bool scores;      /* text: the normalized score before each */
    bool word_scores; /* behind, or in, what is written */
    bool alignment;   /* links, in jsonl attention too */
    char **links;     /* with alignment: those of each hypothesis of the translation that is written */
    bool hypotheses;  /* jsonl: a list of all of them */
} translation_writer;

/* Writes the translation of record r, line `line` from 0; a record that is broken has none. Line ends in a text are
 * blanks where lines are separated by them, tabs where fields are.
 *   text    the best translation; empty for a broken record
 *   tsv     the fields of the input, then translation, score, normalized score and, when asked for, "symbol:score
 * ..." jsonl   the members of the input, then source, text, score, normalized, and what else was asked for; for a
 *           broken record its members, if it has any, then line (from 1) and error
 *   n-best  as Marian and Moses write them: line ||| text ||| F0= score ||| normalized score */
void write_translation(const translation_writer *w, const record *r, const sa_translation *t, size_t line);

#endif
