/* Parallel texts of words, with the vocabularies of all their words. The test includes cmocka.h before. */
#ifndef PARALLEL_TEXT_H
#define PARALLEL_TEXT_H

#include "text/corpus.h"

#include <string.h>

typedef struct parallel_text {
    corpus text;
    vocab *side[2];
} parallel_text;

/* line[d][i]: line i of side d. */
static inline sa_status parallel_text_make(parallel_text *out, const char *const *const line[2], size_t n,
                                           sa_error *error) {
    const vocab_options options = {.type = SA_VOCAB_WORD, .size = 1000000};
    *out = (parallel_text){0};
    for (int d = 0; d < 2; d++) {
        vocab_learner *l;
        SA_TRY(vocab_learner_new(&l, &options, error));
        sa_status status = SA_OK;
        for (size_t i = 0; i < n && status == SA_OK; i++)
            status = vocab_learner_add(l, line[d][i], strlen(line[d][i]), error);
        if (status == SA_OK)
            status = vocab_learner_end(l, &out->side[d], error);
        vocab_learner_free(l);
        SA_TRY(status);
        out->text.vocab_size[d] = vocab_size(out->side[d]);
    }
    for (size_t i = 0; i < n; i++) {
        id_list ids = {0};
        size_t symbols[2];
        const char *const text[2] = {line[0][i], line[1][i]};
        const size_t length[2] = {strlen(text[0]), strlen(text[1])};
        sa_status status = vocab_encode_pair((const vocab *const[2]){out->side[0], out->side[1]}, text, length,
                                             &ids, symbols, error);
        corpus_entry e = {
            .line = i, .source_length = (int32_t)symbols[0] + 1, .target_length = (int32_t)symbols[1] + 1};
        if (status == SA_OK)
            status = corpus_append(&out->text, &e, ids.id, error);
        id_list_free(&ids);
        SA_TRY(status);
    }
    return SA_OK;
}

static inline void parallel_text_free(parallel_text *p) {
    corpus_free(&p->text);
    for (int d = 0; d < 2; d++)
        vocab_free(p->side[d]);
}

#endif
