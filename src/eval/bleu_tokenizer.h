/* How BLEU cuts a line into tokens, as sacreBLEU does it.
 *   13a    mteval-v13a.pl of NIST: entities &quot; &amp; &lt; &gt; are read, ASCII punctuation is cut off
 *   intl   mteval-v14.pl: Unicode punctuation beside a non-digit and all Unicode symbols are cut off
 *   char   every character is a token
 *   none   the line is cut at white space only */
#ifndef EVAL_BLEU_TOKENIZER_H
#define EVAL_BLEU_TOKENIZER_H

#include "eval/cutter.h"

#include <softalign.h>

/* {.kind = ..., .lowercase = ...} is ready for use. */
typedef struct bleu_tokenizer {
    sa_bleu_tokenizer kind;
    bool lowercase;
    cutter cut;
} bleu_tokenizer;

/* The tokens of a line, with one blank between them and none around, and the length of that text in bytes. Valid
 * until the next call. NULL when memory ran out. */
const char *bleu_tokenize(bleu_tokenizer *t, const char *line, size_t *length);
void bleu_tokenizer_free(bleu_tokenizer *t);

/* "13a", as in the signature; NULL when there is no such tokenizer. */
const char *bleu_tokenizer_name(sa_bleu_tokenizer kind);

#endif
