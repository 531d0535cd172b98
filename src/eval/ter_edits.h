/* The edits of the translation edit rate between two sentences of numbered words (Snover et al. 2006), as Tercom
 * and sacreBLEU find them. To the hypothesis, again and again, the shift of a phrase is applied that lowers the
 * edit distance most, as long as one does; what is left are insertions, deletions and substitutions.
 *   - A phrase of up to 10 words may move to where the reference has the same words, up to 50 places away, unless
 *     all of it is right where it stands, or the words at its goal are.
 *   - After 1000 shifts that were tried, no further one is applied.
 *   - Edit distances are those in a beam of 25 words on both sides of the diagonal. */
#ifndef EVAL_TER_EDITS_H
#define EVAL_TER_EDITS_H

#include "base/arena.h"

#include <stdint.h>

/* Shifts, insertions, deletions and substitutions that turn words[0 ... n_words-1] into the reference. Resets the
 * arena and works in it: bytes grow with beam times words. -1 when memory ran out. */
int64_t ter_edits(arena *memory, const size_t *words, size_t n_words, const size_t *reference, size_t n_reference);

#endif
