/* Vocabularies of a few sentences, for tests. */
#ifndef TEST_SENTENCES_H
#define TEST_SENTENCES_H

#include <string.h>

#include "text/vocab.h"

/* Learns from lines, which a NULL ends, all of them that often. */
static inline sa_status train_with(vocab **out, const vocab_options *options, const char *const *lines, int times,
                                   sa_error *error) {
    vocab_learner *l;
    *out = NULL;
    SA_TRY(vocab_learner_new(&l, options, error));
    sa_status status = SA_OK;
    for (int i = 0; i < times; i++)
        for (const char *const *line = lines; *line && status == SA_OK; line++)
            status = vocab_learner_add(l, *line, strlen(*line), error);
    if (status == SA_OK)
        status = vocab_learner_end(l, out, error);
    vocab_learner_free(l);
    return status;
}

static inline sa_status train_on(vocab **out, sa_vocab_type type, int size, const char *normalization,
                                 const char *const *lines, int times, sa_error *error) {
    vocab_options options = {.type = type, .size = size, .normalization = normalization};
    return train_with(out, &options, lines, times, error);
}

#endif
