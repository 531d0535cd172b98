/* What a translation must bring through as it is: numbers, addresses, placeholders of programs, tags, emoji. A
 * model that was trained to protect them sees one symbol in the place of each, by its kind, and writes such
 * symbols; the items are put back afterwards (decode/restore.h).
 *
 * The symbols are U+FDD3 ... U+FDD7, noncharacters, which Unicode sets aside for use inside a program. A text that
 * has one of them all the same has it protected like an emoji, so that no text can be mistaken for a symbol. */
#ifndef TEXT_PROTECT_H
#define TEXT_PROTECT_H

#include "base/strbuf.h"

#include <stdint.h>

typedef enum protect_kind {
    PROTECT_NUMBER,   /* digits of any script with single marks between: 1,234.50  3.4.2021  12:30  1 000 000 with
                         no-break blanks; not those that follow a letter, as in B2B (CJK letters excepted) */
    PROTECT_ADDRESS,  /* https://example.org/a?b=1  www.example.org  x@example.org */
    PROTECT_VARIABLE, /* {name}  {0}  ${name}  {{ name }}  %s  %1$s  %(name)d  %%  %NAME% */
    PROTECT_TAG,      /* <b>  </b>  <br/>  <i id="1">  <!-- ... -->  &amp;  &#8217; */
    PROTECT_EMOJI     /* one emoji with its modifiers, joined family or flag */
} protect_kind;
enum { PROTECT_KINDS = 5 };

/* The symbol of a kind as text, three bytes. */
const char *protect_symbol(protect_kind kind);
/* What to show instead: "<number>", "<address>", ... */
const char *protect_name(protect_kind kind);

typedef struct protected_item {
    size_t start, length; /* in the text; length at least 1 */
    protect_kind kind;
} protected_item;

typedef struct protected_items {
    protected_item *at;
    size_t n, capacity;
} protected_items;

/* Appends the items of s, n bytes of UTF-8, in order; they do not overlap. False without memory. The time it takes
 * grows in proportion to n. */
bool protect_find(protected_items *out, const char *s, size_t n);
void protected_items_free(protected_items *items);

/* Appends s with a symbol for each of its items (all that protect_find found). */
void protect_write(strbuf *out, const char *s, size_t n, const protected_items *items);

/* Appends text[0], the source, and text[1], the target, of n[0] and n[1] bytes, to out[0] and out[1], with symbols
 * for the items that are in both, byte for byte and as often as they are in both. With all_of_source every item of
 * the source becomes a symbol, as it does when it is translated. False without memory, and out[0] has failed then.
 */
bool protect_pair(strbuf out[2], const char *const text[2], const size_t n[2], bool all_of_source);

#endif
