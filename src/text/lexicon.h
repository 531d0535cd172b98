/* Which symbols of the target translate a symbol of the source: Model 1 of Brown et al. (1993), learned by
 * expectation maximisation. Every target symbol y of a pair comes from one source symbol x of it, each as likely as
 * any other, </s> standing for none:
 *   t(y | x) = c(x, y) / sum_y' c(x, y')     c(x, y) = sum over pairs with x and y of t(y | x) / sum_x' t(y | x')
 */
#ifndef TEXT_LEXICON_H
#define TEXT_LEXICON_H

#include "text/corpus.h"

typedef struct lexicon lexicon;

/* From all pairs of a checked corpus; the target's </s> is left out. Takes 16 bytes, and as many in reserve, for
 * each pair of symbols that occur together. */
sa_status lexicon_learn(lexicon **out, const corpus *c, int iterations, sa_error *error);
/* The symbols y with the highest t(y | x), best first; at most k, and none with less than `least`. Returns how many
 * there are. */
int lexicon_best(const lexicon *l, int x, int k, float least, int *y);
/* t(y | x). */
float lexicon_probability(const lexicon *l, int x, int y);
void lexicon_free(lexicon *l);

#endif
