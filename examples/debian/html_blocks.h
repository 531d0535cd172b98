/* The visible text of an HTML page, cut at its block elements.
 *
 * A block is the text between two boundaries; every opening and closing tag of a block element (p, h1, li, td, div,
 * br, ...) is a boundary. Two translations of one page have the same boundaries, so their blocks pair by position.
 *
 * Inline tags are dropped and their text is kept. Entities are decoded, runs of blanks (no-break ones too) become
 * one blank, soft hyphens vanish, wrong UTF-8 becomes U+FFFD. Left out altogether: head, header, footer, nav,
 * aside, button, label, script, style, pre and the like, and elements that are hidden and carry a class: that is
 * how LibreOffice marks the wording for one system or program ("Command" beside "Ctrl"). */
#ifndef HTML_BLOCKS_H
#define HTML_BLOCKS_H

#include "base/strbuf.h"

#include <stddef.h>

typedef struct html_blocks {
    size_t n;
    strbuf text;       /* n zero-terminated texts, one after the other; many are empty */
    strbuf boundaries; /* "div p /p /div ": the tags in order */
} html_blocks;

/* Reads length bytes. *out is zero or was filled before (its memory is used again). Memory that ran out shows in
 * the `failed` of either buffer. */
void html_blocks_read(html_blocks *out, const char *html, size_t length);
void html_blocks_free(html_blocks *blocks);

#endif
