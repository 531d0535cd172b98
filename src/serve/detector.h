/* Which of the languages of the loaded models a text is in, by the models' vocabularies.
 *
 * A language's symbols, in the order of its vocabulary, which is about that of their frequency, are taken for a
 * unigram model: p(symbol of rank r) = 1 / ((r + 10) log of the size), by Zipf's law. A text is cut into the
 * longest symbols from the left, and the language whose symbols make it most probable is the one. */
#ifndef SERVE_DETECTOR_H
#define SERVE_DETECTOR_H

#include "serve/hosted.h"

typedef struct detector detector;

typedef struct guess {
    const char *language; /* its code */
    double confidence;    /* 0 ... 100: how much more probable than the other languages', times the share of
                             characters that are in its vocabulary at all */
} guess;

/* Learns the languages of models that have codes; SA_MEMORY. */
sa_status detector_new(detector **out, const hosted *models, sa_error *error);
void detector_free(detector *d);

int detector_languages(const detector *d);
/* The languages, the likeliest first; of those with a model into `target`, where that is not NULL. Room for all;
 * returns how many there are. On any thread. -1 without memory. */
int detector_guess(const detector *d, const char *text, const char *target, guess *out);

#endif
