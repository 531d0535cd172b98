#include "eval/token_ids.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

struct token_slot {
    size_t line, id;
    size_t offset, length; /* in text */
    uint64_t hash;
};

/* Mixed once more since the table uses the low bits. */
static uint64_t hash_token(const char *bytes, size_t n) {
    uint64_t h = hash_bytes(bytes, n);
    return h ^ h >> 32;
}

/* The slot of the token, or the empty one where it belongs. */
static struct token_slot *place_of(const token_ids *t, const char *bytes, size_t n, uint64_t hash) {
    for (size_t i = hash & (t->capacity - 1);; i = (i + 1) & (t->capacity - 1)) {
        struct token_slot *slot = &t->slot[i];
        if (slot->line != t->line)
            return slot;
        if (slot->hash == hash && slot->length == n && !memcmp(t->text.data + slot->offset, bytes, n))
            return slot;
    }
}

/* The table is kept at most half full. */
static bool reserve_slot(token_ids *t) {
    if (t->n_tokens + 1 <= t->capacity / 2)
        return true;
    token_ids larger = *t;
    larger.capacity = t->capacity ? 2 * t->capacity : 256;
    larger.slot = calloc(larger.capacity, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (size_t i = 0; i < t->capacity; i++) {
        const struct token_slot *slot = &t->slot[i];
        if (slot->line == t->line)
            *place_of(&larger, t->text.data + slot->offset, slot->length, slot->hash) = *slot;
    }
    free(t->slot);
    *t = larger;
    return true;
}

static bool append_id(token_ids *t, size_t id) {
    if (t->n == t->id_capacity) {
        size_t capacity = t->n ? 2 * t->n : 64;
        size_t *grown = realloc(t->id, capacity * sizeof *grown);
        if (!grown)
            return false;
        t->id = grown;
        t->id_capacity = capacity;
    }
    t->id[t->n++] = id;
    return true;
}

void token_ids_begin(token_ids *t) {
    t->line++;
    t->n_tokens = t->n = 0;
    strbuf_clear(&t->text);
}

/* Bytes of the token at the start of the text. */
static size_t token_length(const token_ids *t, const char *text, size_t length) {
    uint32_t c;
    if (t->characters)
        return utf8_decode(text, length, &c);
    const char *blank = memchr(text, ' ', length);
    return blank ? (size_t)(blank - text) : length;
}

bool token_ids_read(token_ids *t, const char *tokens, size_t length, bool add) {
    size_t base = t->text.length, n;
    if (add) {
        strbuf_append(&t->text, tokens, length);
        if (t->text.failed)
            return false;
    }
    t->n = 0;
    for (size_t start = 0; start < length; start += n + !t->characters) {
        if (!reserve_slot(t))
            return false;
        n = token_length(t, tokens + start, length - start);
        uint64_t hash = hash_token(tokens + start, n);
        struct token_slot *slot = place_of(t, tokens + start, n, hash);
        bool known = slot->line == t->line;
        if (!known && add)
            *slot = (struct token_slot){t->line, ++t->n_tokens, base + start, n, hash};
        if (!append_id(t, known || add ? slot->id : TOKEN_UNKNOWN))
            return false;
    }
    return true;
}

void token_ids_free(token_ids *t) {
    strbuf_free(&t->text);
    free(t->slot);
    free(t->id);
    *t = (token_ids){0};
}
