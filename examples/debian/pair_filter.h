/* Which pairs of texts are worth training on, and where a paragraph may be cut into sentences. Texts are UTF-8 with
 * single blanks and none at the ends, as html_blocks_read leaves them. */
#ifndef PAIR_FILTER_H
#define PAIR_FILTER_H

#include <stddef.h>

/* In the order in which they are tried. */
#define PAIR_VERDICT_LIST(X)                                                                                       \
    X(KEPT, "kept")                                                                                                \
    X(EMPTY, "nothing on one side or both")                                                                        \
    X(DAMAGED, "wrong UTF-8")                                                                                      \
    X(EQUAL, "equal but for case")                                                                                 \
    X(SYMBOLS, "fewer than two thirds of the characters are letters")                                              \
    X(NUMBERS, "fewer than half of the numbers on both sides")                                                     \
    X(RATIO, "one side too long for the other")                                                                    \
    X(SHORT, "too few words")                                                                                      \
    X(LONG, "too many words")                                                                                      \
    X(DUPLICATE, "seen before, or of a held-out page and not only there")

typedef enum pair_verdict {
#define X(name, text) PAIR_##name,
    PAIR_VERDICT_LIST(X)
#undef X
        PAIR_VERDICTS
} pair_verdict;

/* Either side is held to the limits; a word is what stands between blanks. */
typedef struct pair_limits {
    size_t min_words, max_words;
} pair_limits;

/* What a word-for-word comparison should ignore: upper case becomes lower case, in place (ASCII, the letters of
 * Latin-1, the OE ligature; the length stays). */
void fold_case(char *text);

/* Everything but the lengths in words and PAIR_DUPLICATE, which only the whole collection shows. */
pair_verdict pair_judge_content(const char *english, const char *french);
/* PAIR_KEPT, PAIR_SHORT or PAIR_LONG. */
pair_verdict pair_judge_length(const char *english, const char *french, pair_limits limits);

/* Bytes of the first sentence of text: up to and with its final mark, closing quotes and brackets, without the
 * blank that follows. 0 only for "". A mark ends a sentence when a blank and a capital, an opening quote or an
 * opening bracket follow and it does not belong to an abbreviation. */
size_t sentence_length(const char *text);

#endif
