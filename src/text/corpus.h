/* Parallel text as ids in memory, filtered and counted. */
#ifndef TEXT_CORPUS_H
#define TEXT_CORPUS_H

#include "text/vocab.h"

/* Raw pairs of lines, read once. TSV when `target` is NULL: two fields a line. */
typedef struct pair_text {
    size_t n;
    size_t first;            /* the first pair's line in the files, from 0 */
    char **source, **target; /* zero-terminated lines, n each */
    size_t replaced;         /* invalid UTF-8 sequences replaced in both files */
    char replaced_at[256];   /* "file:line:byte" of the first, "" when none */
} pair_text;

/* Reads both files. Line counts that differ: SA_DATA with both counts. A TSV line that has not exactly two fields:
 * SA_DATA with file:line of the first few. No lines at all: SA_DATA. */
sa_status pair_text_read(pair_text *out, const char *source, const char *target, bool strict, sa_error *error);
/* Moves the last n pairs, but never more than half of all, into *held. */
sa_status pair_text_hold_out(pair_text *text, size_t n, pair_text *held, sa_error *error);
void pair_text_free(pair_text *text);

typedef struct pair {
    const int *source, *target;       /* ids, </s> (id 0) last in each */
    int source_length, target_length; /* </s> counted */
    size_t line;                      /* from 0, in the files */
} pair;

typedef struct corpus {
    size_t n;
    pair *pair;
    int *ids;                              /* storage behind the pairs */
    size_t source_symbols, target_symbols; /* </s> not counted */
} corpus;

typedef struct corpus_counts {
    size_t read, kept, empty, too_long;
} corpus_counts;

/* Encodes; drops pairs with an empty side (nothing but blanks) and, when max_length > 0, those with more than
 * max_length symbols (</s> not counted) on either side. n may come out 0: the caller says what that means. */
sa_status corpus_encode(corpus *out, const pair_text *text, const vocab *source, const vocab *target,
                        int max_length, corpus_counts *counts, sa_error *error);
void corpus_free(corpus *c);

#endif
