/* Pictures for papers and screens: rectangles, lines, areas, text and images on pages, written as SVG, PNG or PDF.
 *
 *   canvas *c;
 *   SA_TRY(canvas_open(&c, "out.pdf", error));
 *   canvas_page(c, 200, 100);
 *   canvas_box(c, (canvas_rect){10, 10, 80, 40}, (canvas_paint){.fill = {0, 90, 180, 255}});
 *   canvas_text(c, &(canvas_label){"Wörter", .x = 10, .y = 70, .size = 11, .colour = {0, 0, 0, 255}});
 *   return canvas_finish(c, error);
 *
 * SVG is written by the library itself, with text as text: it can be searched and edited, and the one who looks at
 * it has the fonts. PNG and PDF are drawn by cairo, their text by pango; both are in a module of their own,
 * softalign-draw.so, which is loaded when it is needed.
 *
 * Lengths are points (1/72 inch), y runs downwards; a PNG has two pixels a point. Drawing cannot fail in sight:
 * what went wrong is told by canvas_finish. A canvas belongs to one thread at a time. */
#ifndef DRAW_CANVAS_H
#define DRAW_CANVAS_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct canvas canvas;

typedef struct canvas_colour {
    unsigned char red, green, blue, alpha; /* alpha 0: nothing is drawn, 255: nothing shines through */
} canvas_colour;

typedef struct canvas_point {
    double x, y;
} canvas_point;

typedef struct canvas_rect {
    double x, y, width, height;
} canvas_rect;

typedef struct canvas_paint {
    canvas_colour fill, line;
    double width; /* of the line, half on each side of the outline */
    double dash;  /* dashes of that length with gaps as long; 0: a whole line */
} canvas_paint;

typedef enum canvas_anchor { CANVAS_START, CANVAS_MIDDLE, CANVAS_END } canvas_anchor;

typedef struct canvas_label {
    const char *text; /* as canvas_clean made it; in any direction of writing. The anchor is as seen on the page:
                         START is the left end, of right-to-left text too */
    double x, y;      /* where the anchor is on the baseline */
    double size;      /* of the letters */
    double angle;     /* degrees, clockwise, about (x, y) */
    canvas_anchor anchor;
    canvas_colour colour;
    bool bold;
} canvas_label;

/* Pixels, rows from the top, each red, green, blue, alpha (not premultiplied). */
typedef struct canvas_image_data {
    const unsigned char *rgba; /* (height x width x 4) */
    int width, height;
} canvas_image_data;

/* The format follows from the ending of the path: .svg, .png or .pdf. SA_USAGE for another one, or where the module
 * cannot be loaded or no font is installed; *out is NULL then. Nothing is written before canvas_finish. */
sa_status canvas_open(canvas **out, const char *path, sa_error *error);
/* Whether a file of that name can have more than one page. */
bool canvas_has_pages(const char *path);

/* Begins a white page. There is one before anything is drawn. */
void canvas_page(canvas *c, double width, double height);
void canvas_box(canvas *c, canvas_rect r, canvas_paint paint);
/* A line through n points, and the area that they enclose. closed: from the last to the first as well. */
void canvas_path(canvas *c, const canvas_point *point, int n, bool closed, canvas_paint paint);
void canvas_text(canvas *c, const canvas_label *label);
/* Spread over the rectangle. smooth: what lies between the middles of pixels is interpolated, and looks the same in
 * every viewer; else each pixel is a rectangle. */
void canvas_image(canvas *c, const canvas_image_data *image, canvas_rect r, bool smooth);

/* How wide a text will be: exactly in PNG and PDF; in SVG, whose fonts are not known, about as wide as in the usual
 * ones, rather more. Before the first page too. */
double canvas_text_width(canvas *c, const char *text, double size, bool bold);
/* Appends the text with "…" in place of what makes it wider than `most`; combining marks stay with their letters.
 */
void canvas_fit(canvas *c, const char *text, double size, double most, strbuf *out);
/* Characters drawn so far for which no font is installed; 0 in SVG. */
size_t canvas_unknown(const canvas *c);

/* Puts the file in place, whole or not at all, as file_write_whole does. Frees c, whatever comes of it. */
sa_status canvas_finish(canvas *c, sa_error *error);
/* Frees c without writing; NULL is fine. */
void canvas_abandon(canvas *c);

/* Appends a text with everything made visible that would disturb a picture, a terminal or an XML parser: control
 * characters, those that turn the direction of what follows, and bytes that are not UTF-8 become U+FFFD, and a text
 * of white space only becomes as many U+2423. */
void canvas_clean(const char *text, strbuf *out);
/* Whether a text is written from right to left, by its first letter. */
bool canvas_is_rtl(const char *text);

#endif
