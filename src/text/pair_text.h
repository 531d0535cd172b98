/* Parallel text as files hold it: pairs of lines, read in order, at any length of the files in little memory. */
#ifndef TEXT_PAIR_TEXT_H
#define TEXT_PAIR_TEXT_H

#include "base/file.h"
#include "base/strbuf.h"

/* The files that pairs come from: two, or a TSV file alone when path[SA_TARGET] is NULL. */
typedef struct pair_files {
    const char *path[2]; /* the caller's */
    bool strict;
    file_stamp stamp[2]; /* as they were opened; zero for what is no regular file */
    int copy[2];         /* descriptor of the copy of a file that can be read only once; -1: none */
} pair_files;

/* What can be read only once, standard input or a pipe, is copied to an unnamed file in `folder`, so that pairs can
 * be read as often as is wanted; folder NULL: nothing is copied, and pairs are read once. SA_USAGE when both files
 * are standard input. Files that are not there are an error of reading them. */
sa_status pair_files_open(pair_files *out, const char *source, const char *target, bool strict, const char *folder,
                          sa_error *error);
void pair_files_close(pair_files *files);
/* The file of that side as messages call it; NULL when there is none. */
const char *pair_files_name(const pair_files *files, int side);

/* A pair of lines. The source of a TSV line ends at its length, without a zero. */
typedef struct pair_lines {
    const char *line[2];
    size_t length[2];
} pair_lines;

/* One way through the files. */
typedef struct pair_reader {
    const pair_files *files;
    sa_reader *reader[2]; /* [1] NULL for TSV */
    size_t n;             /* pairs so far */
    size_t n_wrong;       /* TSV lines that have not two fields */
    strbuf wrong;         /* the first of them, for the message */
    uint64_t hash[2];     /* of each file's lines so far */
    size_t bytes[2];      /* of each side's lines so far */
} pair_reader;

sa_status pair_reader_open(pair_reader *out, const pair_files *files, sa_error *error);
/* The next pair, valid until the next call; out->line[SA_SOURCE] is NULL after the last. At the end: line counts
 * that differ are SA_DATA with both counts; TSV lines that had not exactly two fields, left out till then, are
 * SA_DATA with file:line of the first few; no lines at all are SA_DATA. */
sa_status pair_reader_next(pair_reader *r, pair_lines *out, sa_error *error);
void pair_reader_close(pair_reader *r);

/* Invalid UTF-8 sequences that were replaced by U+FFFD in both files. */
typedef struct replacements {
    size_t n;
    char first[256]; /* "file:line:byte", "" when there are none */
} replacements;
replacements pair_reader_replaced(const pair_reader *r);

/* Pairs in memory. */
typedef struct pair_text {
    size_t n, capacity;
    size_t first;            /* the first pair's line in the files, from 0 */
    char **source, **target; /* zero-terminated lines, n each */
} pair_text;

/* Appends copies of both lines. */
sa_status pair_text_add(pair_text *text, const pair_lines *lines, sa_error *error);
/* Reads both files whole (TSV when target is NULL). Errors are those of pair_reader_next. */
sa_status pair_text_read(pair_text *out, const char *source, const char *target, bool strict,
                         replacements *replaced, sa_error *error);
void pair_text_free(pair_text *text);

#endif
