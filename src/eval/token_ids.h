/* Numbers the different tokens of a line and its references, 1, 2, ... in order of appearance, by hashing; two
 * tokens have one number exactly when their bytes are equal. */
#ifndef EVAL_TOKEN_IDS_H
#define EVAL_TOKEN_IDS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_UNKNOWN = 0 };

struct token_slot;

/* {0} is ready for use, {.characters = true} takes each character for a token. Memory is kept from line to line. */
typedef struct token_ids {
    bool characters; /* else tokens are given as a text with one blank between them */
    size_t *id;      /* the tokens of the text read last, n of them */
    size_t n;

    size_t line;             /* what an older line left in the table counts as empty */
    strbuf text;             /* the texts whose tokens were added: slots point into it */
    struct token_slot *slot; /* open addressing */
    size_t n_tokens, capacity, id_capacity;
} token_ids;

/* Forgets all tokens. */
void token_ids_begin(token_ids *t);
/* Fills id. A token that is new gets a number when `add`, else it is TOKEN_UNKNOWN. False when memory ran out. */
bool token_ids_read(token_ids *t, const char *tokens, size_t length, bool add);
void token_ids_free(token_ids *t);

#endif
