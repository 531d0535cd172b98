#include "picture/picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h> /* needs what stdio.h declares */

/* libjpeg reports an error by a jump; of a file that is cut short it only warns and invents the rest. */
typedef struct errors {
    struct jpeg_error_mgr base; /* first: libjpeg knows this part */
    jmp_buf out;
    char message[JMSG_LENGTH_MAX];
} errors;

static void on_error(j_common_ptr j) {
    errors *e = (errors *)j->err;
    j->err->format_message(j, e->message);
    longjmp(e->out, 1);
}

static void on_message(j_common_ptr j, int level) {
    bool cut_short = j->err->msg_code == JWRN_JPEG_EOF || j->err->msg_code == JWRN_HIT_MARKER;
    if (level < 0 && cut_short)
        on_error(j);
}

/* What must be freed after a jump. */
typedef struct reading {
    struct jpeg_decompress_struct jpeg;
    errors errors;
    unsigned char *row;
    sa_status status;
} reading;

/* Ink on paper: how much light is left. Adobe's programs, which leave a mark in the file, write light, not ink. */
static void from_cmyk(const unsigned char *row, int width, bool inverted, unsigned char *rgb) {
    for (int x = 0; x < width; x++, row += 4, rgb += 3) {
        unsigned light = inverted ? row[3] : 255U - row[3];
        for (int k = 0; k < 3; k++)
            rgb[k] = (unsigned char)(((inverted ? row[k] : 255U - row[k]) * light + 127) / 255);
    }
}

static void read_pixels(reading *r, picture *out, const char *path, sa_error *error) {
    struct jpeg_decompress_struct *j = &r->jpeg;
    jpeg_read_header(j, TRUE);
    bool cmyk = j->jpeg_color_space == JCS_CMYK || j->jpeg_color_space == JCS_YCCK;
    j->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    r->status = picture_allocate(out, path, j->image_width, j->image_height, error);
    if (r->status != SA_OK)
        return;
    size_t width = (size_t)out->width;
    r->row = malloc(4 * width);
    if (!r->row) {
        r->status = sa_fail_memory(error, 4 * width);
        return;
    }
    jpeg_start_decompress(j);
    while (j->output_scanline < j->output_height) {
        unsigned char *to = out->rgb + 3 * width * j->output_scanline;
        JSAMPROW row = cmyk ? r->row : to;
        jpeg_read_scanlines(j, &row, 1);
        if (cmyk)
            from_cmyk(row, out->width, j->saw_Adobe_marker, to);
    }
    jpeg_finish_decompress(j);
}

static sa_status decode(picture *out, const char *path, const unsigned char *bytes, size_t n, sa_error *error) {
    reading *r = calloc(1, sizeof *r); /* not on the stack, where a jump may lose it */
    if (!r)
        return sa_fail_memory(error, sizeof *r);
    r->jpeg.err = jpeg_std_error(&r->errors.base);
    r->errors.base.error_exit = on_error;
    r->errors.base.emit_message = on_message;
    if (setjmp(r->errors.out))
        r->status = sa_fail(error, SA_DATA, "%s: not a whole JPEG picture: %s", path, r->errors.message);
    else {
        jpeg_create_decompress(&r->jpeg);
        jpeg_mem_src(&r->jpeg, bytes, n);
        read_pixels(r, out, path, error);
    }
    sa_status status = r->status;
    jpeg_destroy_decompress(&r->jpeg);
    free(r->row);
    free(r);
    return status;
}

const picture_format picture_format_jpeg = {"JPEG", "\xFF\xD8\xFF", 3, decode};
