/* Search for translations, and drawing of samples: many sentences in one product. */
#ifndef DECODE_SEARCH_H
#define DECODE_SEARCH_H

#include "decode/constraint.h"

typedef struct hypothesis {
    int *ids; /* length of them, </s> last */
    int length;
    double score, normalized; /* sum of log p; what hypotheses are compared by (decode/ranking.h) */
    double *word_score;       /* length log p's */
    float *attention;         /* (length, source length); NULL unless it was needed and the models attend */
} hypothesis;

/* Of one sentence: when searching at most n_best, best first, one at least; else the samples in order. */
typedef struct hypotheses {
    int n;
    hypothesis *at;
} hypotheses;

/* Translates n sentences together; out[i] belongs to sentences[i]. A sentence's result does not depend on the
 * others. target: the models' vocabulary.
 *
 * Beam search. Each step extends every hypothesis by every word and keeps the best by sum of log p, at first
 * beam_size of them. Those that took </s> are finished, and the beam is narrower by their number from then on, as
 * in GroundHog, Nematus and Marian. Keeping its width finds slightly better scores (by 0.0002 to 0.003 a symbol
 * with models of Multi30k, beams 5 and 12), no better BLEU, and extends 13 to 20% more hypotheses. A sentence ends
 * when no hypothesis is left, or when n_best finished ones are better than anything that can come of the others
 * (ranking_needed): this loses nothing, and the best does not depend on n_best.
 *
 * Sampling (options->sample). n_best hypotheses each draw word after word from p^(1/temperature), or from its top_k
 * best words. What is drawn depends on the seed, the sentence's number, the sample's number and the place.
 *
 * Where constraints leave no word, </s> ends the hypothesis. SA_NUMERIC when a score is not finite. Resets the
 * tape. */
sa_status search_translate(const ensemble *models, const vocab *target, tape *t, const source_sentence *sentences,
                           int n, const sa_translate_options *options, hypotheses *out, sa_error *error);
void hypotheses_free(hypotheses *h);

#endif
