/* Memory that is given back all at once. An arena keeps its memory between resets, so a pass that repeats allocates
 * nothing from the system. What a pass took in several chunks, the next one finds as one: passes of many sizes do
 * not leave a chunk of each size behind. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

enum { ARENA_ALIGN = 64 };

typedef struct arena arena;
typedef struct arena_mark {
    size_t chunk, used, live;
} arena_mark;

/* chunk_bytes: what is asked of the system at a time. NULL without memory. */
arena *arena_new(size_t chunk_bytes);
void arena_free(arena *a);
/* bytes, aligned to ARENA_ALIGN, not cleared. NULL without memory. */
void *arena_alloc(arena *a, size_t bytes);
/* Everything allocated after the mark was taken is given back. */
arena_mark arena_get_mark(const arena *a);
void arena_release(arena *a, arena_mark mark);
void arena_reset(arena *a);
/* Most bytes handed out at one time since the last reset, rounded up to ARENA_ALIGN each. */
size_t arena_peak(const arena *a);
/* Bytes held from the system. */
size_t arena_capacity(const arena *a);

#endif
