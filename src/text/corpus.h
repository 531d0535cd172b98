/* Parallel text as ids. It lies in memory or in a mapped file: both look alike. */
#ifndef TEXT_CORPUS_H
#define TEXT_CORPUS_H

#include "base/file.h"
#include "text/vocab.h"

typedef struct pair {
    const int *source, *target;       /* ids, </s> (id 0) last in each */
    int source_length, target_length; /* </s> counted */
    size_t line;                      /* from 0, in the files */
} pair;

/* Where a pair is: 32 bytes without padding, which a file holds as they are. */
typedef struct corpus_entry {
    uint64_t first; /* place of its first id; those of the source come first, then those of the target */
    uint64_t line;
    int32_t source_length, target_length;
    uint64_t check; /* corpus_entry_check */
} corpus_entry;

typedef struct corpus {
    size_t n;
    size_t source_symbols, target_symbols; /* </s> not counted */
    int vocab_size[2];
    const corpus_entry *entry; /* n */
    const int *ids;            /* n_ids: of all pairs */
    size_t n_ids;
    /* Storage, of one kind or the other: */
    file_mapping mapping; /* of the file `path` */
    char *path;
    corpus_entry *own_entry; /* with room for so many */
    int *own_ids;
    size_t entry_capacity, ids_capacity;
} corpus;

void corpus_free(corpus *c);

/* Appends a pair with those ids to a corpus in memory; e->first is set here. */
sa_status corpus_append(corpus *c, const corpus_entry *e, const int *ids, sa_error *error);

/* Hash of the entry's number, line, lengths and ids. */
uint64_t corpus_entry_check(const corpus_entry *e, uint64_t number, const int *ids);

/* Asks the system to read those pairs from disk meanwhile, where it must. */
void corpus_expect(const corpus *c, const size_t *pairs, size_t n);
/* A corpus of a file may be damaged. Says before they are used whether all of those pairs lie inside, are ids of
 * the vocabularies, and are what was written: else SA_FORMAT, naming the file. Reads those pairs and no more. */
sa_status corpus_check(const corpus *c, const size_t *pairs, size_t n, sa_error *error);
/* Pair i < n, which was checked. */
static inline pair corpus_pair(const corpus *c, size_t i) {
    const corpus_entry *e = &c->entry[i];
    const int *source = c->ids + e->first;
    return (pair){source, source + e->source_length, e->source_length, e->target_length, (size_t)e->line};
}

#endif
