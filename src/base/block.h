/* Large pieces of memory that are read again and again. */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* bytes, aligned to 64, not cleared; freed with free(). From a few megabytes on the system is advised to use huge
 * pages, which spares page faults and address translation. NULL without memory. */
void *block_new(size_t bytes);
/* The same, cleared. */
void *block_new_cleared(size_t bytes);

/* A piece that grows. Zeroed at first; data freed with free(). */
typedef struct buffer {
    void *data;
    size_t size;
} buffer;
/* At least so many bytes in data, whose contents are lost where it grows. False without memory: then it has none.
 */
bool block_reserve(buffer *b, size_t bytes);

#endif
