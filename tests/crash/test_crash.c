/* What happens when a run is killed, or the system refuses something: at the Nth call that reaches the file system,
 * for every N. Linked with --wrap (tests/meson.build), which reaches the calls in our objects; those inside the C
 * library's streams go on working. A process that is killed loses nothing that it wrote, so that nothing need be
 * synced here.
 *
 * Of writes that follow each other the first and the last are tried, as nothing changes between; all of them when
 * SOFTALIGN_TEST_LONG is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* ---- calls that fail --------------------------------------------------------------------------------- */

typedef enum fate {
    NOTED,       /* nothing happens to calls, they are noted */
    KILLED,      /* the process, at call `at`; inside a write, half of it is done */
    FAILED_ONCE, /* call `at` */
    FULL         /* every write from call `at` on */
} fate;

static bool armed;
static fate what;
static long calls, at;
static int code; /* the errno of those that fail */
enum { CALLS_MAX = 10000 };
static bool writes[CALLS_MAX]; /* by number, from 1: whether the call noted is a write */

static bool refuse(bool is_write) {
    if (!armed)
        return false;
    calls++;
    if (what == NOTED && calls < CALLS_MAX)
        writes[calls] = is_write;
    bool fails = what == FULL ? is_write && calls >= at : what != NOTED && calls == at;
    if (fails && what == KILLED)
        raise(SIGKILL);
    if (fails)
        errno = code;
    return fails;
}

/* WRAP(NAME, PARAMETERS, ARGUMENTS, TYPE, FAILURE): a function that fails when it is refused. */
#define WRAP(name, parameters, arguments, type, failure)                                                           \
    type __real_##name parameters;                                                                                 \
    type __wrap_##name parameters;                                                                                 \
    type __wrap_##name parameters {                                                                                \
        return refuse(false) ? failure : __real_##name arguments;                                                  \
    }

WRAP(mkdir, (const char *path, mode_t mode), (path, mode), int, -1)
WRAP(close, (int fd), (fd), int, -1)
WRAP(read, (int fd, void *data, size_t n), (fd, data, n), ssize_t, -1)
WRAP(ftruncate, (int fd, off_t size), (fd, size), int, -1)
WRAP(ftruncate64, (int fd, off_t size), (fd, size), int, -1)
WRAP(flock, (int fd, int operation), (fd, operation), int, -1)
WRAP(rename, (const char *from, const char *to), (from, to), int, -1)
WRAP(unlink, (const char *path), (path), int, -1)
WRAP(opendir, (const char *path), (path), DIR *, NULL)
WRAP(fopen, (const char *path, const char *mode), (path, mode), FILE *, NULL)
WRAP(fopen64, (const char *path, const char *mode), (path, mode), FILE *, NULL)

/* Only files: what is anonymous is memory. */
#define WRAP_MMAP(name)                                                                                            \
    void *__real_##name(void *place, size_t n, int how, int flags, int fd, off_t offset);                          \
    void *__wrap_##name(void *place, size_t n, int how, int flags, int fd, off_t offset);                          \
    void *__wrap_##name(void *place, size_t n, int how, int flags, int fd, off_t offset) {                         \
        if (!(flags & MAP_ANONYMOUS) && refuse(false))                                                             \
            return MAP_FAILED;                                                                                     \
        return __real_##name(place, n, how, flags, fd, offset);                                                    \
    }
WRAP_MMAP(mmap)
WRAP_MMAP(mmap64)

/* The mode is there when a file may be made. */
#define WRAP_OPEN(name)                                                                                            \
    int __real_##name(const char *path, int flags, ...);                                                           \
    int __wrap_##name(const char *path, int flags, ...);                                                           \
    int __wrap_##name(const char *path, int flags, ...) {                                                          \
        va_list list;                                                                                              \
        va_start(list, flags);                                                                                     \
        mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;                                                  \
        va_end(list);                                                                                              \
        return refuse(false) ? -1 : __real_##name(path, flags, mode);                                              \
    }
WRAP_OPEN(open)
WRAP_OPEN(open64)

ssize_t __real_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n) {
    if (armed && what == KILLED && calls + 1 == at)
        (void)!__real_write(fd, data, n / 2);
    return refuse(true) ? -1 : __real_write(fd, data, n);
}

int __real_fflush(FILE *file);
int __wrap_fflush(FILE *file);
int __wrap_fflush(FILE *file) {
    return refuse(true) ? EOF : __real_fflush(file);
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    (void)fd;
    return refuse(true) ? -1 : 0;
}

/* ---- runs -------------------------------------------------------------------------------------------- */

enum { PAIRS = 12 };
static sa_error error;

typedef struct way {
    bool resume, overwrite;
    int stop_at; /* update; 0: never */
    uint64_t seed;
} way;

static int stop(const sa_train_event *event, void *user) {
    const way *w = user;
    return w->stop_at && event->update == w->stop_at;
}

/* Four updates with two validations, the end of an epoch between them, and all that has a state. */
static sa_status train(const char *run, way w) {
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, run);
    o.model.dim_emb = o.model.dim_maxout = o.model.dim_att = 4;
    o.model.dim_rnn = o.model.dim_dec = 4;
    o.dropout = o.label_smoothing = 0.1f;
    o.average = 0.9f;
    o.keep = 1;
    o.mini_batch = 4;
    o.after_epochs = 0;
    o.after_updates = 4;
    o.valid_freq = 2;
    o.progress_freq = 1;
    o.early_stopping_metric = SA_VALID_CROSS_ENTROPY;
    o.resume = w.resume;
    o.overwrite = w.overwrite;
    o.seed = w.seed;
    return sa_train(&o, stop, &w, &error);
}

/* What a run is begun with: nothing, one that was stopped in the middle, or another that is to be replaced. */
static void prepare_run(const char *run, const way *w) {
    remove_run(run);
    if (w->resume || w->overwrite)
        copy_run(w->resume ? "half" : "other", run);
}

static bool same_state(const char *run, const char *other) {
    size_t n, m;
    char *a = read_run_file(run, run_files[0], &n), *b = read_run_file(other, run_files[0], &m);
    bool same = n == m && memcmp(a, b, n) == 0;
    free(a);
    free(b);
    return same;
}

/* Of the models of validations the best is there, and no other. */
static void expect_best_kept(const char *run) {
    char best[64];
    st_file *file = open_run_file(run, "best.safetensors");
    const char *updates = strstr(st_metadata(file, "training"), "\"updates\":");
    assert_non_null(updates);
    long update = strtol(updates + strlen("\"updates\":"), NULL, 10);
    st_close(file);
    for (long i = 0; i <= 4; i++) {
        snprintf(best, sizeof best, "update-%ld.safetensors", i);
        if (run_file_exists(run, best) != (i == update))
            fail_msg("the best is of update %ld, but %s is %s", update, best, i == update ? "missing" : "there");
    }
}

/* What is there of a run is whole, and the run can be brought to its end; but what was to be replaced may still be
 * there, complete. */
static void expect_run_to_resume(const char *run, const way *w) {
    bool begun = run_file_exists(run, run_files[0]);
    for (int i = 0; i < N_RUN_FILES; i++) {
        bool exists = run_file_exists(run, run_files[i]);
        if (exists && !begun && strcmp(run_files[i], "train.corpus")) /* text as ids, made before the run begins */
            fail_msg("%s is there, and no state", run_files[i]);
        if (exists && i < N_WRITTEN_WHOLE)
            st_close(open_run_file(run, run_files[i]));
    }
    bool kept = w->overwrite && same_state(run, "other");
    sa_status status = train(run, (way){.resume = begun, .seed = 1});
    if (status != SA_OK)
        fail_msg("%s: %s", begun ? "resumed" : "begun again", error.text);
    expect_same_run(kept ? "other" : "whole", run);
    expect_best_kept(run);
    for (int i = 0; i < N_WRITTEN_WHOLE; i++) {
        char temporary[64];
        snprintf(temporary, sizeof temporary, "%s.tmp", run_files[i]);
        assert_false(run_file_exists(run, temporary));
    }
}

/* ---- the tests --------------------------------------------------------------------------------------- */

static const way anew = {.seed = 1}, resumed = {.seed = 1, .resume = true},
                 replacing = {.seed = 1, .overwrite = true};

/* Trains in this process; what is to happen begins with call `at`. */
static sa_status train_armed(const char *run, const way *w, fate how) {
    what = how;
    calls = 0;
    armed = true;
    sa_status status = train(run, *w);
    armed = false;
    return status;
}

/* Calls a function for the numbers of the calls that a run makes. */
static void try_everywhere(const way *w, void (*try_one)(const way *)) {
    bool all = getenv("SOFTALIGN_TEST_LONG") != NULL;
    prepare_run("tried", w);
    assert_int_equal(train_armed("tried", w, NOTED), SA_OK);
    long n = calls, tried = 0;
    assert_true(n > 50 && n + 1 < CALLS_MAX);
    writes[0] = writes[n + 1] = false;
    for (at = 1; at <= n; at++) {
        if (!all && writes[at - 1] && writes[at] && writes[at + 1])
            continue;
        prepare_run("tried", w);
        try_one(w);
        expect_run_to_resume("tried", w);
        tried++;
    }
    print_message("tried at %ld of %ld calls\n", tried, n);
}

static void kill_there(const way *w) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        train_armed("tried", w, KILLED);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_run_may_be_killed_anywhere(void **state) {
    (void)state;
    try_everywhere(&anew, kill_there);
}

static void a_resumed_run_may_be_killed_anywhere(void **state) {
    (void)state;
    try_everywhere(&resumed, kill_there);
}

static void a_run_that_replaces_another_may_be_killed_anywhere(void **state) {
    (void)state;
    try_everywhere(&replacing, kill_there);
}

/* An error names the file and what the system said, or the run is what it would have been without; what was written
 * and perhaps got lost is always an error. */
static void expect_named(sa_status status) {
    bool named = strstr(error.text, folder) && strstr(error.text, strerror(code));
    if (status == SA_OK && !writes[at])
        expect_same_run("whole", "tried");
    else if (status != SA_IO || !named)
        fail_msg("call %ld: %s: %s", at, sa_status_text(status), error.text);
}

static void fail_there(const way *w) {
    code = EIO;
    expect_named(train_armed("tried", w, FAILED_ONCE));
}

static void fill_the_disk_there(const way *w) {
    code = ENOSPC;
    expect_named(train_armed("tried", w, FULL));
}

static void an_error_anywhere_is_named_and_leaves_a_run_to_resume(void **state) {
    (void)state;
    try_everywhere(&anew, fail_there);
    try_everywhere(&resumed, fail_there);
}

static void a_full_disk_is_named_and_leaves_a_run_to_resume(void **state) {
    (void)state;
    try_everywhere(&replacing, fill_the_disk_there);
}

static int make_runs(void **state) {
    (void)state;
    bool ok = toy_folder(folder) && toy_write(folder, PAIRS) && train("whole", anew) == SA_OK &&
              train("other", (way){.seed = 2}) == SA_OK &&
              train("half", (way){.seed = 1, .stop_at = 3}) == SA_STOPPED;
    return ok ? 0 : -1;
}

static int remove_runs(void **state) {
    (void)state;
    return toy_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_may_be_killed_anywhere),
        cmocka_unit_test(a_resumed_run_may_be_killed_anywhere),
        cmocka_unit_test(a_run_that_replaces_another_may_be_killed_anywhere),
        cmocka_unit_test(an_error_anywhere_is_named_and_leaves_a_run_to_resume),
        cmocka_unit_test(a_full_disk_is_named_and_leaves_a_run_to_resume),
    };
    return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
