/* Translations of words, for those that a model does not know: what sa_dictionary is. */
#ifndef DECODE_DICTIONARY_H
#define DECODE_DICTIONARY_H

#include "base/error.h"

/* The target of a source word, with a blank before it (so that it can be taken with or without); NULL: none. */
const char *dictionary_find(const sa_dictionary *d, const char *word);

#endif
