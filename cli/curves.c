#include "curves.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const curve_x_names[] = {
    [CURVE_EPOCHS] = "epochs", [CURVE_UPDATES] = "updates", [CURVE_MINUTES] = "minutes", NULL};

int curves_no_memory(void) {
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

bool curve_add(curve *c, curve_point p) {
    if (c->n == c->capacity) {
        int capacity = c->capacity > 0 ? 2 * c->capacity : 64;
        if (capacity < 0 || !grow(&c->x, capacity) || !grow(&c->y, capacity) || !grow(&c->low, capacity) ||
            !grow(&c->high, capacity))
            return false;
        c->capacity = capacity;
    }
    c->band = (c->n == 0 || c->band) && !isnan(p.low) && !isnan(p.high);
    c->x[c->n] = p.x;
    c->y[c->n] = p.y;
    c->low[c->n] = p.low;
    c->high[c->n++] = p.high;
    return true;
}

void curve_free(curve *c) {
    free(c->x);
    free(c->y);
    free(c->low);
    free(c->high);
}

curve_set *curves_add_set(curves *c, const char *name) {
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
        for (int k = 0; k < MOST_CHARTS; k++)
            curve_free(&c->set[i].curve[k]);
    }
    for (int k = 0; k < c->n_charts; k++)
        free(c->chart[k].title);
    free(c->set);
}

int curves_chart(curves *c, const char *title, const char *x_label, const char *y_label) {
    for (int k = 0; k < c->n_charts; k++)
        if (strcmp(c->chart[k].title, title) == 0)
            return k;
    if (c->n_charts == MOST_CHARTS)
        return -1;
    curve_chart *chart = &c->chart[c->n_charts];
    *chart = (curve_chart){strdup(title), x_label, y_label};
    return chart->title != NULL ? c->n_charts++ : -1;
}

double curves_number(const json_t *object, const char *name) {
    const json_t *x = json_object_get(object, name);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

char *curves_name(const char *path) {
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

/* Returns the exit status. */
static int take_line(sa_reader *reader, const char *path, const char *line, size_t length, const curve_lines *lines,
                     void *user) {
    json_error_t wrong;
    json_t *object = json_loadb(line, length, 0, &wrong);
    if (object == NULL || !lines->is_one(object)) {
        cli_message("%s:%zu: no line of %s%s%s", path, sa_reader_line(reader), lines->kind,
                    object == NULL ? ": " : "", object == NULL ? wrong.text : "");
        json_decref(object);
        return CLI_FAILED;
    }
    bool taken = lines->take(user, object);
    json_decref(object);
    return taken ? CLI_OK : curves_no_memory();
}

int curves_read_lines(const char *path, const curve_lines *lines, void *user) {
    sa_error error;
    sa_reader *reader;
    if (sa_reader_open(&reader, path, false, &error) != SA_OK)
        return cli_library_error(&error);
    int status = CLI_OK;
    while (status == CLI_OK) {
        char *line;
        size_t length;
        if (sa_reader_next(reader, &line, &length, &error) != SA_OK)
            status = cli_library_error(&error);
        else if (line == NULL)
            break;
        else if (line[strspn(line, " \t")] != '\0')
            status = take_line(reader, path, line, length, lines, user);
    }
    sa_reader_free(reader);
    return status;
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
    return curves_number(event, member[x]) / (x == CURVE_MINUTES ? 60 : 1);
}

typedef struct run_reader {
    const curves *c;
    curve_set *set;
} run_reader;

static bool is_event(const json_t *object) {
    return json_object_get(object, "kind") != NULL;
}

static bool add_event(void *user, const json_t *event) {
    const run_reader *r = user;
    const char *kind = json_string_value(json_object_get(event, "kind"));
    double x = place(event, r->c->x);
    for (size_t k = 0; kind != NULL && k < sizeof measures / sizeof *measures; k++) {
        double y = curves_number(event, measures[k].member);
        curve_point p = {x, y, (double)NAN, (double)NAN};
        if (strcmp(kind, measures[k].kind) == 0 && !isnan(y) && !isnan(x) && !curve_add(&r->set->curve[k], p))
            return false;
    }
    return true;
}

static int read_run(curves *c, const char *path) {
    static const curve_lines lines = {"a run's metrics.jsonl", is_event, add_event};
    char *name = curves_name(path);
    run_reader r = {c, name != NULL ? curves_add_set(c, name) : NULL};
    free(name);
    if (r.set == NULL)
        return curves_no_memory();
    for (size_t k = 0; k < sizeof measures / sizeof *measures; k++)
        if (curves_chart(c, measures[k].title, curve_x_names[c->x], NULL) != (int)k)
            return curves_no_memory();
    return curves_read_lines(path, &lines, &r);
}

/* ---- scores by length -------------------------------------------------------------------------------- */

static int add_score(curves *c, curve_set *set, const json_t *score, const char *path) {
    const char *metric = json_string_value(json_object_get(score, "metric"));
    const json_t *groups = json_object_get(score, "by_length");
    if (metric == NULL || !json_is_array(groups)) {
        cli_message("%s: no scores by length: write it with evaluate --by-length SOURCE --json", path);
        return CLI_FAILED;
    }
    int k = curves_chart(c, metric, "words of the source sentence", NULL);
    if (k < 0) {
        cli_message("%s: more than %d metrics", path, MOST_CHARTS);
        return CLI_FAILED;
    }
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        double x = curves_number(group, "mean_words"), y = curves_number(group, "score");
        if (isnan(x) || isnan(y)) {
            cli_message("%s: group %zu of %s has no \"mean_words\" or no \"score\"", path, i + 1, metric);
            return CLI_FAILED;
        }
        double half = curves_number(json_object_get(group, "confidence"), "half_width");
        if (!curve_add(&set->curve[k], (curve_point){x, y, y - half, y + half}))
            return curves_no_memory();
    }
    return CLI_OK;
}

static int read_systems(curves *c, const json_t *systems, const char *path) {
    int status = CLI_OK;
    for (size_t i = 0; i < json_array_size(systems) && status == CLI_OK; i++) {
        const json_t *system = json_array_get(systems, i), *scores = json_object_get(system, "scores");
        const char *name = json_string_value(json_object_get(system, "system"));
        curve_set *set = curves_add_set(c, name != NULL ? name : path);
        if (set == NULL)
            return curves_no_memory();
        for (size_t k = 0; k < json_array_size(scores) && status == CLI_OK; k++)
            status = add_score(c, set, json_array_get(scores, k), path);
    }
    return status;
}

static int read_evaluation(curves *c, const char *path) {
    json_t *all = json_load_file(path, JSON_DISABLE_EOF_CHECK, NULL);
    int status = read_systems(c, json_object_get(all, "systems"), path);
    json_decref(all);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------- */

/* In the order of curve_subject. */
static const struct {
    const char *name;
    int (*read)(curves *c, const char *path);
} subjects[] = {
    [CURVES_OF_RUNS] = {"training runs", read_run},
    [CURVES_BY_LENGTH] = {"scores by length", read_evaluation},
    [CURVES_OF_EXPLANATIONS] = {"explanations", explanations_read},
};

static int read_file(curves *c, const char *path) {
    json_t *first = json_load_file(path, JSON_DISABLE_EOF_CHECK, NULL);
    curve_subject subject = explanations_begin_with(first)                     ? CURVES_OF_EXPLANATIONS
                            : json_is_array(json_object_get(first, "systems")) ? CURVES_BY_LENGTH
                                                                               : CURVES_OF_RUNS;
    json_decref(first);
    if (c->n > 0 && subject != c->subject) {
        cli_message("%s: %s and %s do not go on one page", path, subjects[c->subject].name, subjects[subject].name);
        return CLI_FAILED;
    }
    c->subject = subject;
    return subjects[subject].read(c, path);
}

int curves_read(curves *c, const char *path) {
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
        return read_file(c, path);
    char *inside = NULL;
    size_t n = strlen(path);
    if (asprintf(&inside, "%s%smetrics.jsonl", path, n > 0 && path[n - 1] == '/' ? "" : "/") < 0)
        return curves_no_memory();
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
        return curves_no_memory();
    for (int k = 0; k < c->n_charts; k++) {
        if (!has_points(c, k))
            continue;
        sa_series *row = series + k * c->n;
        bool training = c->subject == CURVES_OF_RUNS;
        for (int i = 0; i < c->n; i++)
            row[i] = series_of(&c->set[i].curve[k], c->n > 1 || !training ? c->set[i].name : NULL);
        chart[n++] = (sa_chart){.title = c->chart[k].title,
                                .x_label = c->chart[k].x_label,
                                .y_label = c->chart[k].y_label,
                                .series = row,
                                .n_series = c->n,
                                .from_zero = !training,
                                .dots = !training};
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
