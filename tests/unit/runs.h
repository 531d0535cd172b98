/* For tests that train: runs of the toy language in a folder of the test's, what their callback saw, and what they
 * left. The test includes cmocka.h before. */
#ifndef RUNS_H
#define RUNS_H

#include "toy.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static sa_error error;
static char folder[128];

/* What the callback saw, and what it is to do. */
typedef struct watch {
    int64_t stop_at, kill_at; /* update; 0: never */
    double first_loss, last_loss;
    double rate[64];
    int rates, validations;
    char done[512], messages[4096];
} watch;

static inline int look(const sa_train_event *event, void *user) {
    watch *w = user;
    switch (event->kind) {
    case SA_EVENT_MESSAGE:
        strncat(w->messages, event->text, sizeof w->messages - strlen(w->messages) - 1);
        strncat(w->messages, "\n", sizeof w->messages - strlen(w->messages) - 1);
        break;
    case SA_EVENT_PROGRESS:
        if (w->rates < 64)
            w->rate[w->rates++] = event->learning_rate;
        break;
    case SA_EVENT_VALIDATION:
        if (w->validations++ == 0)
            w->first_loss = event->cross_entropy;
        w->last_loss = event->cross_entropy;
        break;
    case SA_EVENT_DONE:
        snprintf(w->done, sizeof w->done, "%s", event->text);
        break;
    default:
        break;
    }
    bool after_update = event->kind == SA_EVENT_UPDATE || event->kind == SA_EVENT_PROGRESS;
    if (w->kill_at && after_update && event->update == w->kill_at)
        raise(SIGKILL);
    return w->stop_at && after_update && event->update == w->stop_at;
}

static inline void expect_status(sa_status got, sa_status want) {
    if (got != want)
        fail_msg("%s: %s; not %s", sa_status_text(got), error.text, sa_status_text(want));
}

static inline void expect_text(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* The bytes of folder/run/name; the caller frees. */
static inline char *read_run_file(const char *run, const char *name, size_t *n) {
    char path[512];
    struct stat s;
    snprintf(path, sizeof path, "%s/%s/%s", folder, run, name);
    if (stat(path, &s))
        fail_msg("%s is not there", path);
    char *bytes = malloc((size_t)s.st_size + 1);
    FILE *file = fopen(path, "r");
    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, (size_t)s.st_size, file), s.st_size);
    fclose(file);
    bytes[s.st_size] = 0;
    *n = (size_t)s.st_size;
    return bytes;
}

static inline bool run_file_exists(const char *run, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s", folder, run, name);
    return access(path, F_OK) == 0;
}

static inline void expect_same_file(const char *run, const char *other, const char *name) {
    size_t n, m;
    char *a = read_run_file(run, name, &n), *b = read_run_file(other, name, &m);
    if (n != m || memcmp(a, b, n))
        fail_msg("%s of %s and of %s differ", name, run, other);
    free(a);
    free(b);
}

/* metrics.jsonl without what depends on the clock; the caller frees. */
static inline char *read_metrics(const char *run) {
    size_t n;
    char *text = read_run_file(run, "metrics.jsonl", &n);
    json_t *all = json_array();
    assert_non_null(all);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *entry = json_loads(line, 0, NULL);
        assert_non_null(entry);
        json_object_del(entry, "seconds");
        json_object_del(entry, "words_per_second");
        assert_int_equal(json_array_append_new(all, entry), 0);
    }
    char *kept = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    assert_non_null(kept);
    json_decref(all);
    free(text);
    return kept;
}

static inline void expect_same_run(const char *run, const char *other) {
    expect_same_file(run, other, "best.safetensors");
    expect_same_file(run, other, "last.safetensors");
    char *a = read_metrics(run), *b = read_metrics(other);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "validation"));
    free(a);
    free(b);
}

/* 40 updates with all that has a state: dropout, the average, Adam, validations, epochs that end between. */
static inline sa_train_options forty_updates(toy_paths *path, const char *run) {
    sa_train_options o = toy_options(path, folder, run);
    o.dropout = o.dropout_emb = 0.1f;
    o.label_smoothing = 0.1f;
    o.average = 0.9f;
    o.schedule = SA_SCHEDULE_LINEAR;
    o.mini_batch = 13;
    o.shards = 3;
    o.after_epochs = 0;
    o.after_updates = 40;
    o.valid_freq = 10;
    o.progress_freq = 3;
    return o;
}

/* Kills a child that trains with those options at that update. */
static inline void train_killed(const sa_train_options *o, int64_t update) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        watch w = {.kill_at = update};
        sa_train(o, look, &w, NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* For the group: makes folder with the text in it, and removes it. */
static inline int make_text(void **state) {
    (void)state;
    return toy_folder(folder) && toy_write(folder, TOY_PAIRS) ? 0 : -1;
}

static inline int remove_text(void **state) {
    (void)state;
    return toy_remove(folder);
}

#endif
