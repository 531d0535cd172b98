#include "cli_input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_WARNINGS = 10 };

bool warnings_show(warnings *w) {
    if (w->quiet || w->n++ >= MOST_WARNINGS)
        return false;
    status_line_clear(&w->line);
    return true;
}

void warnings_end(warnings *w, const char *name) {
    status_line_clear(&w->line);
    if (w->n > MOST_WARNINGS)
        cli_message("%s: %zu more warnings like these were not shown", name, w->n - MOST_WARNINGS);
}

sa_status text_open(text_input *input, const char *path, bool strict, sa_error *error) {
    *input = (text_input){.name = input_name(path)};
    return sa_reader_open(&input->reader, path, strict, error);
}

void text_close(text_input *input) {
    sa_reader_free(input->reader);
    *input = (text_input){0};
}

static void warn_replaced(text_input *input, warnings *w) {
    size_t now = sa_reader_replaced(input->reader), line = sa_reader_line(input->reader), first_line, column;
    size_t count = now - input->replaced;
    input->replaced = now;
    if (count == 0 || !warnings_show(w))
        return;
    char place[32] = "";
    sa_reader_first_replaced(input->reader, &first_line, &column);
    if (first_line == line)
        snprintf(place, sizeof place, ":%zu", column);
    cli_message("%s:%zu%s: not UTF-8 text: %zu replaced by U+FFFD; --strict makes this an error", input->name, line,
                place, count);
}

sa_status text_next(text_input *input, warnings *w, char **line, sa_error *error) {
    char *text;
    size_t length;
    *line = NULL;
    sa_status status = sa_reader_next(input->reader, &text, &length, error);
    if (status != SA_OK || text == NULL)
        return status;
    warn_replaced(input, w);
    *line = malloc(length + 1);
    if (*line == NULL) {
        error->status = SA_MEMORY;
        snprintf(error->text, sizeof error->text, "%s:%zu: not enough memory for the line", input->name,
                 sa_reader_line(input->reader));
        return SA_MEMORY;
    }
    memcpy(*line, text, length + 1);
    return SA_OK;
}

static bool status_of(const char *path, struct stat *s) {
    return (strcmp(path, "-") == 0 ? fstat(0, s) : stat(path, s)) == 0;
}

bool is_regular(const char *path) {
    struct stat s;
    return status_of(path, &s) && S_ISREG(s.st_mode);
}

bool same_file(const char *input, const char *output) {
    struct stat in, out;
    return status_of(input, &in) && stat(output, &out) == 0 && S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
           in.st_ino == out.st_ino;
}
