/* A heat map drawn with characters. */
#include "align/heatmap.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "draw/palette.h"

#include <stdio.h>
#include <string.h>

enum { FEWEST_CELLS = 8, CELL = 3, MOST_LABEL = 40 }; /* columns of a cell: two, and the gap or bracket before it */

/* Five levels of grey, two columns wide so that a cell is about square. */
static const char *const shade[] = {"  ", "░░", "▒▒", "▓▓", "██"};

/* ---- labels ------------------------------------------------------------------------------------------ */

/* Without marks of direction a label from right to left would turn what stands beside it, on terminals that know of
 * directions: a left-to-right mark, which takes no column, on either side of it. */
static void put_label(strbuf *out, const char *label, size_t n) {
    static const char mark[] = "\u200E";
    bool rtl = canvas_is_rtl(label);
    strbuf_puts(out, rtl ? mark : "");
    strbuf_append(out, label, n);
    strbuf_puts(out, rtl ? mark : "");
}

/* How many bytes of a label are shown, and how many columns wide they are: long ones are cut before a letter that
 * would go beyond MOST_LABEL - 1, and end in "…". */
static size_t shown(const char *label, int *width) {
    size_t n = strlen(label), at = 0, step;
    *width = utf8_width(label);
    if (*width <= MOST_LABEL)
        return n;
    uint32_t code;
    for (*width = 0; at < n; at += step) {
        step = utf8_decode(label + at, n - at, &code);
        int more = utf8_width_of(code);
        if (*width + more > MOST_LABEL - 1)
            break;
        *width += more;
    }
    ++*width;
    return at;
}

static void put_shown(strbuf *out, const char *label) {
    int width;
    size_t n = shown(label, &width);
    put_label(out, label, n);
    if (label[n] != '\0')
        strbuf_puts(out, "…");
}

static void put_blanks(strbuf *out, int n) {
    for (int i = 0; i < n; i++)
        strbuf_puts(out, " ");
}

/* ---- cells ------------------------------------------------------------------------------------------- */

static void put_cell(strbuf *out, const sa_heatmap_options *o, double weight) {
    int hundredths = (int)(weight * 100 + 0.5), level = (int)(weight * 5);
    char number[16] = "  ";
    if (o->numbers && hundredths >= 100)
        strcpy(number, "1.");
    else if (o->numbers && hundredths > 0)
        snprintf(number, sizeof number, "%2d", hundredths);
    if (o->colours) {
        canvas_colour ground = palette_colour(o->palette, weight);
        strbuf_printf(out, "\033[48;5;%d;38;5;%dm%s\033[0m", palette_xterm(ground),
                      palette_xterm(palette_contrast(ground)), number);
    } else
        strbuf_puts(out, o->numbers ? number : shade[level < 4 ? level : 4]);
}

/* A bracket on each side of a marked cell; two that meet are a bar. */
static const char *border(const sa_heatmap *h, int i, int j, int from, int to) {
    bool left = j > from && heatmap_marked(h, i, j - 1), right = j < to && heatmap_marked(h, i, j);
    return left && right ? "|" : left ? "]" : right ? "[" : " ";
}

/* ---- bands ------------------------------------------------------------------------------------------- */

/* Numbers that need three columns would run together: every other one. */
static void put_numbers(strbuf *out, int from, int to) {
    int every = to > 99 ? 2 : 1;
    for (int j = from; j < to; j++)
        if ((j - from) % every == 0)
            strbuf_printf(out, every == 1 || j + 1 == to ? " %-2d" : " %-5d", j + 1);
    strbuf_puts(out, "\n");
}

/* " 1:The 2:man", in lines of at most `width` columns behind the margin, one word each at least. */
static void put_list(strbuf *out, const sa_heatmap *h, int from, int to, int margin, int width) {
    int at = margin;
    put_blanks(out, margin);
    for (int j = from; j < to; j++) {
        char number[16];
        int wide, digits = snprintf(number, sizeof number, " %d:", j + 1);
        shown(h->column[j], &wide);
        if (at > margin && at + digits + wide > width) {
            strbuf_puts(out, "\n");
            put_blanks(out, margin);
            at = margin;
        }
        strbuf_puts(out, number);
        put_shown(out, h->column[j]);
        at += digits + wide;
    }
    strbuf_puts(out, "\n");
}

/* Source words stand above their columns as numbers, and in full in a list: words are wider than cells. */
static void put_band(strbuf *out, const sa_heatmap *h, const sa_heatmap_options *o, int from, int to, int margin) {
    put_blanks(out, margin);
    put_numbers(out, from, to);
    for (int i = 0; i < h->rows; i++) {
        int width;
        shown(h->row[i], &width);
        put_blanks(out, margin - width);
        put_shown(out, h->row[i]);
        for (int j = from; j < to; j++) {
            strbuf_puts(out, border(h, i, j, from, to));
            put_cell(out, o, (double)heatmap_weight(h, i, j));
        }
        const char *last = border(h, i, to, from, to);
        strbuf_puts(out, *last == ' ' ? "\n" : "]\n");
    }
    put_list(out, h, from, to, margin, o->width);
}

sa_status sa_heatmap_text(const sa_heatmap *h, const sa_heatmap_options *o, char **out, sa_error *error) {
    strbuf text = {0};
    int margin = 0;
    *out = NULL;
    if (h->title) {
        canvas_clean(h->title, &text);
        strbuf_puts(&text, "\n");
    } else if (h->rows == 0 || h->columns == 0)
        strbuf_puts(&text, "(empty: nothing to draw)\n");
    for (int i = 0; i < h->rows; i++) {
        int width;
        shown(h->row[i], &width);
        margin = width > margin ? width : margin;
    }
    int cells = (o->width - margin) / CELL;
    cells = cells < FEWEST_CELLS ? FEWEST_CELLS : cells;
    for (int from = 0; h->rows > 0 && from < h->columns; from += cells)
        put_band(&text, h, o, from, from + cells < h->columns ? from + cells : h->columns, margin);
    *out = strbuf_take(&text);
    return *out ? SA_OK : sa_fail_memory(error, 0);
}
