/* PNG, for images inside other files. */
#ifndef DRAW_PNG_H
#define DRAW_PNG_H

#include "base/strbuf.h"
#include "draw/canvas.h"

/* Appends the image as a PNG file of 8 bits a channel. When memory runs out, *out fails. */
void png_encode(const canvas_image_data *image, strbuf *out);

#endif
