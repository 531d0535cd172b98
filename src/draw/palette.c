#include "draw/palette.h"

#include <stdint.h>
#include <stdlib.h>

enum { MOST_STOPS = 10 };

/* Evenly spaced from 0 to 1, as 0xRRGGBB. */
static const struct {
    int stops;
    uint32_t stop[MOST_STOPS];
    canvas_colour mark;
} palettes[] = {
    /* ColorBrewer's Blues (Brewer 2003), from white */
    [SA_PALETTE_BLUES] = {9,
                          {0xFFFFFF, 0xDEEBF7, 0xC6DBEF, 0x9ECAE1, 0x6BAED6, 0x4292C6, 0x2171B5, 0x08519C,
                           0x08306B},
                          {0xD5, 0x5E, 0x00, 255}},
    [SA_PALETTE_GREYS] = {2, {0xFFFFFF, 0x000000}, {0xD5, 0x5E, 0x00, 255}},
    /* viridis (van der Walt and Smith 2015) */
    [SA_PALETTE_VIRIDIS] = {10,
                            {0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E, 0x1F9E89, 0x35B779, 0x6ECE58,
                             0xB5DE2B, 0xFDE725},
                            {0}},
    /* Bahdanau et al. 2015, figure 3 */
    [SA_PALETTE_PAPER] = {2, {0x000000, 0xFFFFFF}, {0xE6, 0x9F, 0x00, 255}},
};

static unsigned char channel(uint32_t from, uint32_t to, int shift, double share) {
    double a = from >> shift & 255, b = to >> shift & 255;
    return (unsigned char)(a + (b - a) * share + 0.5);
}

canvas_colour palette_colour(sa_palette palette, double value) {
    const uint32_t *stop = palettes[palette].stop;
    int last = palettes[palette].stops - 1;
    double at = value > 0 ? (value < 1 ? value : 1) * last : 0;
    int i = at < last ? (int)at : last - 1;
    return (canvas_colour){channel(stop[i], stop[i + 1], 16, at - i), channel(stop[i], stop[i + 1], 8, at - i),
                           channel(stop[i], stop[i + 1], 0, at - i), 255};
}

canvas_colour palette_mark(sa_palette palette) {
    return palettes[palette].mark;
}

canvas_colour palette_contrast(canvas_colour ground) {
    double light = 0.299 * ground.red + 0.587 * ground.green + 0.114 * ground.blue; /* ITU-R BT.601 */
    unsigned char tone = light > 140 ? 0 : 255;
    return (canvas_colour){tone, tone, tone, 255};
}

static int distance(canvas_colour c, int red, int green, int blue) {
    int r = c.red - red, g = c.green - green, b = c.blue - blue;
    return r * r + g * g + b * b;
}

/* 16 + 36 r + 6 g + b has channels of these levels; 232 ... 255 are greys of 8 + 10 k. */
int palette_xterm(canvas_colour c) {
    static const int level[6] = {0, 95, 135, 175, 215, 255};
    int at[3], channels[3] = {c.red, c.green, c.blue};
    for (int k = 0; k < 3; k++) {
        at[k] = 0;
        for (int i = 1; i < 6; i++)
            if (abs(channels[k] - level[i]) < abs(channels[k] - level[at[k]]))
                at[k] = i;
    }
    int grey = (c.red + c.green + c.blue) / 3 - 3, k = grey < 0 ? 0 : grey / 10 > 23 ? 23 : grey / 10;
    int tone = 8 + 10 * k;
    bool is_grey = distance(c, tone, tone, tone) < distance(c, level[at[0]], level[at[1]], level[at[2]]);
    return is_grey ? 232 + k : 16 + 36 * at[0] + 6 * at[1] + at[2];
}

/* Okabe and Ito 2008, without the yellow, which is too light for a line on white. */
canvas_colour palette_line(int i) {
    static const uint32_t line[PALETTE_LINES] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                                 0x56B4E9, 0xE69F00, 0x000000};
    uint32_t c = line[i % PALETTE_LINES];
    return (canvas_colour){(unsigned char)(c >> 16), (unsigned char)(c >> 8), (unsigned char)c, 255};
}
