/* 64-bit hash of bytes: FNV-1a (Fowler, Noll, Vo). The same on every machine and for ever, so that random streams
 * may be named by it. Not for keys that an enemy chooses. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t n);
/* Of a zero-terminated string, without its zero. */
uint64_t hash_string(const char *text);

#endif
