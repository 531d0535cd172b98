#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ERRNO_TEXT = 128 };

static sa_status fail_errno(sa_error *error, const char *path, const char *what, int code) {
    char buffer[ERRNO_TEXT];
    return sa_fail(error, code == ENOMEM ? SA_MEMORY : SA_IO, "%s: %s: %s", path, what,
                   strerror_r(code, buffer, sizeof buffer));
}

/* close() on Linux frees the descriptor even when interrupted, so EINTR is no failure and must not be retried. */
static int close_checked(int fd) {
    return close(fd) && errno != EINTR ? -1 : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static sa_status map_descriptor(file_mapping *out, int fd, const char *path, sa_error *error) {
    struct stat status;
    if (fstat(fd, &status))
        return fail_errno(error, path, "cannot be read", errno);
    if (S_ISDIR(status.st_mode))
        return sa_fail(error, SA_IO, "%s: is a folder; name a file in it", path);
    if (!S_ISREG(status.st_mode))
        return sa_fail(error, SA_IO, "%s: is a device or a pipe; an ordinary file is needed here", path);
    if ((uintmax_t)status.st_size > SIZE_MAX)
        return fail_errno(error, path, "cannot be mapped", EFBIG);
    if (status.st_size == 0)
        return SA_OK;
    void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return fail_errno(error, path, "cannot be mapped", errno);
    *out = (file_mapping){data, (size_t)status.st_size};
    return SA_OK;
}

sa_status file_map(file_mapping *out, const char *path, sa_error *error) {
    *out = (file_mapping){0};
    int fd;
    do /* O_NONBLOCK: a pipe without a writer would block the open for ever */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fail_errno(error, path, "cannot be opened", errno);
    sa_status status = map_descriptor(out, fd, path, error);
    close(fd);
    return status;
}

void file_unmap(file_mapping *mapping) {
    if (mapping->data)
        munmap((void *)(uintptr_t)mapping->data, mapping->size);
    *mapping = (file_mapping){0};
}

void file_forget(const void *data, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)data, end = begin + size;
    begin = (begin + page - 1) / page * page;
    end = end / page * page; /* whole pages only: the others have something else as well */
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* Where the bytes really go: path itself, or what it links to. A rename onto a device would replace the device. */
static sa_status resolve_target(char **target, const char *path, sa_error *error) {
    struct stat status;
    bool exists = !lstat(path, &status);
    if (!exists && errno != ENOENT)
        return fail_errno(error, path, "cannot be written", errno);
    if (exists && S_ISLNK(status.st_mode)) {
        *target = realpath(path, NULL);
        if (!*target && errno != ENOMEM)
            return fail_errno(error, path, "the link cannot be followed", errno);
        exists = *target && !stat(*target, &status);
    } else {
        *target = strdup(path);
    }
    if (!*target)
        return sa_fail_memory(error, 0);
    if (exists && !S_ISREG(status.st_mode)) {
        free(*target);
        *target = NULL;
        return sa_fail(error, SA_IO, "%s: is a folder, a device or a pipe, and cannot be replaced by a file", path);
    }
    return SA_OK;
}

struct file_writer {
    char *target, *temporary;
    int fd;
};

/* Locks fd, or says EWOULDBLOCK. The lock tells a file left by a killed process from one in use. */
static int lock_descriptor(int fd, bool wait) {
    while (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB)) {
        if (errno == EWOULDBLOCK)
            return errno;
        if (errno != EINTR)
            break; /* Some network file systems have no locks; a single writer is safe there all the same. */
    }
    return 0;
}

/* Opens and locks the temporary file, empty; *out is -1 when another process has it and we shall not wait. */
static sa_status open_temporary(int *out, const char *temporary, bool wait, sa_error *error) {
    for (*out = -1;;) {
        int fd = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (fd < 0 && errno == EINTR)
            continue;
        if (fd < 0)
            return fail_errno(error, temporary, "cannot be created", errno);
        struct stat ours, named;
        int code = lock_descriptor(fd, wait);
        if (code) {
            close(fd);
            return SA_OK;
        }
        if (fstat(fd, &ours))
            code = errno;
        /* Its writer may have renamed or removed the file between our open and our lock. */
        if (!code && (stat(temporary, &named) || named.st_dev != ours.st_dev || named.st_ino != ours.st_ino))
            code = EINTR;
        if (!code && (!S_ISREG(ours.st_mode) || ftruncate(fd, 0)))
            code = S_ISREG(ours.st_mode) ? errno : EEXIST;
        if (!code) {
            *out = fd;
            return SA_OK;
        }
        close(fd);
        if (code != EINTR)
            return fail_errno(error, temporary, "cannot be created", code);
    }
}

/* Writes at the offset, or where fd stands when that is negative. 0 or an errno. */
static int write_all(int fd, off_t offset, const void *bytes, size_t n) {
    const size_t most = (size_t)1 << 30; /* Linux writes at most 2 GiB at once */
    const unsigned char *data = bytes;
    while (n) {
        size_t piece = n < most ? n : most;
        ssize_t done = offset < 0 ? write(fd, data, piece) : pwrite(fd, data, piece, offset);
        if (done < 0) {
            if (errno == EINTR)
                continue;
            return errno;
        }
        if (done == 0)
            return ENOSPC;
        data += done;
        n -= (size_t)done;
        offset += offset < 0 ? 0 : done;
    }
    return 0;
}

static int sync_descriptor(int fd) {
    while (fsync(fd))
        if (errno != EINTR)
            return errno;
    return 0;
}

/* Makes the rename itself durable. */
static int sync_folder_of(const char *path) {
    char *folder = strdup(path);
    if (!folder)
        return ENOMEM;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0; /* keeps the slash of the root */
    int fd;
    do
        fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    free(folder);
    if (fd < 0)
        return errno == EACCES ? 0 : errno; /* one may write into a folder without being allowed to read it */
    int code = sync_descriptor(fd);
    close(fd);
    return code == EINVAL || code == ENOTSUP ? 0 : code; /* file systems that cannot sync folders */
}

static void writer_free(file_writer *w) {
    free(w->target);
    free(w->temporary);
    free(w);
}

sa_status file_writer_open(file_writer **out, const char *path, bool wait, sa_error *error) {
    *out = NULL;
    file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return sa_fail_memory(error, sizeof *w);
    w->fd = -1;
    sa_status status = resolve_target(&w->target, path, error);
    if (status == SA_OK) {
        size_t size = strlen(w->target) + sizeof ".tmp";
        w->temporary = malloc(size);
        if (w->temporary)
            snprintf(w->temporary, size, "%s.tmp", w->target);
        status = w->temporary ? open_temporary(&w->fd, w->temporary, wait, error) : sa_fail_memory(error, size);
    }
    if (w->fd < 0)
        writer_free(w);
    else
        *out = w;
    return status;
}

sa_status file_writer_put(file_writer *w, uint64_t offset, const void *bytes, size_t n, sa_error *error) {
    int code = offset > INT64_MAX - n ? EFBIG : write_all(w->fd, (off_t)offset, bytes, n);
    return code ? fail_errno(error, w->target, "cannot be written", code) : SA_OK;
}

sa_status file_writer_finish(file_writer *w, sa_error *error) {
    const char *step = "cannot be written";
    int code = sync_descriptor(w->fd);
    /* Renamed before the lock is given up by close, or another writer could take the file over. The data are
     * synced, so that close has nothing left to write. */
    if (!code && rename(w->temporary, w->target)) {
        code = errno;
        step = "cannot be put in place";
    }
    if (code)
        unlink(w->temporary);
    if (close_checked(w->fd) && !code)
        code = errno;
    if (!code)
        code = sync_folder_of(w->target);
    sa_status status = code ? fail_errno(error, w->target, step, code) : SA_OK;
    writer_free(w);
    return status;
}

void file_writer_abandon(file_writer *w) {
    if (!w)
        return;
    unlink(w->temporary);
    close(w->fd);
    writer_free(w);
}

sa_status file_write_whole(const char *path, const file_chunk *chunks, size_t n, sa_error *error) {
    file_writer *w;
    SA_TRY(file_writer_open(&w, path, false, error));
    if (!w)
        return sa_fail(error, SA_IO, "%s.tmp: another process is writing this file", path);
    uint64_t at = 0;
    for (size_t i = 0; i < n; at += chunks[i++].size) {
        sa_status status = file_writer_put(w, at, chunks[i].data, chunks[i].size, error);
        if (status != SA_OK) {
            file_writer_abandon(w);
            return status;
        }
    }
    return file_writer_finish(w, error);
}

sa_status file_unnamed(int *fd, const char *folder, sa_error *error) {
    *fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*fd >= 0)
        return SA_OK;
    if (errno != EOPNOTSUPP && errno != EISDIR) /* what file systems and kernels say that do not know O_TMPFILE */
        return fail_errno(error, folder, "no file can be made in this folder", errno);
    size_t size = strlen(folder) + sizeof "/softalign.XXXXXX";
    char *path = malloc(size);
    if (!path)
        return sa_fail_memory(error, size);
    snprintf(path, size, "%s/softalign.XXXXXX", folder);
    *fd = mkostemp(path, O_CLOEXEC);
    sa_status status = *fd < 0 ? fail_errno(error, folder, "no file can be made in this folder", errno) : SA_OK;
    if (*fd >= 0)
        unlink(path);
    free(path);
    return status;
}

sa_status file_append(int fd, const char *name, const void *bytes, size_t n, sa_error *error) {
    int code = write_all(fd, -1, bytes, n);
    return code ? fail_errno(error, name, "cannot be written", code) : SA_OK;
}

/* ---- changes ----------------------------------------------------------------------------------------- */

static int64_t nanoseconds(struct timespec t) {
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

file_stamp file_stamp_of(const char *path) {
    struct stat s;
    if (stat(path, &s) || !S_ISREG(s.st_mode))
        return (file_stamp){0};
    return (file_stamp){(uint64_t)s.st_size, s.st_ino, nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

bool file_stamp_equal(const file_stamp *a, const file_stamp *b) {
    return a->size == b->size && a->inode == b->inode && a->modified == b->modified && a->changed == b->changed;
}

sa_status file_try_write(const char *path, sa_error *error) {
    file_writer *w;
    SA_TRY(file_writer_open(&w, path, false, error));
    if (!w)
        return sa_fail(error, SA_IO, "%s.tmp: another process is writing this file", path);
    file_writer_abandon(w);
    return SA_OK;
}

/* ---- folders ----------------------------------------------------------------------------------------- */

static sa_status make_one_folder(const char *path, sa_error *error) {
    struct stat status;
    if (!mkdir(path, 0777))
        return SA_OK;
    int code = errno;
    /* mkdir may say EROFS or EACCES of a folder that is there. */
    if (stat(path, &status))
        return fail_errno(error, path, "the folder cannot be made", code);
    if (!S_ISDIR(status.st_mode))
        return sa_fail(error, SA_IO, "%s: exists and is no folder; choose another name", path);
    return SA_OK;
}

sa_status file_make_folder(const char *path, sa_error *error) {
    if (!*path)
        return sa_fail(error, SA_IO, "the name of the folder is empty");
    char *part = strdup(path);
    if (!part)
        return sa_fail_memory(error, strlen(path) + 1);
    sa_status status = SA_OK;
    for (char *slash = strchr(part + 1, '/'); slash && status == SA_OK; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        status = make_one_folder(part, error);
        *slash = '/';
    }
    if (status == SA_OK)
        status = make_one_folder(part, error);
    free(part);
    return status;
}
