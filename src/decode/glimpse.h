/* What a caller sees of a sentence while it is searched (sa_translate_options.watch). */
#ifndef DECODE_GLIMPSE_H
#define DECODE_GLIMPSE_H

#include "decode/beam.h"

/* Shows the caller what is certain of a sentence that goes on, and notes that in the beam. *wanted: what the caller
 * says. SA_MEMORY. */
sa_status glimpse_show(const sa_translate_options *o, const vocab *target, beam *b, bool *wanted, sa_error *error);

#endif
