/* How TER prepares a line, as Tercom and sacreBLEU do it: lower case, then tokens at white space; on request
 * punctuation is cut off (normalized) or taken out (no_punct), and so are Chinese and Japanese punctuation and
 * characters (asian_support). */
#ifndef EVAL_TER_TOKENIZER_H
#define EVAL_TER_TOKENIZER_H

#include "eval/cutter.h"

#include <softalign.h>

/* The tokens of a line as cutter_tokens gives them; NULL when memory ran out. */
const char *ter_tokenize(cutter *c, const sa_ter_options *options, const char *line, size_t *length);

#endif
