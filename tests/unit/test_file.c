#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

static const char *in_folder(char out[512], const char *name) {
    snprintf(out, 512, "%s/%s", folder, name);
    return out;
}

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_file.XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static int remove_folder(void **state) {
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static sa_status write_text(const char *path, const char *text, sa_error *error) {
    return file_write_whole(path, &(file_chunk){text, strlen(text)}, 1, error);
}

static void assert_contents(const char *path, const char *text) {
    file_mapping mapping;
    sa_error e;
    assert_int_equal(file_map(&mapping, path, &e), SA_OK);
    assert_int_equal(mapping.size, strlen(text));
    assert_memory_equal(mapping.data, text, mapping.size);
    file_unmap(&mapping);
    assert_null(mapping.data);
}

static void assert_no_temporary(const char *path) {
    char temporary[600];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    assert_int_equal(access(temporary, F_OK), -1);
}

static void chunks_are_written_in_order(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "order");
    file_chunk chunks[] = {{"ab", 2}, {NULL, 0}, {"", 0}, {"cde", 3}};
    assert_int_equal(file_write_whole(path, chunks, 4, NULL), SA_OK);
    assert_contents(path, "abcde");
    assert_no_temporary(path);
}

static void no_chunks_make_an_empty_file_that_maps_as_null(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "empty");
    assert_int_equal(file_write_whole(path, NULL, 0, NULL), SA_OK);
    file_mapping mapping = {(const unsigned char *)"x", 1};
    assert_int_equal(file_map(&mapping, path, NULL), SA_OK);
    assert_null(mapping.data);
    assert_int_equal(mapping.size, 0);
    file_unmap(&mapping);
}

static void a_mapping_keeps_the_old_contents_when_the_file_is_replaced(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "replaced");
    assert_int_equal(write_text(path, "old contents", NULL), SA_OK);
    file_mapping old;
    assert_int_equal(file_map(&old, path, NULL), SA_OK);
    assert_int_equal(write_text(path, "new", NULL), SA_OK);
    assert_memory_equal(old.data, "old contents", 12);
    assert_contents(path, "new");
    file_unmap(&old);
}

static void the_mode_follows_the_umask(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "mode");
    mode_t before = umask(027);
    assert_int_equal(write_text(path, "x", NULL), SA_OK);
    umask(before);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void a_longer_file_left_by_a_killed_process_is_taken_over(void **state) {
    (void)state;
    char path[512], temporary[512];
    in_folder(path, "killed");
    in_folder(temporary, "killed.tmp");
    FILE *left = fopen(temporary, "w");
    assert_non_null(left);
    fputs("half of something that was never finished", left);
    fclose(left);
    assert_int_equal(write_text(path, "whole", NULL), SA_OK);
    assert_contents(path, "whole");
    assert_no_temporary(path);
}

static void a_file_that_another_process_is_writing_is_left_alone(void **state) {
    (void)state;
    char path[512], temporary[512];
    in_folder(path, "busy");
    in_folder(temporary, "busy.tmp");
    int fd = open(temporary, O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(write(fd, "mine", 4), 4);
    sa_error e;
    assert_int_equal(write_text(path, "yours", &e), SA_IO);
    assert_non_null(strstr(e.text, "another process"));
    assert_contents(temporary, "mine");
    close(fd);
    assert_int_equal(write_text(path, "yours", &e), SA_OK);
    assert_contents(path, "yours");
}

static void a_file_written_in_pieces_is_there_when_it_is_finished(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "pieces");
    file_writer *w;
    assert_int_equal(file_writer_open(&w, path, false, NULL), SA_OK);
    assert_int_equal(file_writer_put(w, 6, "gh", 2, NULL), SA_OK);
    assert_int_equal(file_writer_put(w, 0, "abcd", 4, NULL), SA_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(file_writer_finish(w, NULL), SA_OK);
    file_mapping m;
    assert_int_equal(file_map(&m, path, NULL), SA_OK);
    assert_int_equal(m.size, 8);
    assert_memory_equal(m.data, "abcd\0\0gh", 8);
    file_unmap(&m);
    assert_no_temporary(path);
    assert_int_equal(file_writer_open(&w, path, false, NULL), SA_OK);
    assert_int_equal(file_writer_put(w, 0, "x", 1, NULL), SA_OK);
    file_writer_abandon(w);
    assert_int_equal(file_map(&m, path, NULL), SA_OK);
    assert_int_equal(m.size, 8);
    file_unmap(&m);
    assert_no_temporary(path);
}

static void a_writer_can_look_or_wait_for_another(void **state) {
    (void)state;
    char path[512], byte = 'g';
    in_folder(path, "waited");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork(); /* first: it would inherit the lock */
    assert_true(child >= 0);
    if (child == 0) {
        file_writer *late;
        alarm(60);
        bool ok = read(ends[0], &byte, 1) == 1;
        ok = ok && file_writer_open(&late, path, true, NULL) == SA_OK && late && access(path, F_OK) == 0;
        if (ok)
            file_writer_abandon(late);
        _exit(ok ? 0 : 1);
    }
    file_writer *first, *second;
    assert_int_equal(file_writer_open(&first, path, false, NULL), SA_OK);
    assert_int_equal(file_writer_open(&second, path, false, NULL), SA_OK);
    assert_null(second);
    assert_int_equal(write(ends[1], &byte, 1), 1);
    usleep(20000); /* likely enough for the child to wait */
    assert_int_equal(file_writer_put(first, 0, "done", 4, NULL), SA_OK);
    assert_int_equal(file_writer_finish(first, NULL), SA_OK);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_contents(path, "done");
    assert_no_temporary(path);
    close(ends[0]);
    close(ends[1]);
}

static void an_unnamed_file_is_nowhere_to_be_seen(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "unseen");
    assert_int_equal(mkdir(path, 0700), 0);
    int fd;
    sa_error e;
    assert_int_equal(file_unnamed(&fd, path, &e), SA_OK);
    assert_int_equal(file_append(fd, "text", "abc", 3, &e), SA_OK);
    assert_int_equal(rmdir(path), 0);
    char bytes[3];
    assert_int_equal(pread(fd, bytes, 3, 0), 3);
    assert_memory_equal(bytes, "abc", 3);
    close(fd);
    assert_int_equal(file_unnamed(&fd, path, &e), SA_IO);
    assert_non_null(strstr(e.text, path));
    if (access("/dev/full", F_OK) == 0) {
        fd = open("/dev/full", O_WRONLY);
        assert_int_equal(file_append(fd, "text", "abc", 3, &e), SA_IO);
        assert_non_null(strstr(e.text, "text: cannot be written: No space"));
        close(fd);
    }
}

static void a_stamp_changes_with_contents_and_cannot_be_set_back(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "stamp");
    file_stamp none = file_stamp_of(path), folder_stamp = file_stamp_of(folder);
    assert_true(file_stamp_equal(&none, &folder_stamp));
    assert_int_equal(write_text(path, "a", NULL), SA_OK);
    file_stamp first = file_stamp_of(path), again = file_stamp_of(path);
    assert_true(file_stamp_equal(&first, &again));
    assert_false(file_stamp_equal(&first, &none));
    assert_int_equal(first.size, 1);
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    usleep(20000); /* the system's clock for files ticks every few milliseconds */
    int fd = open(path, O_WRONLY);
    assert_int_equal(write(fd, "b", 1), 1);
    const struct timespec same[2] = {s.st_atim, s.st_mtim};
    assert_int_equal(futimens(fd, same), 0);
    close(fd);
    again = file_stamp_of(path);
    assert_int_equal(first.modified, again.modified);
    assert_false(file_stamp_equal(&first, &again));
}

static void a_link_is_followed_and_stays(void **state) {
    (void)state;
    char path[512], link[512];
    in_folder(path, "linked");
    in_folder(link, "link");
    assert_int_equal(write_text(path, "old", NULL), SA_OK);
    assert_int_equal(symlink("linked", link), 0);
    assert_int_equal(write_text(link, "new", NULL), SA_OK);
    assert_contents(path, "new");
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void a_temporary_that_is_a_link_is_not_written_through(void **state) {
    (void)state;
    char path[512], victim[512], temporary[512];
    in_folder(path, "trap");
    in_folder(victim, "victim");
    in_folder(temporary, "trap.tmp");
    assert_int_equal(write_text(victim, "precious", NULL), SA_OK);
    assert_int_equal(symlink("victim", temporary), 0);
    assert_int_equal(write_text(path, "x", NULL), SA_IO);
    assert_contents(victim, "precious");
}

static void devices_and_folders_are_not_replaced(void **state) {
    (void)state;
    sa_error e;
    assert_int_equal(write_text("/dev/null", "x", &e), SA_IO);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(write_text(folder, "x", &e), SA_IO);
    assert_non_null(strstr(e.text, folder));
}

static void a_missing_folder_is_an_error_with_path_and_reason(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "no/such/file");
    sa_error e;
    assert_int_equal(write_text(path, "x", &e), SA_IO);
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, strerror(ENOENT)));
    assert_int_equal(e.status, SA_IO);
}

static void what_is_no_ordinary_file_is_not_mapped(void **state) {
    (void)state;
    char pipe[512];
    in_folder(pipe, "pipe");
    assert_int_equal(mkfifo(pipe, 0666), 0);
    const char *paths[] = {folder, "/dev/null", pipe, "/nosuch", ""};
    const char *reasons[] = {"folder", "device", "pipe", "No such file", "No such file"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        file_mapping mapping;
        sa_error e;
        assert_int_equal(file_map(&mapping, paths[i], &e), SA_IO);
        assert_int_equal(strncmp(e.text, paths[i], strlen(paths[i])), 0);
        assert_non_null(strstr(e.text, reasons[i]));
        assert_null(mapping.data);
    }
}

static void a_file_beyond_the_size_limit_leaves_the_old_one(void **state) {
    (void)state;
    char path[512];
    in_folder(path, "limit");
    assert_int_equal(write_text(path, "old", NULL), SA_OK);
    static char big[100000];
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    struct rlimit usual, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    small = (struct rlimit){4096, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    sa_error e;
    sa_status status = file_write_whole(path, &(file_chunk){big, sizeof big}, 1, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    signal(SIGXFSZ, before);
    assert_int_equal(status, SA_IO);
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, strerror(EFBIG)));
    assert_contents(path, "old");
    assert_no_temporary(path);
}

enum { CHILD_SKIP = 77 };

/* In a process of its own, whose mounts nobody else sees. Returns an exit status. */
static int fill_small_disk(const char *disk) {
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", disk, "tmpfs", 0, "size=64k"))
        return CHILD_SKIP;
    char path[600];
    snprintf(path, sizeof path, "%s/file", disk);
    static char big[100000];
    sa_error e;
    if (write_text(path, "old", &e))
        return 1;
    if (file_write_whole(path, &(file_chunk){big, sizeof big}, 1, &e) != SA_IO)
        return 2;
    if (!strstr(e.text, strerror(ENOSPC)) || !strstr(e.text, path))
        return 3;
    strcat(path, ".tmp");
    if (!access(path, F_OK))
        return 4;
    path[strlen(path) - 4] = 0;
    file_mapping mapping;
    if (file_map(&mapping, path, &e) || mapping.size != 3 || memcmp(mapping.data, "old", 3))
        return 5;
    file_unmap(&mapping);
    return 0;
}

static void a_full_disk_leaves_the_old_file(void **state) {
    (void)state;
    char disk[512];
    in_folder(disk, "disk");
    assert_int_equal(file_make_folder(disk, NULL), SA_OK);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        _exit(fill_small_disk(disk));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CHILD_SKIP)
        skip(); /* mounting is not allowed here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int write_as_nobody(const char *path) {
    if (!geteuid() && (setgid(65534) || setuid(65534))) /* root may write everywhere */
        return CHILD_SKIP;
    sa_error e;
    return write_text(path, "x", &e) == SA_IO && strstr(e.text, strerror(EACCES)) && strstr(e.text, path) ? 0 : 1;
}

static void a_read_only_folder_is_an_error(void **state) {
    (void)state;
    char dir[512], path[512];
    in_folder(dir, "readonly");
    in_folder(path, "readonly/file");
    assert_int_equal(file_make_folder(dir, NULL), SA_OK);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(dir, 0555), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        _exit(write_as_nobody(path));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(dir, 0755), 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CHILD_SKIP)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void folders_are_made_with_their_parents(void **state) {
    (void)state;
    char path[512], file[512];
    in_folder(path, "a//b/c/");
    assert_int_equal(file_make_folder(path, NULL), SA_OK);
    assert_int_equal(file_make_folder(path, NULL), SA_OK);
    in_folder(file, "a/b/c/file");
    assert_int_equal(write_text(file, "x", NULL), SA_OK);
    assert_int_equal(file_make_folder("/", NULL), SA_OK);
    assert_int_equal(file_make_folder(".", NULL), SA_OK);
}

static void a_folder_cannot_be_made_over_or_under_a_file(void **state) {
    (void)state;
    char file[512], below[512];
    in_folder(file, "plain");
    in_folder(below, "plain/below");
    assert_int_equal(write_text(file, "x", NULL), SA_OK);
    sa_error e;
    assert_int_equal(file_make_folder(file, &e), SA_IO);
    assert_non_null(strstr(e.text, file));
    assert_int_equal(file_make_folder(below, &e), SA_IO);
    assert_int_equal(file_make_folder("", &e), SA_IO);
    assert_contents(file, "x");
}

static void a_name_without_a_folder_is_written_in_the_current_one(void **state) {
    (void)state;
    char before[4096], path[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    sa_status status = write_text("here", "x", NULL);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(status, SA_OK);
    assert_contents(in_folder(path, "here"), "x");
}

static void expect_try(const char *path, sa_status want, const char *reason) {
    sa_error tried, written;
    assert_int_equal(file_try_write(path, &tried), want);
    if (want == SA_OK)
        return;
    assert_non_null(strstr(tried.text, reason));
    assert_int_equal(write_text(path, "x", &written), want);
    assert_string_equal(tried.text, written.text);
}

static void a_write_that_is_tried_changes_nothing_and_fails_as_a_write_does(void **state) {
    (void)state;
    char path[512], temporary[512];
    in_folder(path, "tried");
    in_folder(temporary, "tried.tmp");
    expect_try(path, SA_OK, "");
    assert_int_equal(access(path, F_OK), -1);
    assert_no_temporary(path);
    assert_int_equal(write_text(path, "old", NULL), SA_OK);
    expect_try(path, SA_OK, "");
    assert_contents(path, "old");
    int fd = open(temporary, O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    expect_try(path, SA_IO, "another process");
    close(fd);
    expect_try(path, SA_OK, "");
    assert_no_temporary(path);
    expect_try(in_folder(path, "nowhere/file"), SA_IO, strerror(ENOENT));
    expect_try(folder, SA_IO, "is a folder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_written_in_order),
        cmocka_unit_test(no_chunks_make_an_empty_file_that_maps_as_null),
        cmocka_unit_test(a_mapping_keeps_the_old_contents_when_the_file_is_replaced),
        cmocka_unit_test(the_mode_follows_the_umask),
        cmocka_unit_test(a_longer_file_left_by_a_killed_process_is_taken_over),
        cmocka_unit_test(a_file_that_another_process_is_writing_is_left_alone),
        cmocka_unit_test(a_file_written_in_pieces_is_there_when_it_is_finished),
        cmocka_unit_test(a_writer_can_look_or_wait_for_another),
        cmocka_unit_test(an_unnamed_file_is_nowhere_to_be_seen),
        cmocka_unit_test(a_stamp_changes_with_contents_and_cannot_be_set_back),
        cmocka_unit_test(a_link_is_followed_and_stays),
        cmocka_unit_test(a_temporary_that_is_a_link_is_not_written_through),
        cmocka_unit_test(devices_and_folders_are_not_replaced),
        cmocka_unit_test(a_missing_folder_is_an_error_with_path_and_reason),
        cmocka_unit_test(what_is_no_ordinary_file_is_not_mapped),
        cmocka_unit_test(a_file_beyond_the_size_limit_leaves_the_old_one),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(a_read_only_folder_is_an_error),
        cmocka_unit_test(folders_are_made_with_their_parents),
        cmocka_unit_test(a_folder_cannot_be_made_over_or_under_a_file),
        cmocka_unit_test(a_name_without_a_folder_is_written_in_the_current_one),
        cmocka_unit_test(a_write_that_is_tried_changes_nothing_and_fails_as_a_write_does),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
