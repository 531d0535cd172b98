/* 64-bit hash of bytes: FNV-1a (Fowler, Noll, Vo). The same on every machine and for ever, so that random streams
 * may be named by it. Not for keys that an enemy chooses. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325) /* of no bytes */

uint64_t hash_bytes(const void *bytes, size_t n);
/* The hash of what `hash` was made of, followed by n more bytes; begin with HASH_START. */
uint64_t hash_more(uint64_t hash, const void *bytes, size_t n);
/* Of a zero-terminated string, without its zero. */
uint64_t hash_string(const char *text);

#endif
