/* For tests that train: runs of the toy language in a folder of the test's, what their callback saw, and what they
 * left. The test includes cmocka.h before. */
#ifndef RUNS_H
#define RUNS_H

#include "run_files.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static sa_error error;

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

/* 40 updates with all that has a state: dropout, the average, Adam, validations, epochs that end between. */
static inline sa_train_options forty_updates(toy_paths *path, const char *run) {
    sa_train_options o = toy_options(path, folder, run);
    o.dropout = o.dropout_emb = o.dropout_src = o.dropout_trg = 0.1f;
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
