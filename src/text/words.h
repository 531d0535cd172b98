/* Words of a text, runs of characters that are no blanks, counted from 0, and the symbols that stand for them. */
#ifndef TEXT_WORDS_H
#define TEXT_WORDS_H

#include "text/vocab.h"

/* Counts words of a text that comes piece by piece; begins as zero. */
typedef struct word_counter {
    int n;
    bool open; /* what came last was no blank: the word may go on */
} word_counter;

/* Takes the next piece and returns the word that its first character lies in which is no blank; -1: it has none. */
int words_take(word_counter *c, const char *text, size_t length);
/* The same of what a vocabulary writes for symbol id: `text`, where that is not NULL. */
int words_take_symbol(word_counter *c, const vocab *v, int id, const char *text);

/* The word of each of the n symbols that v makes of a text: it makes of words what it makes of each by itself. A
 * symbol that stands for several words counts as the first of them. */
sa_status words_of_symbols(const vocab *v, const char *text, size_t length, int *word, size_t n, sa_error *error);

/* A text with symbols in the place of items that are protected has other words: (*out)[i] is that of the text
 * itself where word i of the protected one begins. *out belongs to the caller. */
sa_status words_under_protection(int **out, const char *text, const char *protected, sa_error *error);

#endif
