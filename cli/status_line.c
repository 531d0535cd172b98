#include "status_line.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void status_line_begin(status_line *s) {
    const char *terminal = getenv("TERM");
    *s = (status_line){.terminal = isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0};
    s->started = s->shown = now();
}

void status_line_clear(status_line *s) {
    if (s->open)
        fputs("\r\033[K", stderr);
    s->open = false;
}

void status_line_print(status_line *s, const char *text) {
    fprintf(stderr, "%s%s\n", s->open ? "\r\033[K" : "", text);
    s->open = false;
}

void status_line_show(status_line *s, const char *text) {
    if (!s->terminal) {
        status_line_print(s, text);
        return;
    }
    /* A line that reaches the last column would wrap and could not be rewritten. */
    int columns = cli_columns(STDERR_FILENO, 80);
    fprintf(stderr, "\r\033[K%.*s", columns > 1 ? columns - 1 : 1, text);
    s->open = true;
}

void status_line_count(status_line *s, const sa_reader *reader, size_t lines, double symbols) {
    enum { MOST_A_SECOND = 2 };
    double at = now(), seconds = at - s->started, share = sa_reader_share(reader);
    if (!s->terminal || at - s->shown < 1.0 / MOST_A_SECOND)
        return;
    char text[160], used[32], left[32] = "";
    format_duration(seconds, used, sizeof used);
    if (share > 0)
        format_duration(seconds * (1 - share) / share, left, sizeof left);
    snprintf(text, sizeof text, "%zu lines  %.0f lines/s  %.0f symbols/s  %s%s%s%s", lines, (double)lines / seconds,
             symbols / seconds, used, share > 0 ? ", " : "", left, share > 0 ? " left" : "");
    status_line_show(s, text);
    s->shown = at;
}

void format_duration(double seconds, char *text, size_t size) {
    if (!(seconds >= 0 && seconds < 1e9)) {
        snprintf(text, size, "?");
        return;
    }
    long s = (long)(seconds + 0.5);
    snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}
