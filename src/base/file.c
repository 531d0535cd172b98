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
        return sa_fail(error, SA_IO, "%s: is a folder, a device or a pipe, and cannot be replaced by a file", path);
    }
    return SA_OK;
}

/* Opens and locks the temporary file, empty. The lock tells a file left by a killed process from one in use. */
static sa_status open_temporary(int *out, const char *temporary, sa_error *error) {
    for (;;) {
        int fd = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (fd < 0 && errno == EINTR)
            continue;
        if (fd < 0)
            return fail_errno(error, temporary, "cannot be created", errno);
        struct stat ours, named;
        int code = 0;
        /* Some network file systems have no locks; a single writer is safe there all the same. */
        if (flock(fd, LOCK_EX | LOCK_NB) && (errno == EWOULDBLOCK || errno == EINTR))
            code = errno;
        if (code == EWOULDBLOCK) {
            close(fd);
            return sa_fail(error, SA_IO, "%s: another process is writing this file", temporary);
        }
        if (!code && fstat(fd, &ours))
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

/* 0 or an errno. */
static int write_all(int fd, const file_chunk *chunk) {
    const size_t most = (size_t)1 << 30; /* Linux writes at most 2 GiB at once */
    const unsigned char *data = chunk->data;
    size_t left = chunk->size;
    while (left) {
        ssize_t n = write(fd, data, left < most ? left : most);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return errno;
        }
        if (n == 0)
            return ENOSPC;
        data += n;
        left -= (size_t)n;
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

static sa_status write_temporary(const char *temporary, const char *target, const file_chunk *chunks, size_t n,
                                 sa_error *error) {
    int fd;
    SA_TRY(open_temporary(&fd, temporary, error));
    int code = 0;
    for (size_t i = 0; i < n && !code; i++)
        code = write_all(fd, &chunks[i]);
    if (!code)
        code = sync_descriptor(fd);
    const char *step = "cannot be written";
    /* Renamed before the lock is given up by close, or another writer could take the file over. The data are
     * synced, so that close has nothing left to write. */
    if (!code && rename(temporary, target)) {
        code = errno;
        step = "cannot be put in place";
    }
    if (code)
        unlink(temporary);
    if (close_checked(fd) && !code)
        code = errno;
    if (!code)
        code = sync_folder_of(target);
    return code ? fail_errno(error, target, step, code) : SA_OK;
}

/* Both strings belong to the caller. */
static sa_status name_files(char **target, char **temporary, const char *path, sa_error *error) {
    *target = NULL;
    SA_TRY(resolve_target(target, path, error));
    size_t length = strlen(*target);
    *temporary = malloc(length + sizeof ".tmp");
    if (!*temporary) {
        free(*target);
        return sa_fail_memory(error, length + sizeof ".tmp");
    }
    snprintf(*temporary, length + sizeof ".tmp", "%s.tmp", *target);
    return SA_OK;
}

sa_status file_write_whole(const char *path, const file_chunk *chunks, size_t n, sa_error *error) {
    char *target, *temporary;
    SA_TRY(name_files(&target, &temporary, path, error));
    sa_status status = write_temporary(temporary, target, chunks, n, error);
    free(temporary);
    free(target);
    return status;
}

sa_status file_try_write(const char *path, sa_error *error) {
    char *target, *temporary;
    int fd;
    SA_TRY(name_files(&target, &temporary, path, error));
    sa_status status = open_temporary(&fd, temporary, error);
    if (status == SA_OK) {
        unlink(temporary);
        close(fd);
    }
    free(temporary);
    free(target);
    return status;
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
