/* Curves that `softalign plot` draws, gathered from files. */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include "cli.h"

/* What the x axis of training curves counts. */
typedef enum curve_x { CURVE_EPOCHS, CURVE_UPDATES, CURVE_MINUTES } curve_x;
extern const char *const curve_x_names[];

/* Points of one thing in one chart. */
typedef struct curve {
    int n, capacity;
    double *x, *y, *low, *high;
    bool band; /* every point has low and high */
} curve;

enum { MOST_CHARTS = 8 };

/* A run, or a system: a curve for each chart, empty where it has none. */
typedef struct curve_set {
    char *name;
    curve curve[MOST_CHARTS];
} curve_set;

/* All that is drawn; the charts of training runs and of evaluations are not the same. */
typedef struct curves {
    curve_x x;
    bool by_length; /* else training runs */
    int n_charts;
    char *title[MOST_CHARTS];
    int n, capacity;
    curve_set *set;
} curves;

/* Adds what a path holds: the folder of a run, its metrics.jsonl, or what `softalign evaluate --by-length --json`
 * wrote (a set for each system). Returns the exit status. */
int curves_read(curves *c, const char *path);
void curves_free(curves *c);

/* Draws them; returns the exit status. */
int curves_draw(const curves *c, const char *path);

#endif
