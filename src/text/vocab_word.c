/* Words split at blanks, the most frequent ones kept. Saved as text, one symbol a row in the order of ids: row 1 is
 * </s>, row 2 <unk>, then the words. In a row \\ stands for a backslash and \xHH for a control character; nothing
 * else is escaped, and a row is never empty. */
#include "base/hash.h"
#include "base/utf8.h"
#include "text/vocab_kind.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SPECIAL = 2 }; /* ids before the first word */

/* Bytes of words in a block, and in all blocks before the rarest words are forgotten. */
enum { BLOCK_BYTES = 1 << 20, MOST_BYTES = 256 << 20 };

static const char *const special[SPECIAL] = {[VOCAB_EOS] = "</s>", [VOCAB_UNK] = "<unk>"};

typedef struct word {
    const char *s;
    size_t length, count;
} word;

/* Words, each zero-terminated. */
typedef struct block {
    struct block *next;
    char bytes[];
} block;

typedef struct words {
    word *word;
    size_t n, capacity;
    size_t *slot;      /* hash table: index of a word + 1, or 0; open addressing */
    size_t slots;      /* a power of two, at least 2 n */
    block *blocks;     /* storage of the words, the newest block first */
    size_t used, room; /* bytes of the newest */
    size_t held;       /* bytes of all */
    size_t floor;      /* words of so many occurrences were forgotten */
} words;

static void free_blocks(block *b) {
    while (b) {
        block *next = b->next;
        free(b);
        b = next;
    }
}

static void words_free(void *state) {
    words *w = state;
    free(w->word);
    free(w->slot);
    free_blocks(w->blocks);
    free(w);
}

/* n bytes that stay in place; NULL without memory. */
static char *take_bytes(words *w, size_t n) {
    if (!w->blocks || w->room - w->used < n) {
        size_t room = n > BLOCK_BYTES ? n : BLOCK_BYTES;
        block *b = malloc(sizeof *b + room);
        if (!b)
            return NULL;
        *b = (block){.next = w->blocks};
        w->blocks = b;
        w->used = 0;
        w->room = room;
        w->held += room;
    }
    w->used += n;
    return w->blocks->bytes + w->used - n;
}

/* Mixed once more since the table uses the low bits. */
static uint64_t hash(const char *s, size_t n) {
    uint64_t h = hash_bytes(s, n);
    return h ^ h >> 32;
}

/* The slot of a word, or the free one where it belongs. */
static size_t find_slot(const words *w, const char *s, size_t n) {
    size_t i = hash(s, n) & (w->slots - 1);
    while (w->slot[i]) {
        const word *x = &w->word[w->slot[i] - 1];
        if (x->length == n && !memcmp(x->s, s, n))
            break;
        i = (i + 1) & (w->slots - 1);
    }
    return i;
}

/* Makes the hash table anew, with that many slots. */
static bool rehash(words *w, size_t slots) {
    size_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    free(w->slot);
    w->slot = slot;
    w->slots = slots;
    for (size_t i = 0; i < w->n; i++)
        w->slot[find_slot(w, w->word[i].s, w->word[i].length)] = i + 1;
    return true;
}

/* The word's entry, made where there is none; NULL when memory ran out. */
static word *words_add(words *w, const char *s, size_t n) {
    if (2 * (w->n + 1) > w->slots && !rehash(w, w->slots ? 2 * w->slots : 1024))
        return NULL;
    size_t slot = find_slot(w, s, n);
    if (w->slot[slot])
        return &w->word[w->slot[slot] - 1];
    if (w->n == w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 512;
        word *grown = realloc(w->word, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        w->word = grown;
        w->capacity = capacity;
    }
    w->word[w->n++] = (word){.s = s, .length = n};
    w->slot[slot] = w->n;
    return &w->word[w->n - 1];
}

/* The next word at or after *at, and its length; NULL at the end. */
static const char *next_word(const char **at, const char *end, size_t *length) {
    const char *s = *at;
    while (s < end && vocab_is_blank(*s))
        s++;
    const char *stop = s;
    while (stop < end && !vocab_is_blank(*stop))
        stop++;
    *at = stop;
    *length = (size_t)(stop - s);
    return *length ? s : NULL;
}

static int by_count_then_bytes(const void *left, const void *right) {
    const word *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->s, b->s, shorter);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Copies the words that are left into one block and makes the hash table anew. */
static bool compact(words *w) {
    size_t total = 1;
    for (size_t i = 0; i < w->n; i++)
        total += w->word[i].length + 1;
    block *old = w->blocks, *b = malloc(sizeof *b + total);
    if (!b)
        return false;
    b->next = NULL;
    char *to = b->bytes;
    for (size_t i = 0; i < w->n; i++) {
        word *x = &w->word[i];
        memcpy(to, x->s, x->length + 1);
        x->s = to;
        to += x->length + 1;
    }
    free_blocks(old);
    w->blocks = b;
    w->used = w->room = w->held = total;
    return rehash(w, w->slots);
}

/* Forgets the rarest words until half of the room is free. A text has that many different words only when most of
 * them are not worth a place in a vocabulary. */
static bool forget_rarest(words *w) {
    size_t bytes;
    do {
        size_t kept = bytes = 0;
        w->floor++;
        for (size_t i = 0; i < w->n; i++)
            if (w->word[i].count > w->floor) {
                bytes += w->word[i].length + 1;
                w->word[kept++] = w->word[i];
            }
        w->n = kept;
    } while (bytes > MOST_BYTES / 2);
    return compact(w);
}

static const char *words_normalization(const void *state) {
    (void)state;
    return "identity";
}

static int words_placeholder(const void *state, protect_kind kind) {
    (void)state;
    (void)kind;
    return -1;
}

static sa_status words_begin(void **state, const vocab_options *options, sa_error *error) {
    if (options->protect)
        return sa_fail(error, SA_USAGE,
                       "numbers, addresses and tags are protected in raw text, which is cut into subwords: protect "
                       "goes with bpe and unigram, not with words");
    if (strcmp(options->normalization, "identity"))
        return sa_fail(error, SA_USAGE,
                       "words have normalization identity or nfc; \"%s\" goes with bpe and unigram",
                       options->normalization);
    *state = calloc(1, sizeof(words));
    return *state ? SA_OK : sa_fail_memory(error, sizeof(words));
}

/* Counts the word once more; false without memory. */
static bool count_word(words *w, const char *s, size_t length) {
    size_t before = w->n;
    word *x = words_add(w, s, length);
    if (!x)
        return false;
    x->count++;
    if (w->n == before)
        return true;
    char *copy = take_bytes(w, length + 1);
    if (!copy)
        return false;
    memcpy(copy, s, length);
    copy[length] = 0;
    x->s = copy;
    return w->held <= MOST_BYTES || forget_rarest(w);
}

static sa_status words_add_line(void *state, const char *line, size_t n, sa_error *error) {
    words *w = state;
    const char *at = line, *end = line + n;
    size_t length;
    for (const char *s; (s = next_word(&at, end, &length));)
        if (!count_word(w, s, length))
            return sa_fail_memory(error, w->n * sizeof *w->word);
    return SA_OK;
}

static sa_status words_end(void *state, const vocab_options *options, sa_error *error) {
    words *w = state;
    qsort(w->word, w->n, sizeof *w->word, by_count_then_bytes);
    size_t most = (size_t)options->size - SPECIAL;
    if (w->n > most)
        w->n = most;
    return compact(w) ? SA_OK : sa_fail_memory(error, 0);
}

static bool is_control(unsigned char c) {
    return c < 0x20 || c == 0x7F;
}

static sa_status words_save(const void *state, strbuf *out, sa_error *error) {
    const words *w = state;
    for (int i = 0; i < SPECIAL; i++)
        strbuf_printf(out, "%s\n", special[i]);
    for (size_t i = 0; i < w->n; i++) {
        for (const char *s = w->word[i].s; *s; s++) {
            if (*s == '\\')
                strbuf_puts(out, "\\\\");
            else if (is_control((unsigned char)*s))
                strbuf_printf(out, "\\x%02X", (unsigned char)*s);
            else
                strbuf_append(out, s, 1);
        }
        strbuf_puts(out, "\n");
    }
    return out->failed ? sa_fail_memory(error, out->length) : SA_OK;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads a row into `to` without escapes. Returns what is wrong with it, or NULL. */
static const char *read_row(const char *s, const char *end, char *to, size_t *length) {
    *length = 0;
    if (s == end)
        return "an empty row";
    if (utf8_valid_length(s, (size_t)(end - s)) != (size_t)(end - s))
        return "bytes that are not UTF-8";
    while (s < end) {
        if (vocab_is_blank(*s) || is_control((unsigned char)*s))
            return "a blank or a control character in a word";
        char c = *s++;
        if (c == '\\' && s < end && *s == '\\') {
            s++;
        } else if (c == '\\') {
            int high = end - s >= 3 && *s == 'x' ? hex_digit(s[1]) : -1;
            int low = high >= 0 ? hex_digit(s[2]) : -1;
            c = low >= 0 ? (char)(high * 16 + low) : 0;
            if (c == 0 || !is_control((unsigned char)c) || vocab_is_blank(c))
                return "a backslash that begins no escape";
            s += 3;
        }
        to[(*length)++] = c;
    }
    return NULL;
}

/* Reads row `row` (from 0) and puts its word, if it is one, at *to. */
static sa_status load_row(words *w, size_t row, const char *s, const char *end, char **to, sa_error *error) {
    size_t length;
    const char *wrong = read_row(s, end, *to, &length);
    if (wrong)
        return sa_fail(error, SA_FORMAT, "vocabulary row %zu: %s", row + 1, wrong);
    if (row < SPECIAL) {
        if (length != strlen(special[row]) || memcmp(*to, special[row], length))
            return sa_fail(error, SA_FORMAT, "vocabulary row %zu: it must be %s", row + 1, special[row]);
        return SA_OK;
    }
    size_t before = w->n;
    const word *x = words_add(w, *to, length);
    if (!x)
        return sa_fail_memory(error, w->n * sizeof *x);
    if (w->n == before)
        return sa_fail(error, SA_FORMAT, "vocabulary row %zu: the same word as in row %zu", row + 1,
                       (size_t)(x - w->word) + SPECIAL + 1);
    (*to)[length] = 0;
    *to += length + 1;
    return SA_OK;
}

static sa_status words_load(void **state, sa_vocab_type type, const char *bytes, size_t n, sa_error *error) {
    (void)type;
    words *w = calloc(1, sizeof *w);
    if (!w)
        return sa_fail_memory(error, sizeof *w);
    *state = w;
    char *to = take_bytes(w, n + 1); /* a word and its zero are no longer than its row and its LF */
    if (!to)
        return sa_fail_memory(error, n);
    size_t row = 0;
    for (const char *s = bytes, *end = bytes + n; s < end; row++) {
        const char *lf = memchr(s, '\n', (size_t)(end - s));
        if (!lf)
            return sa_fail(error, SA_FORMAT, "vocabulary row %zu: it is cut short", row + 1);
        if (row == INT_MAX)
            return sa_fail(error, SA_FORMAT, "a vocabulary of more than %d rows", INT_MAX);
        SA_TRY(load_row(w, row, s, lf, &to, error));
        s = lf + 1;
    }
    if (row < SPECIAL)
        return sa_fail(error, SA_FORMAT, "vocabulary row %zu: it must be %s, but there are no more rows", row + 1,
                       special[row]);
    return SA_OK;
}

static int words_size(const void *state) {
    return (int)((const words *)state)->n + SPECIAL;
}

static const char *words_piece(const void *state, int id) {
    return id < SPECIAL ? special[id] : ((const words *)state)->word[id - SPECIAL].s;
}

static int words_find(const void *state, const char *piece, size_t length) {
    const words *w = state;
    size_t found = w->slots ? w->slot[find_slot(w, piece, length)] : 0;
    return found ? (int)(found - 1) + SPECIAL : VOCAB_UNK;
}

static sa_status words_encode(const void *state, const char *text, size_t length, id_list *ids, strbuf *texts,
                              sa_error *error) {
    const char *at = text, *end = text + length;
    size_t n;
    for (const char *s; (s = next_word(&at, end, &n));) {
        if (!id_list_push(ids, words_find(state, s, n)))
            return sa_fail_memory(error, ids->n * sizeof *ids->id);
        if (texts) {
            strbuf_append(texts, s, n);
            strbuf_append(texts, "", 1);
        }
    }
    return texts && texts->failed ? sa_fail_memory(error, texts->length) : SA_OK;
}

static sa_status words_decode(const void *state, const int *ids, size_t n, const char *const *texts, strbuf *out,
                              sa_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            strbuf_puts(out, " ");
        strbuf_puts(out, texts && texts[i] ? texts[i] : words_piece(state, ids[i]));
    }
    return out->failed ? sa_fail_memory(error, out->length) : SA_OK;
}

const vocab_kind vocab_kind_word = {
    .begin = words_begin,
    .add = words_add_line,
    .end = words_end,
    .save = words_save,
    .load = words_load,
    .free = words_free,
    .size = words_size,
    .piece = words_piece,
    .normalization = words_normalization,
    .placeholder = words_placeholder,
    .find = words_find,
    .encode = words_encode,
    .decode = words_decode,
};
