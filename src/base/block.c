#include "base/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64, HUGE_PAGE = 2 << 20 };

void *block_new(size_t bytes) {
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGN;
    if (bytes > SIZE_MAX - align)
        return NULL;
    bytes = bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
    void *data; /* aligned_alloc would want a multiple of whole pages */
    if (posix_memalign(&data, align, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    if (align == HUGE_PAGE) /* whole pages only: the last part of one would cost a page that nobody asked for */
        madvise(data, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
    return data;
}

void *block_new_cleared(size_t bytes) {
    void *data = block_new(bytes);
    return data ? memset(data, 0, bytes) : NULL;
}

bool block_reserve(buffer *b, size_t bytes) {
    if (bytes <= b->size)
        return true;
    free(b->data);
    b->data = block_new(bytes);
    b->size = b->data ? bytes : 0;
    return b->data;
}
