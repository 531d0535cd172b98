#include "base/safetensors.h"

#include "base/file.h"
#include "base/strbuf.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are used as they lie in the file");

enum { LENGTH_BYTES = 8, DATA_ALIGNMENT = 64, QUOTED = 96 };

static const struct {
    const char *name;
    size_t size; /* and alignment */
} dtypes[] = {
    [ST_F32] = {"F32", 4}, [ST_BF16] = {"BF16", 2}, [ST_I8] = {"I8", 1},
    [ST_U8] = {"U8", 1},   [ST_I32] = {"I32", 4},   [ST_I64] = {"I64", 8},
};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

typedef struct placed {
    st_tensor tensor;
    uint64_t begin, end; /* from the start of the data */
} placed;

struct st_file {
    char *path;
    file_mapping mapping;
    json_t *header; /* owns all names and metadata */
    int n;
    placed *at;             /* by place in the file */
    const placed **by_name; /* into `at`, by strcmp */
};

/* Text out of an untrusted file, made fit for a terminal and a message. */
static const char *quoted(char out[QUOTED], const char *text) {
    size_t n = strnlen(text, QUOTED);
    size_t kept = n < QUOTED ? n : QUOTED - 4;
    for (size_t i = 0; i < kept; i++)
        out[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
    memcpy(out + kept, n < QUOTED ? "" : "...", n < QUOTED ? 1 : 4);
    return out;
}

static sa_status fail_tensor(sa_error *error, const char *path, const char *name, const char *what) {
    char text[QUOTED];
    return sa_fail(error, SA_FORMAT, "%s: damaged model file: tensor \"%s\": %s", path, quoted(text, name), what);
}

/* The bytes of a tensor; false when the shape is not a shape or the product leaves 64 bits. */
static bool shape_bytes(const st_tensor *t, uint64_t *bytes) {
    uint64_t product = dtypes[t->dtype].size;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] < 0 || __builtin_mul_overflow(product, (uint64_t)t->dim[i], &product))
            return false;
    *bytes = product;
    return true;
}

/* ---- files that are something else ------------------------------------------------------------------- */

static const struct {
    const char *magic;
    size_t n;
    const char *what;
} strangers[] = {
    {"version https://git-lfs", 23, "a Git LFS pointer, the file itself was not fetched (run: git lfs pull)"},
    {"PK\3\4", 4, "a ZIP archive (PyTorch and NumPy files are such, too)"},
    {"PK\5\6", 4, "an empty ZIP archive"},
    {"\x1f\x8b", 2, "gzip data (unpack it first)"},
    {"BZh", 3, "bzip2 data (unpack it first)"},
    {"\3757zXZ", 5, "xz data (unpack it first)"},
    {"\x28\xb5\x2f\xfd", 4, "Zstandard data (unpack it first)"},
    {"\x80\2", 2, "a Python pickle, as PyTorch writes them"},
    {"\x80\3", 2, "a Python pickle, as PyTorch writes them"},
    {"\x80\4", 2, "a Python pickle, as PyTorch writes them"},
    {"\x80\5", 2, "a Python pickle, as PyTorch writes them"},
    {"\x93NUMPY", 6, "a NumPy array"},
    {"\x89HDF", 4, "an HDF5 file"},
    {"GGUF", 4, "a GGUF file"},
    {"<?xml", 5, "an XML text"},
};

static uint64_t read_length(const unsigned char *data, bool swapped) {
    uint64_t value = 0;
    for (int i = 0; i < LENGTH_BYTES; i++)
        value |= (uint64_t)data[i] << 8 * (swapped ? LENGTH_BYTES - 1 - i : i);
    return value;
}

static bool looks_like_html(const unsigned char *data, size_t size) {
    size_t i = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < size && strchr(" \t\r\n", data[i]) && data[i])
        i++;
    const char *text = (const char *)data + i;
    size_t left = size - i;
    return (left >= 9 && !strncasecmp(text, "<!doctype", 9)) || (left >= 5 && !strncasecmp(text, "<html", 5));
}

/* No control characters: text in any encoding that keeps ASCII. */
static bool looks_like_text(const unsigned char *data, size_t size) {
    for (size_t i = 0; i < size && i < 512; i++)
        if (data[i] < 0x20 ? !data[i] || !strchr("\t\n\r\f", data[i]) : data[i] == 0x7f)
            return false;
    return true;
}

static bool all_zero(const unsigned char *data, size_t size) {
    for (size_t i = 0; i < size && i < 4096; i++)
        if (data[i])
            return false;
    return true;
}

/* What a file is that does not start like a safetensors file; NULL when there is no telling. */
static const char *stranger(const unsigned char *data, size_t size) {
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (size >= strangers[i].n && !memcmp(data, strangers[i].magic, strangers[i].n))
            return strangers[i].what;
    if (looks_like_html(data, size))
        return "a web page (HTML), perhaps one that a download got instead of the file";
    if (looks_like_text(data, size))
        return "plain text";
    if (all_zero(data, size))
        return "a file of zero bytes, perhaps left by a crash or a broken copy";
    return NULL;
}

static sa_status fail_stranger(sa_error *error, const char *path, const unsigned char *data, size_t size) {
    const char *expected = "a model is a .safetensors file as written by training";
    const char *what = stranger(data, size);
    if (what)
        return sa_fail(error, SA_FORMAT, "%s: not a model: this is %s; %s", path, what, expected);
    if (size < LENGTH_BYTES)
        return sa_fail(error, SA_FORMAT, "%s: not a model: only %zu bytes long; %s", path, size, expected);
    uint64_t length = read_length(data, false), swapped = read_length(data, true);
    if (size > LENGTH_BYTES && data[LENGTH_BYTES] == '{' && swapped >= 2 && swapped <= ST_MAX_HEADER)
        return sa_fail(error, SA_FORMAT,
                       "%s: the header length is stored big-endian (swapped byte order); safetensors files are "
                       "little-endian on every machine; write or copy the model again",
                       path);
    return sa_fail(error, SA_FORMAT,
                   "%s: not a model: starts with neither a header length (read: %llu, at most %d) nor '{'; %s",
                   path, (unsigned long long)length, ST_MAX_HEADER, expected);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static sa_status fail_cut(sa_error *error, const char *path, uint64_t needed, size_t size) {
    return sa_fail(error, SA_FORMAT,
                   "%s: the model file is cut short: %llu bytes are missing at least (%zu are there); copy or "
                   "download it again",
                   path, (unsigned long long)(needed - size), size);
}

static sa_status parse_header(st_file *file, size_t *data_start, sa_error *error) {
    const unsigned char *data = file->mapping.data;
    size_t size = file->mapping.size;
    if (!size)
        return sa_fail(error, SA_FORMAT, "%s: not a model: the file is empty", file->path);
    uint64_t length = size < LENGTH_BYTES ? 0 : read_length(data, false);
    if (length < 2 || length > ST_MAX_HEADER || (size > LENGTH_BYTES && data[LENGTH_BYTES] != '{'))
        return fail_stranger(error, file->path, data, size);
    if (length > size - LENGTH_BYTES)
        return fail_cut(error, file->path, length + LENGTH_BYTES, size);

    json_error_t json;
    char text[QUOTED];
    errno = 0; /* by which alone jansson tells that memory ran out, whatever its own error says */
    file->header = json_loadb((const char *)data + LENGTH_BYTES, (size_t)length, JSON_REJECT_DUPLICATES, &json);
    if (!file->header && errno == ENOMEM)
        return sa_fail_memory(error, 0);
    if (!file->header)
        return sa_fail(error, SA_FORMAT, "%s: damaged model file: the header is no valid JSON at its byte %d: %s",
                       file->path, json.position, quoted(text, json.text));
    *data_start = LENGTH_BYTES + (size_t)length;
    return SA_OK;
}

static sa_status check_metadata(const st_file *file, sa_error *error) {
    const json_t *metadata = json_object_get(file->header, "__metadata__");
    if (!metadata)
        return SA_OK;
    bool strings = json_is_object(metadata);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)metadata, key, value) strings = strings && json_is_string(value);
    if (!strings)
        return sa_fail(error, SA_FORMAT, "%s: damaged model file: __metadata__ is not an object of strings",
                       file->path);
    return SA_OK;
}

static sa_status parse_shape(const char *path, const json_t *shape, st_tensor *t, sa_error *error) {
    if (!json_is_array(shape) || json_array_size(shape) > ST_MAX_RANK)
        return fail_tensor(error, path, t->name, "the shape is not a list of at most 4 numbers");
    t->rank = (int)json_array_size(shape);
    for (int i = 0; i < t->rank; i++) {
        const json_t *dim = json_array_get(shape, (size_t)i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return fail_tensor(error, path, t->name, "the shape is not made of whole numbers from 0 up");
        t->dim[i] = json_integer_value(dim);
    }
    return SA_OK;
}

static sa_status parse_tensor(const st_file *file, const char *name, const json_t *entry, size_t data_start,
                              placed *out, sa_error *error) {
    st_tensor *t = &out->tensor;
    t->name = name;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype)
        return fail_tensor(error, file->path, name, "has no type");
    int type = 0;
    while (type < N_DTYPES && strcmp(dtype, dtypes[type].name))
        type++;
    if (type == N_DTYPES)
        return fail_tensor(error, file->path, name, "its type is none of F32, BF16, I8, U8, I32, I64");
    t->dtype = (st_dtype)type;
    SA_TRY(parse_shape(file->path, json_object_get(entry, "shape"), t, error));

    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return fail_tensor(error, file->path, name, "data_offsets is not [begin, end]");
    out->begin = (uint64_t)json_integer_value(begin);
    out->end = (uint64_t)json_integer_value(end);

    uint64_t bytes;
    if (!shape_bytes(t, &bytes) || bytes != out->end - out->begin)
        return fail_tensor(error, file->path, name, "shape and type do not make up its span of data");
    if (out->end > file->mapping.size - data_start)
        return fail_cut(error, file->path, out->end + data_start, file->mapping.size);
    if ((data_start + out->begin) % dtypes[type].size)
        return fail_tensor(error, file->path, name, "its data are not aligned to its type");
    t->data = file->mapping.data + data_start + out->begin;
    t->bytes = (size_t)bytes;
    return SA_OK;
}

static int by_place(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->tensor.name, y->tensor.name);
}

static int by_name(const void *a, const void *b) {
    const placed *const *x = a, *const *y = b;
    return strcmp((*x)->tensor.name, (*y)->tensor.name);
}

static sa_status check_spans(const st_file *file, size_t data_size, sa_error *error) {
    uint64_t place = 0;
    for (int i = 0; i < file->n; i++) {
        if (file->at[i].begin != place)
            return fail_tensor(error, file->path, file->at[i].tensor.name,
                               file->at[i].begin < place ? "its data overlap another tensor's"
                                                         : "there is a gap before its data");
        place = file->at[i].end;
    }
    if (place != data_size)
        return sa_fail(error, SA_FORMAT,
                       "%s: damaged model file: %llu bytes after the last tensor belong to nothing", file->path,
                       (unsigned long long)(data_size - place));
    return SA_OK;
}

static sa_status parse_file(st_file *file, sa_error *error) {
    size_t data_start;
    SA_TRY(parse_header(file, &data_start, error));
    SA_TRY(check_metadata(file, error));
    size_t n = json_object_size(file->header);
    if (n > ST_MAX_TENSORS + 1) /* one of them may be __metadata__ */
        return sa_fail(error, SA_FORMAT, "%s: more than %d tensors", file->path, ST_MAX_TENSORS);
    file->at = calloc(n + 1, sizeof *file->at);
    file->by_name = calloc(n + 1, sizeof *file->by_name);
    if (!file->at || !file->by_name)
        return sa_fail_memory(error, (n + 1) * (sizeof *file->at + sizeof *file->by_name));

    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry) if (strcmp(name, "__metadata__"))
        SA_TRY(parse_tensor(file, name, entry, data_start, &file->at[file->n++], error));

    qsort(file->at, (size_t)file->n, sizeof *file->at, by_place);
    SA_TRY(check_spans(file, file->mapping.size - data_start, error));
    for (int i = 0; i < file->n; i++)
        file->by_name[i] = &file->at[i];
    qsort(file->by_name, (size_t)file->n, sizeof *file->by_name, by_name);
    return SA_OK;
}

sa_status st_open(st_file **out, const char *path, sa_error *error) {
    *out = NULL;
    st_file *file = calloc(1, sizeof *file);
    if (!file)
        return sa_fail_memory(error, sizeof *file);
    file->path = strdup(path);
    sa_status status = file->path ? file_map(&file->mapping, path, error) : sa_fail_memory(error, strlen(path) + 1);
    if (status == SA_OK)
        status = parse_file(file, error);
    if (status != SA_OK) {
        st_close(file);
        return status;
    }
    *out = file;
    return SA_OK;
}

void st_close(st_file *file) {
    if (!file)
        return;
    json_decref(file->header);
    file_unmap(&file->mapping);
    free(file->by_name);
    free(file->at);
    free(file->path);
    free(file);
}

const char *st_path(const st_file *file) {
    return file->path;
}

int st_count(const st_file *file) {
    return file->n;
}

const st_tensor *st_at(const st_file *file, int index) {
    SA_ASSERT(index >= 0 && index < file->n);
    return &file->at[index].tensor;
}

const st_tensor *st_find(const st_file *file, const char *name) {
    const placed wanted = {.tensor.name = name}, *key = &wanted;
    const placed **found = bsearch(&key, file->by_name, (size_t)file->n, sizeof *file->by_name, by_name);
    return found ? &(*found)->tensor : NULL;
}

const char *st_metadata(const st_file *file, const char *key) {
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}

/* ---- writing ----------------------------------------------------------------------------------------- */

static sa_status check_utf8(const char *path, const char *text, sa_error *error) {
    errno = 0;
    json_t *checked = json_string(text);
    char shown[QUOTED];
    if (!checked && errno == ENOMEM)
        return sa_fail_memory(error, strlen(text));
    if (!checked)
        return sa_fail(error, SA_DATA, "%s: cannot be stored, not valid UTF-8: \"%s\"", path, quoted(shown, text));
    json_decref(checked);
    return SA_OK;
}

/* Takes over value, NULL (no memory) included. */
static sa_status set_unique(json_t *object, const char *path, const char *key, json_t *value, sa_error *error) {
    sa_status status = value ? check_utf8(path, key, error) : sa_fail_memory(error, 0);
    if (status == SA_OK && json_object_get(object, key))
        status = sa_fail(error, SA_USAGE, "%s: two entries are named \"%s\"", path, key);
    if (status == SA_OK)
        return json_object_set_new(object, key, value) ? sa_fail_memory(error, 0) : SA_OK;
    json_decref(value);
    return status;
}

static sa_status put_metadata(json_t *header, const char *path, const st_entry *metadata, int n, sa_error *error) {
    json_t *object = json_object();
    if (!object || json_object_set_new(header, "__metadata__", object))
        return sa_fail_memory(error, 0);
    for (int i = 0; i < n; i++) {
        SA_TRY(check_utf8(path, metadata[i].value, error));
        SA_TRY(set_unique(object, path, metadata[i].key, json_string(metadata[i].value), error));
    }
    return SA_OK;
}

static sa_status put_tensor(json_t *header, const char *path, const st_tensor *t, uint64_t begin, sa_error *error) {
    json_t *entry = json_pack("{s:s, s:[], s:[I, I]}", "dtype", dtypes[t->dtype].name, "shape", "data_offsets",
                              (json_int_t)begin, (json_int_t)(begin + t->bytes));
    json_t *shape = json_object_get(entry, "shape");
    for (int i = 0; shape && i < t->rank; i++)
        if (json_array_append_new(shape, json_integer(t->dim[i]))) {
            json_decref(entry);
            return sa_fail_memory(error, 0);
        }
    return set_unique(header, path, t->name, entry, error);
}

static sa_status check_tensor(const char *path, const st_tensor *t, sa_error *error) {
    uint64_t bytes;
    if ((unsigned)t->dtype >= N_DTYPES || t->rank < 0 || t->rank > ST_MAX_RANK || !shape_bytes(t, &bytes) ||
        bytes != t->bytes || !strcmp(t->name, "__metadata__"))
        return sa_fail(error, SA_USAGE, "%s: tensor \"%s\": name, type, shape and bytes do not make a tensor", path,
                       t->name);
    return SA_OK;
}

/* Fills header and chunk[1 ... n] in the order of the file. */
static sa_status lay_out(json_t *header, file_chunk *chunk, const char *path, const st_tensor *tensors, int n,
                         sa_error *error) {
    for (int i = 0; i < n; i++)
        SA_TRY(check_tensor(path, &tensors[i], error));
    uint64_t place = 0;
    for (size_t size = 8; size; size /= 2)
        for (int i = 0; i < n; i++)
            if (dtypes[tensors[i].dtype].size == size) {
                SA_TRY(put_tensor(header, path, &tensors[i], place, error));
                place += tensors[i].bytes;
                *++chunk = (file_chunk){tensors[i].data, tensors[i].bytes};
            }
    return SA_OK;
}

/* The length and the JSON, padded with blanks so that the data start aligned. */
static sa_status print_header(strbuf *out, const json_t *header, const char *path, sa_error *error) {
    char *text = json_dumps(header, JSON_COMPACT);
    if (!text)
        return sa_fail_memory(error, 0);
    size_t n = strlen(text), padding = DATA_ALIGNMENT - 1 - (LENGTH_BYTES + n - 1) % DATA_ALIGNMENT;
    uint64_t length = n + padding;
    strbuf_append(out, &length, LENGTH_BYTES);
    strbuf_append(out, text, n);
    for (size_t i = 0; i < padding; i++)
        strbuf_append(out, " ", 1);
    free(text);
    if (length > ST_MAX_HEADER)
        return sa_fail(error, SA_DATA,
                       "%s: %llu bytes of names and texts beside the tensors; at most %d are possible", path,
                       (unsigned long long)length, ST_MAX_HEADER);
    return out->failed ? sa_fail_memory(error, (size_t)length) : SA_OK;
}

sa_status st_write(const char *path, const st_tensor *tensors, int n, const st_entry *metadata, int n_metadata,
                   sa_error *error) {
    if (n < 0 || n > ST_MAX_TENSORS)
        return sa_fail(error, SA_USAGE, "%s: %d tensors; at most %d are possible", path, n, ST_MAX_TENSORS);
    file_chunk *chunks = calloc((size_t)n + 1, sizeof *chunks);
    json_t *header = json_object();
    strbuf text = {0};
    sa_status status = chunks && header ? SA_OK : sa_fail_memory(error, ((size_t)n + 1) * sizeof *chunks);
    if (status == SA_OK && n_metadata > 0)
        status = put_metadata(header, path, metadata, n_metadata, error);
    if (status == SA_OK)
        status = lay_out(header, chunks, path, tensors, n, error);
    if (status == SA_OK)
        status = print_header(&text, header, path, error);
    if (status == SA_OK) {
        chunks[0] = (file_chunk){text.data, text.length};
        status = file_write_whole(path, chunks, (size_t)n + 1, error);
    }
    strbuf_free(&text);
    json_decref(header);
    free(chunks);
    return status;
}
