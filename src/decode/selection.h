/* The target words that the translations of a batch may have, by a shortlist. Scores are made of these alone, which
 * spares most of the output layer; a sentence chooses from its own, so that it does not matter what others are in
 * the batch. */
#ifndef DECODE_SELECTION_H
#define DECODE_SELECTION_H

#include "decode/shortlist.h"

struct source_sentence;

typedef struct selection {
    int n;              /* words of all sentences */
    int *id;            /* n */
    int *place;         /* of each word of the vocabulary among the n; -1: it is not there */
    int *start;         /* of each sentence in word and column; as many as sentences, and the end */
    int *word, *column; /* of each sentence: words, and their places among the n. None comes twice; the order
                           depends on the sentence alone */
    size_t capacity;    /* of word and column */
} selection;

/* A sentence's words are the frequent ones, those of its symbols, </s>, <unk>, the symbols of protected items, and
 * what it must begin with; all words where it must begin with letters that several words could have. False without
 * memory; selection_free is due either way. */
bool selection_make(selection *out, const sa_shortlist *s, const vocab *target,
                    const struct source_sentence *sentences, int n);
void selection_free(selection *s);

#endif
