#include "text/cut.h"

#include "base/utf8.h"

#include <string.h>

/* ---- characters -------------------------------------------------------------------------------------- */

typedef enum role {
    OTHER,
    BLANK,
    PERIOD, /* may end a sentence: a blank must follow */
    MARK,   /* ends one, the same */
    STOP,   /* ends one, whatever follows */
    COMMA,  /* ends a clause: a blank must follow */
    PAUSE,  /* ends one, whatever follows */
    DASH,   /* ends one between blanks */
    CLOSER, /* belongs to the sentence that it closes */
    OPENER  /* belongs to the sentence that it opens */
} role;

static const struct {
    uint32_t code;
    role role;
} roles[] = {
    {'\t', BLANK},    {'\n', BLANK},    {'\r', BLANK},    {' ', BLANK},     {'!', MARK},      {'"', CLOSER},
    {'\'', CLOSER},   {'(', OPENER},    {')', CLOSER},    {',', COMMA},     {'-', DASH},      {'.', PERIOD},
    {':', COMMA},     {';', COMMA},     {'?', MARK},      {'[', OPENER},    {']', CLOSER},    {'{', OPENER},
    {'}', CLOSER},    {0xAB, OPENER},   {0xBB, CLOSER},   {0x37E, MARK},    {0x589, STOP},    {0x60C, COMMA},
    {0x61B, COMMA},   {0x61F, STOP},    {0x6D4, STOP},    {0x700, STOP},    {0x964, STOP},    {0x965, STOP},
    {0xF0E, STOP},    {0x104A, PAUSE},  {0x104B, STOP},   {0x1362, STOP},   {0x1363, PAUSE},  {0x1364, PAUSE},
    {0x1367, STOP},   {0x17D4, STOP},   {0x17D5, STOP},   {0x1803, STOP},   {0x1809, STOP},   {0x2013, DASH},
    {0x2014, DASH},   {0x2018, OPENER}, {0x2019, CLOSER}, {0x201A, OPENER}, {0x201C, CLOSER}, {0x201D, CLOSER},
    {0x201E, OPENER}, {0x2026, PERIOD}, {0x2039, OPENER}, {0x203A, CLOSER}, {0x203C, MARK},   {0x203D, MARK},
    {0x2047, MARK},   {0x2048, MARK},   {0x2049, MARK},   {0x3000, BLANK},  {0x3001, PAUSE},  {0x3002, STOP},
    {0x3008, OPENER}, {0x3009, CLOSER}, {0x300A, OPENER}, {0x300B, CLOSER}, {0x300C, OPENER}, {0x300D, CLOSER},
    {0x300E, OPENER}, {0x300F, CLOSER}, {0x3010, OPENER}, {0x3011, CLOSER}, {0xFF01, STOP},   {0xFF08, OPENER},
    {0xFF09, CLOSER}, {0xFF0C, PAUSE},  {0xFF1A, PAUSE},  {0xFF1B, PAUSE},  {0xFF1F, STOP},   {0xFF61, STOP},
    {0xFF62, OPENER}, {0xFF63, CLOSER}, {0xFF64, PAUSE},
};

static role role_of(uint32_t code) {
    size_t low = 0, high = sizeof roles / sizeof *roles;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (roles[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof roles / sizeof *roles && roles[low].code == code ? roles[low].role : OTHER;
}

/* The character at i < n. */
static role role_at(const char *s, size_t n, size_t i, size_t *length) {
    uint32_t code;
    *length = utf8_decode(s + i, n - i, &code);
    return role_of(code);
}

/* Small letters of Latin, Greek, Cyrillic and Armenian; in Latin Extended they take turns with the capitals. */
static bool is_small(uint32_t code) {
    return (code >= 'a' && code <= 'z') || (code >= 0xDF && code <= 0xFF && code != 0xF7) ||
           (code >= 0x100 && code <= 0x137 && code % 2) || (code >= 0x138 && code <= 0x148 && code % 2 == 0) ||
           (code >= 0x149 && code <= 0x177 && code % 2) || code == 0x17A || code == 0x17C || code == 0x17E ||
           (code >= 0x3AC && code <= 0x3CE) || (code >= 0x430 && code <= 0x45F) || (code >= 0x561 && code <= 0x587);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- the ends of sentences --------------------------------------------------------------------------- */

/* In small letters, between bars. */
static const char abbreviations[] =
    "|mr|mrs|ms|dr|prof|st|mt|jr|sr|no|nos|vs|vol|fig|figs|eq|sec|ch|pp|ed|eds|al|approx|inc|ltd|co|corp|dept|est|"
    "etc|"
    "gen|col|capt|lt|sgt|rev|hon|gov|sen|rep|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|"
    "nr|bzw|ca|usw|vgl|abb|tab|bd|hrsg|str|tel|evtl|ggf|inkl|max|min|mio|mrd|sog|gem|abs|art|kap|zzgl|"
    "mme|mlle|mm|env|cf|av|apr\xC3\xA8s|sra|srta|ud|uds|n\xC3\xBAm|p\xC3\xA1g|sig|dott|ecc|";

static bool is_abbreviation(const char *word, size_t n) {
    char key[16] = "|";
    if (n + 3 > sizeof key)
        return false;
    for (size_t i = 0; i < n; i++)
        key[1 + i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + 'a' - 'A' : word[i]);
    key[1 + n] = '|';
    return strstr(abbreviations, key) != NULL;
}

/* One letter of an alphabet, or a mark of one. */
static bool is_letter(const char *s, size_t n) {
    uint32_t code = 0;
    return n > 0 && utf8_decode(s, n, &code) == n && code < 0x2000;
}

/* Whether the full stop at i ends what stands before it, by what that is; one of several, or an ellipsis, does. */
static bool stop_ends(const char *s, size_t i) {
    if (s[i] != '.' || s[i + 1] == '.')
        return true;
    size_t start = i;
    while (start > 0 && i - start < 16 && (unsigned char)s[start - 1] > ' ' && !strchr(".([{\"'-", s[start - 1]))
        start--;
    size_t n = i - start, digits = 0;
    while (digits < n && is_digit(s[start + digits]))
        digits++;
    if (n > 0 && digits == n)
        return n > 2;
    return !is_letter(s + start, n) && !is_abbreviation(s + start, n);
}

/* Whether a sentence can begin behind the blanks at i. */
static bool can_begin(const char *s, size_t n, size_t i) {
    size_t length = 0;
    role r = BLANK;
    while (i < n && ((r = role_at(s, n, i, &length)) == BLANK || r == OPENER || r == CLOSER || r == DASH))
        i += length;
    uint32_t code = 0;
    if (i < n)
        utf8_decode(s + i, n - i, &code);
    return r == OTHER && !is_small(code);
}

static cut_level level_of(const char *s, size_t n, size_t start, role r, size_t end) {
    size_t length;
    bool apart = role_at(s, n, end, &length) == BLANK;
    switch (r) {
    case STOP:
        return CUT_SENTENCE;
    case PERIOD:
        return !apart ? CUT_NONE : stop_ends(s, start) && can_begin(s, n, end) ? CUT_SENTENCE : CUT_BLANK;
    case MARK:
        return !apart ? CUT_NONE : can_begin(s, n, end) ? CUT_SENTENCE : CUT_CLAUSE;
    case PAUSE:
        return CUT_CLAUSE;
    case COMMA:
        return apart ? CUT_CLAUSE : CUT_NONE;
    case DASH:
        return apart && start > 0 && s[start - 1] == ' ' ? CUT_CLAUSE : CUT_NONE;
    default:
        return CUT_NONE;
    }
}

static bool is_punctuation(role r) {
    return r >= PERIOD && r <= DASH;
}

/* ---- cuts -------------------------------------------------------------------------------------------- */

/* Punctuation and what it closes, from i on: its end, and the strongest role in it. "?!" is one end, and so is
 * ".)". */
static size_t take_run(const char *s, size_t n, size_t i, role *strongest) {
    size_t length;
    role r = *strongest = role_at(s, n, i, &length);
    while ((i += length) < n) {
        r = role_at(s, n, i, &length);
        bool ends = r >= PERIOD && r <= STOP;
        if (!ends && r != CLOSER)
            break;
        if (ends && (*strongest > STOP || r > *strongest))
            *strongest = r;
    }
    return i;
}

bool cut_next(const char *s, size_t n, size_t from, cut *out) {
    size_t i = from, length;
    while (i < n && role_at(s, n, i, &length) == BLANK)
        i += length;
    for (; i < n; i += length) {
        role r = role_at(s, n, i, &length);
        if (r == BLANK) {
            *out = (cut){i, CUT_BLANK};
            return true;
        }
        if (!is_punctuation(r))
            continue;
        role strongest;
        size_t end = take_run(s, n, i, &strongest);
        cut_level level = end < n ? level_of(s, n, i, strongest, end) : CUT_NONE;
        if (level != CUT_NONE) {
            *out = (cut){end, level};
            return true;
        }
        length = end - i;
    }
    return false;
}

static size_t distance(size_t a, size_t b) {
    return a > b ? a - b : b - a;
}

/* A character with its marks ends at i; joiners hold what follows too. */
static bool ends_character(const char *s, size_t n, size_t i) {
    uint32_t code;
    utf8_decode(s + i, n - i, &code);
    bool joined = i >= 3 && memcmp(s + i - 3, "\xE2\x80\x8D", 3) == 0; /* U+200D */
    return !joined && utf8_width_of(code) > 0;
}

/* Of a text without cuts: the end of a character at or after the middle, else before it. */
static size_t middle_character(const char *s, size_t n) {
    size_t best = 0, length;
    for (size_t i = 0; i < n; i += length) {
        uint32_t code;
        length = utf8_decode(s + i, n - i, &code);
        if (i > 0 && ends_character(s, n, i)) {
            best = i;
            if (i >= n / 2)
                break;
        }
    }
    if (best > 0)
        return best;
    /* Marks without end: between two of them then. */
    for (size_t i = 0; i < n && best < n / 2;) {
        uint32_t code;
        i += utf8_decode(s + i, n - i, &code);
        best = i < n ? i : best;
    }
    return best;
}

size_t cut_middle(const char *s, size_t n) {
    cut best = {0, CUT_NONE}, found;
    for (size_t from = 0; cut_next(s, n, from, &found); from = found.at)
        if (found.level > best.level ||
            (found.level == best.level && distance(found.at, n / 2) < distance(best.at, n / 2)))
            best = found;
    return best.level != CUT_NONE ? best.at : middle_character(s, n);
}

void cut_trim(const char **s, size_t *n) {
    size_t length;
    while (*n > 0 && role_at(*s, *n, 0, &length) == BLANK) {
        *s += length;
        *n -= length;
    }
    for (;;) {
        const char *end = *s + *n;
        if (*n >= 3 && memcmp(end - 3, "\xE3\x80\x80", 3) == 0) /* U+3000 */
            *n -= 3;
        else if (*n > 0 && role_of((unsigned char)end[-1]) == BLANK)
            --*n;
        else
            return;
    }
}

/* Ideographs, kana and their punctuation, not Hangul. */
static bool writes_no_blanks(uint32_t code) {
    return (code >= 0x2E80 && code <= 0x9FFF) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0xFE30 && code <= 0xFE4F) || (code >= 0xFF00 && code <= 0xFFEF) ||
           (code >= 0x20000 && code <= 0x3FFFF);
}

bool cut_needs_no_blank(const char *before, size_t before_n, const char *after, size_t after_n) {
    uint32_t last, first;
    size_t start = before_n;
    while (start > 0 && ((unsigned char)before[--start] & 0xC0) == 0x80) {
    }
    if (before_n == 0 || after_n == 0)
        return true;
    utf8_decode(before + start, before_n - start, &last);
    utf8_decode(after, after_n, &first);
    return writes_no_blanks(last) && writes_no_blanks(first);
}
