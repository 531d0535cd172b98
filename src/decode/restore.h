/* Protected items on their way back: from the symbols that stand for them to what the source had. */
#ifndef DECODE_RESTORE_H
#define DECODE_RESTORE_H

#include "decode/search.h"
#include "text/words.h"

/* An item of a source sentence. */
typedef struct held_item {
    const char *text;
    protect_kind kind;
    int at; /* position of its symbol in the source; -1: the model does not see it */
} held_item;

/* Ids to be written, each as its own text where that is not NULL. */
typedef struct written {
    int *ids;
    const char **text;
    size_t n;
    const char **shown; /* of each symbol of the hypothesis, </s> too: the item that it stands for, or NULL */
    int *word;          /* of each symbol but </s>: the word of the text that it begins or goes on with; -1: none */
    int added;          /* items that the hypothesis has no symbol for */
} written;

/* The words of a hypothesis without </s>, with texts[i] (NULL: the vocabulary's) for word i, its own for each
 * symbol that stands for an item, and the missing items:
 *   - A symbol is filled with an item of its kind, each item used once: of all pairs of a symbol and an item the
 * one with the largest attention first, of equal ones (without attention all are) the first symbol, the first item.
 *   - An item that is left is put, with a blank before it, behind the target word that looked at it most; without
 *     attention behind the last.
 *   - A symbol that is left is not written. (Search never writes more of a kind than the source has.)
 * source_length: columns of h->attention. SA_MEMORY. */
sa_status restore_items(written *out, const vocab *target, const hypothesis *h, int source_length,
                        const char *const *texts, const held_item *items, size_t n, sa_error *error);
void written_free(written *w);

#endif
