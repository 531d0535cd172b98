/* What translating and scoring hand to the caller: filling sa_translation. */
#ifndef DECODE_RESULT_H
#define DECODE_RESULT_H

#include "decode/search.h"
#include "decode/symbols.h"

/* The answer to a line without words: one empty hypothesis. */
sa_status result_empty(sa_translation *out, sa_error *error);
/* Crops ids to max_length, which is noted in *out, and ends them with </s>. */
sa_status result_end(sa_translation *out, id_list *ids, int max_length, sa_error *error);
/* The texts of n symbols as people read them, the caller's to free; NULL without memory. shown: what to show for
 * each instead of its own text; it and each may be NULL. */
char **result_symbols(const vocab *v, const int *ids, int n, const char *const *shown);
void result_symbols_free(char **text, int n);
/* Length and, when asked for, symbols and words of the source, whose ids end with </s>. shown: what to show for
 * each symbol instead of its own text; it and each may be NULL. */
sa_status result_source(sa_translation *out, const ensemble *models, const sa_translate_options *o,
                        const symbols *source, const char *const *shown, sa_error *error);
/* A hypothesis with its text, which it takes (NULL: there was no memory for it). Attention and scores of words move
 * from *from where they are asked for. word: of each symbol but </s>, looked at where attention is. */
sa_status result_hypothesis(sa_hypothesis *out, const ensemble *models, const sa_translate_options *o,
                            hypothesis *from, char *text, const char *const *shown, const int *word,
                            sa_error *error);

#endif
