#include "pair_input.h"

#include <stdlib.h>
#include <string.h>

/* A window ends at this much text too. */
static const size_t WINDOW_BYTES = 8u << 20;

int pair_files_choose(pair_files *out, const command *c, const char *tsv, int n, char **argv) {
    if (tsv != NULL ? n > 0 : n != 2)
        return cli_usage_error(c, tsv != NULL ? "two files and --tsv exclude each other"
                                              : "two files, SOURCE and TARGET, or --tsv FILE are needed");
    out->source = tsv != NULL ? tsv : argv[0];
    out->target = tsv != NULL ? NULL : argv[1];
    if (out->target != NULL && strcmp(out->source, "-") == 0 && strcmp(out->target, "-") == 0)
        return cli_usage_error(c, "standard input cannot be both source and target");
    return CLI_GO_ON;
}

/* Lines of a file, to compare before work starts. */
static sa_status count_lines(const char *path, bool strict, size_t *n, sa_error *error) {
    sa_reader *reader;
    char *line;
    size_t length;
    sa_status status = sa_reader_open(&reader, path, strict, error);
    if (status != SA_OK)
        return status;
    do
        status = sa_reader_next(reader, &line, &length, error);
    while (status == SA_OK && line != NULL);
    *n = sa_reader_line(reader);
    sa_reader_free(reader);
    return status;
}

/* What can be read twice is; of a pipe the lines are counted as they come. */
static sa_status compare_counts(const pair_files *a, bool strict, sa_error *error) {
    size_t n[2];
    const char *path[] = {a->source, a->target};
    if (a->target == NULL || strcmp(a->source, "-") == 0 || strcmp(a->target, "-") == 0 || !is_regular(a->source) ||
        !is_regular(a->target))
        return SA_OK;
    for (int i = 0; i < 2; i++) {
        sa_status status = count_lines(path[i], strict, &n[i], error);
        if (status != SA_OK)
            return status;
    }
    if (n[0] == n[1])
        return SA_OK;
    error->status = SA_DATA;
    snprintf(error->text, sizeof error->text,
             "%s has %zu lines, %s has %zu: line i of one must be the translation of line i of the other", path[0],
             n[0], path[1], n[1]);
    return SA_DATA;
}

sa_status pair_input_open(pair_input *input, pair_files files, bool strict, sa_error *error) {
    sa_status status = compare_counts(&files, strict, error);
    *input = (pair_input){{0}, {0}};
    if (status == SA_OK)
        status = text_open(&input->source, files.source, strict, error);
    if (status == SA_OK && files.target != NULL)
        status = text_open(&input->target, files.target, strict, error);
    return status;
}

void pair_input_close(pair_input *input) {
    text_close(&input->source);
    text_close(&input->target);
}

/* ---- windows ----------------------------------------------------------------------------------------- */

static sa_status fail_at_end(pair_input *s, sa_error *error) {
    char *line;
    text_input *rest[] = {&s->source, &s->target};
    for (int i = 0; i < 2; i++)
        do {
            sa_status status = text_next(rest[i], &(warnings){.quiet = true}, &line, error);
            if (status != SA_OK)
                return status;
            free(line);
        } while (line != NULL);
    error->status = SA_DATA;
    snprintf(error->text, sizeof error->text,
             "%s has %zu lines, %s has %zu: line i of one must be the translation of line i of the other",
             s->source.name, sa_reader_line(s->source.reader), s->target.name, sa_reader_line(s->target.reader));
    return SA_DATA;
}

/* Cuts the line at its tab; the target is a copy. */
static sa_status cut_pair(const pair_input *s, char *line, char **to, sa_error *error) {
    size_t fields = 1;
    for (const char *c = line; (c = strchr(c, '\t')) != NULL; c++)
        fields++;
    if (fields != 2) {
        error->status = SA_DATA;
        snprintf(error->text, sizeof error->text, "%s:%zu: %zu field%s, where source, tab, target are needed",
                 s->source.name, sa_reader_line(s->source.reader), fields, fields == 1 ? "" : "s");
        return SA_DATA;
    }
    char *tab = strchr(line, '\t');
    *tab = '\0';
    *to = strdup(tab + 1);
    if (*to == NULL) {
        error->status = SA_MEMORY;
        snprintf(error->text, sizeof error->text, "%s", sa_status_text(SA_MEMORY));
        return SA_MEMORY;
    }
    return SA_OK;
}

/* The next pair; *from NULL at the end. On failure nothing is left to free. */
static sa_status read_pair(pair_input *s, warnings *warn, char **from, char **to, sa_error *error) {
    *to = NULL;
    sa_status status = text_next(&s->source, warn, from, error);
    if (status == SA_OK && s->target.reader != NULL) {
        status = text_next(&s->target, warn, to, error);
        if (status == SA_OK && (*from == NULL) != (*to == NULL))
            status = fail_at_end(s, error);
    } else if (status == SA_OK && *from != NULL) {
        status = cut_pair(s, *from, to, error);
    }
    if (status != SA_OK) {
        free(*from);
        free(*to);
        *from = *to = NULL;
    }
    return status;
}

bool pair_window_new(pair_window *w, size_t capacity) {
    *w = (pair_window){malloc(capacity * sizeof *w->from), malloc(capacity * sizeof *w->to), 0, capacity};
    return w->from != NULL && w->to != NULL;
}

static void clear(pair_window *w) {
    for (size_t i = 0; i < w->n; i++) {
        free(w->from[i]);
        free(w->to[i]);
    }
    w->n = 0;
}

void pair_window_free(pair_window *w) {
    clear(w);
    free(w->from);
    free(w->to);
}

sa_status pair_window_fill(pair_window *w, pair_input *input, warnings *warn, bool *end, sa_error *error) {
    size_t bytes = 0;
    clear(w);
    do {
        char *from, *to;
        sa_status status = read_pair(input, warn, &from, &to, error);
        *end = from == NULL;
        if (*end)
            return status;
        w->from[w->n] = from;
        w->to[w->n++] = to;
        bytes += strlen(from) + strlen(to);
    } while (w->n < w->capacity && bytes < WINDOW_BYTES && sa_reader_ready(input->source.reader));
    return SA_OK;
}
