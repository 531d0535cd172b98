/* Words by how they begin. What a rare word is linked to can be guessed from words of its stem, and a name or
 * number is linked to itself: stems are numbered over both sides together. */
#ifndef ALIGN_COUNT_STEMS_H
#define ALIGN_COUNT_STEMS_H

#include "text/corpus.h"

enum { COUNT_STEM_LETTERS = 4 };

typedef struct count_stems {
    int n;           /* stems of both sides */
    int kinds[2];    /* stems of each side */
    int *of[2];      /* of each symbol of a side's vocabulary */
    float *share[2]; /* of each symbol among those of its stem: p(word | stem), by counting */
} count_stems;

/* The stem of a word is its first COUNT_STEM_LETTERS letters in lower case, marks that combine counted as letters;
 * a word with a digit, and </s> and <unk>, are stems of their own. */
sa_status count_stems_make(count_stems *out, const corpus *c, const vocab *const side[2], sa_error *error);
void count_stems_free(count_stems *s);

#endif
