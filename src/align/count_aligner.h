/* Word alignment by counting, without a neural model: a hidden Markov model with fertilities in each direction,
 * which agree, drawn by Gibbs sampling, with what words of one stem have in common. The equations are in
 * docs/align.md.
 *
 *   count_aligner *a;
 *   count_links links[256];
 *   SA_TRY(count_aligner_learn(&a, text, vocabularies, &count_defaults, error));
 *   for (size_t i = 0; i < text->n; i += n)              n: 256, or what is left
 *       SA_TRY(count_aligner_align(a, i, n, links, error)) ... count_links_free(links, n);
 *   count_aligner_free(a);
 *
 * What comes out depends on the text, the seed, the chains and the sweeps, not on the number of threads. */
#ifndef ALIGN_COUNT_ALIGNER_H
#define ALIGN_COUNT_ALIGNER_H

#include "text/corpus.h"

enum { COUNT_LONGEST = 2048 }; /* words of a side; pairs with more on a side stay without links */

typedef struct count_options {
    uint64_t seed;
    int threads; /* 1 or more; more than there are chains help aligning only */
    int chains;  /* drawn apart; their probabilities are averaged. 0: 16 for a text of up to a million words, both
                    sides  together, 4 for one of four million and more */
    int sweeps;  /* of each chain over the text by the whole model, behind five that lead to it */
} count_options;
extern const count_options count_defaults;

typedef struct count_aligner count_aligner;

/* Learns from all pairs of a checked corpus, whose words are those of the vocabularies (all the words of the text,
 * best; <unk> is a word like any other). The corpus must stay until the aligner is freed. SA_MEMORY: also where
 * count_aligner_bytes is more than is left; SA_USAGE: options out of range. */
sa_status count_aligner_learn(count_aligner **out, const corpus *text, const vocab *const side[2],
                              const count_options *options, sa_error *error);
void count_aligner_free(count_aligner *a);
/* Bytes that learning takes, beside the corpus: an estimate with a reserve. */
double count_aligner_bytes(const corpus *text, const count_options *options);

/* The links of a pair of S and T words. */
typedef struct count_links {
    int length[2]; /* S and T, </s> not counted */
    /* (S,T): [0]: that word t of the target comes from word s of the source; what a column lacks to 1 is the
     * probability that it comes from none. [1]: that word s of the source comes from word t of the target, likewise
     * by rows. NULL for a pair with an empty side or with more than COUNT_LONGEST words on one. */
    float *probability[2];
} count_links;

/* The mean of both directions' probabilities. From 0.5 on, links of which both are sure; that is better than what
 * symmetrises hard links. With a lower limit more of those of which one is sure. */
static inline float count_links_mean(const count_links *l, int s, int t) {
    size_t cell = (size_t)s * (size_t)l->length[SA_TARGET] + (size_t)t;
    return (l->probability[0][cell] + l->probability[1][cell]) / 2;
}

/* Aligns pairs first ... first + n - 1 of the corpus that was learned from. out: n; free them, also after an error.
 * One call at a time. */
sa_status count_aligner_align(count_aligner *a, size_t first, size_t n, count_links *out, sa_error *error);
void count_links_free(count_links *links, size_t n);

/* The words of the target that come most often from word x of the source (VOCAB_EOS: from none), best first: at
 * most k, and none whose share of all that come from it is below `least`. *n: how many were put into y. */
sa_status count_aligner_translations(const count_aligner *a, int x, int k, float least, int *y, int *n,
                                     sa_error *error);

/* The hard links of one direction: for each of the T (direction 0) or S (direction 1) words the most probable word
 * of the other side, or -1 where none is more probable. */
void count_links_best(const count_links *links, int direction, int *best);

#endif
