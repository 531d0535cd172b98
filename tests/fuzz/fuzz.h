/* What fuzz targets share. Each defines LLVMFuzzerTestOneInput, which aborts when something that must hold does
 * not; libFuzzer calls it with whatever it makes up (scripts/fuzz.sh), replay.c with the files of a corpus. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool condition) {
    if (!condition)
        abort();
}

/* The bytes as a file that can be opened by its path; close the descriptor returned. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[64]) {
    int fd = memfd_create("input", MFD_CLOEXEC);
    require(fd >= 0);
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, data + at, size - at);
        require(n > 0);
        at += (size_t)n;
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
