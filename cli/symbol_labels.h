/* What stands beside the rows and columns of a drawing of attention. */
#ifndef CLI_SYMBOL_LABELS_H
#define CLI_SYMBOL_LABELS_H

#include "cli.h"

/* n symbols of a text, but for words that the model does not know ("<unk>", or "▁" and "<unk>"): these are taken
 * from the text. word: of each symbol (sa_hypothesis); NULL: nothing is taken. NULL without memory. */
char **symbol_labels(char *const *symbol, const int *word, int n, const char *text);
void symbol_labels_free(char **label, int n);

#endif
