/* A canvas as SVG 1.1, with text as text. */
#include "base/strbuf.h"
#include "base/utf8.h"
#include "draw/canvas_backend.h"
#include "draw/png.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct svg {
    strbuf text;
} svg;

static void *svg_open(const char **why) {
    (void)why;
    return calloc(1, sizeof(svg));
}

static void svg_close(void *self) {
    svg *s = self;
    strbuf_free(&s->text);
    free(s);
}

static const char *svg_finish(void *self, const void **bytes, size_t *n) {
    svg *s = self;
    strbuf_puts(&s->text, "</svg>\n");
    *bytes = s->text.data;
    *n = s->text.length;
    return s->text.failed ? CANVAS_NO_MEMORY : NULL;
}

/* ---- attributes -------------------------------------------------------------------------------------- */

/* At most two decimals, with a point whatever the locale. */
static void put_number(strbuf *out, double x) {
    long hundredths = lround(x * 100), whole = labs(hundredths);
    strbuf_printf(out, "%s%ld", hundredths < 0 ? "-" : "", whole / 100);
    if (whole % 10)
        strbuf_printf(out, ".%02ld", whole % 100);
    else if (whole % 100)
        strbuf_printf(out, ".%ld", whole % 100 / 10);
}

static void put_attribute(strbuf *out, const char *name, double x) {
    strbuf_printf(out, " %s=\"", name);
    put_number(out, x);
    strbuf_puts(out, "\"");
}

/* name: "fill" or "stroke". */
static void put_colour(strbuf *out, const char *name, canvas_colour c) {
    if (c.alpha == 0) {
        strbuf_printf(out, " %s=\"none\"", name);
        return;
    }
    strbuf_printf(out, " %s=\"#%02x%02x%02x\"", name, c.red, c.green, c.blue);
    if (c.alpha < 255) {
        strbuf_printf(out, " %s-opacity=\"", name);
        put_number(out, c.alpha / 255.0);
        strbuf_puts(out, "\"");
    }
}

static void put_paint(strbuf *out, canvas_paint paint) {
    put_colour(out, "fill", paint.fill);
    if (paint.line.alpha == 0)
        return;
    put_colour(out, "stroke", paint.line);
    put_attribute(out, "stroke-width", paint.width);
    if (paint.dash > 0)
        put_attribute(out, "stroke-dasharray", paint.dash);
}

static void put_rect(strbuf *out, canvas_rect r) {
    put_attribute(out, "x", r.x);
    put_attribute(out, "y", r.y);
    put_attribute(out, "width", r.width);
    put_attribute(out, "height", r.height);
}

/* ---- what is drawn ----------------------------------------------------------------------------------- */

static void svg_page(void *self, double width, double height) {
    strbuf *out = &((svg *)self)->text;
    strbuf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
    put_attribute(out, "width", width);
    put_attribute(out, "height", height);
    strbuf_puts(out, " viewBox=\"0 0 ");
    put_number(out, width);
    strbuf_puts(out, " ");
    put_number(out, height);
    strbuf_puts(out, "\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n"
                     "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

static void svg_box(void *self, canvas_rect r, canvas_paint paint) {
    strbuf *out = &((svg *)self)->text;
    strbuf_puts(out, "<rect");
    put_rect(out, r);
    put_paint(out, paint);
    strbuf_puts(out, "/>\n");
}

static void svg_path(void *self, const canvas_point *point, int n, bool closed, canvas_paint paint) {
    strbuf *out = &((svg *)self)->text;
    strbuf_puts(out, "<path d=\"");
    for (int i = 0; i < n; i++) {
        strbuf_puts(out, i > 0 ? "L" : "M");
        put_number(out, point[i].x);
        strbuf_puts(out, " ");
        put_number(out, point[i].y);
    }
    strbuf_puts(out, closed ? "Z\"" : "\"");
    put_paint(out, paint);
    strbuf_puts(out, " stroke-linejoin=\"round\"/>\n");
}

static void put_escaped(strbuf *out, const char *text) {
    for (;;) {
        size_t n = strcspn(text, "&<>");
        strbuf_append(out, text, n);
        text += n;
        if (*text == '\0')
            return;
        strbuf_puts(out, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;");
        text++;
    }
}

static void svg_text(void *self, const canvas_label *label) {
    /* In text from right to left, SVG's start is the right end. */
    static const char *const anchor[] = {
        [CANVAS_START] = "start", [CANVAS_MIDDLE] = "middle", [CANVAS_END] = "end"};
    static const canvas_anchor mirrored[] = {
        [CANVAS_START] = CANVAS_END, [CANVAS_MIDDLE] = CANVAS_MIDDLE, [CANVAS_END] = CANVAS_START};
    strbuf *out = &((svg *)self)->text;
    bool rtl = canvas_is_rtl(label->text);
    strbuf_puts(out, "<text");
    put_attribute(out, "x", label->x);
    put_attribute(out, "y", label->y);
    put_attribute(out, "font-size", label->size);
    strbuf_printf(out, " text-anchor=\"%s\"", anchor[rtl ? mirrored[label->anchor] : label->anchor]);
    if (rtl)
        strbuf_puts(out, " direction=\"rtl\"");
    if (label->bold)
        strbuf_puts(out, " font-weight=\"bold\"");
    put_colour(out, "fill", label->colour);
    if (fabs(label->angle) > 0) {
        strbuf_puts(out, " transform=\"rotate(");
        put_number(out, label->angle);
        strbuf_puts(out, " ");
        put_number(out, label->x);
        strbuf_puts(out, " ");
        put_number(out, label->y);
        strbuf_puts(out, ")\"");
    }
    strbuf_puts(out, ">");
    put_escaped(out, label->text);
    strbuf_puts(out, "</text>\n");
}

static void put_base64(strbuf *out, const unsigned char *bytes, size_t n) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned three = (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? bytes[i + 2] : 0);
        char four[4] = {digit[three >> 18], digit[three >> 12 & 63], i + 1 < n ? digit[three >> 6 & 63] : '=',
                        i + 2 < n ? digit[three & 63] : '='};
        strbuf_append(out, four, 4);
    }
}

static void svg_image(void *self, const canvas_image_data *image, canvas_rect r, bool smooth) {
    strbuf *out = &((svg *)self)->text, file = {0};
    png_encode(image, &file);
    strbuf_puts(out, "<image");
    put_rect(out, r);
    if (!smooth)
        strbuf_puts(out, " style=\"image-rendering:optimizeSpeed;image-rendering:pixelated\"");
    strbuf_puts(out, " preserveAspectRatio=\"none\" xlink:href=\"data:image/png;base64,");
    put_base64(out, (const unsigned char *)file.data, file.failed ? 0 : file.length);
    strbuf_puts(out, "\"/>\n");
    out->failed |= file.failed;
    strbuf_free(&file);
}

/* ---- widths ------------------------------------------------------------------------------------------ */

/* Of DejaVu Sans, in 1/100 of the size, for the characters of ASCII from the blank on. It is wider than most. */
static const unsigned char ascii_width[] = {
    32, 40, 46, 84, 64, 95, 78, 27, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};

static double svg_text_width(void *self, const char *text, double size, bool bold) {
    size_t n = strlen(text);
    double width = 0;
    (void)self;
    while (n > 0) {
        uint32_t code;
        size_t step = utf8_decode(text, n, &code);
        if (code >= ' ' && code - ' ' < sizeof ascii_width)
            width += ascii_width[code - ' '];
        else
            width += 63 * utf8_width_of(code); /* wide ones: 1 for ideographs, 1.25 for emoji */
        text += step;
        n -= step;
    }
    return width * size / 100 * (bold ? 1.12 : 1);
}

static size_t svg_unknown(const void *self) {
    (void)self;
    return 0;
}

const canvas_backend canvas_svg = {
    .version = SA_VERSION,
    .open = svg_open,
    .page = svg_page,
    .box = svg_box,
    .path = svg_path,
    .text = svg_text,
    .image = svg_image,
    .text_width = svg_text_width,
    .unknown = svg_unknown,
    .finish = svg_finish,
    .close = svg_close,
};
