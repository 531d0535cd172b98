/* What the drawings of heat maps share. */
#ifndef ALIGN_HEATMAP_H
#define ALIGN_HEATMAP_H

#include "base/error.h"

/* Whether a label is that of the end mark, which is no word: "</s>". */
bool heatmap_is_end(const char *label);

static inline float heatmap_weight(const sa_heatmap *h, int row, int column) {
    return h->weight[(size_t)row * (size_t)h->columns + (size_t)column];
}

static inline bool heatmap_marked(const sa_heatmap *h, int row, int column) {
    return h->mark && h->mark[(size_t)row * (size_t)h->columns + (size_t)column];
}

#endif
