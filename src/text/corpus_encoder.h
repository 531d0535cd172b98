/* From lines to ids. */
#ifndef TEXT_CORPUS_ENCODER_H
#define TEXT_CORPUS_ENCODER_H

#include "base/thread.h"
#include "text/corpus.h"
#include "text/pair_text.h"

typedef struct corpus_counts {
    size_t read, kept, empty, too_long;
} corpus_counts;

/* Takes a pair that is kept, and its ids; e->first is left to the taker. Called in the order of the lines. */
typedef sa_status corpus_take(void *user, const corpus_entry *e, const int *ids, sa_error *error);

/* Takes them into a corpus in memory, which is user. */
corpus_take corpus_take_into_memory;

/* Drops pairs with an empty side (nothing but blanks) and those with more than max_length symbols (</s> not
 * counted) on either side; a side whose texts have all the same length is never too long. Lines are encoded block
 * by block on the threads of a pool; what is taken does not depend on how many there are. */
typedef struct corpus_encoder corpus_encoder;
sa_status corpus_encoder_new(corpus_encoder **out, const vocab *source, const vocab *target, int max_length,
                             pool *threads, corpus_take *take, void *user, sa_error *error);
/* line: the pair's number in the files, from 0. */
sa_status corpus_encoder_add(corpus_encoder *e, const pair_lines *lines, size_t line, sa_error *error);
/* Encodes the last block. */
sa_status corpus_encoder_end(corpus_encoder *e, corpus_counts *counts, sa_error *error);
void corpus_encoder_free(corpus_encoder *e);

/* Encodes pairs into memory. n may come out 0: the caller says what that means. */
sa_status corpus_encode(corpus *out, const pair_text *text, const vocab *source, const vocab *target,
                        int max_length, pool *threads, corpus_counts *counts, sa_error *error);

#endif
