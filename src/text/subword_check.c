#include "text/subword_check.h"

#include "base/utf8.h"
#include "text/vocab_kind.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- protocol buffers: the wire format
 * ---------------------------------------------------------------------------- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct span {
    const unsigned char *at, *end;
} span;

typedef struct field {
    uint64_t number;
    unsigned wire;
    uint64_t value; /* VARINT */
    span bytes;     /* the other wire types */
} field;

static size_t span_length(span s) {
    return (size_t)(s.end - s.at);
}

static bool read_varint(span *s, uint64_t *value) {
    *value = 0;
    for (int shift = 0; shift < 64 && s->at < s->end; shift += 7) {
        unsigned char byte = *s->at++;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Takes the next field from s. False when it is damaged. */
static bool read_field(span *s, field *f) {
    uint64_t key, length;
    *f = (field){0};
    if (!read_varint(s, &key))
        return false;
    f->number = key >> 3;
    f->wire = key & 7;
    switch (f->wire) {
    case VARINT:
        return read_varint(s, &f->value);
    case FIXED64:
        length = 8;
        break;
    case FIXED32:
        length = 4;
        break;
    case BYTES:
        if (!read_varint(s, &length))
            return false;
        break;
    default: /* groups, which no model has */
        return false;
    }
    if (length > span_length(*s))
        return false;
    f->bytes = (span){s->at, s->at + length};
    s->at += length;
    return true;
}

static uint32_t read_u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static float read_float(const unsigned char *p) {
    uint32_t bits = read_u32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_text(span s) {
    return utf8_valid_length((const char *)s.at, span_length(s)) == span_length(s);
}

static bool equals(span s, const char *text) {
    return span_length(s) == strlen(text) && !memcmp(s.at, text, strlen(text));
}

/* Numbers from sentencepiece_model.proto. */
enum { MODEL_PIECE = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum { PIECE_NORMAL = 1, PIECE_UNKNOWN = 2, PIECE_CONTROL = 3, PIECE_USER = 4 };
enum { TRAINER_MODEL_TYPE = 3, TRAINER_SPACE_LAST = 24, TRAINER_BYTES = 35, TRAINER_UNK_SURFACE = 44 };
enum { TRAINER_UNIGRAM = 1, TRAINER_BPE = 2 };
enum { NORMALIZER_NAME = 1, NORMALIZER_TABLE = 2, NORMALIZER_ESCAPE_SPACE = 5 };

/* ---- the normalization table
 * -------------------------------------------------------------------------------------- */

/* A double-array trie of darts-clone: 32-bit units, and the text that its leaves point into. From unit i the search
 * goes to unit i ^ offset ^ byte if that has the byte as its label; a leaf's value is in unit i ^ offset. */
typedef struct trie {
    const unsigned char *unit;
    size_t n;
    span text;
} trie;

/* SentencePiece keeps that many matches of one search, and counts on there being no more. */
enum { TRIE_DEPTH = 32 };

static uint32_t unit_at(const trie *t, size_t i) {
    return read_u32(t->unit + 4 * i);
}

/* The unit that the children of i are counted from; SIZE_MAX when it or what it leads to lies outside. */
static size_t children_of(const trie *t, size_t i) {
    uint32_t unit = unit_at(t, i);
    size_t base = i ^ (size_t)(unit >> 10) << ((unit & 0x200) >> 6);
    if ((base | 0xFF) >= t->n)
        return SIZE_MAX;
    if (unit & 0x100) {
        size_t value = unit_at(t, base) & 0x7FFFFFFF;
        if (value >= span_length(t->text) || (t->text.at[value] & 0xC0) == 0x80)
            return SIZE_MAX;
    }
    return base;
}

/* Follows all paths from the root at once, a step at a time. reached and base: t->n flags each. */
static bool paths_are_sound(const trie *t, char *reached, char *base) {
    reached[0] = 1;
    for (int depth = 0; depth <= TRIE_DEPTH; depth++) {
        memset(base, 0, t->n);
        for (size_t i = 0; i < t->n; i++) {
            size_t children = reached[i] ? children_of(t, i) : 0;
            if (children == SIZE_MAX)
                return false;
            if (reached[i])
                base[children] = 1;
        }
        bool any = false;
        for (size_t i = 0; i < t->n; i++) {
            uint32_t label = unit_at(t, i) & 0x800000FF; /* bit 31: a value, not a state */
            reached[i] = label > 0 && label <= 0xFF && base[i ^ label];
            any |= reached[i] != 0;
        }
        if (!any)
            return true;
    }
    return false;
}

/* The table is the trie's length in bytes, the trie, and zero-terminated replacements. */
static bool table_is_sound(span table, bool *memory) {
    if (table.at == table.end)
        return true;
    if (span_length(table) < 4)
        return false;
    size_t length = read_u32(table.at);
    table.at += 4;
    if (length == 0 || length % 4 || length >= span_length(table) || table.end[-1] != 0)
        return false;
    trie t = {.unit = table.at, .n = length / 4, .text = {table.at + length, table.end}};
    for (span s = t.text; s.at < s.end; s.at++) {
        span replacement = {s.at, memchr(s.at, 0, span_length(s))};
        if (!is_text(replacement))
            return false;
        s.at = replacement.end;
    }
    char *flags = calloc(2, t.n);
    *memory = flags != NULL;
    bool sound = flags && (t.n & 0xFF) == 0 && paths_are_sound(&t, flags, flags + t.n);
    free(flags);
    return sound;
}

/* ---- the parts of a model
 * ----------------------------------------------------------------------------------------- */

static sa_status damaged(sa_error *error, const char *part) {
    return sa_fail(error, SA_FORMAT, "damaged SentencePiece model: %s", part);
}

enum { LONGEST_PIECE = 512 }; /* characters; SentencePiece keeps 1024 matches when it looks for pieces */

static bool is_ordinary(span text) {
    for (const unsigned char *c = text.at; c < text.end; c++)
        if (vocab_is_blank((char)*c))
            return false;
    return text.at < text.end && is_text(text) && !equals(text, "</s>") && !equals(text, "<unk>") &&
           utf8_count((const char *)text.at, span_length(text)) <= LONGEST_PIECE;
}

/* The kind of item that a symbol stands for, or -1. */
static int placeholder_of(span piece) {
    span text = {0};
    uint64_t type = PIECE_NORMAL;
    for (field f; piece.at < piece.end && read_field(&piece, &f);) {
        if (f.number == PIECE_TEXT && f.wire == BYTES)
            text = f.bytes;
        if (f.number == PIECE_TYPE && f.wire == VARINT)
            type = f.value;
    }
    for (int kind = 0; type == PIECE_USER && kind < PROTECT_KINDS; kind++)
        if (equals(text, protect_symbol((protect_kind)kind)))
            return kind;
    return -1;
}

static sa_status check_piece(span s, int id, sa_error *error) {
    const span whole = s;
    span text = {0};
    float score = 0;
    uint64_t type = PIECE_NORMAL;
    for (field f; s.at < s.end;) {
        if (!read_field(&s, &f))
            return sa_fail(error, SA_FORMAT, "damaged SentencePiece model: symbol %d is cut short", id);
        if (f.number == PIECE_TEXT && f.wire == BYTES)
            text = f.bytes;
        else if (f.number == PIECE_SCORE && f.wire == FIXED32)
            score = read_float(f.bytes.at);
        else if (f.number == PIECE_TYPE && f.wire == VARINT)
            type = f.value;
        else
            return sa_fail(error, SA_FORMAT, "damaged SentencePiece model: symbol %d has an unknown part", id);
    }
    bool good;
    if (type == PIECE_USER)
        good = id > VOCAB_UNK && placeholder_of(whole) >= 0;
    else if (id == VOCAB_EOS)
        good = type == PIECE_CONTROL && equals(text, "</s>");
    else if (id == VOCAB_UNK)
        good = type == PIECE_UNKNOWN && equals(text, "<unk>");
    else
        good = type == PIECE_NORMAL && is_ordinary(text);
    if (!good || !isfinite(score))
        return sa_fail(error, SA_FORMAT, "damaged SentencePiece model: symbol %d is not what it should be", id);
    return SA_OK;
}

static sa_status check_trainer(span s, sa_vocab_type type, sa_error *error) {
    uint64_t model_type = TRAINER_UNIGRAM;
    for (field f; s.at < s.end;) {
        if (!read_field(&s, &f))
            return damaged(error, "the trainer's settings are cut short");
        if (f.number == TRAINER_MODEL_TYPE && f.wire == VARINT)
            model_type = f.value;
        bool flag = f.number == TRAINER_SPACE_LAST || f.number == TRAINER_BYTES;
        if (flag && f.wire == VARINT && f.value != 0)
            return damaged(error, "it uses a setting that softalign does not");
        if (f.number == TRAINER_UNK_SURFACE && f.wire == BYTES && !is_text(f.bytes))
            return damaged(error, "the text of <unk> is not UTF-8");
    }
    if (model_type != (type == SA_VOCAB_BPE ? TRAINER_BPE : TRAINER_UNIGRAM))
        return damaged(error, type == SA_VOCAB_BPE ? "it is not a BPE model" : "it is not a unigram model");
    return SA_OK;
}

static sa_status check_normalizer(span s, sa_error *error) {
    for (field f; s.at < s.end;) {
        if (!read_field(&s, &f))
            return damaged(error, "the normalization is cut short");
        bool memory = true;
        if (f.number == NORMALIZER_TABLE && f.wire == BYTES && !table_is_sound(f.bytes, &memory))
            return memory ? damaged(error, "the normalization table leads outside itself")
                          : sa_fail_memory(error, span_length(f.bytes));
        if (f.number == NORMALIZER_ESCAPE_SPACE && f.wire == VARINT && f.value == 0)
            return damaged(error, "it uses a setting that softalign does not");
    }
    return SA_OK;
}

static void read_normalization(span s, char *name, size_t size) {
    for (field f; s.at < s.end && read_field(&s, &f);)
        if (f.number == NORMALIZER_NAME && f.wire == BYTES && is_text(f.bytes) && span_length(f.bytes) < size)
            snprintf(name, size, "%.*s", (int)span_length(f.bytes), (const char *)f.bytes.at);
}

void subword_read_facts(subword_facts *out, const char *bytes, size_t n) {
    span s = {(const unsigned char *)bytes, (const unsigned char *)bytes + n};
    int pieces = 0;
    *out = (subword_facts){.normalization = "identity"};
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        out->placeholder[kind] = -1;
    for (field f; s.at < s.end && read_field(&s, &f);) {
        if (f.number == MODEL_NORMALIZER)
            read_normalization(f.bytes, out->normalization, sizeof out->normalization);
        if (f.number != MODEL_PIECE)
            continue;
        int kind = placeholder_of(f.bytes);
        if (kind >= 0)
            out->placeholder[kind] = pieces;
        pieces++;
    }
}

sa_status subword_check(const char *bytes, size_t n, sa_vocab_type type, sa_error *error) {
    span s = {(const unsigned char *)bytes, (const unsigned char *)bytes + n};
    int pieces = 0, trainers = 0, normalizers = 0;
    for (field f; s.at < s.end;) {
        if (!read_field(&s, &f) || f.wire != BYTES)
            return damaged(error, "it is cut short or something else");
        if (f.number == MODEL_PIECE && pieces < INT_MAX)
            SA_TRY(check_piece(f.bytes, pieces++, error));
        else if (f.number == MODEL_TRAINER && trainers++ == 0)
            SA_TRY(check_trainer(f.bytes, type, error));
        else if (f.number == MODEL_NORMALIZER && normalizers++ == 0)
            SA_TRY(check_normalizer(f.bytes, error));
        else
            return damaged(error, "it has a part that softalign does not write");
    }
    if (pieces < 3 || trainers == 0 || normalizers == 0)
        return damaged(error, "parts are missing");
    return SA_OK;
}
