/* Pictures from files: PNG and JPEG, told by their first bytes, as 8-bit RGB on white.
 *
 *   PNG   grey, palette, 16 bits, interlaced: all become RGB; what is transparent lets white through
 *   JPEG  grey becomes RGB, CMYK and YCCK too, without a colour profile; inverted as Adobe's programs write them
 *
 * Colour profiles, gamma and the orientation that a camera notes are not looked at. */
#ifndef PICTURE_PICTURE_H
#define PICTURE_PICTURE_H

#include "base/file.h"

/* A file that says it has more pixels is refused before anything is allocated. */
enum { PICTURE_PIXELS_MOST = 1 << 26 };

typedef struct picture {
    int width, height;  /* 1 at least */
    unsigned char *rgb; /* height x width x 3 */
} picture;

/* SA_IO when the file cannot be read, SA_DATA when it is no picture, a damaged or an incomplete one, or too large;
 * the message begins with the path. Free with picture_free. */
sa_status picture_read(picture *out, const char *path, sa_error *error);
void picture_free(picture *p);

/* Where a picture lies in a square of `side` pixels that it fills in one direction, its shape kept. */
typedef struct picture_place {
    int x, y, width, height;
} picture_place;
picture_place picture_fit(int width, int height, int side);

/* Scaled so, white around it: out (side x side x 3). Each pixel is the mean of the area that it covers. */
void picture_square(const picture *p, int side, unsigned char *out);

/* One file format: decodes what is mapped; *out is cleared before and may be half made after a failure. */
typedef struct picture_format {
    const char *name;
    const char *magic; /* what its files begin with */
    size_t magic_length;
    sa_status (*decode)(picture *out, const char *path, const unsigned char *bytes, size_t n, sa_error *error);
} picture_format;
extern const picture_format picture_format_png, picture_format_jpeg;

/* For decoders: sets the size and allocates, or says what is wrong with it. */
sa_status picture_allocate(picture *out, const char *path, unsigned long width, unsigned long height,
                           sa_error *error);

#endif
