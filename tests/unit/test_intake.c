#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static sa_error error;
static char folder[128];

/* What a run said, and what is to be done at an update. */
typedef struct watch {
    char messages[4096];
    int64_t at;
    const char *damage; /* file whose pairs are changed then; NULL: the run is stopped */
    int tell;           /* descriptor that gets a byte when the run waits; 0: none */
} watch;

static void damage(const char *path, off_t offset, size_t n);

static int look(const sa_train_event *event, void *user) {
    watch *w = user;
    if (event->kind == SA_EVENT_MESSAGE) {
        strncat(w->messages, event->text, sizeof w->messages - strlen(w->messages) - 1);
        strncat(w->messages, "\n", sizeof w->messages - strlen(w->messages) - 1);
        if (w->tell && strstr(event->text, "waiting"))
            assert_int_equal(write(w->tell, "w", 1), 1);
    }
    bool now = event->kind == SA_EVENT_UPDATE && event->update == w->at;
    if (now && w->damage)
        damage(w->damage, 4096 + 32 * TOY_PAIRS, 12 * 4 * TOY_PAIRS); /* its ids */
    return now && !w->damage;
}

static void expect_status(sa_status got, sa_status want) {
    if (got != want)
        fail_msg("%s: %s; not %s", sa_status_text(got), error.text, sa_status_text(want));
}

static void expect_text(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* Changes each 16th byte of a stretch of the file in place. */
static void damage(const char *path, off_t offset, size_t n) {
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    for (size_t i = 0; i < n; i += 16) {
        char c;
        assert_int_equal(pread(fd, &c, 1, offset + (off_t)i), 1);
        c ^= 1;
        assert_int_equal(pwrite(fd, &c, 1, offset + (off_t)i), 1);
    }
    close(fd);
}

static void write_line(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The bytes of a file; the caller frees. */
static char *read_file(const char *path, size_t *n) {
    struct stat s;
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is not there", path);
    assert_int_equal(fstat(fileno(f), &s), 0);
    char *bytes = calloc(1, (size_t)s.st_size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)s.st_size, f), s.st_size);
    fclose(f);
    *n = (size_t)s.st_size;
    return bytes;
}

/* Of two runs of a test. */
static void expect_same_model(const char *name, const char *run, const char *other) {
    char path[2][400];
    size_t n, m;
    snprintf(path[0], sizeof path[0], "%s/%s/%s/last.safetensors", folder, name, run);
    snprintf(path[1], sizeof path[1], "%s/%s/%s/last.safetensors", folder, name, other);
    char *a = read_file(path[0], &n), *b = read_file(path[1], &m);
    if (n != m || memcmp(a, b, n))
        fail_msg("%s and %s differ", path[0], path[1]);
    free(a);
    free(b);
}

/* A text of its own for a test, in folder/NAME, with an empty folder/NAME/tmp; the run is folder/NAME/run. */
static sa_train_options begin(toy_paths *path, const char *name) {
    static char own[200], tmp[256];
    snprintf(own, sizeof own, "%s/%s", folder, name);
    snprintf(tmp, sizeof tmp, "%s/tmp", own);
    assert_int_equal(mkdir(own, 0777), 0);
    assert_int_equal(mkdir(tmp, 0777), 0);
    assert_true(toy_write(own, TOY_PAIRS));
    sa_train_options o = toy_options(path, own, "run");
    o.tmp_dir = tmp;
    o.mini_batch = 7;
    o.window = 4;
    o.model.dim_emb = o.model.dim_maxout = o.model.dim_att = o.model.dim_rnn = o.model.dim_dec = 8;
    o.after_epochs = 0;
    o.after_updates = 40;
    o.valid_freq = 1000;
    return o;
}

/* Trains in folder/.../RUN and returns what was said. */
static const char *train(sa_train_options o, toy_paths *path, const char *run, sa_status want) {
    static watch w;
    w = (watch){.at = -1};
    if (run)
        strcpy(strrchr(path->output, '/') + 1, run);
    expect_status(sa_train(&o, look, &w, &error), want);
    return w.messages;
}

/* The one file of ids in the folder for them. */
static void find_file(const char *tmp, char path[400]) {
    char pattern[300];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*", tmp);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    snprintf(path, 400, "%s", found.gl_pathv[0]);
    globfree(&found);
    expect_text(path, "/softalign-");
    expect_text(path, ".corpus");
}

static void runs_share_a_file_and_give_the_same_model_as_without_it(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "share");
    static const char taken[] = "the training text is taken from this file";
    char file[400];
    assert_null(strstr(train(o, &path, "first", SA_OK), taken));
    find_file(o.tmp_dir, file);
    const char *said = train(o, &path, "second", SA_OK);
    expect_text(said, taken);
    expect_text(said, "training text: 100 pairs");
    expect_text(said, "source vocabulary: ");
    sa_train_options p = o;
    p.tmp_dir = NULL;
    p.threads = 2;
    assert_null(strstr(train(p, &path, "alone", SA_OK), taken));
    expect_same_model("share", "first", "second");
    expect_same_model("share", "first", "alone");
    char in_run[300];
    snprintf(in_run, sizeof in_run, "%s/share/alone/train.corpus", folder);
    assert_int_equal(access(in_run, F_OK), 0);
    snprintf(in_run, sizeof in_run, "%s/share/first/train.corpus", folder);
    assert_int_equal(access(in_run, F_OK), -1);
    /* Another seed is another run on the same text; other vocabularies are not. */
    p = o;
    p.seed = 9;
    expect_text(train(p, &path, "seed", SA_OK), taken);
    find_file(o.tmp_dir, file);
    p.model.vocab_source = 10;
    assert_null(strstr(train(p, &path, "size", SA_OK), taken));
}

static void held_out_pairs_are_in_the_file(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "held");
    o.valid_source = o.valid_target = NULL;
    o.held_out = 10;
    for (int i = 0; i < 2; i++) {
        const char *said = train(o, &path, i ? "second" : "first", SA_OK);
        expect_text(said, "the last 10 pairs are held out");
        expect_text(said, "validation text: 10 pairs");
        expect_text(said, "training text: 90 pairs");
    }
    expect_same_model("held", "first", "second");
}

static void nothing_is_written_beside_the_text_or_where_temporary_files_usually_go(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "beside");
    char own[200], run[256];
    snprintf(own, sizeof own, "%s/beside", folder);
    snprintf(run, sizeof run, "%s/elsewhere", folder);
    const char *usual = getenv("TMPDIR");
    char *kept = usual ? strdup(usual) : NULL;
    setenv("TMPDIR", "/nosuch", 1);
    o.tmp_dir = NULL;
    o.output = run;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
    glob_t found;
    char pattern[300];
    snprintf(pattern, sizeof pattern, "%s/*", own);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 3); /* src, tgt, tmp */
    globfree(&found);
}

/* Stops after 15 updates, does something to the text, and resumes. */
static const char *resume_after(sa_train_options o, void (*change)(const char *source), sa_status want) {
    static watch w;
    w = (watch){.at = 15};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    change(o.train_source);
    o.resume = true;
    w = (watch){.at = -1};
    expect_status(sa_train(&o, look, &w, &error), want);
    return w.messages;
}

/* Changes the places of two words: lines, bytes and the frequencies of words stay. */
static void change_a_word(const char *source) {
    size_t n;
    char *text = read_file(source, &n), *words = strstr(strchr(text, '\n'), "the red ");
    assert_non_null(words);
    memcpy(words, "red the ", 8);
    FILE *f = fopen(source, "w");
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
    free(text);
}

static void set_time(const char *source) {
    const struct timespec past[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, source, past, 0), 0);
}

static void change_a_word_and_set_the_time_back(const char *source) {
    struct stat s;
    assert_int_equal(stat(source, &s), 0);
    change_a_word(source);
    const struct timespec same[2] = {s.st_atim, s.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, source, same, 0), 0);
}

static void add_a_line(const char *source) {
    char target[300];
    snprintf(target, sizeof target, "%s", source);
    strcpy(strrchr(target, '/') + 1, "tgt");
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(i ? target : source, "a");
        assert_non_null(f);
        fputs("dog\n", f);
        fclose(f);
    }
}

static void a_resume_with_a_changed_text_is_refused_by_file_and_difference(void **state) {
    (void)state;
    toy_paths path;
    static const struct {
        const char *name;
        void (*change)(const char *source);
        const char *said;
    } way[] = {{"word", change_a_word, "as many lines, 100, but other words"},
               {"back", change_a_word_and_set_the_time_back, "as many lines, 100, but other words"},
               {"line", add_a_line, "had 100 lines, this file has 101"}};
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", way[i / 2].name, i % 2);
        sa_train_options o = begin(&path, name);
        if (i % 2) /* in the run's folder, or in one that runs share */
            o.tmp_dir = NULL;
        resume_after(o, way[i / 2].change, SA_DATA);
        expect_text(error.text, path.source);
        expect_text(error.text, "the run began with another training text");
        expect_text(error.text, way[i / 2].said);
    }
}

/* Another run made ids of the changed text, so that the file fits it. */
static void a_changed_text_is_noticed_although_the_file_is_of_it(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "fits");
    watch w = {.at = 15};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    change_a_word(path.source);
    expect_text(train(o, &path, "other", SA_OK), "it was made of another text; it is made anew");
    o.resume = true;
    train(o, &path, "run", SA_DATA);
    expect_text(error.text, "as many lines, 100, but other words");
}

static void a_resume_goes_on_when_only_the_times_of_the_text_changed(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "times");
    const char *said = resume_after(o, set_time, SA_OK);
    expect_text(said, "taken from this file");
    assert_null(strstr(said, "anew"));
    train(o, &path, "whole", SA_OK);
    expect_same_model("times", "run", "whole");
}

static void a_text_that_changed_is_made_into_ids_anew(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "anew");
    train(o, &path, "first", SA_OK);
    change_a_word(path.source);
    expect_text(train(o, &path, "second", SA_OK), "it was made of another text; it is made anew");
    expect_text(train(o, &path, "third", SA_OK), "taken from this file");
}

static void other_validation_files_than_at_the_beginning_are_noticed(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "files");
    watch w = {.at = 15};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    o.resume = true;
    o.valid_source = o.valid_target = NULL;
    o.held_out = 10; /* which is as the run began, when it did not matter */
    expect_status(sa_train(&o, look, &w, &error), SA_DATA);
    expect_text(error.text, "validation files");
}

static void a_damaged_file_is_made_anew(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "damage");
    char file[400];
    train(o, &path, "whole", SA_OK);
    find_file(o.tmp_dir, file);
    struct stat s;
    assert_int_equal(stat(file, &s), 0);
    for (int way = 0; way < 4; way++) {
        if (way == 0)
            assert_int_equal(truncate(file, s.st_size / 2), 0);
        else if (way == 1)
            damage(file, 100, 1);
        else if (way == 2)
            damage(file, s.st_size - 50, 16);
        else
            write_line(file, "something else\n");
        o.overwrite = true;
        const char *said = train(o, &path, "run", SA_OK);
        expect_text(said, file);
        expect_text(said, "it is made anew");
        expect_same_model("damage", "whole", "run");
    }
}

static void damage_that_is_found_while_training_is_mended(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "mend");
    char file[400];
    train(o, &path, "whole", SA_OK);
    find_file(o.tmp_dir, file);
    watch w = {.at = 19, .damage = file}; /* a window of 28 pairs of the second epoch ends there */
    strcpy(strrchr(path.output, '/') + 1, "run");
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.messages, "is not what was written; it is made anew");
    expect_same_model("mend", "whole", "run");
}

static void a_file_that_another_process_is_making_is_waited_for(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "wait");
    char file[400], temporary[410];
    train(o, &path, "first", SA_OK);
    find_file(o.tmp_dir, file);
    snprintf(temporary, sizeof temporary, "%s.tmp", file);
    assert_int_equal(rename(file, temporary), 0);
    int fd = open(temporary, O_RDWR), ends[2];
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(fd);
        watch w = {.at = -1, .tell = ends[1]};
        strcpy(strrchr(path.output, '/') + 1, "second");
        _exit(sa_train(&o, look, &w, NULL) == SA_OK && strstr(w.messages, "taken from this file") ? 0 : 1);
    }
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1); /* it waits */
    assert_int_equal(rename(temporary, file), 0);
    close(fd);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(access(temporary, F_OK), -1);
    close(ends[0]);
    close(ends[1]);
}

static void a_full_disk_is_named_and_leaves_nothing(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "full");
    o.tmp_dir = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 5000;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        bool ok = sa_train(&o, NULL, NULL, &error) == SA_IO &&
                  strstr(error.text, "train.corpus: cannot be written") && strstr(error.text, "File too large");
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(access(path.output, F_OK), -1);
}

static void a_folder_for_the_file_that_is_not_there_is_an_error(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = begin(&path, "nowhere");
    o.tmp_dir = "/nosuch/folder";
    expect_status(sa_train(&o, NULL, NULL, &error), SA_IO);
    expect_text(error.text, "/nosuch/folder");
    expect_text(error.text, "No such file");
    assert_int_equal(access(path.output, F_OK), -1);
}

/* Reads the anonymous memory of this process at update 20 into the long at user, in kilobytes. */
static int look_at_memory(const sa_train_event *event, void *user) {
    char line[256];
    FILE *f = event->kind == SA_EVENT_UPDATE && event->update == 20 ? fopen("/proc/self/status", "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "RssAnon:", 8))
            *(long *)user = strtol(line + 8, NULL, 10);
    if (f)
        fclose(f);
    return 0;
}

/* That of a process of its own that trains on `pairs` pairs. */
static long memory_of(const char *name, int pairs) {
    toy_paths path;
    sa_train_options o = begin(&path, name);
    char own[200];
    snprintf(own, sizeof own, "%s/%s", folder, name);
    assert_true(toy_write(own, pairs));
    o.valid_source = o.valid_target = NULL;
    o.held_out = 20;
    o.window = 20;
    o.after_updates = 21;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        long kilobytes = 0;
        sa_status status = sa_train(&o, look_at_memory, &kilobytes, NULL);
        bool told = write(ends[1], &kilobytes, sizeof kilobytes) == sizeof kilobytes;
        _exit(status == SA_OK && told ? 0 : 1);
    }
    long kilobytes = 0;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read(ends[0], &kilobytes, sizeof kilobytes), sizeof kilobytes);
    assert_true(kilobytes > 0);
    close(ends[0]);
    close(ends[1]);
    return kilobytes;
}

/* The text of 200,000 pairs has 15 MB, its ids take 18. */
static void memory_does_not_grow_with_the_text(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* what they hold says nothing of us */
#endif
    long small = memory_of("small", 2000), large = memory_of("large", 200000);
    if (large > small + 2000)
        fail_msg("%ld kB for 2,000 pairs, %ld kB for 200,000", small, large);
}

static int make_folder(void **state) {
    (void)state;
    return toy_folder(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return toy_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_share_a_file_and_give_the_same_model_as_without_it),
        cmocka_unit_test(held_out_pairs_are_in_the_file),
        cmocka_unit_test(nothing_is_written_beside_the_text_or_where_temporary_files_usually_go),
        cmocka_unit_test(a_resume_with_a_changed_text_is_refused_by_file_and_difference),
        cmocka_unit_test(a_changed_text_is_noticed_although_the_file_is_of_it),
        cmocka_unit_test(a_resume_goes_on_when_only_the_times_of_the_text_changed),
        cmocka_unit_test(a_text_that_changed_is_made_into_ids_anew),
        cmocka_unit_test(other_validation_files_than_at_the_beginning_are_noticed),
        cmocka_unit_test(a_damaged_file_is_made_anew),
        cmocka_unit_test(damage_that_is_found_while_training_is_mended),
        cmocka_unit_test(a_file_that_another_process_is_making_is_waited_for),
        cmocka_unit_test(a_full_disk_is_named_and_leaves_nothing),
        cmocka_unit_test(a_folder_for_the_file_that_is_not_there_is_an_error),
        cmocka_unit_test(memory_does_not_grow_with_the_text),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
