#include "text/protect.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { SYMBOL = 0xFDD3 }; /* of the first kind */

static const struct {
    const char *symbol, *name;
} kinds[PROTECT_KINDS] = {
    [PROTECT_NUMBER] = {"\xEF\xB7\x93", "<number>"},     [PROTECT_ADDRESS] = {"\xEF\xB7\x94", "<address>"},
    [PROTECT_VARIABLE] = {"\xEF\xB7\x95", "<variable>"}, [PROTECT_TAG] = {"\xEF\xB7\x96", "<tag>"},
    [PROTECT_EMOJI] = {"\xEF\xB7\x97", "<emoji>"},
};

const char *protect_symbol(protect_kind kind) {
    return kinds[kind].symbol;
}

const char *protect_name(protect_kind kind) {
    return kinds[kind].name;
}

/* ---- characters -------------------------------------------------------------------------------------- */

/* A text that is being searched. Matchers look at a place and return the bytes of an item that starts there, or 0.
 * Each of them reads a bounded number of bytes unless it finds something, or starts where nothing of its kind did
 * before: that is what keeps the search linear. */
typedef struct subject {
    const char *s;
    size_t n;
} subject;

static int byte_at(subject t, size_t i) {
    return i < t.n ? (unsigned char)t.s[i] : -1;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* False at the end of the text, and for a zero byte. */
static bool is_one_of(int c, const char *characters) {
    return c > 0 && strchr(characters, c);
}

static bool is_word(int c) {
    return is_letter(c) || is_digit(c) || c == '_';
}

/* The code point at i; 0 at the end. */
static uint32_t code_at(subject t, size_t i, size_t *length) {
    uint32_t code = 0;
    *length = i < t.n ? utf8_decode(t.s + i, t.n - i, &code) : 0;
    return code;
}

/* The code point that ends before i; 0 at the start. */
static uint32_t code_before(subject t, size_t i) {
    size_t start = i, length;
    while (start > 0 && i - start < 4 && ((unsigned char)t.s[--start] & 0xC0) == 0x80) {
    }
    return start < i ? code_at(t, start, &length) : 0;
}

/* Zeros of decimal digits (general category Nd) of scripts in use. */
static const uint32_t zeros[] = {0x0030, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66,
                                 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0,
                                 0x1810, 0x1946, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xAA50, 0xABF0, 0xFF10};

static bool is_decimal(uint32_t code) {
    if (code < 0x80)
        return is_digit((int)code);
    for (size_t i = 1; i < sizeof zeros / sizeof *zeros; i++)
        if (code - zeros[i] < 10)
            return true;
    return false;
}

/* Letters of alphabets that put blanks between words, so that digits behind them are part of a name. */
static bool joins_digits(uint32_t code) {
    return code < 0x80 ? is_word((int)code) : code >= 0xC0 && code < 0x590 && code != 0xD7 && code != 0xF7;
}

/* ---- numbers ----------------------------------------------------------------------------------------- */

#define NUMBER_MARKS ".,:/'-"

static size_t digits(subject t, size_t from, int *count) {
    size_t i = from, length;
    *count = 0;
    while (is_decimal(code_at(t, i, &length))) {
        i += length;
        ++*count;
    }
    return i - from;
}

/* One mark that may stand between digits: none of its own, and blanks only between groups of three. */
static size_t number_mark(subject t, size_t i, bool *blank) {
    size_t length;
    uint32_t code = code_at(t, i, &length);
    *blank = code == 0xA0 || code == 0x2009 || code == 0x202F;
    bool mark = code < 0x80 && is_one_of((int)code, NUMBER_MARKS);
    return mark || *blank || code == 0x2019 || code == 0x66B || code == 0x66C ? length : 0;
}

/* Digits go on what stands before them: a letter, or digits, with a mark between or not, that did so themselves. */
static bool is_continued(subject t, size_t from) {
    uint32_t before = code_before(t, from);
    bool mark = from > 1 && before < 0x80 && is_one_of((int)before, NUMBER_MARKS);
    return joins_digits(before) || is_decimal(before) || (mark && is_decimal(code_before(t, from - 1)));
}

static size_t match_number(subject t, size_t from) {
    if (is_continued(t, from))
        return 0;
    int first, group = 0;
    size_t end = digits(t, from, &first);
    for (bool grouped = first <= 3; end > 0;) {
        bool blank;
        size_t mark = number_mark(t, from + end, &blank);
        size_t more = mark ? digits(t, from + end + mark, &group) : 0;
        grouped = grouped && group == 3;
        if (!more || (blank && !grouped))
            break;
        end += mark + more;
    }
    return end;
}

/* ---- addresses --------------------------------------------------------------------------------------- */

/* Up to a blank, a quote, a bracket that no address has, or punctuation and letters of scripts that put no blanks
 * between words. */
static size_t address_characters(subject t, size_t from) {
    size_t i = from, length;
    for (uint32_t code; (code = code_at(t, i, &length)) > 0x20 && code < 0x2000; i += length)
        if (code == 0x7F || code == 0xA0 || code == 0xAB || code == 0xBB ||
            (code < 0x80 && is_one_of((int)code, "<>\"`{}|\\^")))
            break;
    return i - from;
}

/* Punctuation at the end belongs to the sentence, and so does a bracket that was opened outside. */
static size_t without_last_marks(subject t, size_t from, size_t length) {
    int open = 0;
    for (size_t i = 0; i < length; i++)
        open += t.s[from + i] == '(' ? 1 : t.s[from + i] == ')' ? -1 : 0;
    for (; length > 0; length--) {
        char last = t.s[from + length - 1];
        if (last == ')' && open++ < 0)
            continue;
        if (last == ')' || !strchr(".,;:!?'*_~]", last))
            break;
    }
    return length;
}

static size_t scheme(subject t, size_t from) {
    size_t i = from;
    if (byte_at(t, i) == 'w' && byte_at(t, i + 1) == 'w' && byte_at(t, i + 2) == 'w' && byte_at(t, i + 3) == '.')
        return 4;
    while (i - from < 20 && (is_word(byte_at(t, i)) || byte_at(t, i) == '+' || byte_at(t, i) == '-'))
        i++;
    bool found = i > from + 1 && byte_at(t, i) == ':' && byte_at(t, i + 1) == '/' && byte_at(t, i + 2) == '/';
    return found ? i + 3 - from : 0;
}

static size_t match_url(subject t, size_t from) {
    if (!is_letter(byte_at(t, from)) || (from > 0 && is_word(byte_at(t, from - 1))))
        return 0;
    size_t start = scheme(t, from);
    size_t length = start ? without_last_marks(t, from, start + address_characters(t, from + start)) : 0;
    return length > start ? length : 0;
}

static bool is_local(int c) {
    return is_word(c) || is_one_of(c, ".+-%");
}

/* Letters, digits and dashes with dots between; the last part has letters only, two at least. */
static size_t domain(subject t, size_t from) {
    size_t i = from, end = 0, part = from;
    bool letters = true;
    for (;; i++) {
        int c = byte_at(t, i);
        if (is_letter(c) || is_digit(c) || (c == '-' && i > part)) {
            letters = letters && is_letter(c);
            continue;
        }
        if (part > from && letters && i >= part + 2)
            end = i - from;
        if (c != '.' || i == part)
            return end;
        part = i + 1;
        letters = true;
    }
}

static size_t match_mail(subject t, size_t from) {
    if (!is_word(byte_at(t, from)) || (from > 0 && is_local(byte_at(t, from - 1))))
        return 0;
    size_t i = from;
    while (is_local(byte_at(t, i)))
        i++;
    size_t length = byte_at(t, i) == '@' ? domain(t, i + 1) : 0;
    return length ? i + 1 + length - from : 0;
}

static size_t match_address(subject t, size_t from) {
    size_t length = match_url(t, from);
    return length ? length : match_mail(t, from);
}

/* ---- placeholders of programs ------------------------------------------------------------------------ */

enum { VARIABLE_MOST = 100, TAG_MOST = 1000 };

/* The bytes up to and with `end` after from, when no blank (unless allowed) and none of `not` comes before. */
static size_t up_to(subject t, size_t from, const char *end, const char * not, bool blanks, size_t most) {
    for (size_t i = from; i < t.n && i - from < most; i++) {
        if (i + strlen(end) <= t.n && memcmp(t.s + i, end, strlen(end)) == 0)
            return i + strlen(end) - from;
        if (strchr(not, t.s[i]) || (!blanks && (unsigned char)t.s[i] <= ' '))
            return 0;
    }
    return 0;
}

/* {name} or {{ name }}, $, # or % before it or not. */
static size_t match_braces(subject t, size_t from) {
    size_t sign = byte_at(t, from) != '{';
    if ((sign && !is_one_of(byte_at(t, from), "$#%")) || byte_at(t, from + sign) != '{')
        return 0;
    bool two = byte_at(t, from + sign + 1) == '{';
    size_t start = sign + 1 + two;
    size_t length = up_to(t, from + start, two ? "}}" : "}", "{", two, VARIABLE_MOST);
    return length ? start + length : 0;
}

/* %NAME or %NAME%: capitals, three at least. */
static size_t match_percent_name(subject t, size_t from) {
    size_t i = from + 1;
    while (i - from < VARIABLE_MOST && is_one_of(byte_at(t, i), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"))
        i++;
    if (i < from + 4 || is_digit(byte_at(t, from + 1)) || is_letter(byte_at(t, i)))
        return 0;
    return i - from + (byte_at(t, i) == '%');
}

static size_t skip(subject t, size_t from, const char *any, size_t most) {
    size_t i = from;
    while (i - from < most && is_one_of(byte_at(t, i), any))
        i++;
    return i;
}

/* A conversion of printf, without blanks as flags: "50 % der" has none. */
static size_t match_conversion(subject t, size_t from) {
    static const char digit[] = "0123456789";
    size_t i = skip(t, from + 1, digit, 9);
    i = i > from + 1 && byte_at(t, i) == '$' ? i + 1 : from + 1;
    i = skip(t, i, "-+#0'", 5);
    i = skip(t, i, digit, 9);
    if (byte_at(t, i) == '.')
        i = skip(t, i + 1, digit, 9);
    i = skip(t, i, "hlLqjzt", 2);
    bool known = is_one_of(byte_at(t, i), "diouxXeEfFgGaAcspn@");
    return known && !is_word(byte_at(t, i + 1)) ? i + 1 - from : 0;
}

static size_t match_percent(subject t, size_t from) {
    if (byte_at(t, from) != '%')
        return 0;
    if (byte_at(t, from + 1) == '%')
        return 2;
    if (from > 0 && is_digit(byte_at(t, from - 1)))
        return 0;
    if (byte_at(t, from + 1) == '(') {
        size_t name = up_to(t, from + 2, ")", "(", false, VARIABLE_MOST);
        return name && is_letter(byte_at(t, from + 2 + name)) ? name + 3 : 0;
    }
    size_t length = match_percent_name(t, from);
    return length ? length : match_conversion(t, from);
}

static size_t match_variable(subject t, size_t from) {
    size_t length = match_braces(t, from);
    return length ? length : match_percent(t, from);
}

/* ---- tags -------------------------------------------------------------------------------------------- */

static size_t match_entity(subject t, size_t from) {
    size_t i = from + 1, start = i;
    if (byte_at(t, i) == '#')
        start = i += 1 + (byte_at(t, i + 1) == 'x');
    while (i - start < 32 && (is_letter(byte_at(t, i)) || is_digit(byte_at(t, i))))
        i++;
    bool named = byte_at(t, from + 1) != '#';
    return i > start + named && byte_at(t, i) == ';' ? i + 1 - from : 0;
}

static size_t match_tag(subject t, size_t from) {
    int first = byte_at(t, from + 1);
    if (byte_at(t, from) == '&')
        return match_entity(t, from);
    if (byte_at(t, from) != '<')
        return 0;
    size_t name = from + 1 + (first == '/');
    if (first == '!' || first == '?') {
        bool comment = byte_at(t, from + 2) == '-';
        size_t length = up_to(t, from + 2, comment ? "-->" : ">", comment ? "" : "<", true, TAG_MOST);
        return length ? length + 2 : 0;
    }
    size_t i = name;
    while (i - name < TAG_MOST && (is_word(byte_at(t, i)) || byte_at(t, i) == ':' || byte_at(t, i) == '-'))
        i++;
    int after = byte_at(t, i);
    if (!is_letter(byte_at(t, name)) || !(after == '>' || after == '/' || after == ' ' || after == '\t'))
        return 0;
    size_t length = up_to(t, i, ">", "<", true, TAG_MOST);
    return length ? i + length - from : 0;
}

/* ---- emoji ------------------------------------------------------------------------------------------- */

enum { JOINER = 0x200D, EMOJI_STYLE = 0xFE0F, KEYCAP = 0x20E3 };

static bool is_flag_letter(uint32_t code) {
    return code >= 0x1F1E6 && code <= 0x1F1FF;
}

static bool is_modifier(uint32_t code) {
    return code == EMOJI_STYLE || (code >= 0x1F3FB && code <= 0x1F3FF) || (code >= 0xE0020 && code <= 0xE007F);
}

/* Blocks of pictographs; what else can be one is when U+FE0F follows. */
static bool is_pictograph(uint32_t code) {
    return (code >= 0x1F000 && code <= 0x1FAFF && !is_flag_letter(code)) || (code >= 0x2600 && code <= 0x27BF) ||
           (code >= 0x2300 && code <= 0x23FF) || (code >= 0x2B00 && code <= 0x2BFF);
}

static size_t match_keycap(subject t, size_t from) {
    int c = byte_at(t, from);
    size_t styled, keycap;
    if (!is_digit(c) && c != '#' && c != '*')
        return 0;
    if (code_at(t, from + 1, &styled) != EMOJI_STYLE)
        styled = 0;
    return code_at(t, from + 1 + styled, &keycap) == KEYCAP ? 1 + styled + keycap : 0;
}

static size_t match_emoji(subject t, size_t from) {
    size_t i = from, length, next;
    uint32_t code = code_at(t, i, &length);
    if (is_flag_letter(code))
        return is_flag_letter(code_at(t, i + length, &next)) ? length + next : 0;
    if (code < 0x80)
        return match_keycap(t, from);
    if (code >= SYMBOL && code < SYMBOL + PROTECT_KINDS)
        return length;
    while (is_pictograph(code) || (code > 0x80 && code_at(t, i + length, &next) == EMOJI_STYLE)) {
        i += length;
        while (is_modifier(code_at(t, i, &length)))
            i += length;
        if (code_at(t, i, &length) != JOINER)
            break;
        code = code_at(t, i + length, &next);
        if (!is_pictograph(code) && code_at(t, i + length + next, &(size_t){0}) != EMOJI_STYLE)
            break;
        i += length;
        length = next;
    }
    return i - from;
}

/* ---- all of them ------------------------------------------------------------------------------------- */

/* In the order in which they are tried at one place. */
static const struct {
    protect_kind kind;
    size_t (*match)(subject t, size_t from);
} matchers[] = {
    {PROTECT_TAG, match_tag},     {PROTECT_ADDRESS, match_address}, {PROTECT_VARIABLE, match_variable},
    {PROTECT_EMOJI, match_emoji}, {PROTECT_NUMBER, match_number},
};

static bool add(protected_items *items, protected_item item) {
    if (items->n == items->capacity) {
        size_t capacity = items->capacity ? 2 * items->capacity : 16;
        protected_item *grown = realloc(items->at, capacity * sizeof *grown);
        if (!grown)
            return false;
        items->at = grown;
        items->capacity = capacity;
    }
    items->at[items->n++] = item;
    return true;
}

bool protect_find(protected_items *out, const char *s, size_t n) {
    subject t = {s, n};
    for (size_t i = 0; i < n;) {
        size_t length = 0, step;
        for (size_t k = 0; !length && k < sizeof matchers / sizeof *matchers; k++) {
            length = matchers[k].match(t, i);
            if (length && !add(out, (protected_item){i, length, matchers[k].kind}))
                return false;
        }
        code_at(t, i, &step);
        i += length ? length : step;
    }
    return true;
}

void protected_items_free(protected_items *items) {
    free(items->at);
    *items = (protected_items){0};
}

void protect_write(strbuf *out, const char *s, size_t n, const protected_items *items) {
    size_t from = 0;
    for (size_t i = 0; i < items->n; i++) {
        const protected_item *x = &items->at[i];
        strbuf_append(out, s + from, x->start - from);
        strbuf_puts(out, protect_symbol(x->kind));
        from = x->start + x->length;
    }
    strbuf_append(out, s + from, n - from);
}

/* ---- both sides of a pair ---------------------------------------------------------------------------- */

typedef struct side {
    const char *text;
    size_t n;
    protected_items items;
    size_t *order; /* of the items by their bytes, equal ones as they stand in the text */
    bool *kept;    /* becomes a symbol */
} side;

/* Its own copy of where the bytes are, since qsort hands nothing to the comparison. */
typedef struct entry {
    const char *s;
    size_t length, index;
} entry;

static int compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length) {
    if (a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return memcmp(a, b, a_length);
}

static int compare_entries(const void *left, const void *right) {
    const entry *a = left, *b = right;
    int order = compare_bytes(a->s, a->length, b->s, b->length);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static bool prepare_side(side *x, const char *text, size_t n) {
    *x = (side){.text = text, .n = n};
    if (!protect_find(&x->items, text, n))
        return false;
    entry *entries = calloc(x->items.n + 1, sizeof *entries);
    x->order = calloc(x->items.n + 1, sizeof *x->order);
    x->kept = calloc(x->items.n + 1, sizeof *x->kept);
    bool ok = entries && x->order && x->kept;
    for (size_t i = 0; ok && i < x->items.n; i++)
        entries[i] = (entry){text + x->items.at[i].start, x->items.at[i].length, i};
    if (ok)
        qsort(entries, x->items.n, sizeof *entries, compare_entries);
    for (size_t i = 0; ok && i < x->items.n; i++)
        x->order[i] = entries[i].index;
    free(entries);
    return ok;
}

/* Keeps an item as often as both sides have it, the first ones. Equal bytes are of one kind, up to what stands
 * before a number, so kinds are compared too. */
static void keep_common(side *a, side *b) {
    for (size_t i = 0, j = 0; i < a->items.n && j < b->items.n;) {
        const protected_item *x = &a->items.at[a->order[i]], *y = &b->items.at[b->order[j]];
        int order = compare_bytes(a->text + x->start, x->length, b->text + y->start, y->length);
        if (order == 0 && x->kind == y->kind)
            a->kept[a->order[i]] = b->kept[b->order[j]] = true;
        i += order <= 0;
        j += order >= 0;
    }
}

/* An item as it stands, but noncharacters in it, which must not be taken for symbols. */
static void write_letters(strbuf *out, const char *s, size_t n) {
    size_t length;
    for (size_t i = 0; i < n; i += length) {
        uint32_t code = code_at((subject){s, n}, i, &length);
        bool reserved = code >= SYMBOL && code < SYMBOL + PROTECT_KINDS;
        strbuf_append(out, reserved ? UTF8_REPLACEMENT : s + i, reserved ? strlen(UTF8_REPLACEMENT) : length);
    }
}

static void write_side(strbuf *out, const side *x, bool all) {
    size_t from = 0;
    for (size_t i = 0; i < x->items.n; i++) {
        const protected_item *item = &x->items.at[i];
        strbuf_append(out, x->text + from, item->start - from);
        from = item->start + item->length;
        if (all || x->kept[i])
            strbuf_puts(out, protect_symbol(item->kind));
        else
            write_letters(out, x->text + item->start, item->length);
    }
    strbuf_append(out, x->text + from, x->n - from);
}

static void free_side(side *x) {
    protected_items_free(&x->items);
    free(x->order);
    free(x->kept);
}

bool protect_pair(strbuf out[2], const char *const text[2], const size_t n[2], bool all_of_source) {
    side a, b = {0};
    bool ok = prepare_side(&a, text[0], n[0]) && prepare_side(&b, text[1], n[1]);
    if (ok) {
        keep_common(&a, &b);
        write_side(&out[0], &a, all_of_source);
        write_side(&out[1], &b, false);
    }
    free_side(&a);
    free_side(&b);
    out[0].failed = out[0].failed || !ok;
    return !out[0].failed && !out[1].failed;
}
