#include "base/arena.h"

#include "base/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct chunk {
    char *data;
    size_t size;
} chunk;

struct arena {
    chunk *chunks;
    size_t n, capacity;
    size_t current, used;   /* position: chunk index and bytes used of it */
    size_t live, most_live; /* bytes handed out: now, and at most since the last reset */
    size_t chunk_bytes;
};

arena *arena_new(size_t chunk_bytes) {
    arena *a = calloc(1, sizeof *a);
    if (a)
        a->chunk_bytes = chunk_bytes;
    return a;
}

void arena_free(arena *a) {
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++)
        free(a->chunks[i].data);
    free(a->chunks);
    free(a);
}

static bool add_chunk(arena *a, size_t bytes) {
    if (a->n == a->capacity) {
        size_t capacity = a->capacity ? 2 * a->capacity : 8;
        chunk *grown = realloc(a->chunks, capacity * sizeof *grown);
        if (!grown)
            return false;
        a->chunks = grown;
        a->capacity = capacity;
    }
    size_t size = bytes > a->chunk_bytes ? bytes : a->chunk_bytes;
    char *data = block_new(size);
    if (!data)
        return false;
    a->chunks[a->n++] = (chunk){data, size};
    return true;
}

void *arena_alloc(arena *a, size_t bytes) {
    if (bytes > SIZE_MAX - ARENA_ALIGN)
        return NULL;
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (bytes == 0)
        bytes = ARENA_ALIGN;
    while (a->current < a->n && a->chunks[a->current].size - a->used < bytes) {
        a->current++;
        a->used = 0;
    }
    if (a->current == a->n && !add_chunk(a, bytes))
        return NULL;
    void *p = a->chunks[a->current].data + a->used;
    a->used += bytes;
    a->live += bytes;
    a->most_live = a->live > a->most_live ? a->live : a->most_live;
    return p;
}

arena_mark arena_get_mark(const arena *a) {
    return (arena_mark){a->current, a->used, a->live};
}

void arena_release(arena *a, arena_mark mark) {
    a->current = mark.chunk;
    a->used = mark.used;
    a->live = mark.live;
}

void arena_reset(arena *a) {
    arena_release(a, (arena_mark){0});
    if (a->n > 1) { /* a little more than was needed, for the next pass that is a little larger */
        for (size_t i = 0; i < a->n; i++)
            free(a->chunks[i].data);
        a->n = 0;
        add_chunk(a, a->most_live + a->most_live / 16); /* without memory the next pass makes its own chunks */
    }
    a->most_live = 0;
}

size_t arena_peak(const arena *a) {
    return a->most_live;
}

size_t arena_capacity(const arena *a) {
    size_t sum = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += a->chunks[i].size;
    return sum;
}
