/* A chain: links of a whole parallel text, and how often what is linked to what, which one link after the other is
 * drawn from.
 *
 * Direction d: each word of side 1 - d, its taker, comes from one word of side d, its giver, or from none. So d is
 * the side of the givers: in direction SA_SOURCE target words choose among source words. The equations are in
 * docs/align.md. */
#ifndef ALIGN_COUNT_CHAIN_H
#define ALIGN_COUNT_CHAIN_H

#include "align/count_aligner.h"
#include "align/count_stems.h"
#include "align/count_table.h"

enum {
    COUNT_FERTILITIES = 8, /* 0 ... 6, and 7 or more */
    COUNT_JUMPS = 150,     /* jumps as wide as this or wider count as one */
    COUNT_UNLINKED = -1,   /* link of a word that comes from none */
    COUNT_NOT_YET = -2     /* link of a word that no sweep has come to */
};

/* What all chains share; read only. */
typedef struct count_text {
    const corpus *text;
    count_stems stems;
    int longest; /* words of a side, among the pairs that are linked */
} count_text;

/* What a word of the givers' side has given, in one direction. */
typedef struct count_giver {
    uint32_t links;
    uint32_t fertility[COUNT_FERTILITIES]; /* occurrences with so many links */
} count_giver;

typedef struct count_chain {
    const count_text *text;
    uint64_t seed;
    int number;
    int16_t *link;            /* beside each id of the corpus: the place of its giver */
    count_table words, stems; /* rows by source word, or its stem */
    count_giver *giver[2];    /* by direction; by word */
    uint32_t *stem_links[2];  /* by direction; given by each stem */
    uint32_t *none[2];        /* by direction; links to none, by taker */
    double none_total[2];
    double fertility[2][COUNT_FERTILITIES]; /* shares over all givers; of the last sweep */
    uint64_t jumped[2][2 * COUNT_JUMPS + 1];
    float *jump[2]; /* weight of a jump by k at [k + longest + 1] */
} count_chain;

/* Words of a side of a pair, without </s>. */
typedef struct count_pair {
    const int *word[2];
    int length[2];
    size_t taken[2]; /* by direction: place of the first taker */
} count_pair;
/* False: the pair is empty or too long, and stays without links. */
bool count_pair_at(const corpus *c, size_t i, count_pair *out);

sa_status count_chain_make(count_chain *c, const count_text *text, uint64_t seed, int number, sa_error *error);
void count_chain_free(count_chain *c);
/* Bytes that a chain takes, with a reserve; the stems need not be made. */
double count_chain_bytes(const count_text *text);
/* The chain's links of a pair become link[d][...]. SA_MEMORY leaves counts that are good for nothing. */
sa_status count_chain_relink(count_chain *c, const count_pair *p, int16_t *const link[2], sa_error *error);
/* Between sweeps: shares of fertilities and weights of jumps are counted anew. */
void count_chain_refresh(count_chain *c);

#endif
