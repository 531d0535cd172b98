#include "base/reader.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 1 << 16 };

struct sa_reader {
    char *name; /* for messages */
    int fd;
    bool close_fd, strict, keep_marks;

    /* Bytes of the file: in[used, n) were not looked at yet. */
    unsigned char in[BLOCK];
    size_t n, used;
    bool in_end;

    enum { UNKNOWN, PLAIN, GZIP } kind;
    z_stream z;
    bool in_member; /* inside a gzip member, whose end is still to come */
    bool pending;   /* inflate filled its room and may hold more text */

    /* Decoded text: a line begins at `start`, and no LF lies in [start, scanned). */
    char *text;
    size_t start, scanned, length, capacity;
    bool text_end;

    strbuf line;
    size_t lines, replaced, first_line, first_column;
    sa_error failure; /* ends the text; reported after the lines before it, and again at every later call */
};

static sa_status wait_for_bytes(sa_reader *r, int timeout, bool *ready) {
    struct pollfd p = {.fd = r->fd, .events = POLLIN};
    int n;
    do
        n = poll(&p, 1, timeout);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return sa_fail(&r->failure, SA_IO, "%s: cannot be read: %s", r->name, strerror(errno));
    *ready = n > 0;
    return SA_OK;
}

/* Appends what one read gives to in[], and waits for it. */
static sa_status read_bytes(sa_reader *r) {
    if (r->used == r->n)
        r->used = r->n = 0;
    for (;;) {
        ssize_t n = read(r->fd, r->in + r->n, BLOCK - r->n);
        if (n > 0)
            r->n += (size_t)n;
        if (n == 0)
            r->in_end = true;
        if (n >= 0)
            return SA_OK;
        if (errno == EAGAIN) {
            bool ready;
            SA_TRY(wait_for_bytes(r, -1, &ready));
        } else if (errno != EINTR) {
            return sa_fail(&r->failure, SA_IO, "%s: cannot be read: %s", r->name, strerror(errno));
        }
    }
}

/* Tells gzip from plain text. Leaves the kind unknown when one byte is too little to know. */
static sa_status find_kind(sa_reader *r) {
    if (r->n == 1 && r->in[0] == 0x1F && !r->in_end)
        return SA_OK;
    if (r->n < 2 || r->in[0] != 0x1F || r->in[1] != 0x8B) {
        r->kind = PLAIN;
        return SA_OK;
    }
    if (inflateInit2(&r->z, 15 + 16) != Z_OK)
        return sa_fail_memory(&r->failure, 0);
    r->kind = GZIP;
    r->in_member = true;
    return SA_OK;
}

/* Room for another block of text. */
static sa_status reserve_text(sa_reader *r) {
    if (r->start > 0) {
        memmove(r->text, r->text + r->start, r->length - r->start);
        r->length -= r->start;
        r->scanned -= r->start;
        r->start = 0;
    }
    if (r->capacity - r->length >= BLOCK)
        return SA_OK;
    size_t capacity = r->capacity ? 2 * r->capacity : 2 * BLOCK;
    char *text = realloc(r->text, capacity);
    if (!text)
        return sa_fail(&r->failure, SA_MEMORY, "%s:%zu: not enough memory for a line of more than %zu bytes",
                       r->name, r->lines + 1, r->length);
    r->text = text;
    r->capacity = capacity;
    return SA_OK;
}

/* Between members of a gzip file: another one follows, or zero bytes that pad the last block of a tape. */
static sa_status start_member(sa_reader *r) {
    while (r->used < r->n && r->in[r->used] == 0)
        r->used++;
    if (r->used == r->n) {
        r->text_end = r->in_end;
        return SA_OK;
    }
    if (r->in[r->used] != 0x1F)
        return sa_fail(&r->failure, SA_DATA,
                       "%s: damaged gzip file: something else follows the compressed text; "
                       "unpack it by hand to see what it is",
                       r->name);
    inflateReset(&r->z);
    r->in_member = true;
    return SA_OK;
}

static sa_status inflate_text(sa_reader *r) {
    if (r->used == r->n && r->in_end && !r->pending)
        return sa_fail(&r->failure, SA_DATA, "%s: the gzip file is cut short; get it again", r->name);
    size_t room = r->capacity - r->length;
    r->z.next_in = r->in + r->used;
    r->z.avail_in = (uInt)(r->n - r->used);
    r->z.next_out = (unsigned char *)r->text + r->length;
    r->z.avail_out = (uInt)(room < BLOCK ? room : BLOCK);
    uInt out = r->z.avail_out;
    int result = inflate(&r->z, Z_NO_FLUSH);
    r->used = r->n - r->z.avail_in;
    r->length += out - r->z.avail_out;
    r->pending = r->z.avail_out == 0 && result == Z_OK;
    switch (result) {
    case Z_STREAM_END:
        r->in_member = false;
        return SA_OK;
    case Z_OK:
    case Z_BUF_ERROR:
        return SA_OK;
    case Z_MEM_ERROR:
        return sa_fail_memory(&r->failure, 0);
    default:
        return sa_fail(&r->failure, SA_DATA, "%s: damaged gzip file (%s); get it again", r->name,
                       r->z.msg ? r->z.msg : "wrong data");
    }
}

/* Turns bytes of the file into text. Needs bytes that were not looked at yet, or the file's end. */
static sa_status decode(sa_reader *r) {
    if (r->kind == UNKNOWN)
        SA_TRY(find_kind(r));
    if (r->kind == UNKNOWN)
        return SA_OK;
    SA_TRY(reserve_text(r));
    if (r->kind == GZIP)
        return r->in_member ? inflate_text(r) : start_member(r);
    size_t n = r->n - r->used;
    memcpy(r->text + r->length, r->in + r->used, n);
    r->length += n;
    r->used = r->n;
    r->text_end = r->in_end;
    return SA_OK;
}

/* Whether the text read so far holds the next line, or its end. */
static bool have_line(sa_reader *r) {
    if (r->scanned < r->length) {
        const char *lf = memchr(r->text + r->scanned, '\n', r->length - r->scanned);
        r->scanned = lf ? (size_t)(lf - r->text) : r->length;
    }
    return r->scanned < r->length || r->text_end || r->failure.status != SA_OK;
}

/* Goes on until there is a line, an end or a failure. Returns false when it would have to wait and must not. */
static bool find_line(sa_reader *r, bool wait) {
    while (!have_line(r)) {
        bool need = (r->used == r->n && !r->pending) || r->kind == UNKNOWN;
        if (need && !r->in_end) {
            bool ready = true;
            if (!wait && wait_for_bytes(r, 0, &ready) != SA_OK)
                return true;
            if (!ready)
                return false;
            if (read_bytes(r) != SA_OK)
                return true;
        }
        if (decode(r) != SA_OK)
            return true;
    }
    return true;
}

static sa_status wrong_byte(const sa_reader *r, unsigned char byte, size_t column, sa_error *error) {
    return sa_fail(
        error, SA_DATA,
        "%s:%zu: byte %zu, 0x%02X, is not UTF-8 text; correct the file, or let such bytes be replaced (not "
        "strict)",
        r->name, r->lines, column, byte);
}

/* Appends s[0, n), part of a line that starts at `whole`. */
static sa_status clean(sa_reader *r, const char *s, size_t n, const char *whole, sa_error *error) {
    size_t good = utf8_valid_length(s, n);
    if (good < n) {
        size_t column = (size_t)(s - whole) + good + 1;
        if (r->strict)
            return wrong_byte(r, (unsigned char)s[good], column, error);
        if (r->replaced == 0) {
            r->first_line = r->lines;
            r->first_column = column;
        }
    }
    r->replaced += utf8_clean(&r->line, s, n);
    return SA_OK;
}

static sa_status clean_line(sa_reader *r, const char *whole, size_t n, sa_error *error) {
    const char *s = whole, *end = whole + n;
    strbuf_clear(&r->line);
    if (!r->keep_marks && n >= 3 && !memcmp(s, "\xEF\xBB\xBF", 3))
        s += 3;
    for (const char *cr; (cr = memchr(s, '\r', (size_t)(end - s))); s = cr + 1) {
        SA_TRY(clean(r, s, (size_t)(cr - s), whole, error));
        strbuf_puts(&r->line, " ");
    }
    SA_TRY(clean(r, s, (size_t)(end - s), whole, error));
    strbuf_append(&r->line, "", 0);
    return r->line.failed ? sa_fail_memory(error, n) : SA_OK;
}

sa_status sa_reader_next(sa_reader *r, char **line, size_t *length, sa_error *error) {
    *line = NULL;
    *length = 0;
    find_line(r, true);
    if (r->scanned == r->length && r->failure.status != SA_OK)
        return sa_fail(error, r->failure.status, "%s", r->failure.text);
    if (r->start == r->length)
        return SA_OK;
    size_t start = r->start, end = r->scanned;
    bool ended = end < r->length;
    r->start = r->scanned = ended ? end + 1 : end;
    r->lines++;
    if (ended && end > start && r->text[end - 1] == '\r')
        end--;
    SA_TRY(clean_line(r, r->text + start, end - start, error));
    *line = r->line.data;
    *length = r->line.length;
    return SA_OK;
}

bool sa_reader_ready(sa_reader *r) {
    return find_line(r, false);
}

static sa_status open_file(sa_reader *r, const char *path, sa_error *error) {
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return sa_fail(error, SA_IO, "%s: cannot be opened: %s", r->name, strerror(errno));
    r->close_fd = true;
    return SA_OK;
}

static sa_status check_descriptor(const sa_reader *r, sa_error *error) {
    struct stat status;
    if (fstat(r->fd, &status) < 0)
        return sa_fail(error, SA_IO, "%s: cannot be read: %s", r->name, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return sa_fail(error, SA_IO, "%s: is a folder; name a text file", r->name);
    return SA_OK;
}

/* Of fd, or where that is negative of the file called name. */
static sa_status open_reader(sa_reader **out, int fd, const char *name, bool strict, sa_error *error) {
    *out = NULL;
    sa_reader *r = calloc(1, sizeof *r);
    if (!r)
        return sa_fail_memory(error, sizeof *r);
    r->fd = fd;
    r->strict = strict;
    r->name = strdup(name);
    sa_status status = r->name ? SA_OK : sa_fail_memory(error, strlen(name));
    if (status == SA_OK && fd < 0)
        status = open_file(r, name, error);
    if (status == SA_OK)
        status = check_descriptor(r, error);
    if (status != SA_OK)
        sa_reader_free(r);
    else
        *out = r;
    return status;
}

void sa_reader_keep_marks(sa_reader *r) {
    r->keep_marks = true;
}

sa_status sa_reader_open(sa_reader **out, const char *path, bool strict, sa_error *error) {
    bool standard = strcmp(path, "-") == 0;
    return open_reader(out, standard ? STDIN_FILENO : -1, standard ? "standard input" : path, strict, error);
}

sa_status reader_open_descriptor(sa_reader **out, int fd, const char *name, bool strict, sa_error *error) {
    SA_ASSERT(fd >= 0);
    return open_reader(out, fd, name, strict, error);
}

size_t sa_reader_line(const sa_reader *r) {
    return r->lines;
}

size_t sa_reader_replaced(const sa_reader *r) {
    return r->replaced;
}

void sa_reader_first_replaced(const sa_reader *r, size_t *line, size_t *column) {
    *line = r->first_line;
    *column = r->first_column;
}

double sa_reader_share(const sa_reader *r) {
    struct stat status;
    off_t at = lseek(r->fd, 0, SEEK_CUR);
    if (at < 0 || fstat(r->fd, &status) < 0 || !S_ISREG(status.st_mode))
        return -1;
    size_t waiting = r->n - r->used + (r->kind == GZIP ? 0 : r->length - r->start);
    double share = status.st_size > 0 ? ((double)at - (double)waiting) / (double)status.st_size : 1;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

void sa_reader_free(sa_reader *r) {
    if (!r)
        return;
    if (r->kind == GZIP)
        inflateEnd(&r->z);
    if (r->fd >= 0 && r->close_fd)
        close(r->fd);
    strbuf_free(&r->line);
    free(r->text);
    free(r->name);
    free(r);
}
