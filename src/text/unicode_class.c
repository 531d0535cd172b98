#include "text/unicode_class.h"

#include "base/utf8.h"
#include "text/unicode_table.h"

#define CAPITAL_I_WITH_DOT 0x130u
#define CAPITAL_SIGMA 0x3A3u
#define FINAL_SIGMA 0x3C2u

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define IN(table, code_point) utf8_in_ranges(code_point, table, LENGTH(table))

static bool is_ascii_letter(uint32_t c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

unicode_class unicode_class_of(uint32_t c) {
    if (is_ascii_letter(c) || c == ' ')
        return UNICODE_OTHER;
    if (IN(unicode_punctuation, c))
        return UNICODE_PUNCTUATION;
    if (IN(unicode_symbol, c))
        return UNICODE_SYMBOL;
    return IN(unicode_number, c) ? UNICODE_NUMBER : UNICODE_OTHER;
}

bool unicode_is_space(uint32_t c) {
    if (c > ' ' && c < 0x80)
        return false;
    return IN(unicode_space, c);
}

static void append_code_point(strbuf *out, uint32_t c) {
    char bytes[4];
    strbuf_append(out, bytes, utf8_encode(c, bytes));
}

/* The lower case of one code point, where it is one code point; itself when it has none. */
static uint32_t lower_of(uint32_t c) {
    size_t low = 0, high = LENGTH(unicode_lower);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > unicode_lower[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == LENGTH(unicode_lower) || c < unicode_lower[low].first)
        return c;
    const unicode_run *run = &unicode_lower[low];
    return (c - run->first) % run->step ? c : (uint32_t)((int32_t)c + run->delta);
}

/* Whether the nearest code point before text[at] that is not case-ignorable is cased. */
static bool after_cased(const char *text, size_t at) {
    while (at) {
        size_t start = at - 1;
        while (start && at - start < 4 && ((unsigned char)text[start] & 0xC0) == 0x80)
            start--;
        uint32_t c;
        if (utf8_decode(text + start, at - start, &c) != at - start)
            return false;
        if (!IN(unicode_case_ignorable, c))
            return IN(unicode_cased, c);
        at = start;
    }
    return false;
}

/* The same of the text that follows. */
static bool before_cased(const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        uint32_t c;
        i += utf8_decode(text + i, length - i, &c);
        if (!IN(unicode_case_ignorable, c))
            return IN(unicode_cased, c);
    }
    return false;
}

static void append_lower_ascii(strbuf *out, const char *text, size_t n) {
    char lower[64];
    while (n) {
        size_t part = n < sizeof lower ? n : sizeof lower;
        for (size_t i = 0; i < part; i++)
            lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
        strbuf_append(out, lower, part);
        text += part;
        n -= part;
    }
}

void unicode_append_lower(strbuf *out, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t ascii = i;
        while (ascii < length && (unsigned char)text[ascii] < 0x80)
            ascii++;
        append_lower_ascii(out, text + i, ascii - i);
        i = ascii;
        if (i == length)
            break;
        uint32_t c;
        size_t n = utf8_decode(text + i, length - i, &c);
        if (c == UTF8_INVALID)
            strbuf_append(out, text + i, n);
        else if (c == CAPITAL_I_WITH_DOT)
            strbuf_puts(out, "i\xCC\x87");
        else if (c == CAPITAL_SIGMA && after_cased(text, i) && !before_cased(text + i + n, length - i - n))
            append_code_point(out, FINAL_SIGMA);
        else
            append_code_point(out, lower_of(c));
        i += n;
    }
}
