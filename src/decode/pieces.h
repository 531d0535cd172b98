/* Lines as the pieces that are translated one by one: a line as a rule, its sentences when they are to be split,
 * parts of a sentence that is too long, and each line of a text that holds LF. */
#ifndef DECODE_PIECES_H
#define DECODE_PIECES_H

#include "base/arena.h"
#include "decode/restore.h"
#include "decode/symbols.h"

typedef struct source_piece {
    size_t line;            /* that it is of */
    int number;             /* in its line, from 0 */
    int line_feeds;         /* of the text before it: 0 or more */
    symbols source;         /* ids with </s> */
    bool cropped;           /* one character of more than max_length symbols */
    const held_item *items; /* n_items, in order */
    size_t n_items;
    int kinds[PROTECT_KINDS]; /* how many items there are of each */
    forced_start start;
} source_piece;

typedef struct piece_list {
    size_t n, capacity;
    source_piece *at;
    arena *texts; /* of items */
} piece_list;

/* Appends the pieces of a line, none when it is blank. Items are protected when `protect`, and never cut through.
 * *too_long: a sentence had to be cut, see cut_middle. */
sa_status pieces_add(piece_list *out, const vocab *source, const sa_translate_options *o, bool protect, size_t line,
                     const char *text, bool *too_long, sa_error *error);
void pieces_free(piece_list *pieces);

/* What to show for each id of a source: the items' texts, else NULL. Room for the ids. */
void piece_show_items(const source_piece *p, const char **texts);

/* Makes one translation of those of the n pieces of a line; a single one is moved out of *parts. Of each piece
 * hypothesis k is taken, or its last where it has fewer; scores and lengths are sums, the normalized score is the
 * mean. Attention has the pieces' along the diagonal, or is left out where it would have more than
 * PIECES_ATTENTION_MOST numbers. */
enum { PIECES_ATTENTION_MOST = 1 << 24 };
sa_status pieces_join(sa_translation *out, const source_piece *pieces, sa_translation *parts, size_t n,
                      sa_error *error);

#endif
