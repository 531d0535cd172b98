/* Where a text can be cut: at the ends of its sentences and clauses, and at blanks.
 *
 * A sentence ends with . ! ? or the like of another script (Arabic, Devanagari, Ethiopic, Khmer, CJK, ...) and the
 * quotes and brackets that close behind it. Where a script puts blanks between words, a blank must follow, and no
 * small letter after it. A full stop ends none after a single letter (J. Bach, z. B.), after a number of one or two
 * digits (am 3. Mai, 1. Open), or after an abbreviation of a short list (Dr., Nr., etc.); a sentence that really
 * ends so goes on in the next. A clause ends with , ; : or a dash between blanks, or their like. */
#ifndef TEXT_CUT_H
#define TEXT_CUT_H

#include <stdbool.h>
#include <stddef.h>

/* Better places have larger values. */
typedef enum cut_level { CUT_NONE, CUT_BLANK, CUT_CLAUSE, CUT_SENTENCE } cut_level;

typedef struct cut {
    size_t at; /* what ends there is what the level says; blanks may follow */
    cut_level level;
} cut;

/* The first cut behind `from`; false when there is none. s is n bytes of UTF-8 and neither begins nor ends with a
 * blank (cut_trim). All cuts: from 0 on, then from the last one's place. */
bool cut_next(const char *s, size_t n, size_t from, cut *out);

/* Where to cut a text that is too long: at the best level that it has, as near to its middle as can be; without any
 * cut between two characters, marks staying with their letters. 0 when there is one character only. */
size_t cut_middle(const char *s, size_t n);

/* Takes blanks, LF among them, off both ends. */
void cut_trim(const char **s, size_t *n);

/* Whether nothing stands between two sentences, the first of which ends `before` and the second begins `after`:
 * both in Chinese or Japanese characters. */
bool cut_needs_no_blank(const char *before, size_t before_n, const char *after, size_t after_n);

#endif
