#include "picture/picture.h"

#include <stdlib.h>
#include <string.h>

static const picture_format *const formats[] = {&picture_format_png, &picture_format_jpeg};

void picture_free(picture *p) {
    free(p->rgb);
    *p = (picture){0};
}

sa_status picture_allocate(picture *out, const char *path, unsigned long width, unsigned long height,
                           sa_error *error) {
    if (width == 0 || height == 0)
        return sa_fail(error, SA_DATA, "%s: a picture of %lu x %lu pixels, which shows nothing", path, width,
                       height);
    if (width > PICTURE_PIXELS_MOST || height > PICTURE_PIXELS_MOST / width)
        return sa_fail(error, SA_DATA, "%s: a picture of %lu x %lu pixels; at most %d are read: make it smaller",
                       path, width, height, PICTURE_PIXELS_MOST);
    *out = (picture){(int)width, (int)height, malloc(3 * (size_t)width * (size_t)height)};
    return out->rgb ? SA_OK : sa_fail_memory(error, 3 * (size_t)width * (size_t)height);
}

static sa_status decode(picture *out, const char *path, const file_mapping *file, sa_error *error) {
    if (file->size == 0)
        return sa_fail(error, SA_DATA, "%s: the file is empty", path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const picture_format *f = formats[i];
        if (file->size >= f->magic_length && memcmp(file->data, f->magic, f->magic_length) == 0)
            return f->decode(out, path, file->data, file->size, error);
    }
    return sa_fail(error, SA_DATA, "%s: neither a PNG nor a JPEG picture", path);
}

sa_status picture_read(picture *out, const char *path, sa_error *error) {
    file_mapping file;
    *out = (picture){0};
    SA_TRY(file_map(&file, path, error));
    sa_status status = decode(out, path, &file, error);
    file_unmap(&file);
    if (status != SA_OK)
        picture_free(out);
    return status;
}

/* ---- scaling ----------------------------------------------------------------------------------------- */

picture_place picture_fit(int width, int height, int side) {
    picture_place at = {0, 0, side, side};
    if (width > height)
        at.height = (int)(((long)height * side + width / 2) / width);
    else
        at.width = (int)(((long)width * side + height / 2) / height);
    at.height = at.height > 0 ? at.height : 1;
    at.width = at.width > 0 ? at.width : 1;
    at.x = (side - at.width) / 2;
    at.y = (side - at.height) / 2;
    return at;
}

/* The stretch of n pixels that pixel i of `made` covers: from `first`, `count` of them, the first and the last of
 * which in part. */
typedef struct cover {
    int first, count;
    double head, tail; /* shares of the first and the last */
} cover;

static cover cover_of(int i, int made, int n) {
    double from = (double)i * n / made, to = (double)(i + 1) * n / made;
    cover c = {.first = (int)from};
    int last = (int)to < n && (double)(int)to < to ? (int)to : (int)to - 1;
    last = last < c.first ? c.first : last;
    c.count = last - c.first + 1;
    c.head = c.count == 1 ? to - from : (double)(c.first + 1) - from;
    c.tail = c.count == 1 ? c.head : to - (double)last;
    return c;
}

static double share(const cover *c, int k) {
    return k == 0 ? c->head : k == c->count - 1 ? c->tail : 1;
}

static void mean_of(const picture *p, const cover *across, const cover *down, unsigned char *out) {
    double sum[3] = {0}, area = 0;
    for (int y = 0; y < down->count; y++) {
        const unsigned char *at =
            p->rgb + 3 * ((size_t)(down->first + y) * (size_t)p->width + (size_t)across->first);
        for (int x = 0; x < across->count; x++, at += 3) {
            double weight = share(down, y) * share(across, x);
            area += weight;
            for (int k = 0; k < 3; k++)
                sum[k] += weight * at[k];
        }
    }
    for (int k = 0; k < 3; k++)
        out[k] = (unsigned char)(sum[k] / area + 0.5);
}

void picture_square(const picture *p, int side, unsigned char *out) {
    picture_place at = picture_fit(p->width, p->height, side);
    memset(out, 255, 3 * (size_t)side * (size_t)side);
    for (int y = 0; y < at.height; y++) {
        cover down = cover_of(y, at.height, p->height);
        for (int x = 0; x < at.width; x++) {
            cover across = cover_of(x, at.width, p->width);
            mean_of(p, &across, &down, out + 3 * ((size_t)(at.y + y) * (size_t)side + (size_t)(at.x + x)));
        }
    }
}
