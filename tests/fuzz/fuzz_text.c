/* Any text: items and cuts lie where they may, and what is taken apart goes together again. */
#include "base/utf8.h"
#include "fuzz.h"
#include "text/cut.h"
#include "text/nfc.h"
#include "text/protect.h"

static bool starts_character(const strbuf *text, size_t at) {
    return at == text->length || ((unsigned char)text->data[at] & 0xC0) != 0x80;
}

static int symbol_at(const char *s) {
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        if (strncmp(s, protect_symbol((protect_kind)kind), 3) == 0)
            return kind;
    return -1;
}

/* A text with symbols, and the items that they stand for, is the text. */
static void check_items(const strbuf *text) {
    protected_items items = {0};
    strbuf held = {0}, back = {0};
    require(protect_find(&items, text->data, text->length));
    size_t end = 0, k = 0;
    for (size_t i = 0; i < items.n; i++) {
        const protected_item *x = &items.at[i];
        require(x->start >= end && x->length > 0);
        end = x->start + x->length;
        require(end <= text->length && starts_character(text, x->start) && starts_character(text, end));
    }
    strbuf_puts(&held, "");
    strbuf_puts(&back, "");
    protect_write(&held, text->data, text->length, &items);
    for (const char *s = held.data; *s;) {
        int kind = symbol_at(s);
        if (kind >= 0) {
            require(k < items.n && (int)items.at[k].kind == kind);
            strbuf_append(&back, text->data + items.at[k].start, items.at[k].length);
            k++;
        } else
            strbuf_append(&back, s, 1);
        s += kind >= 0 ? 3 : 1;
    }
    require(k == items.n && back.length == text->length && memcmp(back.data, text->data, back.length) == 0);
    strbuf_free(&held);
    strbuf_free(&back);
    protected_items_free(&items);
}

static void check_pair(const strbuf *text) {
    size_t half = text->length / 2;
    while (!starts_character(text, half))
        half--;
    const char *const sides[2] = {text->data, text->data + half};
    const size_t n[2] = {text->length, text->length - half};
    strbuf out[2] = {{0}, {0}};
    size_t symbols[2] = {0, 0};
    require(protect_pair(out, sides, n, false));
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i + 2 < out[side].length; i++)
            symbols[side] += symbol_at(out[side].data + i) >= 0;
        strbuf_free(&out[side]);
    }
    require(symbols[0] == symbols[1]);
}

static void check_cuts(const strbuf *text) {
    const char *s = text->data;
    size_t n = text->length;
    cut_trim(&s, &n);
    require(s >= text->data && s + n <= text->data + text->length);
    cut found;
    for (size_t from = 0; cut_next(s, n, from, &found); from = found.at) {
        require(found.at > from && found.at < n && found.level > CUT_NONE);
        require(((unsigned char)s[found.at] & 0xC0) != 0x80);
    }
    size_t middle = cut_middle(s, n);
    require(middle < n || n == 0);
    require(middle == 0 || ((unsigned char)s[middle] & 0xC0) != 0x80);
    require(middle > 0 || utf8_count(s, n) <= 1);
}

static void check_form(const strbuf *text) {
    strbuf once = {0}, twice = {0};
    strbuf_puts(&once, "");
    strbuf_puts(&twice, "");
    nfc_append(&once, text->data, text->length);
    nfc_append(&twice, once.data, once.length);
    require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    require(utf8_valid_length(once.data, once.length) == once.length);
    strbuf_free(&once);
    strbuf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    strbuf text = {0};
    strbuf_puts(&text, "");
    utf8_clean(&text, (const char *)data, size);
    check_items(&text);
    check_pair(&text);
    check_cuts(&text);
    check_form(&text);
    strbuf_free(&text);
    return 0;
}
