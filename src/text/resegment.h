/* Other ways to cut words into the subwords of a vocabulary, drawn at random, so that a model that is trained sees
 * what words are made of. SentencePiece draws such segmentations too, but from a generator that cannot be set for
 * each sentence: what it draws depends on threads and on what came before. */
#ifndef TEXT_RESEGMENT_H
#define TEXT_RESEGMENT_H

#include "base/rng.h"
#include "text/vocab.h"

typedef struct resegmenter resegmenter;

/* Of a vocabulary of subwords, which must outlive it. */
sa_status resegmenter_new(resegmenter **out, const vocab *v, sa_error *error);
void resegmenter_free(resegmenter *r);

/* Appends ids of the same text as the n given ones, which the vocabulary made of it, word by word:
 *   BPE: merges in their order, each of which is left out with probability share (Provilkov, Emelianenko and Voita
 *     2020; a merge that was left out is not tried again, as in SentencePiece). 0: the ids that were given.
 *   unigram: a segmentation x of a word with probability proportional to p(x)^share (Kudo 2018), of all there are.
 * Symbols that are no subwords (<unk>, placeholders of protected items) stay as they are. What is drawn depends on
 * *random alone. False without memory. */
bool resegment(const resegmenter *r, const int *ids, size_t n, double share, rng *random, id_list *out);

#endif
