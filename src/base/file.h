/* Whole files: mapped for reading, replaced in one step for writing. Messages start with the path. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"

typedef struct file_mapping {
    const unsigned char *data; /* NULL when the file is empty */
    size_t size;
} file_mapping;

/* Maps a regular file read-only. SA_IO when it cannot be opened, or is a folder, a device or a pipe. The contents
 * must not be cut short by another program while mapped; files replaced by file_write_whole never are. */
sa_status file_map(file_mapping *out, const char *path, sa_error *error);
/* Unmaps and clears *mapping; an empty or cleared one is fine. */
void file_unmap(file_mapping *mapping);

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

/* Makes the folder and those above it that are missing; one that exists already is fine. SA_IO otherwise. */
sa_status file_make_folder(const char *path, sa_error *error);

#endif
