/* Search for translations: greedy and beam, many sentences in one product. */
#ifndef DECODE_SEARCH_H
#define DECODE_SEARCH_H

#include "model/model.h"

typedef struct search_options {
    int beam_size;           /* 1: greedy */
    float normalize;         /* scores compare after division by length^normalize, </s> counted */
    float max_length_factor; /* at most factor * source symbols + 10 target symbols, </s> counted */
    bool attention;
} search_options;

typedef struct hypothesis {
    int *ids; /* length of them, </s> last */
    int length;
    double score, normalized;
    float *attention; /* (length, source length); NULL unless asked for or the model does not attend */
} hypothesis;

/* Finished hypotheses of one sentence, best first: 1 ... beam_size of them. */
typedef struct hypotheses {
    int n;
    hypothesis *at;
} hypotheses;

/* Translates n sentences together; out[i] belongs to sentences[i]. A sentence's result does not depend on the
 * others. A hypothesis that takes </s> leaves the beam, which is then one narrower; a sentence ends when nothing of
 * its beam is left. At the length limit </s> is the only choice. SA_NUMERIC when a score is not finite. Resets the
 * tape. */
sa_status search_translate(const model *m, tape *t, const sentence *sentences, int n, const search_options *options,
                           hypotheses *out, sa_error *error);
void hypotheses_free(hypotheses *h);

#endif
