/* What a canvas draws with: a table of functions for each format. They get what canvas.c has checked, in the order
 * that canvas.h promises. */
#ifndef DRAW_CANVAS_BACKEND_H
#define DRAW_CANVAS_BACKEND_H

#include "draw/canvas.h"

typedef struct canvas_backend {
    const char *version; /* SA_VERSION of the library that it was built with */
    /* NULL: no memory, or *why says why not. */
    void *(*open)(const char **why);
    void (*page)(void *self, double width, double height);
    void (*box)(void *self, canvas_rect r, canvas_paint paint);
    void (*path)(void *self, const canvas_point *point, int n, bool closed, canvas_paint paint);
    void (*text)(void *self, const canvas_label *label);
    void (*image)(void *self, const canvas_image_data *image, canvas_rect r, bool smooth);
    double (*text_width)(void *self, const char *text, double size, bool bold);
    size_t (*unknown)(const void *self);
    /* The file, which lives until close. Returns NULL, or what went wrong. */
    const char *(*finish)(void *self, const void **bytes, size_t *n);
    void (*close)(void *self);
} canvas_backend;

extern const canvas_backend canvas_svg;

/* What the module softalign-draw.so exports, by name. */
extern SA_API const canvas_backend softalign_canvas_png, softalign_canvas_pdf;

#define CANVAS_NO_MEMORY "not enough memory"

#endif
