#include "text/corpus_file.h"

#include "base/hash.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { VERSION = 1, HEAD_BYTES = 4096 };

static const char magic[8] = "sa-text";

typedef struct section {
    uint64_t at, size;
} section;

enum { ENTRIES, IDS, VOCAB_SOURCE, VOCAB_TARGET, HELD_OUT, N_SECTIONS };

/* As it lies in the file, little-endian on all machines that this runs on; no padding. */
typedef struct corpus_head {
    char magic[8];
    uint64_t version, file_size;
    corpus_origin origin;
    uint64_t n, n_ids, symbols[2], vocab_size[2];
    uint64_t held_out, held_out_first; /* pairs, and the first one's line */
    section section[N_SECTIONS];
    uint64_t small_check; /* hash of vocabularies and held out pairs */
    uint64_t check;       /* hash of all above */
} corpus_head;

_Static_assert(sizeof(corpus_head) <= HEAD_BYTES, "the head has its place");

static uint64_t head_check(const corpus_head *h) {
    return hash_bytes(h, offsetof(corpus_head, check));
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static bool sections_fit(const corpus_head *h, size_t size) {
    for (int i = 0; i < N_SECTIONS; i++) {
        const section *s = &h->section[i];
        if (s->at > size || s->size > size - s->at || s->at % sizeof(int))
            return false;
    }
    return h->section[ENTRIES].at % sizeof(uint64_t) == 0 &&
           h->section[ENTRIES].size / sizeof(corpus_entry) >= h->n &&
           h->section[IDS].size / sizeof(int) == h->n_ids;
}

static uint64_t small_check(const unsigned char *data, const corpus_head *h) {
    uint64_t hash = HASH_START;
    for (int i = VOCAB_SOURCE; i < N_SECTIONS; i++)
        hash = hash_more(hash, data + h->section[i].at, h->section[i].size);
    return hash;
}

/* What is wrong with the file, or NULL. */
static const char *find_fault(const file_mapping *m) {
    const corpus_head *h = (const corpus_head *)(const void *)m->data;
    if (m->size < sizeof magic || memcmp(m->data, magic, sizeof magic))
        return "it is another kind of file";
    if (m->size < HEAD_BYTES)
        return "it is cut short";
    if (h->version != VERSION)
        return "it is of another version";
    if (h->check != head_check(h))
        return "its head is damaged";
    if (h->file_size != m->size)
        return "it is cut short";
    for (int side = 0; side < 2; side++)
        if (h->vocab_size[side] == 0 || h->vocab_size[side] > INT_MAX)
            return "its head is damaged";
    if (!sections_fit(h, m->size) || small_check(m->data, h) != h->small_check)
        return "it is damaged";
    return NULL;
}

sa_status corpus_file_open(corpus_file *out, const char *path, sa_error *error) {
    *out = (corpus_file){0};
    if (access(path, F_OK) && errno == ENOENT)
        return SA_OK;
    SA_TRY(file_map(&out->mapping, path, error));
    const char *fault = find_fault(&out->mapping);
    if (fault) {
        corpus_file_close(out);
        return sa_fail(error, SA_FORMAT, "%s: %s", path, fault);
    }
    out->head = (const corpus_head *)(const void *)out->mapping.data;
    return SA_OK;
}

void corpus_file_close(corpus_file *f) {
    file_unmap(&f->mapping);
    f->head = NULL;
}

const corpus_origin *corpus_file_origin(const corpus_file *f) {
    return &f->head->origin;
}

static file_chunk bytes_of(const corpus_file *f, int i) {
    const section *s = &f->head->section[i];
    return (file_chunk){f->mapping.data + s->at, s->size};
}

file_chunk corpus_file_vocab(const corpus_file *f, int side) {
    return bytes_of(f, side == SA_SOURCE ? VOCAB_SOURCE : VOCAB_TARGET);
}

/* Pairs are written as source, zero byte, target, zero byte. */
sa_status corpus_file_held_out(const corpus_file *f, pair_text *out, sa_error *error) {
    file_chunk bytes = bytes_of(f, HELD_OUT);
    const char *at = bytes.data, *end = at + bytes.size;
    *out = (pair_text){.first = f->head->held_out_first};
    for (uint64_t i = 0; i < f->head->held_out; i++) {
        pair_lines lines;
        bool whole = true;
        for (int side = 0; side < 2 && whole; side++) {
            const char *zero = memchr(at, 0, (size_t)(end - at));
            whole = zero != NULL;
            lines.line[side] = at;
            lines.length[side] = whole ? (size_t)(zero - at) : 0;
            at = whole ? zero + 1 : end;
        }
        sa_status status = whole ? pair_text_add(out, &lines, error)
                                 : sa_fail(error, SA_FORMAT, "the pairs held out are not whole");
        if (status != SA_OK) {
            pair_text_free(out);
            return status;
        }
    }
    return SA_OK;
}

sa_status corpus_file_take(corpus_file *f, corpus *out, const char *path, sa_error *error) {
    const corpus_head *h = f->head;
    char *name = strdup(path);
    if (!name)
        return sa_fail_memory(error, strlen(path));
    *out = (corpus){
        .n = h->n,
        .source_symbols = h->symbols[0],
        .target_symbols = h->symbols[1],
        .vocab_size = {(int)h->vocab_size[0], (int)h->vocab_size[1]},
        .entry = bytes_of(f, ENTRIES).data,
        .ids = bytes_of(f, IDS).data,
        .n_ids = h->n_ids,
        .mapping = f->mapping,
        .path = name,
    };
    /* Pairs come in shuffled order: what lies around one is not wanted next, and reading it would push out what is.
     * corpus_expect says what is wanted. */
    madvise((void *)(uintptr_t)f->mapping.data, f->mapping.size, MADV_RANDOM);
    *f = (corpus_file){0};
    return SA_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* A part of the file that grows, written in large pieces. */
typedef struct stretch {
    uint64_t at; /* where the next piece goes */
    size_t n;
    unsigned char bytes[1 << 16];
} stretch;

struct corpus_file_writer {
    file_writer *file;
    corpus_head head;
    stretch entries, ids;
};

sa_status corpus_file_begin(corpus_file_writer **out, const char *path, bool wait, sa_error *error) {
    *out = NULL;
    corpus_file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return sa_fail_memory(error, sizeof *w);
    sa_status status = file_writer_open(&w->file, path, wait, error);
    if (w->file)
        *out = w;
    else
        free(w);
    return status;
}

void corpus_file_abandon(corpus_file_writer *w) {
    if (!w)
        return;
    file_writer_abandon(w->file);
    free(w);
}

void corpus_file_reserve(corpus_file_writer *w, size_t pairs) {
    section *s = w->head.section;
    s[ENTRIES] = (section){HEAD_BYTES, pairs * sizeof(corpus_entry)};
    s[IDS].at = HEAD_BYTES + s[ENTRIES].size;
    w->entries.at = s[ENTRIES].at;
    w->ids.at = s[IDS].at;
}

static sa_status flush(corpus_file_writer *w, stretch *s, sa_error *error) {
    SA_TRY(file_writer_put(w->file, s->at, s->bytes, s->n, error));
    s->at += s->n;
    s->n = 0;
    return SA_OK;
}

static sa_status append(corpus_file_writer *w, stretch *s, const void *bytes, size_t n, sa_error *error) {
    const unsigned char *from = bytes;
    while (n > 0) {
        size_t room = sizeof s->bytes - s->n, piece = n < room ? n : room;
        memcpy(s->bytes + s->n, from, piece);
        s->n += piece;
        from += piece;
        n -= piece;
        if (s->n == sizeof s->bytes)
            SA_TRY(flush(w, s, error));
    }
    return SA_OK;
}

sa_status corpus_file_add(void *writer, const corpus_entry *e, const int *ids, sa_error *error) {
    corpus_file_writer *w = writer;
    corpus_head *h = &w->head;
    SA_ASSERT(h->n < h->section[ENTRIES].size / sizeof *e);
    size_t count = (size_t)e->source_length + (size_t)e->target_length;
    corpus_entry entry = *e;
    entry.first = h->n_ids;
    h->n++;
    h->n_ids += count;
    h->symbols[0] += (uint64_t)e->source_length - 1;
    h->symbols[1] += (uint64_t)e->target_length - 1;
    SA_TRY(append(w, &w->entries, &entry, sizeof entry, error));
    return append(w, &w->ids, ids, count * sizeof *ids, error);
}

/* What follows the ids goes on in their stretch; sections begin at multiples of an id's size. */
static sa_status append_section(corpus_file_writer *w, int i, const void *bytes, size_t n, sa_error *error) {
    static const char zeros[sizeof(int)];
    uint64_t at = w->ids.at + w->ids.n;
    w->head.section[i] = (section){at, n};
    w->head.small_check = hash_more(w->head.small_check, bytes, n);
    SA_TRY(append(w, &w->ids, bytes, n, error));
    return append(w, &w->ids, zeros, -n % sizeof(int), error);
}

static sa_status append_held_out(corpus_file_writer *w, const pair_text *text, sa_error *error) {
    strbuf bytes = {0};
    for (size_t i = 0; i < text->n; i++) {
        strbuf_append(&bytes, text->source[i], strlen(text->source[i]) + 1);
        strbuf_append(&bytes, text->target[i], strlen(text->target[i]) + 1);
    }
    sa_status status = bytes.failed ? sa_fail_memory(error, bytes.length)
                                    : append_section(w, HELD_OUT, bytes.data, bytes.length, error);
    strbuf_free(&bytes);
    return status;
}

static sa_status write_rest(corpus_file_writer *w, const file_chunk vocabularies[2], const pair_text *held_out,
                            sa_error *error) {
    corpus_head *h = &w->head;
    h->section[IDS].size = h->n_ids * sizeof(int);
    h->small_check = HASH_START;
    for (int side = 0; side < 2; side++)
        SA_TRY(append_section(w, side == SA_SOURCE ? VOCAB_SOURCE : VOCAB_TARGET, vocabularies[side].data,
                              vocabularies[side].size, error));
    SA_TRY(append_held_out(w, held_out, error));
    SA_TRY(flush(w, &w->entries, error));
    SA_TRY(flush(w, &w->ids, error));
    memcpy(h->magic, magic, sizeof magic);
    h->version = VERSION;
    h->file_size = w->ids.at;
    h->check = head_check(h);
    return file_writer_put(w->file, 0, h, sizeof *h, error);
}

sa_status corpus_file_finish(corpus_file_writer *w, const corpus_origin *origin, const file_chunk vocabularies[2],
                             const int vocab_size[2], const pair_text *held_out, sa_error *error) {
    corpus_head *h = &w->head;
    h->origin = *origin;
    h->held_out = held_out->n;
    h->held_out_first = held_out->first;
    for (int side = 0; side < 2; side++)
        h->vocab_size[side] = (uint64_t)vocab_size[side];
    sa_status status = write_rest(w, vocabularies, held_out, error);
    if (status != SA_OK) {
        corpus_file_abandon(w);
        return status;
    }
    file_writer *file = w->file;
    free(w);
    return file_writer_finish(file, error);
}
