#include "base/hash.h"

#include <string.h>

uint64_t hash_more(uint64_t hash, const void *bytes, size_t n) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3;
    return hash;
}

uint64_t hash_bytes(const void *bytes, size_t n) {
    return hash_more(HASH_START, bytes, n);
}

uint64_t hash_string(const char *text) {
    return hash_bytes(text, strlen(text));
}
