/* Explanations as lines of JSON, and what they say together as a table or as JSON. */
#ifndef CLI_EXPLAIN_WRITER_H
#define CLI_EXPLAIN_WRITER_H

#include "cli.h"

#include <softalign/explanation.h>

/* One line: an object with "line" (from 1), the symbols of both sides, and one object for each symbol of the
 * target; or, of a pair that was left out, "left_out" with the reason. What is not a number is null. False without
 * memory. */
bool explain_write_record(FILE *file, const sa_explanation *x, uint64_t line, int max_length);

/* What a summary is of. */
typedef struct explain_subject {
    const sa_explain_options *options;
    const char *const *others; /* paths of the models that were compared with */
    int n_others;
} explain_subject;
/* As a table: mean, deviation, and share significant, of all symbols and by attention's largest weight. */
void explain_write_table(FILE *file, const sa_explain_summary *summary, const explain_subject *subject);
/* As one object of JSON, in full. False without memory. */
bool explain_write_json(FILE *file, const sa_explain_summary *summary, const explain_subject *subject);

#endif
