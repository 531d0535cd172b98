/* What BLEU's preprocessing needs of Unicode: general categories, white space, lower case. Text is UTF-8. */
#ifndef TEXT_UNICODE_CLASS_H
#define TEXT_UNICODE_CLASS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum unicode_class {
    UNICODE_OTHER,
    UNICODE_PUNCTUATION, /* general category P */
    UNICODE_SYMBOL,      /* S */
    UNICODE_NUMBER       /* N */
} unicode_class;

/* UTF8_INVALID is in no class. */
unicode_class unicode_class_of(uint32_t code_point);

/* White space as Python's str.split() sees it: no-break spaces, U+001C ... U+001F and U+0085 are in it. */
bool unicode_is_space(uint32_t code_point);

/* Appends the text in lower case, as Python's str.lower() gives it: U+0130 becomes i and U+0307, a capital sigma
 * that ends a word becomes U+03C2. Bytes that are not UTF-8 are kept as they are. */
void unicode_append_lower(strbuf *out, const char *text, size_t length);

#endif
