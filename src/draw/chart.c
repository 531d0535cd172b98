/* Line charts: a few curves over the same axis, with bands. */
#include "draw/album.h"
#include "draw/chart_axis.h"
#include "draw/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const canvas_colour ink = {32, 32, 32, 255}, pale = {225, 225, 225, 255};

/* In points. A panel is a chart with all that belongs to it. */
enum {
    PLOT_WIDTH = 300,
    PLOT_HEIGHT = 190,
    LEFT = 58,
    TOP = 30,
    RIGHT = 18,
    BOTTOM = 44,
    EDGE = 6,
    LEGEND = 16,
    PANEL_WIDTH = LEFT + PLOT_WIDTH + RIGHT,
    PANEL_HEIGHT = TOP + PLOT_HEIGHT + BOTTOM
};

static const double small = 9, large = 10.5;

/* Lines can be told apart without colours. */
static const double dashes[] = {0, 6, 2.5, 10};

typedef struct panel {
    canvas *on;
    const sa_chart *of;
    double left, top; /* of the plot */
    chart_axis x, y;
    double x_end; /* where the plot ends: at the last point, not at the round number behind it */
} panel;

static void put_text(canvas *on, const char *text, double size, double x, double y, canvas_anchor anchor,
                     double angle) {
    canvas_text(on,
                &(canvas_label){
                    .text = text, .x = x, .y = y, .size = size, .anchor = anchor, .angle = angle, .colour = ink});
}

/* A name given from outside. False without memory. */
static bool write_name(canvas *on, const char *text, double size, double x, double y, canvas_anchor anchor,
                       double angle, double most) {
    strbuf clean = {0}, fit = {0};
    canvas_clean(text, &clean);
    strbuf_puts(&clean, "");
    if (!clean.failed)
        canvas_fit(on, clean.data, size, most, &fit);
    bool made = !clean.failed && !fit.failed;
    if (made)
        put_text(on, fit.data ? fit.data : "", size, x, y, anchor, angle);
    strbuf_free(&clean);
    strbuf_free(&fit);
    return made;
}

/* ---- axes -------------------------------------------------------------------------------------------- */

static void extend(double value, double *low, double *high) {
    if (!isfinite(value))
        return;
    *low = isfinite(*low) && *low < value ? *low : value;
    *high = isfinite(*high) && *high > value ? *high : value;
}

static void set_axes(panel *p) {
    double x_low = p->of->from_zero ? 0 : HUGE_VAL, x_high = x_low, y_low = x_low, y_high = x_low;
    for (int s = 0; s < p->of->n_series; s++) {
        const sa_series *line = &p->of->series[s];
        for (int i = 0; i < line->n; i++) {
            extend(line->x[i], &x_low, &x_high);
            extend(line->y[i], &y_low, &y_high);
            if (line->low && line->high) {
                extend(line->low[i], &y_low, &y_high);
                extend(line->high[i], &y_low, &y_high);
            }
        }
    }
    p->x = chart_axis_make(x_low, x_high, 6);
    p->x_end = x_high > x_low ? x_high : p->x.high;
    p->y = chart_axis_make(y_low, y_high, 5);
}

static double across(const panel *p, double x) {
    return p->left + (x - p->x.low) / (p->x_end - p->x.low) * PLOT_WIDTH;
}

static double down(const panel *p, double y) {
    return p->top + PLOT_HEIGHT - (y - p->y.low) / (p->y.high - p->y.low) * PLOT_HEIGHT;
}

static bool draw_axes(const panel *p) {
    bool made = true;
    canvas_paint grid = {.line = pale, .width = 0.6}, frame = {.line = ink, .width = 0.75};
    strbuf label = {0};
    for (int i = 0; i <= p->y.steps; i++) {
        double y = p->top + PLOT_HEIGHT * (1 - (double)i / p->y.steps);
        canvas_path(p->on, (canvas_point[]){{p->left, y}, {p->left + PLOT_WIDTH, y}}, 2, false, grid);
        strbuf_clear(&label);
        chart_axis_label(&p->y, i, &label);
        if (!label.failed)
            put_text(p->on, label.data, small, p->left - 6, y + 0.36 * small, CANVAS_END, 0);
        made &= !label.failed;
    }
    for (int i = 0; p->x.low + i * p->x.step <= p->x_end + 1e-9 * p->x.step; i++) {
        double x = across(p, p->x.low + i * p->x.step), y = p->top + PLOT_HEIGHT;
        canvas_path(p->on, (canvas_point[]){{x, y}, {x, y + 4}}, 2, false, frame);
        strbuf_clear(&label);
        chart_axis_label(&p->x, i, &label);
        if (!label.failed)
            put_text(p->on, label.data, small, x, y + 14, CANVAS_MIDDLE, 0);
        made &= !label.failed;
    }
    strbuf_free(&label);
    canvas_path(p->on,
                (canvas_point[]){{p->left, p->top},
                                 {p->left, p->top + PLOT_HEIGHT},
                                 {p->left + PLOT_WIDTH, p->top + PLOT_HEIGHT}},
                3, false, frame);
    return made;
}

static bool draw_names(const panel *p) {
    bool made = true;
    double middle = p->left + PLOT_WIDTH / 2.0;
    if (p->of->title)
        made &= write_name(p->on, p->of->title, large, middle, p->top - 10, CANVAS_MIDDLE, 0, PLOT_WIDTH + LEFT);
    if (p->of->x_label)
        made &= write_name(p->on, p->of->x_label, small, middle, p->top + PLOT_HEIGHT + 31, CANVAS_MIDDLE, 0,
                           PLOT_WIDTH);
    if (p->of->y_label)
        made &= write_name(p->on, p->of->y_label, small, p->left - LEFT + 14, p->top + PLOT_HEIGHT / 2.0,
                           CANVAS_MIDDLE, -90, PLOT_HEIGHT);
    return made;
}

/* ---- curves ------------------------------------------------------------------------------------------ */

static canvas_paint line_paint(int s) {
    return (canvas_paint){
        .line = palette_line(s), .width = 1.4, .dash = dashes[s % (int)(sizeof dashes / sizeof *dashes)]};
}

/* How many points from i on are finite; with bands, their edges too. */
static int run_from(const sa_series *line, int i) {
    int n = 0;
    for (; i + n < line->n; n++) {
        int k = i + n;
        bool finite = isfinite(line->x[k]) && isfinite(line->y[k]);
        if (line->low && line->high)
            finite = finite && isfinite(line->low[k]) && isfinite(line->high[k]);
        if (!finite)
            break;
    }
    return n;
}

/* n points that are all finite. point has room for 2 n. */
static void draw_run(const panel *p, const sa_series *line, int s, int from, int n, canvas_point *point) {
    canvas_paint paint = line_paint(s);
    if (line->low && line->high) {
        canvas_colour shade = paint.line;
        shade.alpha = 40;
        for (int i = 0; i < n; i++) {
            point[i] = (canvas_point){across(p, line->x[from + i]), down(p, line->low[from + i])};
            point[2 * n - 1 - i] = (canvas_point){point[i].x, down(p, line->high[from + i])};
        }
        canvas_path(p->on, point, 2 * n, true, (canvas_paint){.fill = shade});
    }
    for (int i = 0; i < n; i++)
        point[i] = (canvas_point){across(p, line->x[from + i]), down(p, line->y[from + i])};
    if (n > 1)
        canvas_path(p->on, point, n, false, paint);
    for (int i = 0; i < n && (p->of->dots || n == 1); i++)
        canvas_box(p->on, (canvas_rect){point[i].x - 2, point[i].y - 2, 4, 4}, (canvas_paint){.fill = paint.line});
}

static bool draw_series(const panel *p, const sa_series *line, int s) {
    canvas_point *point = malloc((2 * (size_t)line->n + 1) * sizeof *point);
    for (int i = 0, n; point && i<line->n; i += n> 0 ? n : 1) {
        n = run_from(line, i);
        if (n > 0)
            draw_run(p, line, s, i, n, point);
    }
    free(point);
    return point != NULL;
}

/* ---- the page ---------------------------------------------------------------------------------------- */

typedef struct chart_page {
    const sa_chart *chart;
    int n;
} chart_page;

static const char *name_of(const chart_page *page, int s) {
    for (int k = 0; k < page->n; k++)
        if (s < page->chart[k].n_series && page->chart[k].series[s].name)
            return page->chart[k].series[s].name;
    return NULL;
}

static int most_series(const chart_page *page) {
    int most = 0;
    for (int k = 0; k < page->n; k++)
        most = page->chart[k].n_series > most ? page->chart[k].n_series : most;
    return most;
}

/* One line of the legend for each name: names may be long. */
static bool draw_legend(const chart_page *page, canvas *on, double width) {
    bool made = true;
    double y = EDGE + LEGEND / 2.0;
    for (int s = 0; s < most_series(page); s++) {
        const char *name = name_of(page, s);
        if (!name)
            continue;
        canvas_path(on, (canvas_point[]){{LEFT, y}, {LEFT + 28, y}}, 2, false, line_paint(s));
        made &= write_name(on, name, small, LEFT + 36, y + 0.36 * small, CANVAS_START, 0, width - LEFT - 36 - EDGE);
        y += LEGEND;
    }
    return made;
}

static int names(const chart_page *page) {
    int n = 0;
    for (int s = 0; s < most_series(page); s++)
        n += name_of(page, s) != NULL;
    return n;
}

static sa_status draw_page(canvas *on, int number, const void *user, sa_error *error) {
    const chart_page *page = user;
    (void)number;
    int in_row = page->n > 1 ? 2 : 1, rows = (page->n + in_row - 1) / in_row;
    double legend = EDGE + names(page) * LEGEND, width = in_row * PANEL_WIDTH;
    canvas_page(on, width, legend + rows * PANEL_HEIGHT);
    bool made = draw_legend(page, on, width);
    for (int k = 0; k < page->n && made; k++) {
        panel p = {.on = on,
                   .of = &page->chart[k],
                   .left = k % in_row * PANEL_WIDTH + LEFT,
                   .top = legend + k / in_row * PANEL_HEIGHT + TOP};
        set_axes(&p);
        made &= draw_axes(&p) && draw_names(&p);
        for (int s = 0; s < p.of->n_series && made; s++)
            made &= draw_series(&p, &p.of->series[s], s);
    }
    return made ? SA_OK : sa_fail_memory(error, 0);
}

sa_status sa_charts_write(const sa_chart *charts, int n, const char *path, size_t *unknown, sa_error *error) {
    const chart_page page = {charts, n};
    return album_write(path, 1, draw_page, &page, unknown, error);
}
