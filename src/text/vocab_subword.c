/* SentencePiece vocabularies. SentencePiece writes blanks as U+2581 and leaves sentences with U+2585 out of
 * training; so that both survive as letters, text is escaped before it gets there and unescaped after, with
 * noncharacters that Unicode sets aside for internal use: U+2581 -> U+FDD1      U+2585 -> U+FDD2      U+FDD0,
 * U+FDD1, U+FDD2 -> U+FDD0 followed by "0", "1", "2" No two texts have one escaped form. Pieces show the escaped
 * form: a piece's U+2581 is always a blank. */
#include "base/utf8.h"
#include "text/subword.h"
#include "text/subword_check.h"
#include "text/vocab_kind.h"

#include <stdlib.h>
#include <string.h>

#define ESCAPE "\xEF\xB7\x90" /* U+FDD0 */
#define HOLE ESCAPE "3"       /* in what was decoded: a text goes here. No escaped text has it */

/* All of three bytes, but for the digit after ESCAPE. */
static const struct {
    char plain[4], escaped[5];
} escapes[] = {
    {"\xE2\x96\x81", "\xEF\xB7\x91"}, {"\xE2\x96\x85", "\xEF\xB7\x92"}, {ESCAPE, ESCAPE "0"},
    {"\xEF\xB7\x91", ESCAPE "1"},     {"\xEF\xB7\x92", ESCAPE "2"},
};

typedef struct subwords {
    subword *model;
    strbuf bytes;     /* as trained or loaded */
    strbuf sentences; /* to learn from, each ended by LF */
    subword_facts facts;
} subwords;

static void subwords_free(void *state) {
    subwords *w = state;
    subword_free(w->model);
    strbuf_free(&w->bytes);
    strbuf_free(&w->sentences);
    free(w);
}

static bool starts_with(const char *s, const char *end, const char *prefix) {
    size_t n = strlen(prefix);
    return (size_t)(end - s) >= n && !memcmp(s, prefix, n);
}

/* Appends s with one form of each escape put for the other. */
static void replace(strbuf *out, const char *s, size_t n, bool escaping) {
    const char *end = s + n, *from = s;
    while (s < end) {
        size_t i = 0, kinds = sizeof escapes / sizeof *escapes;
        bool possible = *s == '\xE2' || *s == '\xEF';
        while (possible && i < kinds && !starts_with(s, end, escaping ? escapes[i].plain : escapes[i].escaped))
            i++;
        if (!possible || i == kinds) {
            s++;
            continue;
        }
        strbuf_append(out, from, (size_t)(s - from));
        strbuf_puts(out, escaping ? escapes[i].escaped : escapes[i].plain);
        s += strlen(escaping ? escapes[i].plain : escapes[i].escaped);
        from = s;
    }
    strbuf_append(out, from, (size_t)(end - from));
}

/* Appends s escaped, with all blanks as U+0020. */
static void escape(strbuf *out, const char *s, size_t n) {
    size_t start = out->length;
    replace(out, s, n, true);
    if (out->failed)
        return;
    for (char *c = out->data + start; *c; c++)
        if (vocab_is_blank(*c))
            *c = ' ';
}

/* Appends a sentence to learn from: escaped, and longer words than the trainer takes cut. */
static void add_sentence(strbuf *out, const char *s, size_t n) {
    size_t word = 0, from = 0;
    for (size_t i = 0; i < n;) {
        uint32_t code;
        size_t length = utf8_decode(s + i, n - i, &code);
        word = vocab_is_blank(s[i]) ? 0 : word + 1;
        i += length;
        if (word == SUBWORD_MAX_WORD / 2) { /* an escape can double it */
            escape(out, s + from, i - from);
            strbuf_puts(out, " ");
            from = i;
            word = 0;
        }
    }
    escape(out, s + from, n - from);
    strbuf_puts(out, "\n");
}

static sa_status open_bytes(subwords *w, sa_error *error) {
    subword_read_facts(&w->facts, w->bytes.data, w->bytes.length);
    return subword_open(&w->model, w->bytes.data, w->bytes.length, error);
}

static sa_status check_normalization(const char *name, sa_error *error) {
    static const char *const known[] = {"identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i]))
            return SA_OK;
    return sa_fail(error, SA_USAGE,
                   "there is no normalization \"%s\"; choose identity, nfc, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf",
                   name);
}

/* Fails when nothing is left of any line once it is normalised, where the trainer would end the program. The
 * normalization can be had only through a model, so one is made of a single letter. */
static sa_status check_something_is_left(const vocab_options *options, const strbuf *text, sa_error *error) {
    vocab_options smallest = {.type = options->type, .size = 8, .normalization = options->normalization};
    subwords probe = {0};
    id_list ids = {0};
    sa_status status = subword_train(&probe.bytes, &smallest, "a\n", 2, error);
    if (status == SA_OK)
        status = open_bytes(&probe, error);
    const char *s = text->data, *end = text->data + text->length;
    while (status == SA_OK && ids.n == 0 && s < end) {
        const char *lf = memchr(s, '\n', (size_t)(end - s));
        status = subword_encode(probe.model, s, (size_t)(lf - s), &ids, error);
        s = lf + 1;
    }
    if (status == SA_OK && ids.n == 0)
        status =
            sa_fail(error, SA_DATA,
                    "there is nothing to learn a vocabulary from: all lines are empty after normalization \"%s\"",
                    options->normalization);
    id_list_free(&ids);
    subword_free(probe.model);
    strbuf_free(&probe.bytes);
    return status;
}

static sa_status subwords_begin(void **state, const vocab_options *options, sa_error *error) {
    SA_TRY(check_normalization(options->normalization, error));
    *state = calloc(1, sizeof(subwords));
    return *state ? SA_OK : sa_fail_memory(error, sizeof(subwords));
}

static sa_status subwords_add(void *state, const char *line, size_t n, sa_error *error) {
    subwords *w = state;
    add_sentence(&w->sentences, line, n);
    return w->sentences.failed ? sa_fail_memory(error, w->sentences.length) : SA_OK;
}

static sa_status subwords_end(void *state, const vocab_options *options, sa_error *error) {
    subwords *w = state;
    if (strcmp(options->normalization, "identity"))
        SA_TRY(check_something_is_left(options, &w->sentences, error));
    SA_TRY(subword_train(&w->bytes, options, w->sentences.data, w->sentences.length, error));
    strbuf_free(&w->sentences);
    return open_bytes(w, error);
}

static sa_status subwords_save(const void *state, strbuf *out, sa_error *error) {
    const subwords *w = state;
    strbuf_append(out, w->bytes.data, w->bytes.length);
    return out->failed ? sa_fail_memory(error, w->bytes.length) : SA_OK;
}

static sa_status subwords_load(void **state, sa_vocab_type type, const char *bytes, size_t n, sa_error *error) {
    SA_TRY(subword_check(bytes, n, type, error));
    subwords *w = calloc(1, sizeof *w);
    if (!w)
        return sa_fail_memory(error, sizeof *w);
    *state = w;
    strbuf_append(&w->bytes, bytes, n);
    if (w->bytes.failed)
        return sa_fail_memory(error, n);
    return open_bytes(w, error);
}

static int subwords_size(const void *state) {
    return subword_size(((const subwords *)state)->model);
}

static const char *subwords_piece(const void *state, int id) {
    return subword_piece(((const subwords *)state)->model, id);
}

static double subwords_score(const void *state, int id) {
    return (double)subword_score(((const subwords *)state)->model, id);
}

static const char *subwords_normalization(const void *state) {
    return ((const subwords *)state)->facts.normalization;
}

static int subwords_placeholder(const void *state, protect_kind kind) {
    return ((const subwords *)state)->facts.placeholder[kind];
}

static int subwords_find(const void *state, const char *piece, size_t length) {
    return subword_find(((const subwords *)state)->model, piece, length);
}

/* Appends a piece as text: its blank first, the rest without escapes. */
static void add_text(strbuf *out, const char *piece) {
    if (starts_with(piece, piece + strlen(piece), VOCAB_SUBWORD_BLANK)) {
        strbuf_puts(out, " ");
        piece += strlen(VOCAB_SUBWORD_BLANK);
    }
    replace(out, piece, strlen(piece), false);
    strbuf_append(out, "", 1);
}

static sa_status subwords_encode(const void *state, const char *text, size_t length, id_list *ids, strbuf *texts,
                                 sa_error *error) {
    const subword *model = ((const subwords *)state)->model;
    strbuf escaped = {0}, pieces = {0};
    escape(&escaped, text, length);
    sa_status status = escaped.failed ? sa_fail_memory(error, length)
                                      : subword_encode(model, escaped.data, escaped.length, ids, error);
    if (texts && status == SA_OK)
        status = subword_pieces(model, escaped.data, escaped.length, &pieces, error);
    for (size_t at = 0; status == SA_OK && at < pieces.length; at += strlen(pieces.data + at) + 1)
        add_text(texts, pieces.data + at);
    strbuf_free(&escaped);
    strbuf_free(&pieces);
    return status == SA_OK && texts && texts->failed ? sa_fail_memory(error, texts->length) : status;
}

/* Unescapes what was decoded, with the given texts where HOLE stands. A text's blank is left out at the start. */
static void fill_holes(strbuf *out, const char *decoded, size_t n, const char *const *texts) {
    size_t start = out->length;
    for (size_t i = 0; i < n; i++) {
        if (!texts[i])
            continue;
        const char *hole = strstr(decoded, HOLE);
        if (!hole)
            break;
        replace(out, decoded, (size_t)(hole - decoded), false);
        strbuf_puts(out, texts[i] + (texts[i][0] == ' ' && out->length == start));
        decoded = hole + strlen(HOLE);
    }
    replace(out, decoded, strlen(decoded), false);
}

static sa_status subwords_decode(const void *state, const int *ids, size_t n, const char *const *texts, strbuf *out,
                                 sa_error *error) {
    const subword *model = ((const subwords *)state)->model;
    strbuf escaped = {0};
    bool *holes = texts ? calloc(n + 1, sizeof *holes) : NULL;
    for (size_t i = 0; holes && i < n; i++)
        holes[i] = texts[i] != NULL;
    sa_status status =
        texts && !holes ? sa_fail_memory(error, n) : subword_decode(model, ids, n, holes, HOLE, &escaped, error);
    if (status == SA_OK && escaped.length > 0) {
        if (texts)
            fill_holes(out, escaped.data, n, texts);
        else
            replace(out, escaped.data, escaped.length, false);
        status = out->failed ? sa_fail_memory(error, escaped.length) : SA_OK;
    }
    free(holes);
    strbuf_free(&escaped);
    return status;
}

const vocab_kind vocab_kind_subword = {
    .begin = subwords_begin,
    .add = subwords_add,
    .end = subwords_end,
    .save = subwords_save,
    .load = subwords_load,
    .free = subwords_free,
    .size = subwords_size,
    .piece = subwords_piece,
    .score = subwords_score,
    .normalization = subwords_normalization,
    .placeholder = subwords_placeholder,
    .find = subwords_find,
    .encode = subwords_encode,
    .decode = subwords_decode,
};
