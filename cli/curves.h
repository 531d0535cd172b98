/* Curves that `softalign plot` draws, gathered from files. */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include <jansson.h>

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

/* A run, a system or a file of explanations: a curve for each chart, empty where it has none. */
typedef struct curve_set {
    char *name;
    curve curve[MOST_CHARTS];
} curve_set;

typedef struct curve_chart {
    char *title;
    const char *x_label, *y_label; /* y_label NULL: none */
} curve_chart;

/* What a file is about; charts of two kinds do not go on one page. */
typedef enum curve_subject { CURVES_OF_RUNS, CURVES_BY_LENGTH, CURVES_OF_EXPLANATIONS } curve_subject;

/* All that is drawn. */
typedef struct curves {
    curve_x x;
    curve_subject subject;
    int n_charts;
    curve_chart chart[MOST_CHARTS];
    int n, capacity;
    curve_set *set;
} curves;

/* Adds what a path holds: the folder of a run, its metrics.jsonl, what `softalign evaluate --by-length --json`
 * wrote (a set for each system), or `softalign explain --records`. Returns the exit status. */
int curves_read(curves *c, const char *path);
void curves_free(curves *c);

/* Draws them; returns the exit status. */
int curves_draw(const curves *c, const char *path);

/* ---- for the readers of files ------------------------------------------------------------------------ */

/* low and high: of the band, NaN where there is none. False without memory. */
typedef struct curve_point {
    double x, y, low, high;
} curve_point;
bool curve_add(curve *c, curve_point p);
void curve_free(curve *c);

/* A set of that name, empty; NULL without memory. */
curve_set *curves_add_set(curves *c, const char *name);
/* The number of the chart with that title, made if there is none; -1 when there are too many, or no memory. Labels
 * are kept, not copied. */
int curves_chart(curves *c, const char *title, const char *x_label, const char *y_label);
/* "run" of "a/run/" and of "a/run/metrics.jsonl". NULL without memory. */
char *curves_name(const char *path);

/* A number of an object; NaN where there is none. */
double curves_number(const json_t *object, const char *name);
/* Says so; returns the exit status. */
int curves_no_memory(void);

/* Gives each line of a file that is no object of `kind` for an error, the others to take, which returns false
 * without memory. kind: what the lines are, for the message; is_one: whether an object is of it. */
typedef struct curve_lines {
    const char *kind;
    bool (*is_one)(const json_t *object);
    bool (*take)(void *user, const json_t *object);
} curve_lines;
int curves_read_lines(const char *path, const curve_lines *lines, void *user);

/* Of the first value in a file: whether explain --records wrote it. explanations_read is curves_read of such a
 * file.
 */
bool explanations_begin_with(const json_t *value);
int explanations_read(curves *c, const char *path);

#endif
