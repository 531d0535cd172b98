/* Heat maps as figures: source words at the top, target words at the left. */
#include "align/heatmap.h"
#include "draw/album.h"
#include "draw/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const canvas_colour ink = {32, 32, 32, 255}, pale = {120, 120, 120, 255};

/* Where everything is, in points. Cells lie on whole points, so that no edge is blurred. */
typedef struct layout {
    double cell, letters, angle; /* size of a cell and of labels; how far those at the top are turned */
    double left, top;            /* corner of the matrix */
    double width, height;        /* of the page */
} layout;

enum { GAP = 5, EDGE = 10, LONGEST_LABEL = 150, TITLE = 18, LEGEND = 26, LEGEND_WIDTH = 190 };

/* Large matrices have small cells and steep labels. */
static const struct {
    int most; /* words on a side */
    double cell, letters, angle;
} sizes[] = {{20, 20, 11, 45}, {60, 16, 10, 60}, {INT32_MAX, 12, 8.5, 60}};

typedef struct heatmap_album {
    const sa_heatmap *heatmap;
    const sa_heatmap_options *options;
} heatmap_album;

typedef struct picture {
    canvas *on;
    const sa_heatmap *of;
    const sa_heatmap_options *options;
    layout at;
} picture;

/* ---- layout ------------------------------------------------------------------------------------------ */

/* The label as it is drawn, cut where it is too long. The caller frees it; NULL without memory. */
static char *fitted(const picture *p, const char *label, double most) {
    strbuf out = {0};
    canvas_fit(p->on, label, p->at.letters, most, &out);
    return strbuf_take(&out);
}

static double label_width(const picture *p, const char *label) {
    double width = canvas_text_width(p->on, label, p->at.letters, false);
    return width < LONGEST_LABEL ? width : LONGEST_LABEL;
}

static void lay_out(picture *p) {
    const sa_heatmap *h = p->of;
    layout *at = &p->at;
    int most = h->rows > h->columns ? h->rows : h->columns, size = 0;
    while (most > sizes[size].most)
        size++;
    *at = (layout){p->options->numbers ? 24 : sizes[size].cell, sizes[size].letters, sizes[size].angle, 0, 0, 0, 0};
    double wide = 0, high = 0, right = 0, turn = at->angle * M_PI / 180;
    for (int i = 0; i < h->rows; i++)
        wide = fmax(wide, label_width(p, h->row[i]));
    for (int j = 0; j < h->columns; j++) {
        double length = label_width(p, h->column[j]);
        high = fmax(high, length * sin(turn));
        right = fmax(right, (j + 0.5) * at->cell + length * cos(turn) + at->letters / 2);
    }
    at->left = ceil(EDGE + wide + GAP);
    at->top = ceil(EDGE + (h->title ? TITLE : 0) + high + at->letters / 2 + GAP);
    right = fmax(fmax(right, LEGEND_WIDTH), h->columns * at->cell);
    at->width = ceil(at->left + right + EDGE);
    at->height = at->top + ceil(h->rows * at->cell) + LEGEND + EDGE;
}

/* ---- parts ------------------------------------------------------------------------------------------- */

/* False without memory. */
static bool draw_label(const picture *p, const char *label, double x, double y, double angle,
                       canvas_anchor anchor) {
    char *text = fitted(p, label, LONGEST_LABEL);
    if (text)
        canvas_text(p->on, &(canvas_label){.text = text,
                                           .x = x,
                                           .y = y,
                                           .size = p->at.letters,
                                           .angle = angle,
                                           .anchor = anchor,
                                           .colour = heatmap_is_end(label) ? pale : ink});
    free(text);
    return text != NULL;
}

/* Baselines lie so that small letters are in the middle of their row or column. */
static bool draw_labels(const picture *p) {
    const sa_heatmap *h = p->of;
    const layout *at = &p->at;
    double turn = at->angle * M_PI / 180, down = 0.36 * at->letters;
    bool drawn = true;
    for (int i = 0; i < h->rows; i++)
        drawn &= draw_label(p, h->row[i], at->left - GAP, at->top + (i + 0.5) * at->cell + down, 0, CANVAS_END);
    for (int j = 0; j < h->columns; j++)
        drawn &= draw_label(p, h->column[j], at->left + (j + 0.5) * at->cell + down * sin(turn) - 2,
                            at->top - GAP + down * cos(turn) - down, -at->angle, CANVAS_START);
    return drawn;
}

static canvas_rect cell_at(const layout *at, int i, int j) {
    return (canvas_rect){at->left + j * at->cell, at->top + i * at->cell, at->cell, at->cell};
}

static bool same_colour(canvas_colour a, canvas_colour b) {
    return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

/* Cells that look like nothing are left to the ground: most of a large matrix is. */
static void draw_cells(const picture *p) {
    const sa_heatmap *h = p->of;
    const layout *at = &p->at;
    canvas_colour nothing = palette_colour(p->options->palette, 0);
    canvas_box(p->on, (canvas_rect){at->left, at->top, h->columns * at->cell, h->rows * at->cell},
               (canvas_paint){.fill = nothing});
    for (int i = 0; i < h->rows; i++)
        for (int j = 0; j < h->columns; j++) {
            canvas_colour c = palette_colour(p->options->palette, (double)heatmap_weight(h, i, j));
            if (!same_colour(c, nothing))
                canvas_box(p->on, cell_at(at, i, j), (canvas_paint){.fill = c});
        }
}

/* Faint lines between cells, and a frame around them all. */
static void draw_grid(const picture *p) {
    const layout *at = &p->at;
    canvas_colour line = palette_contrast(palette_colour(p->options->palette, 0));
    line.alpha = 36;
    double width = p->of->columns * at->cell, height = p->of->rows * at->cell;
    canvas_paint faint = {.line = line, .width = 0.5};
    for (int i = 1; i < p->of->rows; i++)
        canvas_path(
            p->on, (canvas_point[]){{at->left, at->top + i * at->cell}, {at->left + width, at->top + i * at->cell}},
            2, false, faint);
    for (int j = 1; j < p->of->columns; j++)
        canvas_path(
            p->on,
            (canvas_point[]){{at->left + j * at->cell, at->top}, {at->left + j * at->cell, at->top + height}}, 2,
            false, faint);
    canvas_box(p->on, (canvas_rect){at->left, at->top, width, height}, (canvas_paint){.line = ink, .width = 0.75});
}

static void draw_mark(const picture *p, canvas_rect r, canvas_colour ground) {
    canvas_colour mark = palette_mark(p->options->palette);
    double width = r.width / 10;
    canvas_box(p->on, (canvas_rect){r.x + width, r.y + width, r.width - 2 * width, r.height - 2 * width},
               (canvas_paint){.line = mark.alpha ? mark : palette_contrast(ground), .width = width});
}

static void draw_number(const picture *p, canvas_rect r, double weight, canvas_colour ground) {
    int hundredths = (int)(weight * 100 + 0.5);
    char text[16] = "1.0";
    if (hundredths == 0)
        return;
    if (hundredths < 100)
        snprintf(text, sizeof text, ".%02d", hundredths);
    canvas_text(p->on, &(canvas_label){.text = text,
                                       .x = r.x + r.width / 2,
                                       .y = r.y + r.height / 2 + 0.36 * 8,
                                       .size = 8,
                                       .anchor = CANVAS_MIDDLE,
                                       .colour = palette_contrast(ground)});
}

static void draw_on_cells(const picture *p) {
    const sa_heatmap *h = p->of;
    for (int i = 0; i < h->rows; i++)
        for (int j = 0; j < h->columns; j++) {
            double weight = (double)heatmap_weight(h, i, j);
            canvas_colour ground = palette_colour(p->options->palette, weight);
            if (heatmap_marked(h, i, j))
                draw_mark(p, cell_at(&p->at, i, j), ground);
            if (p->options->numbers)
                draw_number(p, cell_at(&p->at, i, j), weight, ground);
        }
}

/* ---- the rest ---------------------------------------------------------------------------------------- */

static void write_small(const picture *p, const char *text, double x, double y) {
    canvas_text(p->on, &(canvas_label){.text = text, .x = x, .y = y, .size = 8.5, .colour = ink});
}

/* A bar of all colours from 0 to 1, and what a mark means. */
static void draw_legend(const picture *p) {
    enum { STEPS = 32, STEP = 2, HEIGHT = 8 };
    double x = p->at.left, y = p->at.height - EDGE - HEIGHT;
    write_small(p, "0", x, y + HEIGHT - 1);
    x += 9;
    for (int i = 0; i < STEPS; i++)
        canvas_box(p->on, (canvas_rect){x + i * STEP, y, STEP, HEIGHT},
                   (canvas_paint){.fill = palette_colour(p->options->palette, i / (STEPS - 1.0))});
    canvas_box(p->on, (canvas_rect){x, y, STEPS * STEP, HEIGHT}, (canvas_paint){.line = ink, .width = 0.5});
    write_small(p, "1  weight", x + STEPS * STEP + 4, y + HEIGHT - 1);
    if (!p->of->mark)
        return;
    x += STEPS * STEP + 62;
    canvas_rect box = {x, y - 1, HEIGHT + 2, HEIGHT + 2};
    canvas_colour ground = palette_colour(p->options->palette, 0);
    canvas_box(p->on, box, (canvas_paint){.fill = ground});
    draw_mark(p, box, ground);
    write_small(p, "hard link", x + HEIGHT + 7, y + HEIGHT - 1);
}

static bool draw_title(const picture *p) {
    strbuf clean = {0};
    canvas_clean(p->of->title, &clean);
    strbuf_puts(&clean, "");
    char *text = clean.failed ? NULL : fitted(p, clean.data, p->at.width - 2 * EDGE);
    if (text)
        canvas_text(p->on,
                    &(canvas_label){.text = text, .x = EDGE, .y = EDGE + 10, .size = p->at.letters, .colour = ink});
    strbuf_free(&clean);
    free(text);
    return text != NULL;
}

static sa_status draw_heatmap(canvas *on, int number, const void *user, sa_error *error) {
    const heatmap_album *album = user;
    picture p = {.on = on, .of = &album->heatmap[number], .options = album->options};
    lay_out(&p);
    canvas_page(on, p.at.width, p.at.height);
    bool drawn = !p.of->title || draw_title(&p);
    if (p.of->rows == 0 || p.of->columns == 0) {
        if (!p.of->title)
            write_small(&p, "(empty: nothing to draw)", EDGE, p.at.top);
        return drawn ? SA_OK : sa_fail_memory(error, 0);
    }
    drawn &= draw_labels(&p);
    draw_cells(&p);
    draw_grid(&p);
    draw_on_cells(&p);
    draw_legend(&p);
    return drawn ? SA_OK : sa_fail_memory(error, 0);
}

sa_status sa_heatmaps_write(const sa_heatmap *heatmaps, int n, const char *path, const sa_heatmap_options *options,
                            size_t *unknown, sa_error *error) {
    const heatmap_album album = {heatmaps, options};
    return album_write(path, n, draw_heatmap, &album, unknown, error);
}
