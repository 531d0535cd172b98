/* Drawing the links of one pair, given those of all others (docs/align.md has the equations). */
#ifndef ALIGN_COUNT_DRAW_H
#define ALIGN_COUNT_DRAW_H

#include "align/count_chain.h"
#include "base/rng.h"

/* Of each place of a side: where its word (or stem) is first, and where it comes next, or -1. */
typedef struct count_repeats {
    int *first, *next;
} count_repeats;

/* Room to work on one pair at a time, of S and T words. What belongs to a direction is indexed by it; "givers" and
 * "takers" are places in the sentences. Counts are those of the chain without this pair's own links. */
typedef struct count_draw {
    int longest;
    int16_t *link[2];                     /* (takers) */
    count_repeats words[2], stems[2];     /* by side */
    int *stem[2];                         /* (places), by side */
    float *share[2];                      /* (places), by side: of the word among those of its stem */
    int *last;                            /* by word or stem: -1 between pairs */
    float *counts[4];                     /* (S,T): links of the words in direction 0 and 1, and of the stems */
    float *word_links[2], *stem_links[2]; /* (givers): of the word, of its stem */
    float *fertility[2];                  /* (givers, COUNT_FERTILITIES) */
    float *lexical[2];                    /* (takers, givers): p(taker | giver) */
    float *none[2];                       /* (takers): weight of coming from none */
    int *uses;                            /* (givers): links so far */
    float *weight, *own, *leave;          /* (givers) */
} count_draw;

sa_status count_draw_make(count_draw *w, const count_text *text, sa_error *error);
void count_draw_free(count_draw *w);
double count_draw_bytes(const count_text *text);

/* What links are drawn by, besides words. */
typedef struct count_stage {
    bool words_only; /* without jumps and fertilities, which early sweeps do not know */
    float gamma;     /* how much likelier a link is that the other direction has too */
} count_stage;
extern const count_stage count_whole_model;

/* Starts on a pair from the chain's links of it. Where there are none yet nothing is known of words: counts of the
 * pairs before alone would soon take hold of all. */
void count_draw_begin(count_draw *w, const count_chain *c, const count_pair *p);
/* Draws each taker's link of both directions once. sum: NULL, or two matrices (S,T) that the probabilities of each
 * direction's links are added to. */
void count_draw_links(count_draw *w, const count_chain *c, const count_pair *p, const count_stage *stage,
                      rng *random, float *const sum[2]);

#endif
