/* The target words that translations may need, by source symbol: what sa_shortlist is. */
#ifndef DECODE_SHORTLIST_H
#define DECODE_SHORTLIST_H

#include "base/safetensors.h"
#include "text/vocab.h"

struct sa_shortlist {
    st_file *file; /* what the rest points into */
    int vocab_size[2];
    const int *start; /* of each source symbol's words in `word`; vocab_size[SA_SOURCE] + 1 */
    const int *word;
    const int *frequent; /* in every sentence's list */
    int n_frequent;
};

/* The tensors of its file. */
#define SHORTLIST_START "shortlist.start"
#define SHORTLIST_WORD "shortlist.word"
#define SHORTLIST_FREQUENT "shortlist.frequent"
#define SHORTLIST_FORMAT "softalign shortlist 1"
/* What vocabularies a shortlist is for: a hash of both. */
sa_status shortlist_vocabularies(const vocab *source, const vocab *target, char out[40], sa_error *error);

#endif
