#include "draw/png.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put_number(unsigned char at[4], uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Length, name, data, and the checksum of name and data (PNG, 5.3). */
static void put_chunk(strbuf *out, const char *name, const unsigned char *data, size_t n) {
    unsigned char number[4];
    put_number(number, (uint32_t)n);
    strbuf_append(out, number, 4);
    strbuf_append(out, name, 4);
    strbuf_append(out, data, n);
    uLong sum = crc32(crc32(0, (const unsigned char *)name, 4), data, (uInt)n);
    put_number(number, (uint32_t)sum);
    strbuf_append(out, number, 4);
}

/* Each row behind the number of its filter, 0 for none (PNG, 9.2). */
static unsigned char *filtered(const canvas_image_data *image, size_t row) {
    unsigned char *rows = malloc((row + 1) * (size_t)image->height);
    for (size_t y = 0; rows && y < (size_t)image->height; y++) {
        rows[y * (row + 1)] = 0;
        memcpy(rows + y * (row + 1) + 1, image->rgba + y * row, row);
    }
    return rows;
}

void png_encode(const canvas_image_data *image, strbuf *out) {
    size_t row = (size_t)image->width * 4, n = (row + 1) * (size_t)image->height;
    uLongf packed_size = compressBound(n);
    unsigned char head[13] = {0}, *rows = filtered(image, row), *packed = malloc(packed_size);
    if (rows && packed && compress2(packed, &packed_size, rows, n, Z_BEST_COMPRESSION) == Z_OK) {
        put_number(head, (uint32_t)image->width);
        put_number(head + 4, (uint32_t)image->height);
        head[8] = 8; /* bits a channel */
        head[9] = 6; /* red, green, blue, alpha */
        strbuf_append(out, "\x89PNG\r\n\x1A\n", 8);
        put_chunk(out, "IHDR", head, sizeof head);
        put_chunk(out, "IDAT", packed, packed_size);
        put_chunk(out, "IEND", head, 0);
    } else
        out->failed = true;
    free(rows);
    free(packed);
}
