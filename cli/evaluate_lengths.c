#include "evaluate_lengths.h"

#include <stdlib.h>
#include <string.h>

static int words_of(const char *line) {
    int n = 0;
    for (line += strspn(line, " \t\r"); *line != '\0'; line += strspn(line, " \t\r")) {
        n++;
        line += strcspn(line, " \t\r");
    }
    return n;
}

/* The number of the group of a line: 0 without words, 1 for 1 ... step. */
static int group_of(int words, int step) {
    return (words + step - 1) / step;
}

/* ---- scores ------------------------------------------------------------------------------------------ */

/* The lines of a group, of a system and of every reference; texts[r] is a row of n. */
typedef struct selection {
    const char **hypothesis;
    const char ***reference;
    size_t n;
} selection;

static void selection_free(selection *s, int references) {
    for (int r = 0; s->reference != NULL && r < references; r++)
        free(s->reference[r]);
    free(s->reference);
    free(s->hypothesis);
}

/* Room for n lines; false without memory. */
static bool selection_make(selection *s, int references, size_t n) {
    *s = (selection){.hypothesis = malloc((n + 1) * sizeof *s->hypothesis),
                     .reference = calloc((size_t)references, sizeof *s->reference)};
    bool made = s->hypothesis != NULL && s->reference != NULL;
    for (int r = 0; made && r < references; r++)
        made = (s->reference[r] = malloc((n + 1) * sizeof **s->reference)) != NULL;
    return made;
}

static void select_lines(selection *s, const evaluation *e, int system, const int *group, int which) {
    s->n = 0;
    for (size_t i = 0; i < e->system[0].n; i++) {
        if (group[i] != which)
            continue;
        s->hypothesis[s->n] = e->system[system].line[i];
        for (int r = 0; r < e->n_references; r++)
            s->reference[r][s->n] = e->reference[r].line[i];
        s->n++;
    }
}

static sa_status score_selection(const selection *s, const evaluation *e, int metric,
                                 const sa_resampling *resampling, double *score, sa_interval *interval,
                                 sa_error *error) {
    sa_statistics *statistics;
    sa_status status =
        sa_statistics_collect(&statistics, &e->metric[metric], s->hypothesis, s->n,
                              (const char *const *const *)s->reference, (size_t)e->n_references, error);
    if (status != SA_OK)
        return status;
    sa_score all;
    sa_statistics_score(statistics, 0, s->n, &all);
    *score = all.score;
    if (resampling != NULL)
        status = sa_bootstrap(statistics, resampling, interval, error);
    sa_statistics_free(statistics);
    return status;
}

static int score_group(const evaluation *e, length_group *g, const int *group, int which,
                       const sa_resampling *resampling, selection *s) {
    sa_error error;
    for (int i = 0; i < e->n_systems; i++) {
        select_lines(s, e, i, group, which);
        for (int m = 0; m < e->n_metrics; m++) {
            size_t cell = cell_of(e, i, m);
            if (score_selection(s, e, m, resampling, &g->score[cell], resampling ? &g->interval[cell] : NULL,
                                &error) != SA_OK)
                return cli_library_error(&error);
        }
    }
    return CLI_OK;
}

/* ---- groups ------------------------------------------------------------------------------------------ */

/* Adds group `which` to e->group, without scores. False without memory. */
static bool add_group(evaluation *e, const lines *source, const int *group, int which, int step, bool intervals) {
    size_t cells = (size_t)e->n_systems * (size_t)e->n_metrics;
    length_group g = {.first = which == 0 ? 0 : (which - 1) * step + 1,
                      .last = which * step,
                      .score = calloc(cells, sizeof *g.score),
                      .interval = intervals ? calloc(cells, sizeof *g.interval) : NULL};
    for (size_t i = 0; i < source->n; i++)
        if (group[i] == which) {
            g.n++;
            g.mean_words += words_of(source->line[i]);
        }
    g.mean_words /= (double)g.n;
    length_group *more = realloc(e->group, (size_t)(e->n_groups + 1) * sizeof *more);
    if (more != NULL)
        e->group = more;
    if (more == NULL || g.score == NULL || (intervals && g.interval == NULL)) {
        free(g.score);
        free(g.interval);
        return false;
    }
    e->group[e->n_groups++] = g;
    return true;
}

/* The next larger number among the groups of lines; -1: there is none. */
static int next_group(const int *group, size_t n, int after) {
    int next = -1;
    for (size_t i = 0; i < n; i++)
        if (group[i] > after && (next < 0 || group[i] < next))
            next = group[i];
    return next;
}

int lengths_score(evaluation *e, const lines *source, int step, const sa_resampling *resampling) {
    int *group = malloc((source->n + 1) * sizeof *group), status = CLI_OK;
    selection s = {0};
    if (group == NULL || !selection_make(&s, e->n_references, source->n))
        status = out_of_memory();
    for (size_t i = 0; group != NULL && i < source->n; i++)
        group[i] = group_of(words_of(source->line[i]), step);
    int which = status == CLI_OK ? next_group(group, source->n, -1) : -1;
    for (; which >= 0 && status == CLI_OK; which = next_group(group, source->n, which))
        status = add_group(e, source, group, which, step, resampling != NULL)
                     ? score_group(e, &e->group[e->n_groups - 1], group, which, resampling, &s)
                     : out_of_memory();
    selection_free(&s, e->n_references);
    free(group);
    return status;
}

void lengths_free(evaluation *e) {
    for (int k = 0; k < e->n_groups; k++) {
        free(e->group[k].score);
        free(e->group[k].interval);
    }
    free(e->group);
}

/* ---- reports ----------------------------------------------------------------------------------------- */

enum { CELL_SIZE = 256 };

static void write_head(const evaluation *e, int system, int metric, char text[CELL_SIZE]) {
    const char *name = e->n_systems > 1 ? e->system[system].name : "";
    snprintf(text, CELL_SIZE, "%.200s%s%s", name, name[0] != '\0' ? ":" : "",
             sa_statistics_name(e->statistics[metric]));
}

static void write_cell(const evaluation *e, const length_group *g, size_t cell, char text[CELL_SIZE]) {
    size_t n = (size_t)snprintf(text, CELL_SIZE, "%.*f", e->width, g->score[cell]);
    if (g->interval != NULL)
        snprintf(text + n, CELL_SIZE - n, " ± %.*f", e->width, g->interval[cell].half);
}

/* Right-aligned under its heading, at least 15 columns wide, two away from what stands before it. */
static void print_cell(const char *text, const char *head) {
    enum { LEAST = 15 };
    int width = columns_of(head), own = columns_of(text);
    width = 2 + (width < LEAST ? LEAST : width);
    printf("%*s%s", own < width ? width - own : 2, "", text);
}

void lengths_print(const evaluation *e) {
    char head[CELL_SIZE], text[CELL_SIZE], words[32];
    for (int k = -1; k < e->n_groups; k++) {
        const length_group *g = k < 0 ? NULL : &e->group[k];
        if (g == NULL)
            printf("\n%11s %7s", "words", "lines");
        else {
            snprintf(words, sizeof words, g->first < g->last ? "%d-%d" : "%d", g->first, g->last);
            printf("%11s %7zu", words, g->n);
        }
        for (int i = 0; i < e->n_systems; i++)
            for (int m = 0; m < e->n_metrics; m++) {
                write_head(e, i, m, head);
                if (g != NULL)
                    write_cell(e, g, cell_of(e, i, m), text);
                print_cell(g != NULL ? text : head, head);
            }
        putchar('\n');
    }
}

static json_t *group_json(const length_group *g, size_t cell) {
    json_t *object = json_pack("{s:i, s:i, s:I, s:f, s:f}", "first", g->first, "last", g->last, "lines",
                               (json_int_t)g->n, "mean_words", g->mean_words, "score", g->score[cell]);
    if (g->interval == NULL || json_object_set_new(object, "confidence",
                                                   json_pack("{s:f, s:f}", "mean", g->interval[cell].mean,
                                                             "half_width", g->interval[cell].half)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *lengths_json(const evaluation *e, int system, int metric) {
    json_t *array = json_array();
    for (int k = 0; k < e->n_groups; k++)
        if (json_array_append_new(array, group_json(&e->group[k], cell_of(e, system, metric))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}
