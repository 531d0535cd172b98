/* A source and a given target as a model reads them. */
#ifndef DECODE_PAIR_SYMBOLS_H
#define DECODE_PAIR_SYMBOLS_H

#include "decode/symbols.h"
#include "model/model_file.h"

/* Both sides as ids, without </s>: the source as it is translated, and in the target symbols for those of its items
 * that come through as they are, where the model protects and `protect` is not SA_PROTECT_OFF. read: the target has
 * the symbols' own texts, with blanks between. On failure what is in *source and *target is the caller's to free.
 */
sa_status pair_symbols_encode(symbols *source, symbols *target, const sa_model *owner, const char *const line[2],
                              sa_protect protect, bool read, sa_error *error);

#endif
