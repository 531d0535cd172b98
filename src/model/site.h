/* Where dropout happens, and which sentence each row of a tensor belongs to. */
#ifndef MODEL_SITE_H
#define MODEL_SITE_H

#include "tape/tape.h"

enum { SITE_SOURCE_EMBEDDING = 1, SITE_TARGET_EMBEDDING, SITE_ANNOTATIONS, SITE_STATE, SITE_READOUT };

typedef enum site_order {
    SITE_TIME_MAJOR,    /* row j * B + i: sentence i */
    SITE_SENTENCE_MAJOR /* row i * S + j: sentence i */
} site_order;

/* The sentence of each of B * S rows, in the tape's arena; NULL fails the tape. */
static inline int *site_rows(tape *t, int B, int S, site_order order) {
    int *sentence = tape_bytes(t, (size_t)B * (size_t)S * sizeof *sentence);
    for (int k = 0; sentence && k < B * S; k++)
        sentence[k] = order == SITE_TIME_MAJOR ? k % B : k / S;
    return sentence;
}

#endif
