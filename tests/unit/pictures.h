/* PNG files put together by hand, so that tests can make any, damaged ones too. Include cmocka first. */
#ifndef PICTURES_H
#define PICTURES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

typedef struct png {
    unsigned char bytes[4096];
    size_t n;
} png;

static inline void put_u32(png *p, uint32_t x) {
    for (int k = 3; k >= 0; k--)
        p->bytes[p->n++] = (unsigned char)(x >> (8 * k));
}

static inline void put_chunk(png *p, const char *type, const void *data, size_t n) {
    put_u32(p, (uint32_t)n);
    size_t start = p->n;
    memcpy(p->bytes + p->n, type, 4);
    if (n > 0)
        memcpy(p->bytes + p->n + 4, data, n);
    p->n += 4 + n;
    put_u32(p, (uint32_t)crc32(0, p->bytes + start, (uInt)(n + 4)));
}

/* kind: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha. */
static inline void begin_png(png *p, uint32_t width, uint32_t height, int bits, int kind) {
    memcpy(p->bytes, "\x89PNG\r\n\x1a\n", 8);
    p->n = 8;
    png head = {.n = 0};
    put_u32(&head, width);
    put_u32(&head, height);
    const unsigned char rest[5] = {(unsigned char)bits, (unsigned char)kind, 0, 0, 0};
    memcpy(head.bytes + 8, rest, 5);
    put_chunk(p, "IHDR", head.bytes, 13);
}

/* rows: of each a filter byte and the pixels. */
static inline void end_png(png *p, const void *rows, size_t n) {
    unsigned char packed[2048];
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, rows, (uLong)n), Z_OK);
    put_chunk(p, "IDAT", packed, size);
    put_chunk(p, "IEND", NULL, 0);
}

static inline void write_picture(const char *path, const void *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

#endif
