/* Pictures with what was said of them, and where each word looked, on one sheet. */
#include "base/strbuf.h"
#include "draw/canvas.h"
#include "picture/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points. A picture stands left of its caption and of the same picture once for each word, smaller. */
enum { MARGIN = 12, WHOLE = 64, TILE = 40, GAP = 4, LETTERS = 8, LINE = 11, ACROSS = 7, WORDS_MOST = 3 * ACROSS };
enum { ENTRY = WHOLE + GAP + ACROSS * (TILE + GAP) + 2 * MARGIN };
/* Pixels a side of what is drawn of a picture: two a point. */
enum { PIXELS = 2 * WHOLE };

static const canvas_colour black = {0, 0, 0, 255}, grey = {110, 110, 110, 255};

typedef struct sheet {
    const sa_caption_sheet *what;
    canvas *canvas;
    strbuf label, fitted;
    bool failed;                  /* a text found no memory */
    unsigned char *square, *rgba; /* a picture; the same with light where a word looked */
} sheet;

static int words_of(const sa_translation *t) {
    int words = t->hypothesis[0].length - 1; /* without </s> */
    return words < 0 ? 0 : words < WORDS_MOST ? words : WORDS_MOST;
}

/* The picture, lines of text and rows of tiles, whichever is higher. */
static double height_of(const sheet *s, size_t i) {
    int rows = (words_of(&s->what->captions[i]) + ACROSS - 1) / ACROSS;
    double beside = LINE * (s->what->references ? 2 : 1) + rows * (double)(TILE + LINE);
    return (beside > WHOLE ? beside : WHOLE) + MARGIN;
}

static void write_text(sheet *s, const char *text, double x, double y, double most, canvas_colour colour) {
    strbuf_clear(&s->label);
    strbuf_clear(&s->fitted);
    canvas_clean(text, &s->label);
    if (!s->label.failed && s->label.length > 0)
        canvas_fit(s->canvas, s->label.data, LETTERS, most, &s->fitted);
    s->failed = s->failed || s->label.failed || s->fitted.failed;
    if (!s->failed && s->fitted.length > 0)
        canvas_text(s->canvas, &(canvas_label){s->fitted.data, .x = x, .y = y, .size = LETTERS, .colour = colour});
}

/* The weight at a pixel: between the middles of places it changes evenly. */
static double weight_at(const float *weights, int across, int x, int y) {
    double place[2] = {(x + 0.5) * across / PIXELS - 0.5, (y + 0.5) * across / PIXELS - 0.5}, share[2];
    int at[2];
    for (int k = 0; k < 2; k++) {
        double inside = fmin(fmax(place[k], 0), across - 1);
        at[k] = inside >= across - 1 && across > 1 ? across - 2 : (int)inside;
        share[k] = inside - at[k];
    }
    double sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        int right = corner & 1, down = corner >> 1;
        double part = (right ? share[0] : 1 - share[0]) * (down ? share[1] : 1 - share[1]);
        if (part > 0)
            sum += part * (double)weights[(at[1] + down) * across + at[0] + right];
    }
    return sum;
}

/* weights NULL: the picture as it is. */
static void light(sheet *s, const float *weights, int places) {
    static const double dark = 0.15;
    int across = (int)(sqrt((double)places) + 0.5);
    double largest = 0;
    for (int j = 0; weights && j < places; j++)
        largest = fmax(largest, (double)weights[j]);
    for (int i = 0; i < PIXELS * PIXELS; i++) {
        double shown = weights && largest > 0 ? weight_at(weights, across, i % PIXELS, i / PIXELS) / largest : 1;
        for (int k = 0; k < 3; k++)
            s->rgba[4 * i + k] = (unsigned char)(s->square[3 * i + k] * (dark + (1 - dark) * shown) + 0.5);
        s->rgba[4 * i + 3] = 255;
    }
}

static void place_picture(sheet *s, double x, double y, double side) {
    const canvas_image_data image = {s->rgba, PIXELS, PIXELS};
    canvas_image(s->canvas, &image, (canvas_rect){x, y, side, side}, true);
}

static void draw_words(sheet *s, const sa_translation *t, double x, double y) {
    const sa_hypothesis *h = &t->hypothesis[0];
    for (int i = 0; i < words_of(t); i++) {
        double left = x + i % ACROSS * (double)(TILE + GAP), top = y + i / ACROSS * (double)(TILE + LINE);
        light(s, h->attention + (long)i * t->source_length, t->source_length);
        place_picture(s, left, top, TILE);
        write_text(s, h->symbol[i], left, top + TILE + LETTERS, TILE, black);
    }
}

static sa_status draw_entry(sheet *s, size_t i, double x, double y, sa_error *error) {
    const sa_caption_sheet *what = s->what;
    picture p;
    SA_TRY(picture_read(&p, what->pictures[i], error));
    picture_square(&p, PIXELS, s->square);
    picture_free(&p);
    light(s, NULL, 0);
    place_picture(s, x, y, WHOLE);
    double beside = x + WHOLE + GAP, most = ACROSS * (TILE + GAP);
    write_text(s, what->captions[i].hypothesis[0].text, beside, y + LETTERS, most, black);
    if (what->references)
        write_text(s, what->references[i], beside, y + LINE + LETTERS, most, grey);
    draw_words(s, &what->captions[i], beside, y + LINE * (what->references ? 2 : 1));
    return SA_OK;
}

/* Rows of as many entries as there are columns, each as high as its highest; returns the height of all. With a
 * canvas they are drawn too. */
static sa_status lay_out(sheet *s, double *height, sa_error *error) {
    double y = MARGIN;
    size_t columns = (size_t)s->what->columns;
    for (size_t from = 0; from < s->what->n; from += columns) {
        double row = 0;
        for (size_t i = from; i < from + columns && i < s->what->n; i++) {
            row = fmax(row, height_of(s, i));
            if (s->canvas)
                SA_TRY(draw_entry(s, i, MARGIN + (double)(i - from) * ENTRY, y, error));
        }
        y += row;
    }
    *height = y;
    return SA_OK;
}

static sa_status check(const sa_caption_sheet *what, sa_error *error) {
    if (what->n == 0 || what->columns < 1)
        return sa_fail(error, SA_USAGE, "a sheet of %zu pictures in %d columns; there must be one at least",
                       what->n, what->columns);
    for (size_t i = 0; i < what->n; i++) {
        const sa_translation *t = &what->captions[i];
        int across = (int)(sqrt((double)t->source_length) + 0.5);
        const sa_hypothesis *h = t->n > 0 ? &t->hypothesis[0] : NULL;
        if (!h || !h->attention || !h->symbol || t->pieces != 1 || across * across != t->source_length)
            return sa_fail(
                error, SA_USAGE,
                "%s: this caption has no weights of places of a picture: the line is empty, or the model "
                "does not look at pictures",
                what->pictures[i]);
    }
    return SA_OK;
}

static sa_status draw(sheet *s, const char *path, sa_error *error) {
    double height;
    SA_TRY(lay_out(s, &height, error));
    SA_TRY(canvas_open(&s->canvas, path, error));
    canvas_page(s->canvas, MARGIN + s->what->columns * (double)ENTRY, height);
    sa_status status = lay_out(s, &height, error);
    if (status == SA_OK && s->failed)
        status = sa_fail_memory(error, 0);
    if (status == SA_OK)
        return canvas_finish(s->canvas, error);
    canvas_abandon(s->canvas);
    return status;
}

sa_status sa_caption_sheet_write(const sa_caption_sheet *what, const char *path, sa_error *error) {
    SA_TRY(check(what, error));
    sheet s = {.what = what, .square = malloc(3 * PIXELS * PIXELS), .rgba = malloc(4 * PIXELS * PIXELS)};
    sa_status status = s.square && s.rgba ? draw(&s, path, error) : sa_fail_memory(error, 7 * PIXELS * PIXELS);
    free(s.square);
    free(s.rgba);
    strbuf_free(&s.label);
    strbuf_free(&s.fitted);
    return status;
}
