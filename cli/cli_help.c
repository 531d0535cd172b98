#include "cli.h"
#include <inttypes.h>
#include <string.h>

enum { HELP_WIDTH = 80, HELP_COLUMN = 30 };

const option help_option = {.kind = OPTION_FLAG, .letter = 'h', .name = "help", .help = "print this help and end"};

/* Prints the words of a paragraph from column `at` on, later lines indented, and ends the line. */
static void print_wrapped(FILE *stream, const char *text, int at, int indent) {
    bool first = true;
    for (;;) {
        text += strspn(text, " ");
        int length = (int)strcspn(text, " \n");
        if (length == 0)
            break;
        if (!first && at + 1 + length > HELP_WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        fprintf(stream, "%s%.*s", first ? "" : " ", length, text);
        at += length + !first;
        first = false;
        text += length;
    }
    fputc('\n', stream);
}

void option_show(const option *o, const void *base, char *text, size_t size) {
    const void *target = (const char *)base + o->offset;
    text[0] = '\0';
    switch (o->kind) {
    case OPTION_INT:
        snprintf(text, size, "%d", *(const int *)target);
        break;
    case OPTION_INT64:
        snprintf(text, size, "%" PRId64, *(const int64_t *)target);
        break;
    case OPTION_UINT64:
        snprintf(text, size, "%" PRIu64, *(const uint64_t *)target);
        break;
    case OPTION_FLOAT:
        snprintf(text, size, "%g", (double)*(const float *)target);
        break;
    case OPTION_DOUBLE:
        snprintf(text, size, "%g", *(const double *)target);
        break;
    case OPTION_STRING:
        if (*(const char *const *)target != NULL)
            snprintf(text, size, "%s", *(const char *const *)target);
        break;
    case OPTION_BOOL:
        snprintf(text, size, "%s", o->names[*(const bool *)target]);
        break;
    case OPTION_ENUM:
        snprintf(text, size, "%s", o->names[*(const unsigned *)target]);
        break;
    case OPTION_NAME:
        snprintf(text, size, "%s", (const char *)target);
        break;
    case OPTION_CUSTOM:
        o->show(target, text, size);
        break;
    default: /* flags and pairs start from nothing */
        break;
    }
}

static void print_option(FILE *stream, const option *o, const void *target) {
    char left[80];
    char letter[8] = "    ";
    if (o->letter != '\0')
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    int at = snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->argument != NULL ? " " : "",
                      o->argument != NULL ? o->argument : "");
    fputs(left, stream);
    if (at + 2 > HELP_COLUMN) {
        fputc('\n', stream);
        at = 0;
    }
    fprintf(stream, "%*s", HELP_COLUMN - at, "");

    char names[256] = "", value[256], text[1024];
    if (option_names(o) != NULL)
        join_names(option_names(o), names, sizeof names);
    option_show(o, target, value, sizeof value);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", o->help, names[0] != '\0' ? ": " : "", names,
             value[0] != '\0' ? " [" : "", value, value[0] != '\0' ? "]" : "");
    print_wrapped(stream, text, HELP_COLUMN, HELP_COLUMN);
}

void options_help(FILE *stream, const command *c, const void *target) {
    fprintf(stream, "Usage: softalign %s %s\n\n", c->name, c->synopsis);
    for (const char *text = c->about; text != NULL; text = strchr(text, '\n')) {
        text += *text == '\n';
        print_wrapped(stream, text, 0, 0);
    }
    for (const option *o = c->options; o->kind != OPTION_END; o++) {
        if (o->kind == OPTION_SECTION)
            fprintf(stream, "\n%s:\n", o->name);
        else
            print_option(stream, o, target);
    }
    print_option(stream, &help_option, target);
    fprintf(stream, "\nIn brackets: the default.\n\nExamples:\n%s", c->examples);
}
