#include "record.h"

#include <stdlib.h>
#include <string.h>

const char *const input_format_names[] = {
    [INPUT_TEXT] = "text", [INPUT_TSV] = "tsv", [INPUT_JSONL] = "jsonl", NULL};

static char *problem_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *problem_text(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    /* A part of the line may be quoted, and a terminal would obey its control characters. */
    for (char *c = text; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    return text;
}

static void read_text(record *r, int column) {
    (void)column;
    r->text = strdup(r->line);
}

static void read_tsv(record *r, int column) {
    const char *field = r->line, *tab;
    int fields = 1;
    for (; fields < column && (tab = strchr(field, '\t')) != NULL; fields++)
        field = tab + 1;
    if (fields == column)
        r->text = strndup(field, strcspn(field, "\t"));
    else
        r->problem = problem_text("%d field%s, where the text is in field %d (--column)", fields,
                                  fields == 1 ? "" : "s", column);
}

static bool is_blank(const char *line) {
    return line[strspn(line, " \t\r")] == '\0';
}

static void read_json(record *r, int column) {
    (void)column;
    json_error_t error;
    if (is_blank(r->line)) {
        r->text = strdup("");
        return;
    }
    r->object = json_loadb(r->line, strlen(r->line), JSON_REJECT_DUPLICATES, &error);
    const json_t *text = json_object_get(r->object, "text");
    if (r->object == NULL)
        r->problem = problem_text("byte %d: not JSON: %s", error.position, error.text);
    else if (!json_is_object(r->object))
        r->problem = problem_text("not an object, {\"text\": ...}");
    else if (text == NULL)
        r->problem = problem_text("the object has no member \"text\"");
    else if (!json_is_string(text))
        r->problem = problem_text("\"text\" is no string");
    else
        r->text = strdup(json_string_value(text));
}

static void (*const readers[])(record *r, int column) = {
    [INPUT_TEXT] = read_text, [INPUT_TSV] = read_tsv, [INPUT_JSONL] = read_json};

sa_status record_make(record *out, input_format format, int column, char *line, sa_error *error) {
    *out = (record){.line = line};
    readers[format](out, column);
    if (out->text != NULL || out->problem != NULL)
        return SA_OK;
    record_free(out);
    error->status = SA_MEMORY;
    snprintf(error->text, sizeof error->text, "%s", sa_status_text(SA_MEMORY));
    return SA_MEMORY;
}

void record_free(record *r) {
    free(r->line);
    free(r->text);
    free(r->problem);
    json_decref(r->object);
    *r = (record){0};
}
