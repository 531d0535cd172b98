/* The safetensors container (https://github.com/huggingface/safetensors): 8 bytes little-endian header length, a
 * JSON header, raw little-endian tensors without gaps. One file holds a model, a vocabulary, a training state.
 * Reading maps the file; nothing in it is trusted. */
#ifndef BASE_SAFETENSORS_H
#define BASE_SAFETENSORS_H

#include "base/error.h"

typedef enum st_dtype { ST_F32, ST_BF16, ST_I8, ST_U8, ST_I32, ST_I64 } st_dtype;

enum { ST_MAX_RANK = 4, ST_MAX_TENSORS = 100000, ST_MAX_HEADER = 100000000 };

typedef struct st_tensor {
    const char *name;
    st_dtype dtype;
    int rank; /* 0 (one value) ... ST_MAX_RANK */
    int64_t dim[ST_MAX_RANK];
    const void *data; /* aligned to its type, or the open fails; the first one of a file of ours to 64 bytes */
    size_t bytes;     /* product of dim times the type's size; 0 when a dim is 0 */
} st_tensor;

typedef struct st_file st_file;

/* Opens and checks: header length and JSON, known types, rank, shape times size = span, spans inside the file,
 * no overlap and no gap, unique names. SA_FORMAT when it is not so; the message names the file, and what it seems
 * to be when it is no safetensors file (ZIP, gzip, HTML, text, LFS pointer, empty, cut short, ...). SA_IO when it
 * cannot be read, or is a folder or a device. Names, values and data live until st_close. */
sa_status st_open(st_file **out, const char *path, sa_error *error);
void st_close(st_file *file);
const char *st_path(const st_file *file);
int st_count(const st_file *file);
/* Tensor 0 ... st_count() - 1, in the order of their data. */
const st_tensor *st_at(const st_file *file, int index);
const st_tensor *st_find(const st_file *file, const char *name); /* NULL: none */
/* A string of __metadata__; NULL: none. */
const char *st_metadata(const st_file *file, const char *key);

typedef struct st_entry {
    const char *key, *value;
} st_entry;

/* Writes the tensors (data not copied) with file_write_whole: the old file or the new one is there at any time.
 * They are laid out by descending size of their type, then in the order given, which keeps each aligned. The same
 * input gives the same bytes. SA_USAGE when a tensor's name is not unique, or its shape, type and bytes do not
 * agree; SA_DATA when a text is not UTF-8. */
sa_status st_write(const char *path, const st_tensor *tensors, int n, const st_entry *metadata, int n_metadata,
                   sa_error *error);

#endif
