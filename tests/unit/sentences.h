/* Sentences for vocab_train() in tests. */
#ifndef TEST_SENTENCES_H
#define TEST_SENTENCES_H

#include <string.h>

#include "text/vocab.h"

typedef struct sentences {
    const char *const *line; /* NULL ends them */
    int times;               /* all lines that often */
    size_t at;
} sentences;

static inline const char *next_sentence(void *user, size_t *length) {
    sentences *s = user;
    if (s->times > 0 && !s->line[s->at]) {
        s->times--;
        s->at = 0;
    }
    if (s->times == 0 || !s->line[s->at])
        return NULL;
    *length = strlen(s->line[s->at]);
    return s->line[s->at++];
}

static inline sa_status train_on(vocab **out, sa_vocab_type type, int size, const char *normalization,
                                 const char *const *lines, int times, sa_error *error) {
    vocab_options options = {.type = type, .size = size, .normalization = normalization};
    return vocab_train(out, &options, next_sentence, &(sentences){.line = lines, .times = times}, error);
}

#endif
