/* The files of training runs, for tests: runs are named by their folders inside `folder`. */
#ifndef RUN_FILES_H
#define RUN_FILES_H

#include "base/safetensors.h"
#include "toy.h"

#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>

static char folder[128]; /* of the test, made by toy_folder */

/* Those that are written whole come first, the state before the others; the last are models that test_crash keeps.
 */
static const char *const run_files[] = {"state.safetensors",    "last.safetensors",    "best.safetensors",
                                        "metrics.jsonl",        "train.log",           "train.corpus",
                                        "update-2.safetensors", "update-4.safetensors"};
enum { N_RUN_FILES = sizeof run_files / sizeof *run_files, N_WRITTEN_WHOLE = 3, N_ALWAYS_THERE = 6 };

static inline const char *run_path(char out[512], const char *run, const char *name) {
    snprintf(out, 512, "%s/%s/%s", folder, run, name);
    return out;
}

static inline bool run_file_exists(const char *run, const char *name) {
    char path[512];
    return access(run_path(path, run, name), F_OK) == 0;
}

/* The bytes, and a zero behind them; the caller frees. */
static inline char *read_run_file(const char *run, const char *name, size_t *n) {
    char path[512];
    struct stat s;
    if (stat(run_path(path, run, name), &s))
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

/* Fails when there is something in the folder that does not belong there. */
static inline void remove_run(const char *run) {
    char path[512], temporary[520];
    for (int i = 0; i < N_RUN_FILES; i++) {
        unlink(run_path(path, run, run_files[i]));
        snprintf(temporary, sizeof temporary, "%s.tmp", path);
        unlink(temporary);
    }
    if (rmdir(run_path(path, run, "")))
        assert_int_equal(errno, ENOENT);
}

static inline void copy_run(const char *from, const char *to) {
    char path[512];
    assert_int_equal(mkdir(run_path(path, to, ""), 0777), 0);
    for (int i = 0; i < N_RUN_FILES; i++) {
        if (!run_file_exists(from, run_files[i]))
            continue;
        size_t n;
        char *bytes = read_run_file(from, run_files[i], &n);
        FILE *file = fopen(run_path(path, to, run_files[i]), "w");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, n, file), n);
        assert_int_equal(fclose(file), 0);
        free(bytes);
    }
}

static inline void expect_same_file(const char *run, const char *other, const char *name) {
    size_t n, m;
    char *a = read_run_file(run, name, &n), *b = read_run_file(other, name, &m);
    if (n != m || memcmp(a, b, n))
        fail_msg("%s of %s and of %s differ", name, run, other);
    free(a);
    free(b);
}

/* A line of JSON without what depends on the clock, appended to `out`. */
static inline void append_timeless(char *out, const char *line) {
    json_t *entry = json_loads(line, 0, NULL);
    assert_non_null(entry);
    json_object_del(entry, "seconds");
    json_object_del(entry, "words_per_second");
    char *rest = json_dumps(entry, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(7));
    assert_non_null(rest);
    strcat(out, rest);
    strcat(out, "\n");
    free(rest);
    json_decref(entry);
}

/* metrics.jsonl without what depends on the clock; the caller frees. */
static inline char *read_metrics(const char *run) {
    size_t n;
    char *text = read_run_file(run, "metrics.jsonl", &n), *kept = calloc(1, n + 1);
    assert_non_null(kept);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        append_timeless(kept, line);
    free(text);
    return kept;
}

static inline st_file *open_run_file(const char *run, const char *name) {
    char path[512];
    sa_error error;
    st_file *file;
    if (st_open(&file, run_path(path, run, name), &error))
        fail_msg("%s", error.text);
    return file;
}

/* The same but for the seconds that the runs took. */
static inline void expect_same_state(const char *run, const char *other) {
    st_file *a = open_run_file(run, "state.safetensors"), *b = open_run_file(other, "state.safetensors");
    assert_int_equal(st_count(a), st_count(b));
    for (int i = 0; i < st_count(a); i++) {
        const st_tensor *t = st_at(a, i), *u = st_find(b, t->name);
        if (!u || t->bytes != u->bytes || memcmp(t->data, u->data, t->bytes))
            fail_msg("%s in the states of %s and of %s differ", t->name, run, other);
    }
    char counters[2][1024] = {"", ""};
    append_timeless(counters[0], st_metadata(a, "run.counters"));
    append_timeless(counters[1], st_metadata(b, "run.counters"));
    assert_string_equal(counters[0], counters[1]);
    assert_string_equal(st_metadata(a, "run.options"), st_metadata(b, "run.options"));
    st_close(a);
    st_close(b);
}

static inline void expect_same_run(const char *run, const char *other) {
    expect_same_file(run, other, "best.safetensors");
    expect_same_file(run, other, "last.safetensors");
    expect_same_state(run, other);
    char *a = read_metrics(run), *b = read_metrics(other);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "validation"));
    free(a);
    free(b);
}

#endif
