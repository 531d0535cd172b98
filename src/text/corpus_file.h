/* What training makes of its text, in one file, so that it is made once: the vocabularies, the pairs held out for
 * validation, and a corpus of ids that is mapped and not read. The file is for the machine that wrote it. It is not
 * trusted: opening it checks its head, in a time that does not depend on its size; corpus_check the rest.
 *
 *   head | entries, with room for all pairs of the text | ids | vocabularies | pairs held out */
#ifndef TEXT_CORPUS_FILE_H
#define TEXT_CORPUS_FILE_H

#include "text/corpus.h"
#include "text/pair_text.h"

/* What a corpus was made of; no padding. */
typedef struct corpus_origin {
    file_stamp stamp[2];            /* of the files; zero for what is none */
    uint64_t lines[2], hash[2];     /* of the files' contents; [1] zero for TSV */
    uint64_t recipe;                /* hash of how the vocabularies are learnt */
    uint64_t held_out;              /* pairs at the end of the text that were asked for */
    uint64_t max_length;            /* symbols a side */
    uint64_t read, empty, too_long; /* pairs, held out ones not among them; those not kept */
    uint64_t replaced;              /* invalid UTF-8 sequences in the text, and where the first was */
    char replaced_at[256];
} corpus_origin;

/* ---- reading */

typedef struct corpus_file {
    file_mapping mapping;
    const struct corpus_head *head;
} corpus_file;

/* out->head is NULL where no file is. SA_FORMAT when it is damaged, of another version or no such file at all. */
sa_status corpus_file_open(corpus_file *out, const char *path, sa_error *error);
void corpus_file_close(corpus_file *f);
const corpus_origin *corpus_file_origin(const corpus_file *f);
/* Bytes of the vocabulary of a side; none on the target's when both share one. */
file_chunk corpus_file_vocab(const corpus_file *f, int side);
sa_status corpus_file_held_out(const corpus_file *f, pair_text *out, sa_error *error);
/* Takes the mapping out of f. */
sa_status corpus_file_take(corpus_file *f, corpus *out, const char *path, sa_error *error);

/* ---- writing */

typedef struct corpus_file_writer corpus_file_writer;

/* As file_writer_open. */
sa_status corpus_file_begin(corpus_file_writer **out, const char *path, bool wait, sa_error *error);
/* To be called once before the first pair: how many there can be at most. */
void corpus_file_reserve(corpus_file_writer *w, size_t pairs);
/* A corpus_take. */
sa_status corpus_file_add(void *writer, const corpus_entry *e, const int *ids, sa_error *error);
/* Frees w, whatever comes of it. vocabularies: bytes of each side's; vocab_size: symbols in them. */
sa_status corpus_file_finish(corpus_file_writer *w, const corpus_origin *origin, const file_chunk vocabularies[2],
                             const int vocab_size[2], const pair_text *held_out, sa_error *error);
void corpus_file_abandon(corpus_file_writer *w);

#endif
