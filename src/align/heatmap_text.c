/* The attention of a translation, drawn with characters. */
#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <string.h>

/* Five levels of grey, two columns wide so that a cell is about square. */
static const char *const shade[] = {"  ", "░░", "▒▒", "▓▓", "██"};

static const char *cell(float weight) {
    int level = (int)(weight * 5);
    return shade[level < 0 ? 0 : level > 4 ? 4 : level];
}

static void put_padded(strbuf *out, const char *text, int width, bool right) {
    int fill = width - utf8_width(text);
    for (int i = 0; right && i < fill; i++)
        strbuf_puts(out, " ");
    strbuf_puts(out, text);
    for (int i = 0; !right && i < fill; i++)
        strbuf_puts(out, " ");
}

static int widest(char *const *text, int n) {
    int width = 0;
    for (int i = 0; i < n; i++) {
        int w = utf8_width(text[i]);
        width = w > width ? w : width;
    }
    return width;
}

/* Source symbols stand above their columns as numbers, and in full in a list: words are wider than cells. */
static void put_band(strbuf *out, const sa_translation *t, const sa_hypothesis *h, int from, int to, int margin) {
    put_padded(out, "", margin, false);
    for (int j = from; j < to; j++)
        strbuf_printf(out, " %-2d", j + 1);
    strbuf_puts(out, "\n");
    for (int i = 0; i < h->length; i++) {
        put_padded(out, h->symbol[i], margin, true);
        for (int j = from; j < to; j++) {
            strbuf_puts(out, " ");
            strbuf_puts(out, cell(h->attention[(size_t)i * (size_t)t->source_length + (size_t)j]));
        }
        strbuf_puts(out, "\n");
    }
    put_padded(out, "", margin, false);
    for (int j = from; j < to; j++)
        strbuf_printf(out, " %d:%s", j + 1, t->source_symbol[j]);
    strbuf_puts(out, "\n");
}

sa_status sa_heatmap_text(const sa_translation *t, int hypothesis, int columns, char **out, sa_error *error) {
    *out = NULL;
    if (hypothesis < 0 || hypothesis >= t->n)
        return sa_fail(error, SA_USAGE, "there is no hypothesis %d; there are %d", hypothesis, t->n);
    const sa_hypothesis *h = &t->hypothesis[hypothesis];
    if (!h->attention || !h->symbol || !t->source_symbol)
        return sa_fail(error, SA_USAGE,
                       "no attention to draw: the line is empty, the model does not attend, or "
                       "attention was not asked for");
    int margin = widest(h->symbol, h->length), cells = (columns - margin) / 3;
    if (cells < 8)
        cells = 8;
    strbuf text = {0};
    for (int from = 0; from < t->source_length; from += cells) {
        int to = from + cells < t->source_length ? from + cells : t->source_length;
        put_band(&text, t, h, from, to, margin);
    }
    *out = strbuf_take(&text);
    return *out ? SA_OK : sa_fail_memory(error, 0);
}
