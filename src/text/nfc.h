/* Unicode Normalization Form C: a letter and its marks as one code point where there is one, marks in one order.
 * What looks the same is the same; nothing else changes. Unicode 14. */
#ifndef TEXT_NFC_H
#define TEXT_NFC_H

#include "base/strbuf.h"

/* Appends s, n bytes of UTF-8, in Form C. */
void nfc_append(strbuf *out, const char *s, size_t n);

#endif
