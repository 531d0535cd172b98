/* Pictures of what models looked at: a part of softalign.h, which includes it. */
#ifndef SOFTALIGN_DRAWING_H
#define SOFTALIGN_DRAWING_H

#include <softalign.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Weights between two rows of words, to be drawn: the attention of a translation, or any other. */
typedef struct sa_heatmap {
    int rows, columns; /* target words, which stand at the left; source words, which stand at the top */
    char **row, **column;
    float *weight;       /* (rows x columns), 0 ... 1 */
    unsigned char *mark; /* (rows x columns), 1: a hard link, which is marked; NULL: none is */
    char *title;         /* NULL: none */
} sa_heatmap;

/* Copies what is given. words: pieces of words become words, where a side is of such pieces, which is so when one
 * of them begins with "▁" (U+2581): a source word gets the sum of the weights of its pieces, a target word the
 * mean, so that rows keep their sums; "</s>" stays apart, and a text without blanks keeps its pieces. weight is
 * (rows x columns); what is no number from 0 to 1 counts as the nearer of both, NaN as 0. Free with
 * sa_heatmap_free, which may be called once it failed too. */
SA_API sa_status sa_heatmap_make(sa_heatmap *out, char *const *row, int rows, char *const *column, int columns,
                                 const float *weight, bool words, sa_error *error);
/* Marks the largest weight of each row, the first of equals; none where the row, or the column of that weight, is
 * "</s>", or where all are 0. */
SA_API sa_status sa_heatmap_mark_largest(sa_heatmap *heatmap, sa_error *error);
/* Marks these links, between words without "</s>" (links of words go with heat maps of words). SA_DATA where one is
 * outside. */
SA_API sa_status sa_heatmap_mark_links(sa_heatmap *heatmap, const sa_links *links, sa_error *error);
SA_API void sa_heatmap_free(sa_heatmap *heatmap);

/* What the weights from 0 to 1 look like. */
typedef enum sa_palette {
    SA_PALETTE_BLUES,   /* white to blue */
    SA_PALETTE_GREYS,   /* white to black */
    SA_PALETTE_VIRIDIS, /* violet over green to yellow */
    SA_PALETTE_PAPER    /* black to white, as in the figures of Bahdanau et al. 2015 */
} sa_palette;

typedef struct sa_heatmap_options {
    sa_palette palette;
    bool numbers; /* weights stand in their cells, in hundredths */
    bool colours; /* of text: cells are colours (xterm's 256) instead of blocks of grey */
    int width;    /* of text: columns at most; wider ones are drawn in parts, of eight source words at least */
} sa_heatmap_options;

/* A heat map without rows or columns is drawn as its title, or else as a note that it is empty.
 *
 * The heat map as lines of text. Source words stand over their cells as numbers, and in a list below; marked cells
 * stand in brackets. The string belongs to the caller (free). */
SA_API sa_status sa_heatmap_text(const sa_heatmap *heatmap, const sa_heatmap_options *options, char **out,
                                 sa_error *error);
/* Writes n heat maps to a file, whole or not at all: SVG, PNG or PDF, by the ending of the path. In PDF each is a
 * page. SVG and PNG have one: several go to as many files, with "-1", "-2", ... before the ending. *unknown (NULL
 * is allowed) is how many characters no installed font has (PNG and PDF). SA_USAGE for another ending, without
 * cairo and pango where they are needed, or for a PNG of more than 32,767 pixels. */
SA_API sa_status sa_heatmaps_write(const sa_heatmap *heatmaps, int n, const char *path,
                                   const sa_heatmap_options *options, size_t *unknown, sa_error *error);

/* Points that belong together, by rising x, as a line with a name. */
typedef struct sa_series {
    const char *name; /* NULL: not in the legend */
    int n;
    const double *x, *y;      /* what is not finite is left out, and the line is broken there */
    const double *low, *high; /* a band around the line; NULL: none */
} sa_series;

typedef struct sa_chart {
    const char *title, *x_label, *y_label; /* NULL: none */
    const sa_series *series;
    int n_series;
    bool from_zero; /* both axes hold 0 */
    bool dots;      /* at the points */
} sa_chart;

/* Writes charts side by side, two in a row, on one page: SVG, PNG or PDF by the ending, whole or not at all. Series
 * number i looks the same in all charts, and its name is taken from the first that has one. Errors and *unknown as
 * in sa_heatmaps_write. */
SA_API sa_status sa_charts_write(const sa_chart *charts, int n, const char *path, size_t *unknown, sa_error *error);

/* What models said of pictures, on one sheet. captions[i]: of sa_translate for the line pictures[i], with
 * attention; references[i] is written under it, where there are any (NULL: none). Each picture stands in `columns`
 * columns with its caption, and once more for every word, light where that word looked and the darker the less. */
typedef struct sa_caption_sheet {
    const char *const *pictures;
    const sa_translation *captions;
    const char *const *references;
    size_t n;
    int columns;
} sa_caption_sheet;
/* The ending of the path says what it becomes: .svg, .png or .pdf. Of a caption that is longer the first 21 words
 * are drawn. Pictures are read again: SA_IO or SA_DATA where that fails. SA_USAGE when a caption has no weights. */
SA_API sa_status sa_caption_sheet_write(const sa_caption_sheet *sheet, const char *path, sa_error *error);

#ifdef __cplusplus
}
#endif
#endif
