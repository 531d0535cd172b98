#include "serve/gate.h"

#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MOST = 255, BUCKETS = 4096, PROBES = 8 };

typedef struct key {
    char text[KEY_MOST + 1]; /* zeros behind it */
} key;

/* What is left of somebody's requests. It fills again with time; a full one may be forgotten. */
typedef struct bucket {
    uint64_t who; /* hash */
    double left, at;
} bucket;

struct gate {
    key *keys;
    size_t n, capacity;
    int rate;
    bucket bucket[BUCKETS];
};

/* ---- keys -------------------------------------------------------------------------------------------- */

static sa_status add_key(gate *g, const char *line, size_t length, const char *path, size_t number,
                         sa_error *error) {
    if (length > KEY_MOST)
        return sa_fail(error, SA_DATA, "%s:%zu: a key is longer than %d bytes", path, number, KEY_MOST);
    if (g->n == g->capacity) {
        size_t capacity = g->capacity ? 2 * g->capacity : 16;
        key *more = realloc(g->keys, capacity * sizeof *more);
        if (!more)
            return sa_fail_memory(error, capacity * sizeof *more);
        g->keys = more;
        g->capacity = capacity;
    }
    memset(&g->keys[g->n], 0, sizeof *g->keys);
    memcpy(g->keys[g->n++].text, line, length);
    return SA_OK;
}

static sa_status read_keys(gate *g, const char *path, sa_error *error) {
    sa_reader *reader;
    SA_TRY(sa_reader_open(&reader, path, true, error));
    char *line;
    size_t length;
    sa_status status;
    while ((status = sa_reader_next(reader, &line, &length, error)) == SA_OK && line) {
        while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
            length--;
        if (length > 0 && line[0] != '#' &&
            (status = add_key(g, line, length, path, sa_reader_line(reader), error)) != SA_OK)
            break;
    }
    sa_reader_free(reader);
    if (status == SA_OK && g->n == 0)
        return sa_fail(error, SA_DATA, "%s has no keys, so that nobody could ask anything", path);
    return status;
}

sa_status gate_new(gate **out, const char *keys, int rate, sa_error *error) {
    gate *g = *out = calloc(1, sizeof *g);
    if (!g)
        return sa_fail_memory(error, sizeof *g);
    g->rate = rate;
    sa_status status = keys ? read_keys(g, keys, error) : SA_OK;
    if (status != SA_OK) {
        gate_free(g);
        *out = NULL;
    }
    return status;
}

void gate_free(gate *g) {
    if (g)
        free(g->keys);
    free(g);
}

bool gate_needs_key(const gate *g) {
    return g->n > 0;
}

int gate_key(const gate *g, const char *text) {
    key asked = {{0}};
    size_t length = strlen(text);
    int found = 0;
    memcpy(asked.text, text, length < KEY_MOST ? length : KEY_MOST);
    /* All bytes of all keys are looked at, whatever differs first. */
    for (size_t i = 0; i < g->n; i++) {
        unsigned char differs = 0;
        for (size_t k = 0; k < KEY_MOST; k++)
            differs |= (unsigned char)(asked.text[k] ^ g->keys[i].text[k]);
        found |= (int)(i + 1) & -(int)(differs == 0);
    }
    return length > 0 && length <= KEY_MOST ? found : 0;
}

/* ---- rates ------------------------------------------------------------------------------------------- */

static double left_now(const gate *g, const bucket *b, double now) {
    double left = b->left + (now - b->at) * g->rate / 60;
    return left < g->rate ? left : g->rate;
}

/* Somebody's bucket; that of somebody else is taken over where there is no room, of whom most is left. */
static bucket *bucket_of(gate *g, uint64_t who, double now) {
    bucket *best = NULL;
    for (size_t i = 0; i < PROBES; i++) {
        bucket *b = &g->bucket[(who + i) % BUCKETS];
        if (b->who == who)
            return b;
        if (!best || b->who == 0 || (best->who != 0 && left_now(g, b, now) > left_now(g, best, now)))
            best = b;
    }
    *best = (bucket){who, g->rate, now};
    return best;
}

bool gate_pass(gate *g, const char *who, double now, int *retry_after) {
    if (g->rate == 0)
        return true;
    uint64_t hash = hash_string(who);
    bucket *b = bucket_of(g, hash ? hash : 1, now);
    b->left = left_now(g, b, now);
    b->at = now;
    if (b->left >= 1) {
        b->left--;
        return true;
    }
    *retry_after = (int)ceil((1 - b->left) * 60 / g->rate);
    return false;
}
