/* A vocabulary of subwords that protects items, for tests. Include cmocka first. */
#ifndef PROTECTING_VOCAB_H
#define PROTECTING_VOCAB_H

#include "sentences.h"

#define NUMBER "\xEF\xB7\x93"
#define TAG "\xEF\xB7\x96"

static inline vocab *protecting_vocab(sa_vocab_type type) {
    static const char *const lines[] = {"the dog sees " NUMBER " cats", TAG "a dog" TAG,
                                        "cats see " NUMBER NUMBER ".", NULL};
    vocab_options options = {.type = type, .size = 45, .protect = true};
    vocab *v;
    sa_error error;
    sa_status status = train_with(&v, &options, lines, 20, &error);
    if (status != SA_OK)
        fail_msg("%s", error.text);
    return v;
}

#endif
