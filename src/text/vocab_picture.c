/* Pictures as sources: a line is the path of a PNG or JPEG file, which is scaled to a square (picture/picture.h),
 * and the symbols are the colours of its pixels, 0xRRGGBB, row by row. Saved as one row, "picture SIDE". */
#include "picture/picture.h"
#include "text/vocab_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLOURS = 1 << 24, SIDE_MOST = 1024 };

typedef struct pixels {
    int side;
} pixels;

static sa_status make(void **state, int side, sa_error *error) {
    pixels *p = malloc(sizeof *p);
    if (!p)
        return sa_fail_memory(error, sizeof *p);
    p->side = side;
    *state = p;
    return SA_OK;
}

static sa_status pixels_begin(void **state, const vocab_options *options, sa_error *error) {
    SA_ASSERT(options->count > 0 && options->count <= SIDE_MOST);
    return make(state, options->count, error);
}

static sa_status pixels_save(const void *state, strbuf *out, sa_error *error) {
    strbuf_printf(out, "picture %d\n", ((const pixels *)state)->side);
    return out->failed ? sa_fail_memory(error, 0) : SA_OK;
}

static sa_status pixels_load(void **state, sa_vocab_type type, const char *bytes, size_t n, sa_error *error) {
    (void)type;
    char row[32], again[32];
    int side = 0;
    snprintf(row, sizeof row, "%.*s", n < sizeof row ? (int)n : 0, bytes);
    if (sscanf(row, "picture %d", &side) == 1)
        snprintf(again, sizeof again, "picture %d\n", side);
    if (side < 1 || side > SIDE_MOST || strlen(again) != n || memcmp(again, bytes, n) != 0)
        return sa_fail(error, SA_FORMAT, "it is not \"picture SIDE\"");
    return make(state, side, error);
}

static void pixels_free(void *state) {
    free(state);
}

static int pixels_size(const void *state) {
    (void)state;
    return COLOURS;
}

static int pixels_length(const void *state) {
    int side = ((const pixels *)state)->side;
    return side * side;
}

static sa_status append(id_list *ids, const unsigned char *rgb, int n, sa_error *error) {
    for (int i = 0; i < n; i++, rgb += 3)
        if (!id_list_push(ids, rgb[0] << 16 | rgb[1] << 8 | rgb[2]))
            return sa_fail_memory(error, (size_t)n * sizeof *ids->id);
    return SA_OK;
}

static sa_status encode_file(const pixels *p, const char *path, id_list *ids, sa_error *error) {
    int n = pixels_length(p);
    picture whole;
    SA_TRY(picture_read(&whole, path, error));
    unsigned char *square = malloc(3 * (size_t)n);
    if (square)
        picture_square(&whole, p->side, square);
    sa_status status = square ? append(ids, square, n, error) : sa_fail_memory(error, 3 * (size_t)n);
    free(square);
    picture_free(&whole);
    return status;
}

static sa_status pixels_encode(const void *state, const char *text, size_t length, id_list *ids, strbuf *texts,
                               sa_error *error) {
    SA_ASSERT(!texts); /* colours have none: whoever wants them asks vocab_length first */
    (void)texts;
    char *path = vocab_trimmed(text, length);
    if (!path)
        return sa_fail_memory(error, length);
    sa_status status = *path ? encode_file(state, path, ids, error) : SA_OK;
    free(path);
    return status;
}

const vocab_kind vocab_kind_picture = {
    .begin = pixels_begin,
    .save = pixels_save,
    .load = pixels_load,
    .free = pixels_free,
    .size = pixels_size,
    .length = pixels_length,
    .encode = pixels_encode,
};
