#include "eval/bleu_tokenizer.h"

#include "base/error.h"
#include "base/utf8.h"
#include "eval/unicode_class.h"
#include <string.h>

/* The rules of the evaluation scripts are regular expressions over these sets of characters. */
enum { ANY = 1, NUMBER = 2, NOT_NUMBER = 4, PUNCTUATION = 8, SYMBOL = 16, STOP = 32, DASH = 64 };

/* Puts blanks around each character of the set `first`; or, where `second` is not 0, between each two neighbours
 * of the two sets and before or after them. From left to right, no character is in two matches. */
typedef struct cut_rule {
    unsigned first, second;
    bool blank_before, blank_after;
} cut_rule;

typedef struct cut_method {
    const char *name;
    unsigned (*sets_of)(uint32_t code_point);
    void (*prepare)(bleu_tokenizer *t);
    cut_rule rule[4];
    int n_rules;
} cut_method;

static unsigned sets_of_13a(uint32_t c) {
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

static unsigned sets_of_intl(uint32_t c) {
    switch (unicode_class_of(c)) {
    case UNICODE_NUMBER:
        return NUMBER;
    case UNICODE_PUNCTUATION:
        return NOT_NUMBER | PUNCTUATION;
    case UNICODE_SYMBOL:
        return NOT_NUMBER | SYMBOL;
    default:
        return NOT_NUMBER;
    }
}

static unsigned sets_of_char(uint32_t c) {
    (void)c;
    return ANY;
}

/* Makes what a rule has written the text that the next one reads; a failure stays with the text. */
static void take_next(bleu_tokenizer *t) {
    bool failed = t->text.failed || t->next.failed;
    strbuf text = t->text;
    t->text = t->next;
    t->next = text;
    strbuf_clear(&t->next);
    t->text.failed = failed;
}

static void replace_all(bleu_tokenizer *t, const char *from, const char *to) {
    const char *rest = t->text.data, *found;
    if (t->text.failed || !strstr(rest, from))
        return;
    for (; (found = strstr(rest, from)); rest = found + strlen(from)) {
        strbuf_append(&t->next, rest, (size_t)(found - rest));
        strbuf_puts(&t->next, to);
    }
    strbuf_puts(&t->next, rest);
    take_next(t);
}

/* What mteval-v13a.pl does first. The order matters: "&amp;lt;" becomes "<", "&amp;quot;" stays "&quot;". */
static void prepare_13a(bleu_tokenizer *t) {
    replace_all(t, "<skipped>", "");
    replace_all(t, "-\n", "");
    replace_all(t, "\n", " ");
    replace_all(t, "&quot;", "\"");
    replace_all(t, "&amp;", "&");
    replace_all(t, "&lt;", "<");
    replace_all(t, "&gt;", ">");
    /* A stop at either end of the line has a neighbour then, a blank. */
    strbuf_puts(&t->next, " ");
    strbuf_append(&t->next, t->text.data, t->text.length);
    strbuf_puts(&t->next, " ");
    take_next(t);
}

static const cut_method methods[] = {
    [SA_TOK_13A] = {"13a",
                    sets_of_13a,
                    prepare_13a,
                    {{SYMBOL, 0, true, true},
                     {NOT_NUMBER, STOP, false, true},
                     {STOP, NOT_NUMBER, true, false},
                     {NUMBER, DASH, false, true}},
                    4},
    [SA_TOK_INTL] = {"intl",
                     sets_of_intl,
                     NULL,
                     {{NOT_NUMBER, PUNCTUATION, false, true},
                      {PUNCTUATION, NOT_NUMBER, true, false},
                      {SYMBOL, 0, true, true}},
                     3},
    [SA_TOK_CHAR] = {"char", sets_of_char, NULL, {{ANY, 0, true, true}}, 1},
    [SA_TOK_NONE] = {"none", NULL, NULL, {{0}}, 0},
};

static const cut_method *method_of(sa_bleu_tokenizer kind) {
    return (size_t)kind < sizeof methods / sizeof methods[0] ? &methods[kind] : NULL;
}

const char *bleu_tokenizer_name(sa_bleu_tokenizer kind) {
    const cut_method *method = method_of(kind);
    return method ? method->name : NULL;
}

static void apply(bleu_tokenizer *t, const cut_rule *rule, unsigned (*sets_of)(uint32_t)) {
    const char *s = t->text.data;
    size_t length = t->text.length, copied = 0, n;
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
        strbuf_append(&t->next, s + copied, i - copied);
        strbuf_append(&t->next, " ", rule->blank_before);
        strbuf_append(&t->next, s + i, n);
        strbuf_append(&t->next, " ", more > 0);
        strbuf_append(&t->next, s + i + n, more);
        strbuf_append(&t->next, " ", rule->blank_after);
        n += more;
        copied = i + n;
    }
    strbuf_append(&t->next, s + copied, length - copied);
    take_next(t);
}

static size_t length_without_trailing_space(const char *line) {
    size_t length = strlen(line), end = 0, n;
    for (size_t i = 0; i < length; i += n) {
        uint32_t c;
        n = utf8_decode(line + i, length - i, &c);
        if (!unicode_is_space(c))
            end = i + n;
    }
    return end;
}

static void join_tokens(bleu_tokenizer *t) {
    const char *s = t->text.data;
    size_t length = t->text.length, start = 0, n;
    for (size_t i = 0; i <= length; i += n) {
        uint32_t c = ' ';
        n = i < length ? utf8_decode(s + i, length - i, &c) : 1;
        if (!unicode_is_space(c))
            continue;
        if (i > start) {
            strbuf_append(&t->next, " ", t->next.length > 0);
            strbuf_append(&t->next, s + start, i - start);
        }
        start = i + n;
    }
    strbuf_append(&t->next, "", 0);
    take_next(t);
}

const char *bleu_tokenize(bleu_tokenizer *t, const char *line, size_t *length) {
    const cut_method *method = method_of(t->kind);
    SA_ASSERT(method);
    strbuf_clear(&t->text);
    strbuf_clear(&t->next);
    strbuf_append(&t->text, "", 0);
    size_t n = length_without_trailing_space(line);
    if (t->lowercase)
        unicode_append_lower(&t->text, line, n);
    else
        strbuf_append(&t->text, line, n);
    if (method->prepare)
        method->prepare(t);
    for (int i = 0; i < method->n_rules; i++)
        apply(t, &method->rule[i], method->sets_of);
    join_tokens(t);
    if (t->text.failed)
        return NULL;
    *length = t->text.length;
    return t->text.data;
}

void bleu_tokenizer_free(bleu_tokenizer *t) {
    strbuf_free(&t->text);
    strbuf_free(&t->next);
}
