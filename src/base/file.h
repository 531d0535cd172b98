/* Whole files: mapped for reading, replaced in one step for writing. Messages start with the path. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct file_mapping {
    const unsigned char *data; /* NULL when the file is empty */
    size_t size;
} file_mapping;

/* Maps a regular file read-only. SA_IO when it cannot be opened, or is a folder, a device or a pipe. The contents
 * must not be cut short by another program while mapped; files replaced by file_write_whole never are. */
sa_status file_map(file_mapping *out, const char *path, sa_error *error);
/* Unmaps and clears *mapping; an empty or cleared one is fine. */
void file_unmap(file_mapping *mapping);
/* Tells the system that a part of a mapping will not be read for a while: it leaves this process's resident memory.
 */
void file_forget(const void *data, size_t size);

typedef struct file_chunk {
    const void *data; /* may be NULL when size is 0 */
    size_t size;
} file_chunk;

/* Makes the file `path` of the n chunks in order: written to PATH.tmp, synced, closed, renamed, the folder synced.
 * At any time, power cuts included, PATH is the old file or the whole new one. A symbolic link is followed and
 * stays. On failure (SA_IO with the errno text, SA_MEMORY) the old file is as it was and PATH.tmp is gone; only
 * when a step after the rename fails (closing, syncing the folder) is the new file in place already. A PATH.tmp
 * left by a killed process is taken over; one that another process is writing is an error. A program that runs
 * under a file size limit must ignore SIGXFSZ to get the error instead of the signal. */
sa_status file_write_whole(const char *path, const file_chunk *chunks, size_t n, sa_error *error);

/* Fails as file_write_whole would before the first byte: no such folder, a read-only one, another writer, a name
 * that is taken by something else than a file. Leaves `path` as it is and no PATH.tmp. */
sa_status file_try_write(const char *path, sa_error *error);
/* A file that is written piece by piece, with all that file_write_whole promises. */
typedef struct file_writer file_writer;
/* When another process is writing PATH.tmp: waits until it is done or gone if `wait`, else *out is NULL and SA_OK
 * returned. A caller that waited should look at `path` again before it writes. */
sa_status file_writer_open(file_writer **out, const char *path, bool wait, sa_error *error);
/* Writes n bytes at an offset; what is never written reads as zero bytes. SA_IO with path and errno text. */
sa_status file_writer_put(file_writer *w, uint64_t offset, const void *bytes, size_t n, sa_error *error);
/* Puts the file in place. Frees w, whatever comes of it. */
sa_status file_writer_finish(file_writer *w, sa_error *error);
/* Removes PATH.tmp and frees w; NULL is fine. */
void file_writer_abandon(file_writer *w);

/* A file without a name in that folder, which vanishes with its last descriptor, for reading and writing. */
sa_status file_unnamed(int *fd, const char *folder, sa_error *error);
/* Appends n bytes to the descriptor of a file called `name` in messages. */
sa_status file_append(int fd, const char *name, const void *bytes, size_t n, sa_error *error);

/* What tells whether a file was changed without reading it. */
typedef struct file_stamp {
    uint64_t size, inode;
    int64_t modified, changed; /* nanoseconds since 1970: contents; contents, name or rights, which no program can
                                  set back */
} file_stamp;
/* Of a regular file; all zero for anything else, or where there is none. */
file_stamp file_stamp_of(const char *path);
bool file_stamp_equal(const file_stamp *a, const file_stamp *b);

/* Makes the folder and those above it that are missing; one that exists already is fine. SA_IO otherwise. */
sa_status file_make_folder(const char *path, sa_error *error);

#endif
