/* UTF-8: decoding with the replacement of wrong bytes, and the width of text on a terminal. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX
#define UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* The code point at the start of s, n bytes long, n > 0: returns how many bytes it takes. *code is UTF8_INVALID
 * where there is none; what is returned then is the longest start of a sequence, one byte at least, that one U+FFFD
 * replaces (WHATWG Encoding, "UTF-8 decoder"; Unicode 3.9, "maximal subpart"). */
size_t utf8_decode(const char *s, size_t n, uint32_t *code);
/* Writes the bytes of a code point (up to U+10FFFF, no surrogate) and returns their number. */
size_t utf8_encode(uint32_t code, char bytes[4]);
/* How many of the n bytes, from the start, are UTF-8 without zero bytes (which would end a C string early); n when
 * all are. */
size_t utf8_valid_length(const char *s, size_t n);
/* Appends s with zero bytes and wrong sequences replaced by U+FFFD, and returns how many were. */
size_t utf8_clean(strbuf *out, const char *s, size_t n);
/* Code points; a wrong sequence counts as one. */
size_t utf8_count(const char *s, size_t n);

/* Code points from first to last. */
typedef struct utf8_range {
    uint32_t first, last;
} utf8_range;
/* Whether a code point is in one of n ranges, which are in order and apart. */
bool utf8_in_ranges(uint32_t code, const utf8_range *ranges, size_t n);

/* Columns that a terminal gives to s: 2 for wide (CJK, emoji), 0 for combining marks, format and control
 * characters, 1 for the rest and for a wrong sequence. Sequences joined by U+200D count as their parts. Unicode 14;
 * does not depend on the locale. */
int utf8_width(const char *s);
/* The same of one code point. */
int utf8_width_of(uint32_t code);

#endif
