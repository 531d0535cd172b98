/* Heat maps before they are drawn: labels, and pieces of words made words. */
#include "align/heatmap.h"

#include "base/utf8.h"
#include "draw/canvas.h"

#include <stdlib.h>
#include <string.h>

static const char word_start[] = "\u2581";

bool heatmap_is_end(const char *label) {
    return strcmp(label, "</s>") == 0;
}

/* ---- pieces and words -------------------------------------------------------------------------------- */

static bool starts_word(const char *piece) {
    return strncmp(piece, word_start, strlen(word_start)) == 0;
}

/* Whether a side is to be shown as words and is of their pieces; in a text without blanks there are no words to
 * see. */
static bool has_words(char *const *piece, int n) {
    int starts = 0;
    for (int i = 0; i < n; i++)
        starts += starts_word(piece[i]);
    return starts > 1;
}

/* group[i] is the word that piece i belongs to, or the piece itself; returns how many there are. */
static int group_pieces(char *const *piece, int n, bool words, int *group) {
    int groups = 0;
    for (int i = 0; i < n; i++) {
        groups +=
            !words || i == 0 || starts_word(piece[i]) || heatmap_is_end(piece[i]) || heatmap_is_end(piece[i - 1]);
        group[i] = groups - 1;
    }
    return groups;
}

/* The label of the group that begins with a piece, and where the next one begins. NULL without memory. The sign of
 * a word's start goes where pieces become words, and stays where they are shown. */
static char *make_label(char *const *piece, int n, bool words, const int *group, int *from) {
    strbuf raw = {0}, clean = {0};
    int first = *from;
    strbuf_puts(&raw, piece[first] + (words && starts_word(piece[first]) ? strlen(word_start) : 0));
    for (*from = first + 1; *from < n && group[*from] == group[first]; ++*from)
        strbuf_puts(&raw, piece[*from]);
    if (!raw.failed)
        canvas_clean(raw.data, &clean);
    clean.failed |= raw.failed;
    strbuf_free(&raw);
    return strbuf_take(&clean);
}

/* Makes the labels and the groups of a side; a NULL label says that memory ran out. */
static char **make_side(char *const *piece, int n, bool words, int *group, int *groups) {
    words = words && has_words(piece, n);
    *groups = group_pieces(piece, n, words, group);
    char **label = calloc((size_t)*groups + 1, sizeof *label);
    for (int from = 0, i = 0; label && from < n; i++)
        label[i] = make_label(piece, n, words, group, &from);
    return label;
}

static bool all_made(char **label, int n) {
    for (int i = 0; label && i < n; i++)
        if (!label[i])
            return false;
    return label != NULL;
}

/* Sums over the pieces of a source word, means over those of a target word. */
static void group_weights(sa_heatmap *h, const float *weight, int rows, int columns, const int *row_group,
                          const int *column_group) {
    int first = 0;
    for (int i = 0; i < rows; i++) {
        if (i > 0 && row_group[i] != row_group[i - 1])
            first = i;
        int last = i;
        while (last + 1 < rows && row_group[last + 1] == row_group[i])
            last++;
        float share = 1 / (float)(last + 1 - first);
        for (int j = 0; j < columns; j++) {
            float w = weight[(size_t)i * (size_t)columns + (size_t)j];
            float *to = &h->weight[(size_t)row_group[i] * (size_t)h->columns + (size_t)column_group[j]];
            *to += w > 0 ? (w < 1 ? w : 1) * share : 0;
            *to = *to < 1 ? *to : 1;
        }
    }
}

sa_status sa_heatmap_make(sa_heatmap *out, char *const *row, int rows, char *const *column, int columns,
                          const float *weight, bool words, sa_error *error) {
    *out = (sa_heatmap){0};
    int *group = malloc(((size_t)rows + (size_t)columns + 1) * sizeof *group);
    if (!group)
        return sa_fail_memory(error, 0);
    out->row = make_side(row, rows, words, group, &out->rows);
    out->column = make_side(column, columns, words, group + rows, &out->columns);
    out->weight = calloc((size_t)out->rows * (size_t)out->columns + 1, sizeof *out->weight);
    bool made = all_made(out->row, out->rows) && all_made(out->column, out->columns) && out->weight;
    if (made)
        group_weights(out, weight, rows, columns, group, group + rows);
    free(group);
    return made ? SA_OK : sa_fail_memory(error, 0);
}

/* ---- marks ------------------------------------------------------------------------------------------- */

/* No cell is marked then. */
static sa_status clear_marks(sa_heatmap *h, sa_error *error) {
    free(h->mark);
    h->mark = calloc((size_t)h->rows * (size_t)h->columns + 1, 1);
    return h->mark ? SA_OK : sa_fail_memory(error, 0);
}

sa_status sa_heatmap_mark_largest(sa_heatmap *h, sa_error *error) {
    SA_TRY(clear_marks(h, error));
    for (int i = 0; i < h->rows && h->columns > 0; i++) {
        const float *w = h->weight + (size_t)i * (size_t)h->columns;
        int best = 0;
        for (int j = 1; j < h->columns; j++)
            best = w[j] > w[best] ? j : best;
        if (w[best] > 0 && !heatmap_is_end(h->row[i]) && !heatmap_is_end(h->column[best]))
            h->mark[(size_t)i * (size_t)h->columns + (size_t)best] = 1;
    }
    return SA_OK;
}

/* place[k] is where word k stands among n labels, the end marks left out; returns how many words there are. */
static int places_of_words(char *const *label, int n, int *place) {
    int words = 0;
    for (int i = 0; i < n; i++)
        if (!heatmap_is_end(label[i]))
            place[words++] = i;
    return words;
}

sa_status sa_heatmap_mark_links(sa_heatmap *h, const sa_links *links, sa_error *error) {
    SA_TRY(clear_marks(h, error));
    int *row = malloc(((size_t)h->rows + (size_t)h->columns + 1) * sizeof *row);
    if (!row)
        return sa_fail_memory(error, 0);
    int *column = row + h->rows, rows = places_of_words(h->row, h->rows, row);
    int columns = places_of_words(h->column, h->columns, column);
    sa_status status = SA_OK;
    for (size_t k = 0; k < links->n && status == SA_OK; k++) {
        const sa_link *link = &links->link[k];
        if (link->source < columns && link->target < rows)
            h->mark[(size_t)row[link->target] * (size_t)h->columns + (size_t)column[link->source]] = 1;
        else
            status = sa_fail(error, SA_DATA, "link %d-%d is outside: there are %d source and %d target words",
                             link->source, link->target, columns, rows);
    }
    free(row);
    return status;
}

void sa_heatmap_free(sa_heatmap *h) {
    for (int i = 0; h->row && i < h->rows; i++)
        free(h->row[i]);
    for (int j = 0; h->column && j < h->columns; j++)
        free(h->column[j]);
    free(h->row);
    free(h->column);
    free(h->weight);
    free(h->mark);
    free(h->title);
    *h = (sa_heatmap){0};
}
