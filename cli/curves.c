#include "curves.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const curve_x_names[] = {
    [CURVE_EPOCHS] = "epochs", [CURVE_UPDATES] = "updates", [CURVE_MINUTES] = "minutes", NULL};

static int no_memory(void) {
    cli_message("%s", sa_status_text(SA_MEMORY));
    return CLI_FAILED;
}

/* ---- gathering --------------------------------------------------------------------------------------- */

static bool grow(double **column, int capacity) {
    double *more = realloc(*column, (size_t)capacity * sizeof *more);
    if (more != NULL)
        *column = more;
    return more != NULL;
}

/* half: of the band's width; NaN where there is none. False without memory. */
static bool curve_add(curve *c, double x, double y, double half) {
    if (c->n == c->capacity) {
        int capacity = c->capacity > 0 ? 2 * c->capacity : 64;
        if (capacity < 0 || !grow(&c->x, capacity) || !grow(&c->y, capacity) || !grow(&c->low, capacity) ||
            !grow(&c->high, capacity))
            return false;
        c->capacity = capacity;
    }
    c->band = (c->n == 0 || c->band) && !isnan(half);
    c->x[c->n] = x;
    c->y[c->n] = y;
    c->low[c->n] = y - half;
    c->high[c->n++] = y + half;
    return true;
}

/* A set of that name, empty; NULL without memory. */
static curve_set *add_set(curves *c, const char *name) {
    if (c->n == c->capacity) {
        int capacity = c->capacity > 0 ? 2 * c->capacity : 8;
        curve_set *more = realloc(c->set, (size_t)capacity * sizeof *more);
        if (more == NULL)
            return NULL;
        c->set = more;
        c->capacity = capacity;
    }
    curve_set *set = &c->set[c->n];
    *set = (curve_set){.name = strdup(name)};
    if (set->name == NULL)
        return NULL;
    c->n++;
    return set;
}

void curves_free(curves *c) {
    for (int i = 0; i < c->n; i++) {
        free(c->set[i].name);
        for (int k = 0; k < MOST_CHARTS; k++) {
            free(c->set[i].curve[k].x);
            free(c->set[i].curve[k].y);
            free(c->set[i].curve[k].low);
            free(c->set[i].curve[k].high);
        }
    }
    for (int k = 0; k < c->n_charts; k++)
        free(c->title[k]);
    free(c->set);
}

/* The number of the chart with that title, made if there is none; -1 when there are too many, or no memory. */
static int chart_of(curves *c, const char *title) {
    for (int k = 0; k < c->n_charts; k++)
        if (strcmp(c->title[k], title) == 0)
            return k;
    if (c->n_charts == MOST_CHARTS || (c->title[c->n_charts] = strdup(title)) == NULL)
        return -1;
    return c->n_charts++;
}

static double number_of(const json_t *object, const char *name) {
    const json_t *x = json_object_get(object, name);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

/* ---- training runs ----------------------------------------------------------------------------------- */

/* What is drawn of the lines of a metrics.jsonl, a chart for each, in this order. */
static const struct {
    const char *kind, *member, *title;
} measures[] = {
    {"progress", "loss", "training loss"},
    {"validation", "cross_entropy", "validation cross-entropy"},
    {"validation", "bleu", "validation BLEU"},
    {"progress", "learning_rate", "learning rate"},
};

static double place(const json_t *event, curve_x x) {
    static const char *const member[] = {
        [CURVE_EPOCHS] = "epoch", [CURVE_UPDATES] = "update", [CURVE_MINUTES] = "seconds"};
    return number_of(event, member[x]) / (x == CURVE_MINUTES ? 60 : 1);
}

/* False without memory. */
static bool add_event(const curves *c, curve_set *set, const json_t *event) {
    const char *kind = json_string_value(json_object_get(event, "kind"));
    double x = place(event, c->x);
    for (size_t k = 0; kind != NULL && k < sizeof measures / sizeof *measures; k++) {
        double y = number_of(event, measures[k].member);
        if (strcmp(kind, measures[k].kind) == 0 && !isnan(y) && !isnan(x) &&
            !curve_add(&set->curve[k], x, y, (double)NAN))
            return false;
    }
    return true;
}

/* "run" of "a/run/" and of "a/run/metrics.jsonl". */
static char *run_name(const char *path) {
    size_t n = strlen(path), file = strlen("/metrics.jsonl");
    if (n > file && strcmp(path + n - file, "/metrics.jsonl") == 0)
        n -= file;
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t from = n;
    while (from > 0 && path[from - 1] != '/')
        from--;
    return strndup(path + from, n - from);
}

static int read_events(curves *c, curve_set *set, sa_reader *reader, const char *path) {
    for (;;) {
        sa_error error;
        json_error_t wrong;
        char *line;
        size_t length;
        if (sa_reader_next(reader, &line, &length, &error) != SA_OK)
            return cli_library_error(&error);
        if (line == NULL)
            return CLI_OK;
        if (line[strspn(line, " \t")] == '\0')
            continue;
        json_t *event = json_loadb(line, length, 0, &wrong);
        if (event == NULL || json_object_get(event, "kind") == NULL) {
            cli_message("%s:%zu: no line of a run's metrics.jsonl%s%s", path, sa_reader_line(reader),
                        event == NULL ? ": " : "", event == NULL ? wrong.text : "");
            json_decref(event);
            return CLI_FAILED;
        }
        bool added = add_event(c, set, event);
        json_decref(event);
        if (!added)
            return no_memory();
    }
}

static int read_run(curves *c, const char *path) {
    sa_error error;
    sa_reader *reader;
    if (sa_reader_open(&reader, path, false, &error) != SA_OK)
        return cli_library_error(&error);
    char *name = run_name(path);
    curve_set *set = name != NULL ? add_set(c, name) : NULL;
    int status = set != NULL ? CLI_OK : no_memory();
    for (size_t k = 0; k < sizeof measures / sizeof *measures && status == CLI_OK; k++)
        status = chart_of(c, measures[k].title) == (int)k ? CLI_OK : no_memory();
    if (status == CLI_OK)
        status = read_events(c, set, reader, path);
    free(name);
    sa_reader_free(reader);
    return status;
}

/* ---- scores by length -------------------------------------------------------------------------------- */

static int add_score(curves *c, curve_set *set, const json_t *score, const char *path) {
    const char *metric = json_string_value(json_object_get(score, "metric"));
    const json_t *groups = json_object_get(score, "by_length");
    if (metric == NULL || !json_is_array(groups)) {
        cli_message("%s: no scores by length: write it with evaluate --by-length SOURCE --json", path);
        return CLI_FAILED;
    }
    int k = chart_of(c, metric);
    if (k < 0) {
        cli_message("%s: more than %d metrics", path, MOST_CHARTS);
        return CLI_FAILED;
    }
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        double x = number_of(group, "mean_words"), y = number_of(group, "score");
        if (isnan(x) || isnan(y)) {
            cli_message("%s: group %zu of %s has no \"mean_words\" or no \"score\"", path, i + 1, metric);
            return CLI_FAILED;
        }
        if (!curve_add(&set->curve[k], x, y, number_of(json_object_get(group, "confidence"), "half_width")))
            return no_memory();
    }
    return CLI_OK;
}

static int read_evaluation(curves *c, const json_t *all, const char *path) {
    const json_t *systems = json_object_get(all, "systems");
    int status = CLI_OK;
    for (size_t i = 0; i < json_array_size(systems) && status == CLI_OK; i++) {
        const json_t *system = json_array_get(systems, i), *scores = json_object_get(system, "scores");
        const char *name = json_string_value(json_object_get(system, "system"));
        curve_set *set = add_set(c, name != NULL ? name : path);
        if (set == NULL)
            return no_memory();
        for (size_t k = 0; k < json_array_size(scores) && status == CLI_OK; k++)
            status = add_score(c, set, json_array_get(scores, k), path);
    }
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static int read_file(curves *c, const char *path) {
    json_t *all = json_load_file(path, 0, NULL);
    bool by_length = json_is_array(json_object_get(all, "systems"));
    int status;
    if (c->n > 0 && by_length != c->by_length) {
        cli_message("%s: training runs and scores by length do not go on one page", path);
        status = CLI_FAILED;
    } else {
        c->by_length = by_length;
        status = by_length ? read_evaluation(c, all, path) : read_run(c, path);
    }
    json_decref(all);
    return status;
}

int curves_read(curves *c, const char *path) {
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
        return read_file(c, path);
    char *inside = NULL;
    size_t n = strlen(path);
    if (asprintf(&inside, "%s%smetrics.jsonl", path, n > 0 && path[n - 1] == '/' ? "" : "/") < 0)
        return no_memory();
    int status = read_file(c, inside);
    free(inside);
    return status;
}

/* ---- drawing ----------------------------------------------------------------------------------------- */

static sa_series series_of(const curve *c, const char *name) {
    return (sa_series){name, c->n, c->x, c->y, c->band ? c->low : NULL, c->band ? c->high : NULL};
}

static bool has_points(const curves *c, int chart) {
    for (int i = 0; i < c->n; i++)
        if (c->set[i].curve[chart].n > 0)
            return true;
    return false;
}

int curves_draw(const curves *c, const char *path) {
    sa_chart chart[MOST_CHARTS];
    sa_series *series = calloc((size_t)c->n * MOST_CHARTS + 1, sizeof *series);
    sa_error error;
    size_t unknown = 0;
    int n = 0;
    if (series == NULL)
        return no_memory();
    for (int k = 0; k < c->n_charts; k++) {
        if (!has_points(c, k))
            continue;
        sa_series *row = series + k * c->n;
        for (int i = 0; i < c->n; i++)
            row[i] = series_of(&c->set[i].curve[k], c->n > 1 || c->by_length ? c->set[i].name : NULL);
        chart[n++] = (sa_chart){.title = c->title[k],
                                .x_label = c->by_length ? "words of the source sentence" : curve_x_names[c->x],
                                .series = row,
                                .n_series = c->n,
                                .from_zero = c->by_length,
                                .dots = c->by_length};
    }
    sa_status status = SA_OK;
    if (n > 0)
        status = sa_charts_write(chart, n, path, &unknown, &error);
    free(series);
    if (n == 0) {
        cli_message("there is nothing to draw: %s is not written", path);
        return CLI_FAILED;
    }
    if (status == SA_OK && unknown > 0)
        cli_message("%s: %zu characters are in no font that is installed, and are drawn as boxes", path, unknown);
    return status == SA_OK ? CLI_OK : cli_library_error(&error);
}
