/* Options of translating and scoring: their defaults, and what is wrong with them. */
#ifndef DECODE_TRANSLATE_OPTIONS_H
#define DECODE_TRANSLATE_OPTIONS_H

#include "decode/ensemble.h"

/* SA_USAGE when a value is out of range, or asks for attention of models that have none. */
sa_status translate_options_check(const sa_translate_options *o, const ensemble *models, sa_error *error);

#endif
