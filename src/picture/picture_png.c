#include "picture/picture.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* What libpng's callbacks know. libpng reports an error by a jump out of the function that called it. */
typedef struct source {
    const unsigned char *at;
    size_t left;
    jmp_buf out;
    char message[128];
} source;

static void on_error(png_structp png, png_const_charp message) {
    source *s = png_get_error_ptr(png);
    snprintf(s->message, sizeof s->message, "%s", message);
    longjmp(s->out, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

static void give_bytes(png_structp png, png_bytep to, size_t n) {
    source *s = png_get_io_ptr(png);
    if (n > s->left)
        png_error(png, "the file is cut short");
    memcpy(to, s->at, n);
    s->at += n;
    s->left -= n;
}

/* Everything becomes 8-bit RGBA. */
static void ask_for_rgba(png_structp png, png_infop info) {
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* value on white */
static unsigned char on_white(unsigned value, unsigned alpha) {
    return (unsigned char)((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

static void drop_alpha(picture *out, const unsigned char *rgba) {
    size_t n = (size_t)out->width * (size_t)out->height;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            out->rgb[3 * i + (size_t)k] = on_white(rgba[4 * i + (size_t)k], rgba[4 * i + 3]);
}

/* What must be freed after a jump. */
typedef struct reading {
    png_structp png;
    png_infop info;
    unsigned char *rgba;
    png_bytep *row;
    sa_status status;
} reading;

static void read_pixels(reading *r, picture *out, const char *path, sa_error *error) {
    png_read_info(r->png, r->info);
    ask_for_rgba(r->png, r->info);
    r->status = picture_allocate(out, path, png_get_image_width(r->png, r->info),
                                 png_get_image_height(r->png, r->info), error);
    if (r->status != SA_OK)
        return;
    size_t width = (size_t)out->width, height = (size_t)out->height;
    r->rgba = malloc(4 * width * height);
    r->row = malloc(height * sizeof *r->row);
    if (!r->rgba || !r->row) {
        r->status = sa_fail_memory(error, 4 * width * height);
        return;
    }
    for (size_t y = 0; y < height; y++)
        r->row[y] = r->rgba + 4 * width * y;
    png_read_image(r->png, r->row);
    png_read_end(r->png, NULL);
    drop_alpha(out, r->rgba);
}

static sa_status decode(picture *out, const char *path, const unsigned char *bytes, size_t n, sa_error *error) {
    source s = {.at = bytes, .left = n};
    reading *r = calloc(1, sizeof *r); /* not on the stack, where a jump may lose it */
    if (!r)
        return sa_fail_memory(error, sizeof *r);
    r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info)
        r->status = sa_fail_memory(error, 0);
    else if (setjmp(s.out))
        r->status = sa_fail(error, SA_DATA, "%s: not a whole PNG picture: %s", path, s.message);
    else {
        png_set_read_fn(r->png, &s, give_bytes);
        png_set_user_limits(r->png, PICTURE_PIXELS_MOST, PICTURE_PIXELS_MOST);
        read_pixels(r, out, path, error);
    }
    sa_status status = r->status;
    png_destroy_read_struct(&r->png, &r->info, NULL);
    free(r->rgba);
    free(r->row);
    free(r);
    return status;
}

const picture_format picture_format_png = {"PNG", "\x89PNG\r\n\x1a\n", 8, decode};
