/* Where the attention to the pairs of a training text ought to look: links from outside, of words, as links of the
 * corpus' symbols. */
#ifndef TRAIN_LINK_TABLE_H
#define TRAIN_LINK_TABLE_H

#include "model/batch.h"
#include "text/corpus.h"
#include "text/pair_text.h"

typedef struct symbol_link {
    int source, target;
} symbol_link;

typedef struct link_table {
    size_t *at; /* links of pair i of the corpus are link[at[i]] ... link[at[i + 1] - 1]; NULL: there is no table */
    symbol_link *link;
    size_t n, capacity;
    uint64_t hash; /* of the lines of the file */
} link_table;

/* Reads the file, line i of which has the links of line i of the text, dropped and held out pairs included, counted
 * from 0 at blanks, source first. A link of two words is one of all their symbols. SA_DATA with file and line: what
 * is no link, a word that the line has not, another number of lines than the text has. */
sa_status link_table_read(link_table *out, const char *path, const pair_files *files, const corpus *text,
                          const vocab *const side[2], sa_error *error);
void link_table_free(link_table *table);

/* Says where the rows of a batch's targets ought to look, which are those of the n pairs. False once the tape has
 * failed. */
bool link_table_guide(const link_table *table, tape *t, const size_t *pairs, int n, target_batch *target);

#endif
