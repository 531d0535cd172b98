#include "eval/cutter.h"

#include "base/utf8.h"
#include "text/unicode_class.h"

#include <string.h>

const cut_rule cut_western_rule[CUT_WESTERN_RULES] = {
    {SYMBOL, 0, true, true},
    {NOT_NUMBER, STOP, false, true},
    {STOP, NOT_NUMBER, true, false},
    {NUMBER, DASH, false, true},
};

unsigned cut_western(uint32_t c) {
    if (c >= '0' && c <= '9')
        return NUMBER;
    if (c == '.' || c == ',')
        return NOT_NUMBER | STOP;
    if (c == '-')
        return NOT_NUMBER | DASH;
    if (c < ' ' || c > '~' || c == '\'' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
        return NOT_NUMBER;
    return NOT_NUMBER | SYMBOL;
}

/* Makes what a rule has written the text that the next one reads. */
static void take_next(cutter *c) {
    bool failed = c->text.failed || c->next.failed;
    strbuf text = c->text;
    c->text = c->next;
    c->next = text;
    strbuf_clear(&c->next);
    c->text.failed = failed;
}

void cutter_begin(cutter *c, const char *line, size_t length, bool lowercase) {
    strbuf_clear(&c->text);
    strbuf_clear(&c->next);
    strbuf_append(&c->text, "", 0);
    if (lowercase)
        unicode_append_lower(&c->text, line, length);
    else
        strbuf_append(&c->text, line, length);
}

void cutter_replace(cutter *c, const char *from, const char *to) {
    const char *rest = c->text.data, *found;
    if (c->text.failed || !strstr(rest, from))
        return;
    for (; (found = strstr(rest, from)); rest = found + strlen(from)) {
        strbuf_append(&c->next, rest, (size_t)(found - rest));
        strbuf_puts(&c->next, to);
    }
    strbuf_puts(&c->next, rest);
    take_next(c);
}

void cutter_read_entities(cutter *c) {
    cutter_replace(c, "&quot;", "\"");
    cutter_replace(c, "&amp;", "&");
    cutter_replace(c, "&lt;", "<");
    cutter_replace(c, "&gt;", ">");
}

void cutter_pad(cutter *c) {
    strbuf_puts(&c->next, " ");
    strbuf_append(&c->next, c->text.data, c->text.length);
    strbuf_puts(&c->next, " ");
    take_next(c);
}

void cutter_apply(cutter *cut, const cut_rule *rule, cut_sets *sets_of) {
    const char *s = cut->text.data;
    size_t length = cut->text.length, copied = 0, n;
    for (size_t i = 0; i < length; i += n) {
        uint32_t c;
        n = utf8_decode(s + i, length - i, &c);
        if (!(sets_of(c) & rule->first))
            continue;
        size_t more = 0;
        if (rule->second) {
            if (i + n == length)
                break;
            more = utf8_decode(s + i + n, length - i - n, &c);
            if (!(sets_of(c) & rule->second))
                continue;
        }
        strbuf_append(&cut->next, s + copied, i - copied);
        strbuf_append(&cut->next, " ", rule->blank_before);
        strbuf_append(&cut->next, s + i, n);
        strbuf_append(&cut->next, " ", more > 0);
        strbuf_append(&cut->next, s + i + n, more);
        strbuf_append(&cut->next, " ", rule->blank_after);
        n += more;
        copied = i + n;
    }
    strbuf_append(&cut->next, s + copied, length - copied);
    take_next(cut);
}

void cutter_remove(cutter *cut, unsigned sets, cut_sets *sets_of) {
    const char *s = cut->text.data;
    size_t length = cut->text.length, n;
    for (size_t i = 0; i < length; i += n) {
        uint32_t c;
        n = utf8_decode(s + i, length - i, &c);
        if (!(sets_of(c) & sets))
            strbuf_append(&cut->next, s + i, n);
    }
    strbuf_append(&cut->next, "", 0);
    take_next(cut);
}

const char *cutter_tokens(cutter *cut, size_t *tokens_length) {
    const char *s = cut->text.data;
    size_t length = cut->text.length, start = 0, n;
    for (size_t i = 0; i <= length; i += n) {
        uint32_t c = ' ';
        n = i < length ? utf8_decode(s + i, length - i, &c) : 1;
        if (!unicode_is_space(c))
            continue;
        if (i > start) {
            strbuf_append(&cut->next, " ", cut->next.length > 0);
            strbuf_append(&cut->next, s + start, i - start);
        }
        start = i + n;
    }
    strbuf_append(&cut->next, "", 0);
    take_next(cut);
    if (cut->text.failed)
        return NULL;
    *tokens_length = cut->text.length;
    return cut->text.data;
}

void cutter_free(cutter *c) {
    strbuf_free(&c->text);
    strbuf_free(&c->next);
}
