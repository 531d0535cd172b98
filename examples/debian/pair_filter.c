#include "pair_filter.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Characters of one side for each of the other, at most: French runs longer than English. */
#define MAX_ENGLISH_PER_FRENCH 1.9
#define MAX_FRENCH_PER_ENGLISH 2.4

typedef struct counts {
    size_t words, characters, letters; /* blanks are no characters here */
} counts;

static bool continues_character(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Beyond ASCII everything from U+00C0 to U+1FFF counts as a letter: the lead bytes C3 to E1. */
static bool starts_letter(char c) {
    unsigned char u = (unsigned char)c;
    return isalpha(u) || (u >= 0xC3 && u <= 0xE1);
}

static counts count(const char *text) {
    counts n = {0};
    bool in_word = false;
    for (; *text; text++) {
        if (continues_character(*text))
            continue;
        bool blank = *text == ' ';
        n.words += !blank && !in_word;
        n.characters += !blank;
        n.letters += starts_letter(*text);
        in_word = !blank;
    }
    return n;
}

static unsigned char folded(unsigned char previous, unsigned char c) {
    if (c >= 'A' && c <= 'Z')
        return (unsigned char)(c + 'a' - 'A');
    if (previous == 0xC3 && c >= 0x80 && c <= 0x9E && c != 0x97)
        return (unsigned char)(c + 0x20);
    return previous == 0xC5 && c == 0x92 ? 0x93 : c;
}

void fold_case(char *text) {
    unsigned char previous = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        *text = (char)folded(previous, c);
        previous = c;
    }
}

/* The next run of digits from *at on, and *at behind it; NULL when there is none. */
static const char *next_number(const char **at, size_t *length) {
    const char *p = *at + strcspn(*at, "0123456789");
    *length = strspn(p, "0123456789");
    *at = p + *length;
    return *length ? p : NULL;
}

static bool has_number(const char *text, const char *end, const char *number, size_t length) {
    size_t n;
    for (const char *p; (p = next_number(&text, &n)) && p < end;)
        if (n == length && !memcmp(p, number, n))
            return true;
    return false;
}

/* Distinct numbers of `text`, and in *common how many of them `other` has too. */
static size_t count_numbers(const char *text, const char *other, size_t *common) {
    size_t distinct = 0, length;
    *common = 0;
    const char *at = text;
    for (const char *number; (number = next_number(&at, &length));) {
        if (has_number(text, number, number, length))
            continue;
        distinct++;
        *common += has_number(other, other + strlen(other), number, length);
    }
    return distinct;
}

static bool numbers_agree(const char *english, const char *french) {
    size_t common;
    size_t in_french = count_numbers(french, english, &common);
    size_t in_either = in_french + count_numbers(english, french, &common) - common;
    return 2 * common >= in_either;
}

static bool equal_folded(const char *a, const char *b) {
    unsigned char before_a = 0, before_b = 0;
    for (; *a && folded(before_a, (unsigned char)*a) == folded(before_b, (unsigned char)*b); a++, b++) {
        before_a = (unsigned char)*a;
        before_b = (unsigned char)*b;
    }
    return *a == *b;
}

pair_verdict pair_judge_content(const char *english, const char *french) {
    counts en = count(english), fr = count(french);
    if (!en.characters || !fr.characters)
        return PAIR_EMPTY;
    if (strstr(english, "\xEF\xBF\xBD") || strstr(french, "\xEF\xBF\xBD"))
        return PAIR_DAMAGED;
    if (equal_folded(english, french))
        return PAIR_EQUAL;
    if (3 * en.letters < 2 * en.characters || 3 * fr.letters < 2 * fr.characters)
        return PAIR_SYMBOLS;
    if (!numbers_agree(english, french))
        return PAIR_NUMBERS;
    if ((double)en.characters > MAX_ENGLISH_PER_FRENCH * (double)fr.characters ||
        (double)fr.characters > MAX_FRENCH_PER_ENGLISH * (double)en.characters)
        return PAIR_RATIO;
    return PAIR_KEPT;
}

pair_verdict pair_judge_length(const char *english, const char *french, pair_limits limits) {
    size_t en = count(english).words, fr = count(french).words;
    if (en < limits.min_words || fr < limits.min_words)
        return PAIR_SHORT;
    return en > limits.max_words || fr > limits.max_words ? PAIR_LONG : PAIR_KEPT;
}

/* Whether the dot at `dot` belongs to an abbreviation: a listed one or a single letter. */
static bool is_abbreviation(const char *text, const char *dot) {
    static const char *const known[] = {"e.g", "i.e", "etc", "ex", "cf",  "vs",
                                        "no",  "mr",  "mrs", "dr", "fig", NULL};
    const char *word = dot;
    while (word > text && word[-1] != ' ' && word[-1] != '(')
        word--;
    size_t length = (size_t)(dot - word);
    if (length == 1 && isalpha((unsigned char)*word))
        return true;
    for (size_t i = 0; known[i]; i++)
        if (strlen(known[i]) == length && !strncasecmp(known[i], word, length))
            return true;
    return false;
}

static bool starts_with_any(const char *text, const char *const *options, size_t *length) {
    for (; *options; options++) {
        *length = strlen(*options);
        if (!strncmp(text, *options, *length))
            return true;
    }
    return false;
}

static bool starts_sentence(const char *text) {
    static const char *const opening[] = {"\"", "'", "(", "[", "\xC2\xAB", "\xE2\x80\x9C", "\xE2\x80\x98", NULL};
    unsigned char c = (unsigned char)text[0], next = c ? (unsigned char)text[1] : 0;
    size_t length;
    return isupper(c) || (c == 0xC3 && next >= 0x80 && next <= 0x9E) || (c == 0xC5 && next == 0x92) ||
           starts_with_any(text, opening, &length);
}

size_t sentence_length(const char *text) {
    static const char *const marks[] = {".", "!", "?", "\xE2\x80\xA6", NULL};
    static const char *const closing[] = {"\"",           "'", ")", "]", "\xC2\xBB", " \xC2\xBB", "\xE2\x80\x9D",
                                          "\xE2\x80\x99", ".", "!", "?", NULL};
    size_t length;
    for (const char *p = text; *p; p++) {
        if (!starts_with_any(p, marks, &length) || (*p == '.' && is_abbreviation(text, p)))
            continue;
        const char *end = p + length;
        while (starts_with_any(end, closing, &length))
            end += length;
        if (*end == ' ' && starts_sentence(end + 1))
            return (size_t)(end - text);
        p = end - 1;
    }
    return strlen(text);
}
