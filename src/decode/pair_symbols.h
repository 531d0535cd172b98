/* A source and a given target as a model reads them. */
#ifndef DECODE_PAIR_SYMBOLS_H
#define DECODE_PAIR_SYMBOLS_H

#include "decode/symbols.h"
#include "model/model_file.h"

/* Where the model protects items and `protect` is not SA_PROTECT_OFF, lines give way to texts with symbols for
 * items: in the source as it is translated, in the target those that come through as they are. text begins empty
 * and is the caller's to free, after a failure too. */
sa_status pair_symbols_protect(strbuf text[2], const char *line[2], const sa_model *owner, sa_protect protect,
                               sa_error *error);

/* Both sides as ids, without </s>. read: the target has the symbols' own texts, with blanks between. On failure
 * what is in *source and *target is the caller's to free. */
sa_status pair_symbols_encode(symbols *source, symbols *target, const sa_model *owner, const char *const line[2],
                              sa_protect protect, bool read, sa_error *error);

#endif
