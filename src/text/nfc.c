/* Unicode 14, chapter 3.11, and its Annex 15. */
#include "text/nfc.h"

#include "base/utf8.h"
#include "text/nfc_table.h"

#include <stdlib.h>

/* Syllables of Hangul are made by a formula (3.12): S = first + (leading * 21 + vowel) * 28 + trailing. */
enum {
    HANGUL = 0xAC00,
    LEADING = 0x1100,
    VOWEL = 0x1161,
    TRAILING = 0x11A7, /* one before the first: 0 means none */
    LEADINGS = 19,
    VOWELS = 21,
    TRAILINGS = 28,
    SYLLABLES = LEADINGS * VOWELS * TRAILINGS
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef struct mark {
    uint32_t code;
    int class;
    size_t at; /* keeps marks of one class in their order */
} mark;

static const struct nfc_decomposition *find_decomposition(uint32_t code) {
    size_t low = 0, high = LENGTH(nfc_decompositions);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (nfc_decompositions[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < LENGTH(nfc_decompositions) && nfc_decompositions[low].code == code ? &nfc_decompositions[low]
                                                                                    : NULL;
}

static int class_of(uint32_t code) {
    size_t low = 0, high = LENGTH(nfc_classes);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (nfc_classes[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < LENGTH(nfc_classes) && nfc_classes[low].first <= code ? nfc_classes[low].value : 0;
}

/* Appends the full decomposition to marks and returns their new number. */
static size_t decompose(uint32_t code, mark *marks, size_t n) {
    uint32_t syllable = code - HANGUL;
    if (syllable < SYLLABLES) {
        marks[n++].code = LEADING + syllable / (VOWELS * TRAILINGS);
        marks[n++].code = VOWEL + syllable / TRAILINGS % VOWELS;
        if (syllable % TRAILINGS)
            marks[n++].code = TRAILING + syllable % TRAILINGS;
        return n;
    }
    /* The second part is always whole already. */
    const struct nfc_decomposition *d = find_decomposition(code);
    if (!d) {
        marks[n++].code = code;
        return n;
    }
    n = decompose(d->first, marks, n);
    if (d->second)
        marks[n++].code = d->second;
    return n;
}

static int by_class(const void *left, const void *right) {
    const mark *a = left, *b = right;
    return a->class != b->class ? a->class - b->class : (a->at > b->at) - (a->at < b->at);
}

/* Sorts each run of marks, which lie between letters of class 0. */
static void order(mark *marks, size_t n) {
    for (size_t i = 0; i < n; i++)
        marks[i].class = class_of(marks[i].code);
    for (size_t i = 0; i < n;) {
        size_t end = i;
        bool sorted = true;
        for (; end < n && marks[end].class; end++) {
            marks[end].at = end;
            sorted = sorted && (end == i || marks[end - 1].class <= marks[end].class);
        }
        if (!sorted)
            qsort(marks + i, end - i, sizeof *marks, by_class);
        i = end + (end == i);
    }
}

/* The code point that two make together, or 0. */
static uint32_t composed(uint32_t first, uint32_t second) {
    if (first - LEADING < LEADINGS && second - VOWEL < VOWELS)
        return HANGUL + ((first - LEADING) * VOWELS + (second - VOWEL)) * TRAILINGS;
    if (first - HANGUL < SYLLABLES && (first - HANGUL) % TRAILINGS == 0 && second - TRAILING - 1 < TRAILINGS - 1)
        return first + (second - TRAILING);
    size_t low = 0, high = LENGTH(nfc_compositions);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct nfc_decomposition *d = &nfc_decompositions[nfc_compositions[middle]];
        if (d->first < first || (d->first == first && d->second < second))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == LENGTH(nfc_compositions))
        return 0;
    const struct nfc_decomposition *d = &nfc_decompositions[nfc_compositions[low]];
    return d->first == first && d->second == second ? d->code : 0;
}

/* Joins what is ordered, in place, and returns how many are left. A mark joins the last letter unless another mark
 * of its class, or a letter, stands between. */
static size_t compose(mark *marks, size_t n) {
    size_t kept = 0, starter = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        int between = kept > 0 && starter != kept - 1 ? marks[kept - 1].class : -1;
        bool blocked = starter == SIZE_MAX || between >= marks[i].class;
        uint32_t both = blocked ? 0 : composed(marks[starter].code, marks[i].code);
        if (both) {
            marks[starter].code = both;
            continue;
        }
        if (marks[i].class == 0)
            starter = kept;
        marks[kept++] = marks[i];
    }
    return kept;
}

/* Below U+0300 everything is in Form C. */
static bool is_low(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0xCC)
            return false;
    return true;
}

void nfc_append(strbuf *out, const char *s, size_t n) {
    if (is_low(s, n)) {
        strbuf_append(out, s, n);
        return;
    }
    /* No code point decomposes into more than two for each of its bytes. */
    mark *marks = malloc(2 * n * sizeof *marks);
    if (!marks) {
        out->failed = true;
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < n;) {
        uint32_t code;
        i += utf8_decode(s + i, n - i, &code);
        count = decompose(code == UTF8_INVALID ? 0xFFFD : code, marks, count);
    }
    order(marks, count);
    count = compose(marks, count);
    for (size_t i = 0; i < count; i++) {
        char bytes[4];
        strbuf_append(out, bytes, utf8_encode(marks[i].code, bytes));
    }
    free(marks);
}
