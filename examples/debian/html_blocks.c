#include "html_blocks.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define REPLACEMENT 0xFFFD

typedef struct scanner {
    const char *at, *end;
    html_blocks *out;
    bool wrote, blank; /* this block has text; a blank is due before the next character */
    char skipped[16];  /* name of the element that is being left out, "" when none */
    int skipped_depth; /* elements of that name that are open */
} scanner;

typedef struct tag {
    char name[16]; /* lower case, cropped */
    bool closing, empty, has_class, hidden;
} tag;

static const char *const block_names[] = {
    "address", "article", "blockquote", "body", "br",      "caption", "center", "dd", "details", "div",
    "dl",      "dt",      "fieldset",   "form", "figure",  "h1",      "h2",     "h3", "h4",      "h5",
    "h6",      "hr",      "html",       "li",   "main",    "ol",      "p",      "td", "section", "table",
    "tbody",   "tfoot",   "th",         "tr",   "summary", "thead",   "ul",     NULL};
static const char *const skipped_names[] = {"aside", "button", "footer",   "head",     "header", "label",
                                            "nav",   "math",   "noscript", "pre",      "script", "select",
                                            "style", "svg",    "template", "textarea", "title",  NULL};
static const char *const void_names[] = {"area",  "base", "br",   "col",    "embed", "hr", "img",
                                         "input", "link", "meta", "source", "wbr",   NULL};

/* U+00A0 ... U+00FF in order, then the rest that texts use. */
static const char *const latin1_entities[] = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",   "ordf",
    "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",   "acute",  "micro",
    "para",   "middot", "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave",
    "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",
    "Igrave", "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",
    "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute",
    "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil", "egrave", "eacute", "ecirc",  "euml",   "igrave",
    "iacute", "icirc",  "iuml",   "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide",
    "oslash", "ugrave", "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};
static const struct {
    const char *name;
    uint32_t code;
} other_entities[] = {
    {"amp", '&'},       {"lt", '<'},        {"gt", '>'},        {"quot", '"'},      {"apos", '\''},
    {"OElig", 0x152},   {"oelig", 0x153},   {"Yuml", 0x178},    {"ensp", 0x2002},   {"emsp", 0x2003},
    {"thinsp", 0x2009}, {"zwnj", 0x200C},   {"zwj", 0x200D},    {"ndash", 0x2013},  {"mdash", 0x2014},
    {"lsquo", 0x2018},  {"rsquo", 0x2019},  {"sbquo", 0x201A},  {"ldquo", 0x201C},  {"rdquo", 0x201D},
    {"bdquo", 0x201E},  {"dagger", 0x2020}, {"bull", 0x2022},   {"hellip", 0x2026}, {"permil", 0x2030},
    {"prime", 0x2032},  {"lsaquo", 0x2039}, {"rsaquo", 0x203A}, {"euro", 0x20AC},   {"trade", 0x2122},
    {"larr", 0x2190},   {"uarr", 0x2191},   {"rarr", 0x2192},   {"darr", 0x2193},   {"minus", 0x2212},
    {"infin", 0x221E},  {"ne", 0x2260},     {"le", 0x2264},     {"ge", 0x2265},     {"pi", 0x3C0}};

static bool ends_attribute_name(char c) {
    return isspace((unsigned char)c) || c == '=' || c == '>' || c == '/';
}

static bool listed(const char *const *names, const char *name) {
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

static bool is_blank(uint32_t c) {
    return c <= ' ' || c == 0x85 || c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

static bool is_invisible(uint32_t c) {
    return c == 0xAD || (c >= 0x200B && c <= 0x200F) || c == 0x2060 || c == 0xFEFF;
}

static void append_utf8(strbuf *s, uint32_t c) {
    unsigned char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6)
        b[i] = (unsigned char)(0x80 | (c & 0x3F));
    b[0] = (unsigned char)(lead[n] | c);
    strbuf_append(s, b, n);
}

static void put(scanner *s, uint32_t c) {
    if (s->skipped[0] || is_invisible(c))
        return;
    if (is_blank(c)) {
        s->blank = s->wrote;
        return;
    }
    if (s->blank)
        strbuf_append(&s->out->text, " ", 1);
    s->blank = false;
    s->wrote = true;
    append_utf8(&s->out->text, c);
}

static void end_block(scanner *s) {
    strbuf_append(&s->out->text, "", 1);
    s->out->n++;
    s->wrote = s->blank = false;
}

/* One character; a byte that starts no valid sequence is U+FFFD by itself. */
static uint32_t next_character(scanner *s) {
    const unsigned char *p = (const unsigned char *)s->at;
    size_t left = (size_t)(s->end - s->at);
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    s->at++;
    if (n == 1)
        return p[0];
    if (p[0] < 0xC2 || p[0] > 0xF4 || left < n)
        return REPLACEMENT;
    uint32_t c = p[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return REPLACEMENT;
        c = c << 6 | (p[i] & 0x3F);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return REPLACEMENT;
    s->at += n - 1;
    return c;
}

static uint32_t number_entity(const char *text, size_t length) {
    bool hex = length > 1 && (text[1] == 'x' || text[1] == 'X');
    uint32_t c = 0;
    size_t i = hex ? 2 : 1;
    if (i == length)
        return 0;
    for (; i < length; i++) {
        unsigned char d = (unsigned char)text[i];
        if (!(hex ? isxdigit(d) : isdigit(d)))
            return 0;
        c = c * (hex ? 16 : 10) + (uint32_t)(isdigit(d) ? d - '0' : (d | 32) - 'a' + 10);
        if (c > 0x10FFFF)
            return REPLACEMENT;
    }
    return c == 0 || (c >= 0xD800 && c <= 0xDFFF) ? REPLACEMENT : c;
}

/* At '&': the character meant, or '&' itself when this is no entity we know. */
static uint32_t entity(scanner *s) {
    const char *name = ++s->at;
    size_t left = (size_t)(s->end - name);
    const char *semicolon = memchr(name, ';', left < 12 ? left : 12);
    if (!semicolon || semicolon == name)
        return '&';
    size_t length = (size_t)(semicolon - name);
    uint32_t c = 0;
    if (name[0] == '#')
        c = number_entity(name, length);
    for (size_t i = 0; !c && i < sizeof latin1_entities / sizeof *latin1_entities; i++)
        if (strlen(latin1_entities[i]) == length && !memcmp(latin1_entities[i], name, length))
            c = 0xA0 + (uint32_t)i;
    for (size_t i = 0; !c && i < sizeof other_entities / sizeof *other_entities; i++)
        if (strlen(other_entities[i].name) == length && !memcmp(other_entities[i].name, name, length))
            c = other_entities[i].code;
    if (!c)
        return '&';
    s->at = semicolon + 1;
    return c;
}

static void skip_past(scanner *s, const char *text) {
    const char *found = memmem(s->at, (size_t)(s->end - s->at), text, strlen(text));
    s->at = found ? found + strlen(text) : s->end;
}

/* Reads one attribute; its value is passed over. */
static void read_attribute(scanner *s, tag *t) {
    const char *name = s->at;
    while (s->at < s->end && !ends_attribute_name(*s->at))
        s->at++;
    size_t length = (size_t)(s->at - name);
    t->has_class = t->has_class || (length == 5 && !strncasecmp(name, "class", 5));
    t->hidden = t->hidden || (length == 6 && !strncasecmp(name, "hidden", 6));
    while (s->at < s->end && isspace((unsigned char)*s->at))
        s->at++;
    if (s->at == s->end || *s->at != '=')
        return;
    s->at++;
    while (s->at < s->end && isspace((unsigned char)*s->at))
        s->at++;
    if (s->at < s->end && (*s->at == '"' || *s->at == '\'')) {
        char quote[2] = {*s->at++, 0};
        skip_past(s, quote);
        return;
    }
    while (s->at < s->end && !isspace((unsigned char)*s->at) && *s->at != '>')
        s->at++;
}

/* At '<': true when a tag, comment or declaration was read (a comment leaves the name empty), false when the '<' is
 * just a character. */
static bool read_tag(scanner *s, tag *t) {
    *t = (tag){.name = ""};
    if (s->end - s->at >= 4 && !memcmp(s->at, "<!--", 4)) {
        skip_past(s, "-->");
        return true;
    }
    const char *p = s->at + 1;
    if (p < s->end && (*p == '!' || *p == '?')) {
        skip_past(s, ">");
        return true;
    }
    t->closing = p < s->end && *p == '/';
    p += t->closing;
    if (p == s->end || !isalpha((unsigned char)*p))
        return false;
    for (size_t n = 0; p < s->end && (isalnum((unsigned char)*p) || *p == '-'); p++)
        if (n + 1 < sizeof t->name)
            t->name[n++] = (char)tolower((unsigned char)*p);
    for (s->at = p; s->at < s->end && *s->at != '>';) {
        t->empty = *s->at == '/';
        if (t->empty || isspace((unsigned char)*s->at) || *s->at == '=')
            s->at++;
        else
            read_attribute(s, t);
    }
    s->at += s->at < s->end;
    t->empty = t->empty || listed(void_names, t->name);
    return true;
}

/* Script and style hold no markup: on to their end tag. */
static void pass_raw_text(scanner *s, const char *name) {
    size_t length = strlen(name);
    for (; s->at < s->end; s->at++)
        if (*s->at == '<' && (size_t)(s->end - s->at) > length + 2 && s->at[1] == '/' &&
            !strncasecmp(s->at + 2, name, length))
            return;
}

static void enter_or_leave_skipped(scanner *s, const tag *t) {
    bool body_ends_head = !strcmp(t->name, "body") && !strcmp(s->skipped, "head");
    if (!strcmp(t->name, s->skipped) && !t->empty)
        s->skipped_depth += t->closing ? -1 : 1;
    if (s->skipped_depth == 0 || body_ends_head)
        s->skipped[0] = 0;
}

static void handle_tag(scanner *s, const tag *t) {
    bool raw = !t->closing && (!strcmp(t->name, "script") || !strcmp(t->name, "style"));
    if (s->skipped[0]) {
        enter_or_leave_skipped(s, t);
        if (s->skipped[0]) {
            if (raw)
                pass_raw_text(s, t->name);
            return;
        }
    } else if (!t->closing && !t->empty && (listed(skipped_names, t->name) || (t->hidden && t->has_class))) {
        memcpy(s->skipped, t->name, sizeof s->skipped);
        s->skipped_depth = 1;
        if (raw)
            pass_raw_text(s, t->name);
    }
    if (listed(block_names, t->name)) {
        end_block(s);
        strbuf_printf(&s->out->boundaries, "%s%s ", t->closing ? "/" : "", t->name);
    }
}

void html_blocks_read(html_blocks *out, const char *html, size_t length) {
    scanner s = {.at = html, .end = html + length, .out = out};
    out->n = 0;
    strbuf_clear(&out->text);
    strbuf_clear(&out->boundaries);
    strbuf_puts(&out->boundaries, "");
    while (s.at < s.end) {
        tag t;
        if (*s.at == '<' && read_tag(&s, &t))
            handle_tag(&s, &t);
        else
            put(&s, *s.at == '&' ? entity(&s) : next_character(&s));
    }
    end_block(&s);
}

void html_blocks_free(html_blocks *blocks) {
    strbuf_free(&blocks->text);
    strbuf_free(&blocks->boundaries);
    *blocks = (html_blocks){0};
}
