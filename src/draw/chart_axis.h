/* Axes: where round numbers lie, and how they are written. */
#ifndef DRAW_CHART_AXIS_H
#define DRAW_CHART_AXIS_H

#include "base/strbuf.h"

typedef struct chart_axis {
    double low, high; /* multiples of step */
    double step;      /* 1, 2 or 5 times a power of ten */
    int steps;        /* from low to high */
} chart_axis;

/* The axis that holds low ... high, with about `wanted` steps, 10 at most. Where both are the same, or either is
 * not finite, one around it, or around 0. */
chart_axis chart_axis_make(double low, double high, int wanted);
/* The number at step i, with as many decimals as the step needs and a point whatever the locale. */
void chart_axis_label(const chart_axis *a, int i, strbuf *out);

#endif
