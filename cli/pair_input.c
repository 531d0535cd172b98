#include "pair_input.h"

#include <stdlib.h>
#include <string.h>

/* A window ends at this many pairs, and at this much text. */
enum { WINDOW_BATCHES = 64, WINDOW_MOST = 65536 };
static const size_t WINDOW_BYTES = 8u << 20;

static sa_status fail_at_end(pair_input *in, sa_error *error) {
    char *line;
    text_input *rest[] = {&in->source, &in->target};
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
             in->source.name, sa_reader_line(in->source.reader), in->target.name,
             sa_reader_line(in->target.reader));
    return SA_DATA;
}

/* Cuts the line at its tab; the target is a copy. */
static sa_status cut_pair(pair_input *in, char *line, char **to, sa_error *error) {
    size_t fields = 1;
    for (const char *c = line; (c = strchr(c, '\t')) != NULL; c++)
        fields++;
    if (fields != 2) {
        error->status = SA_DATA;
        snprintf(error->text, sizeof error->text, "%s:%zu: %zu field%s, where source, tab, target are needed",
                 in->source.name, sa_reader_line(in->source.reader), fields, fields == 1 ? "" : "s");
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
static sa_status read_pair(pair_input *in, char **from, char **to, sa_error *error) {
    *to = NULL;
    sa_status status = text_next(&in->source, in->warnings, from, error);
    if (status == SA_OK && in->target.reader != NULL) {
        status = text_next(&in->target, in->warnings, to, error);
        if (status == SA_OK && (*from == NULL) != (*to == NULL))
            status = fail_at_end(in, error);
    } else if (status == SA_OK && *from != NULL) {
        status = cut_pair(in, *from, to, error);
    }
    if (status != SA_OK) {
        free(*from);
        free(*to);
        *from = *to = NULL;
    }
    return status;
}

sa_status pair_input_read(pair_input *in, bool *end, sa_error *error) {
    size_t bytes = 0;
    in->n = 0;
    do {
        char *from, *to;
        sa_status status = read_pair(in, &from, &to, error);
        *end = from == NULL;
        if (*end)
            return status;
        in->from[in->n] = from;
        in->to[in->n++] = to;
        bytes += strlen(from) + strlen(to);
    } while (in->n < in->capacity && bytes < WINDOW_BYTES && sa_reader_ready(in->source.reader));
    return SA_OK;
}

void pair_input_forget(pair_input *in) {
    for (size_t i = 0; i < in->n; i++) {
        free(in->from[i]);
        free(in->to[i]);
    }
    in->done += in->n;
    in->n = 0;
}

/* ---- opening ----------------------------------------------------------------------------------------- */

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
static sa_status compare_counts(const char *source, const char *target, bool strict, sa_error *error) {
    size_t n[2];
    const char *path[] = {source, target};
    if (target == NULL || strcmp(source, "-") == 0 || strcmp(target, "-") == 0 || !is_regular(source) ||
        !is_regular(target))
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

sa_status pair_input_open(pair_input *out, const char *source, const char *target, bool strict, int mini_batch,
                          warnings *told, sa_error *error) {
    *out = (pair_input){.warnings = told, .capacity = (size_t)mini_batch * WINDOW_BATCHES};
    sa_status status = compare_counts(source, target, strict, error);
    if (status == SA_OK)
        status = text_open(&out->source, source, strict, error);
    if (status == SA_OK && target != NULL)
        status = text_open(&out->target, target, strict, error);
    if (status != SA_OK)
        return status;
    out->capacity = out->capacity < WINDOW_MOST ? out->capacity : WINDOW_MOST;
    out->from = malloc(out->capacity * sizeof *out->from);
    out->to = malloc(out->capacity * sizeof *out->to);
    if (out->from == NULL || out->to == NULL) {
        error->status = SA_MEMORY;
        snprintf(error->text, sizeof error->text,
                 "not enough memory for a window of %zu pairs; try a smaller --mini-batch", out->capacity);
        return SA_MEMORY;
    }
    return SA_OK;
}

void pair_input_close(pair_input *in) {
    pair_input_forget(in);
    free(in->from);
    free(in->to);
    text_close(&in->source);
    text_close(&in->target);
}

int pair_input_arguments(const command *c, int n, char **argv, const char *tsv, const char **source,
                         const char **target) {
    if (tsv != NULL ? n > 0 : n != 2)
        return cli_usage_error(c, tsv != NULL ? "two files and --tsv exclude each other"
                                              : "two files, SOURCE and TARGET, or --tsv FILE are needed");
    *source = tsv != NULL ? tsv : argv[0];
    *target = tsv != NULL ? NULL : argv[1];
    if (*target != NULL && strcmp(*source, "-") == 0 && strcmp(*target, "-") == 0)
        return cli_usage_error(c, "standard input cannot be both source and target");
    return CLI_GO_ON;
}
