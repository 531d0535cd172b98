/* A line that is being cut into tokens by the rules of an evaluation script, which are regular expressions over
 * classes of characters. */
#ifndef EVAL_CUTTER_H
#define EVAL_CUTTER_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets of characters; a function of code points says in which of them one is. */
enum { ANY = 1, NUMBER = 2, NOT_NUMBER = 4, PUNCTUATION = 8, SYMBOL = 16, STOP = 32, DASH = 64 };
typedef unsigned cut_sets(uint32_t code_point);

/* Puts blanks around each character of the set `first`; or, where `second` is not 0, between each two neighbours
 * of the two sets and before or after them. From left to right, no character is in two matches. */
typedef struct cut_rule {
    unsigned first, second;
    bool blank_before, blank_after;
} cut_rule;

/* {0} is ready for use. A failure stays with the line until the next begins. */
typedef struct cutter {
    strbuf text, next; /* the line as cut so far, and where a rule writes its result */
} cutter;

void cutter_begin(cutter *c, const char *line, size_t length, bool lowercase);
void cutter_replace(cutter *c, const char *from, const char *to);
void cutter_apply(cutter *c, const cut_rule *rule, cut_sets *sets_of);
/* Takes out each character that is in the sets. */
void cutter_remove(cutter *c, unsigned sets, cut_sets *sets_of);
/* A blank at both ends: a stop there has a neighbour then. */
void cutter_pad(cutter *c);
/* The tokens with one blank between them and none around, and the length of that text; valid until the next call.
 * NULL when memory ran out. */
const char *cutter_tokens(cutter *c, size_t *length);
void cutter_free(cutter *c);

/* What mteval-v13a.pl and Tercom share: the entities &quot; &amp; &lt; &gt; are read; the order matters: "&amp;lt;"
 * becomes "<", "&amp;quot;" stays "&quot;". */
void cutter_read_entities(cutter *c);
/* ... and their classes: ASCII digits, punctuation but "'", "." and "," apart from the rest, "-". */
cut_sets cut_western;
/* Cuts off punctuation, STOP where no digit stands beside it, DASH behind a digit. */
enum { CUT_WESTERN_RULES = 4 };
extern const cut_rule cut_western_rule[CUT_WESTERN_RULES];

#endif
