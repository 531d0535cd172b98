#include "matrix_reader.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What is wrong with the line, with its place; returns the exit status. */
static int wrong(const char *place, const char *what) {
    cli_message("%s: %s", place, what);
    return CLI_FAILED;
}

static int no_memory(const char *place) {
    return wrong(place, sa_status_text(SA_MEMORY));
}

/* The strings of an array, which stay its own; NULL with a message when it is none. */
static char **strings(const json_t *array, const char *name, const char *place) {
    if (!json_is_array(array)) {
        cli_message("%s: no member \"%s\", a list of words (write it with translate --alignment)", place, name);
        return NULL;
    }
    size_t n = json_array_size(array);
    char **text = calloc(n + 1, sizeof *text);
    if (text == NULL) {
        no_memory(place);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_string(item)) {
            cli_message("%s: item %zu of \"%s\" is no string", place, i + 1, name);
            free(text);
            return NULL;
        }
        text[i] = (char *)json_string_value(item);
    }
    return text;
}

/* Whether "alignment" has that many rows of that many numbers, which are copied to *to. */
static bool numbers(const json_t *matrix, size_t rows, size_t columns, float *to, const char *place) {
    if (json_array_size(matrix) != rows) {
        cli_message("%s: \"alignment\" has %zu rows for %zu symbols", place, json_array_size(matrix), rows);
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        const json_t *row = json_array_get(matrix, i);
        if (!json_is_array(row) || json_array_size(row) != columns) {
            cli_message("%s: row %zu of \"alignment\" has %zu numbers for %zu source symbols", place, i + 1,
                        json_array_size(row), columns);
            return false;
        }
        for (size_t j = 0; j < columns; j++) {
            const json_t *x = json_array_get(row, j);
            if (!json_is_number(x) || json_number_value(x) < 0 || json_number_value(x) > 1) {
                cli_message("%s: number %zu of row %zu of \"alignment\" is none from 0 to 1", place, j + 1, i + 1);
                return false;
            }
            to[i * columns + j] = (float)json_number_value(x);
        }
    }
    return true;
}

static double number_of(const json_t *object, const char *name) {
    const json_t *x = json_object_get(object, name);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

/* A translation: the object itself, or one of its hypotheses. */
static int add_hypothesis(gallery *g, const json_t *h, const json_t *source, int number, int of,
                          const char *place) {
    const char *text = json_string_value(json_object_get(h, "text"));
    const json_t *symbols = json_object_get(h, "symbols"), *alignment = json_object_get(h, "alignment");
    exhibit e = {.text = text != NULL ? text : "",
                 .score = number_of(h, "score"),
                 .normalized = number_of(h, "normalized"),
                 .number = number,
                 .of = of};
    if (!json_is_array(alignment)) {
        e.absent = json_array_size(symbols) > 0 ? "the model does not attend, or it was not asked for the alignment"
                                                : "empty: nothing to draw";
        return gallery_add(g, &e);
    }
    char **column = strings(source, "source_symbols", place),
         **row = column ? strings(symbols, "symbols", place) : NULL;
    size_t rows = json_array_size(symbols), columns = json_array_size(source);
    float *weight = row != NULL ? calloc(rows * columns + 1, sizeof *weight) : NULL;
    int status = CLI_FAILED;
    if (row != NULL && weight == NULL)
        no_memory(place);
    if (weight != NULL && numbers(alignment, rows, columns, weight, place)) {
        e.row = row;
        e.column = column;
        e.rows = (int)rows;
        e.columns = (int)columns;
        e.weight = rows > 0 && columns > 0 ? weight : NULL;
        e.absent = "empty: nothing to draw";
        status = gallery_add(g, &e);
    }
    free(weight);
    free(row);
    free(column);
    return status;
}

static int add_object(gallery *g, const json_t *object, const char *place, int most) {
    const json_t *hypotheses = json_object_get(object, "hypotheses"),
                 *source = json_object_get(object, "source_symbols");
    const char *failed = json_string_value(json_object_get(object, "error"));
    if (failed != NULL)
        return gallery_add(g, &(exhibit){.text = "", .absent = failed, .score = (double)NAN});
    int n = json_is_array(hypotheses) ? (int)json_array_size(hypotheses) : 0, status = CLI_OK;
    if (n == 0)
        return add_hypothesis(g, object, source, 1, 1, place);
    n = n < most ? n : most;
    for (int k = 0; k < n && status == CLI_OK; k++)
        status = add_hypothesis(g, json_array_get(hypotheses, (size_t)k), source, k + 1, n, place);
    return status;
}

int matrix_add(gallery *g, const char *line, const char *place, int most) {
    json_error_t error;
    if (line[strspn(line, " \t\r")] == '\0')
        return gallery_add(g, &(exhibit){.text = "", .absent = "empty: nothing to draw", .score = (double)NAN});
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    int status;
    if (object == NULL) {
        cli_message("%s: byte %d: not JSON: %s", place, error.position, error.text);
        status = CLI_FAILED;
    } else
        status = json_is_object(object) ? add_object(g, object, place, most) : wrong(place, "not an object, {...}");
    json_decref(object);
    return status;
}
