/* A canvas as PNG or PDF, through cairo and pango: the module softalign-draw.so, which is linked with them. */
#include "base/strbuf.h"
#include "draw/canvas_backend.h"

#include <cairo-pdf.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdlib.h>
#include <string.h>

#define PIXELS_A_POINT 2
#define MOST_PIXELS 32767.0 /* a side; cairo's own limit */

typedef struct drawing {
    cairo_surface_t *surface; /* NULL before a PNG's page */
    cairo_t *cairo;           /* NULL before the first page */
    PangoFontMap *fonts;
    PangoLayout *layout;
    size_t unknown;
    bool too_large;
    strbuf file;
} drawing;

static cairo_status_t take_bytes(void *self, const unsigned char *bytes, unsigned n) {
    strbuf *file = &((drawing *)self)->file;
    strbuf_append(file, bytes, n);
    return file->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

/* ---- from the first to the last ---------------------------------------------------------------------- */

static void cairo_close(void *self) {
    drawing *d = self;
    if (d->layout)
        g_object_unref(d->layout);
    if (d->fonts)
        g_object_unref(d->fonts);
    if (d->cairo)
        cairo_destroy(d->cairo);
    if (d->surface)
        cairo_surface_destroy(d->surface);
    strbuf_free(&d->file);
    free(d);
}

/* Letters have the same places in every size and format: no hints. */
static PangoLayout *make_layout(PangoFontMap *fonts) {
    PangoContext *context = pango_font_map_create_context(fonts);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context, options);
    pango_cairo_context_set_resolution(context, 72);
    pango_context_set_round_glyph_positions(context, FALSE);
    cairo_font_options_destroy(options);
    PangoLayout *layout = pango_layout_new(context);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    g_object_unref(context);
    return layout;
}

static void set_text(drawing *d, const char *text, double size, bool bold) {
    PangoFontDescription *font = pango_font_description_from_string("DejaVu Sans, sans-serif");
    pango_font_description_set_size(font, (int)lround(size * PANGO_SCALE));
    pango_font_description_set_weight(font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(d->layout, font);
    pango_layout_set_text(d->layout, text, -1);
    pango_font_description_free(font);
}

static drawing *cairo_open(const char **why) {
    drawing *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->fonts = pango_cairo_font_map_new();
    d->layout = make_layout(d->fonts);
    set_text(d, "a", 10, false);
    if (pango_layout_get_unknown_glyphs_count(d->layout) == 0)
        return d;
    *why = "no font is installed (on Debian: fonts-dejavu-core); .svg needs none";
    cairo_close(d);
    return NULL;
}

static void *png_open(const char **why) {
    return cairo_open(why);
}

static void *pdf_open(const char **why) {
    drawing *d = cairo_open(why);
    if (!d)
        return NULL;
    d->surface = cairo_pdf_surface_create_for_stream(take_bytes, d, 1, 1);
    /* Equal pictures are equal files. */
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    return d;
}

static void png_page(void *self, double width, double height) {
    drawing *d = self;
    double columns = ceil(width * PIXELS_A_POINT), rows = ceil(height * PIXELS_A_POINT);
    d->too_large = columns > MOST_PIXELS || rows > MOST_PIXELS;
    d->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, d->too_large ? 1 : (int)columns,
                                            d->too_large ? 1 : (int)rows);
    d->cairo = cairo_create(d->surface);
    cairo_scale(d->cairo, PIXELS_A_POINT, PIXELS_A_POINT);
    cairo_set_source_rgb(d->cairo, 1, 1, 1);
    cairo_paint(d->cairo);
}

static void pdf_page(void *self, double width, double height) {
    drawing *d = self;
    if (d->cairo) {
        cairo_show_page(d->cairo);
        cairo_destroy(d->cairo);
    }
    cairo_pdf_surface_set_size(d->surface, width, height);
    d->cairo = cairo_create(d->surface);
}

static const char *state_of(const drawing *d) {
    if (d->too_large)
        return "too large for a PNG, which is 32,767 pixels on a side at most; .svg and .pdf have no such limit";
    cairo_status_t status = cairo_status(d->cairo);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(d->surface);
    if (d->file.failed || status == CAIRO_STATUS_NO_MEMORY)
        return CANVAS_NO_MEMORY;
    return status == CAIRO_STATUS_SUCCESS ? NULL : cairo_status_to_string(status);
}

static const char *hand_over(drawing *d, const void **bytes, size_t *n) {
    *bytes = d->file.data;
    *n = d->file.length;
    return state_of(d);
}

static const char *png_finish(void *self, const void **bytes, size_t *n) {
    drawing *d = self;
    const char *why = state_of(d);
    if (why)
        return why;
    if (cairo_surface_write_to_png_stream(d->surface, take_bytes, d) != CAIRO_STATUS_SUCCESS)
        return CANVAS_NO_MEMORY;
    return hand_over(d, bytes, n);
}

static const char *pdf_finish(void *self, const void **bytes, size_t *n) {
    drawing *d = self;
    cairo_show_page(d->cairo);
    cairo_surface_finish(d->surface);
    return hand_over(d, bytes, n);
}

/* ---- what is drawn ----------------------------------------------------------------------------------- */

static void set_colour(drawing *d, canvas_colour c) {
    cairo_set_source_rgba(d->cairo, c.red / 255.0, c.green / 255.0, c.blue / 255.0, c.alpha / 255.0);
}

static void paint_outline(drawing *d, canvas_paint paint) {
    if (paint.fill.alpha > 0) {
        set_colour(d, paint.fill);
        cairo_fill_preserve(d->cairo);
    }
    if (paint.line.alpha > 0) {
        set_colour(d, paint.line);
        cairo_set_line_width(d->cairo, paint.width);
        cairo_set_line_join(d->cairo, CAIRO_LINE_JOIN_ROUND);
        cairo_set_dash(d->cairo, &paint.dash, paint.dash > 0, 0);
        cairo_stroke_preserve(d->cairo);
    }
    cairo_new_path(d->cairo);
}

static void draw_box(void *self, canvas_rect r, canvas_paint paint) {
    drawing *d = self;
    cairo_rectangle(d->cairo, r.x, r.y, r.width, r.height);
    /* Areas meet without a seam, wherever their edges lie. */
    cairo_set_antialias(d->cairo, paint.line.alpha > 0 ? CAIRO_ANTIALIAS_DEFAULT : CAIRO_ANTIALIAS_NONE);
    paint_outline(d, paint);
    cairo_set_antialias(d->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

static void draw_path(void *self, const canvas_point *point, int n, bool closed, canvas_paint paint) {
    drawing *d = self;
    for (int i = 0; i < n; i++)
        cairo_line_to(d->cairo, point[i].x, point[i].y);
    if (closed)
        cairo_close_path(d->cairo);
    paint_outline(d, paint);
}

static double width_of(drawing *d) {
    int width, height;
    pango_layout_get_size(d->layout, &width, &height);
    return (double)width / PANGO_SCALE;
}

static double text_width(void *self, const char *text, double size, bool bold) {
    set_text(self, text, size, bold);
    return width_of(self);
}

static void draw_text(void *self, const canvas_label *label) {
    static const double share[] = {[CANVAS_START] = 0, [CANVAS_MIDDLE] = 0.5, [CANVAS_END] = 1};
    drawing *d = self;
    set_text(d, label->text, label->size, label->bold);
    d->unknown += (size_t)pango_layout_get_unknown_glyphs_count(d->layout);
    double left = -share[label->anchor] * width_of(d),
           up = (double)pango_layout_get_baseline(d->layout) / PANGO_SCALE;
    cairo_save(d->cairo);
    cairo_translate(d->cairo, label->x, label->y);
    cairo_rotate(d->cairo, label->angle * G_PI / 180);
    cairo_move_to(d->cairo, left, -up);
    set_colour(d, label->colour);
    pango_cairo_show_layout(d->cairo, d->layout);
    cairo_restore(d->cairo);
    cairo_new_path(d->cairo);
}

/* As cairo wants it: a word for each pixel, colours multiplied by alpha. */
static cairo_surface_t *to_surface(const canvas_image_data *image) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image->width, image->height);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS)
        return surface;
    unsigned char *data = cairo_image_surface_get_data(surface);
    for (int y = 0; y < image->height; y++) {
        const unsigned char *from = image->rgba + (size_t)y * (size_t)image->width * 4;
        uint32_t *to = (uint32_t *)(void *)(data + (size_t)y * (size_t)cairo_image_surface_get_stride(surface));
        for (int x = 0; x < image->width; x++, from += 4) {
            uint32_t alpha = from[3], word = alpha << 24;
            for (int k = 0; k < 3; k++)
                word |= (from[k] * alpha + 127) / 255 << (16 - 8 * k);
            to[x] = word;
        }
    }
    cairo_surface_mark_dirty(surface);
    return surface;
}

static void draw_image(void *self, const canvas_image_data *image, canvas_rect r, bool smooth) {
    drawing *d = self;
    cairo_surface_t *surface = to_surface(image);
    cairo_save(d->cairo);
    cairo_rectangle(d->cairo, r.x, r.y, r.width, r.height);
    cairo_clip(d->cairo);
    cairo_translate(d->cairo, r.x, r.y);
    cairo_scale(d->cairo, r.width / image->width, r.height / image->height);
    cairo_set_source_surface(d->cairo, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(d->cairo), smooth ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
    cairo_paint(d->cairo);
    cairo_restore(d->cairo);
    cairo_surface_destroy(surface);
}

static size_t unknown(const void *self) {
    return ((const drawing *)self)->unknown;
}

#define CAIRO_BACKEND(format)                                                                                      \
    {                                                                                                              \
        .version = SA_VERSION, .open = format##_open, .page = format##_page, .box = draw_box, .path = draw_path,   \
        .text = draw_text, .image = draw_image, .text_width = text_width, .unknown = unknown,                      \
        .finish = format##_finish, .close = cairo_close                                                            \
    }

const canvas_backend softalign_canvas_png = CAIRO_BACKEND(png);
const canvas_backend softalign_canvas_pdf = CAIRO_BACKEND(pdf);
