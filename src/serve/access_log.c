#include "serve/access_log.h"

#include "base/error.h"
#include "serve/routes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct access_log {
    FILE *file; /* NULL: none */
};

sa_status access_log_open(access_log **out, const char *path, sa_error *error) {
    access_log *log = *out = calloc(1, sizeof *log);
    if (!log)
        return sa_fail_memory(error, sizeof *log);
    if (!path)
        return SA_OK;
    log->file = strcmp(path, "-") == 0 ? stderr : fopen(path, "ae");
    if (log->file)
        return SA_OK;
    free(log);
    *out = NULL;
    return sa_fail(error, SA_IO, "%s: %s", path, strerror(errno));
}

void access_log_close(access_log *log) {
    if (log && log->file && log->file != stderr)
        fclose(log->file);
    free(log);
}

static void format_time(char text[32]) {
    struct timespec now;
    struct tm utc;
    char seconds[24];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, 32, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

void access_log_write(access_log *log, const exchange *x) {
    char time[32];
    if (!log->file)
        return;
    format_time(time);
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:f}", "time", time, "address",
                             x->address, "method", x->method, "route", x->route->path, "status", (int)x->status,
                             "received", (json_int_t)x->received, "sent", (json_int_t)x->length, "items",
                             (json_int_t)x->items, "characters", (json_int_t)x->characters, "words",
                             (json_int_t)x->words, "seconds", x->ended - x->begun);
    if (line && x->key > 0)
        json_object_set_new(line, "key", json_integer(x->key));
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(4)) : NULL;
    if (text)
        fprintf(log->file, "%s\n", text); /* one call, so that lines of several threads stay whole */
    fflush(log->file);
    free(text);
    json_decref(line);
}
