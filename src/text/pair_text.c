#include "text/pair_text.h"

#include "base/hash.h"
#include "base/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------------- */

static bool is_standard_input(const char *path) {
    return strcmp(path, "-") == 0;
}

const char *pair_files_name(const pair_files *files, int side) {
    const char *path = files->path[side];
    return path && is_standard_input(path) ? "standard input" : path;
}

/* Whether a second look would find something else: pipes and devices, but no folder, which is an error anyway. */
static bool is_read_once(const char *path) {
    struct stat s;
    return is_standard_input(path) || (!stat(path, &s) && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode));
}

static sa_status copy_bytes(int from, int to, const char *name, const char *folder, sa_error *error) {
    char block[1 << 16];
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n == 0)
            return SA_OK;
        if (n < 0 && errno != EINTR)
            return sa_fail(error, SA_IO, "%s: cannot be read: %s", name, strerror(errno));
        if (n > 0)
            SA_TRY(file_append(to, folder, block, (size_t)n, error));
    }
}

static sa_status copy_file(pair_files *files, int side, const char *folder, sa_error *error) {
    const char *name = pair_files_name(files, side);
    bool standard = is_standard_input(files->path[side]);
    int from = standard ? STDIN_FILENO : open(files->path[side], O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return sa_fail(error, SA_IO, "%s: cannot be opened: %s", name, strerror(errno));
    sa_status status = file_unnamed(&files->copy[side], folder, error);
    if (status == SA_OK)
        status = copy_bytes(from, files->copy[side], name, folder, error);
    if (!standard)
        close(from);
    return status;
}

sa_status pair_files_open(pair_files *out, const char *source, const char *target, bool strict, const char *folder,
                          sa_error *error) {
    *out = (pair_files){.path = {source, target}, .strict = strict, .copy = {-1, -1}};
    if (target && is_standard_input(source) && is_standard_input(target))
        return sa_fail(error, SA_USAGE,
                       "standard input cannot be both source and target; give two files, or one "
                       "of pairs with a tab between");
    for (int side = 0; side < 2 && out->path[side]; side++) {
        sa_status status = SA_OK;
        if (!is_read_once(out->path[side]))
            out->stamp[side] = file_stamp_of(out->path[side]);
        else if (folder)
            status = copy_file(out, side, folder, error);
        if (status != SA_OK) {
            pair_files_close(out);
            return status;
        }
    }
    return SA_OK;
}

void pair_files_close(pair_files *files) {
    for (int side = 0; side < 2; side++) {
        if (files->copy[side] >= 0)
            close(files->copy[side]);
        files->copy[side] = -1;
    }
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static sa_status open_side(pair_reader *r, int side, sa_error *error) {
    const pair_files *files = r->files;
    int copy = files->copy[side];
    if (copy < 0)
        return sa_reader_open(&r->reader[side], files->path[side], files->strict, error);
    const char *name = pair_files_name(files, side);
    if (lseek(copy, 0, SEEK_SET))
        return sa_fail(error, SA_IO, "%s: cannot be read again: %s", name, strerror(errno));
    return reader_open_descriptor(&r->reader[side], copy, name, files->strict, error);
}

sa_status pair_reader_open(pair_reader *out, const pair_files *files, sa_error *error) {
    *out = (pair_reader){.files = files, .hash = {HASH_START, HASH_START}};
    for (int side = 0; side < 2 && files->path[side]; side++) {
        sa_status status = open_side(out, side, error);
        if (status != SA_OK) {
            pair_reader_close(out);
            return status;
        }
    }
    return SA_OK;
}

void pair_reader_close(pair_reader *r) {
    sa_reader_free(r->reader[0]);
    sa_reader_free(r->reader[1]);
    strbuf_free(&r->wrong);
    r->reader[0] = r->reader[1] = NULL;
}

static sa_status next_line(pair_reader *r, int side, char **line, size_t *length, sa_error *error) {
    SA_TRY(sa_reader_next(r->reader[side], line, length, error));
    if (*line)
        r->hash[side] = hash_more(hash_more(r->hash[side], *line, *length), "\n", 1);
    return SA_OK;
}

/* Reads the rest of a file whose partner has ended, to tell how many lines it has. */
static sa_status count_rest(pair_reader *r, int side, sa_error *error) {
    char *line;
    size_t length;
    do
        SA_TRY(next_line(r, side, &line, &length, error));
    while (line);
    const char *source = pair_files_name(r->files, 0), *target = pair_files_name(r->files, 1);
    return sa_fail(error, SA_DATA,
                   "%s has %zu lines, %s has %zu: line i of one must be the translation of line i of the other",
                   source, sa_reader_line(r->reader[0]), target, sa_reader_line(r->reader[1]));
}

static sa_status next_of_two(pair_reader *r, pair_lines *out, sa_error *error) {
    char *line[2];
    for (int side = 0; side < 2; side++)
        SA_TRY(next_line(r, side, &line[side], &out->length[side], error));
    if (!line[0] != !line[1])
        return count_rest(r, line[0] ? 0 : 1, error);
    out->line[0] = line[0];
    out->line[1] = line[1];
    return SA_OK;
}

/* Notes a TSV line of the wrong form: its number, and for the first what is wrong. A few are enough to see the
 * kind. */
static void note_wrong(pair_reader *r, size_t fields) {
    size_t line = sa_reader_line(r->reader[0]);
    r->n_wrong++;
    if (r->n_wrong == 1)
        strbuf_printf(&r->wrong, "%s:%zu: %zu field%s, where source, tab, target are needed",
                      pair_files_name(r->files, 0), line, fields, fields == 1 ? "" : "s");
    else if (r->n_wrong <= 5)
        strbuf_printf(&r->wrong, "%s %zu", r->n_wrong == 2 ? "; so too in line" : ",", line);
    else if (r->n_wrong == 6)
        strbuf_puts(&r->wrong, " and others");
}

static sa_status next_of_tsv(pair_reader *r, pair_lines *out, sa_error *error) {
    for (;;) {
        char *line;
        size_t length, tabs = 0;
        SA_TRY(next_line(r, 0, &line, &length, error));
        if (!line)
            break;
        for (const char *c = line; (c = strchr(c, '\t')); c++)
            tabs++;
        if (tabs == 1) {
            const char *tab = strchr(line, '\t');
            size_t left = (size_t)(tab - line);
            *out = (pair_lines){{line, tab + 1}, {left, length - left - 1}};
            return SA_OK;
        }
        note_wrong(r, tabs + 1);
    }
    if (r->wrong.failed)
        return sa_fail_memory(error, 0);
    return r->n_wrong ? sa_fail(error, SA_DATA, "%s", r->wrong.data) : SA_OK;
}

sa_status pair_reader_next(pair_reader *r, pair_lines *out, sa_error *error) {
    *out = (pair_lines){0};
    SA_TRY(r->reader[1] ? next_of_two(r, out, error) : next_of_tsv(r, out, error));
    if (!out->line[0])
        return r->n ? SA_OK : sa_fail(error, SA_DATA, "%s: there are no lines in it", pair_files_name(r->files, 0));
    r->n++;
    r->bytes[0] += out->length[0];
    r->bytes[1] += out->length[1];
    return SA_OK;
}

static void note_replaced(replacements *out, const sa_reader *reader, const char *name) {
    size_t line, column;
    sa_reader_first_replaced(reader, &line, &column);
    out->n += sa_reader_replaced(reader);
    if (line == 0 || out->first[0])
        return;
    /* Of a very long path the end says more, and the numbers must stay whole. */
    size_t length = strlen(name), most = 200;
    strbuf at = {0};
    strbuf_printf(&at, "%s%s:%zu:%zu", length > most ? "..." : "", length > most ? name + length - most : name,
                  line, column);
    if (!at.failed && at.length < sizeof out->first)
        memcpy(out->first, at.data, at.length + 1);
    strbuf_free(&at);
}

replacements pair_reader_replaced(const pair_reader *r) {
    replacements out = {0};
    for (int side = 0; side < 2 && r->reader[side]; side++)
        note_replaced(&out, r->reader[side], pair_files_name(r->files, side));
    return out;
}

/* ---- in memory --------------------------------------------------------------------------------------- */

static void forget_lines(char **lines, size_t n) {
    for (size_t i = 0; lines && i < n; i++)
        free(lines[i]);
    free(lines);
}

void pair_text_free(pair_text *text) {
    forget_lines(text->source, text->n);
    forget_lines(text->target, text->n);
    *text = (pair_text){0};
}

static sa_status grow(char ***lines, size_t capacity, sa_error *error) {
    char **grown = realloc(*lines, capacity * sizeof *grown);
    if (!grown)
        return sa_fail_memory(error, capacity * sizeof *grown);
    *lines = grown;
    return SA_OK;
}

sa_status pair_text_add(pair_text *text, const pair_lines *lines, sa_error *error) {
    if (text->n == text->capacity) {
        size_t more = text->capacity ? 2 * text->capacity : 64;
        SA_TRY(grow(&text->source, more, error));
        SA_TRY(grow(&text->target, more, error));
        text->capacity = more;
    }
    char *s = strndup(lines->line[0], lines->length[0]), *t = strndup(lines->line[1], lines->length[1]);
    if (!s || !t) {
        free(s);
        free(t);
        return sa_fail_memory(error, lines->length[0] + lines->length[1]);
    }
    text->source[text->n] = s;
    text->target[text->n++] = t;
    return SA_OK;
}

static sa_status read_all(pair_text *out, pair_reader *r, sa_error *error) {
    pair_lines lines;
    for (;;) {
        SA_TRY(pair_reader_next(r, &lines, error));
        if (!lines.line[0])
            return SA_OK;
        SA_TRY(pair_text_add(out, &lines, error));
    }
}

sa_status pair_text_read(pair_text *out, const char *source, const char *target, bool strict,
                         replacements *replaced, sa_error *error) {
    *out = (pair_text){0};
    pair_files files;
    pair_reader reader;
    SA_TRY(pair_files_open(&files, source, target, strict, NULL, error));
    SA_TRY(pair_reader_open(&reader, &files, error));
    sa_status status = read_all(out, &reader, error);
    *replaced = pair_reader_replaced(&reader);
    pair_reader_close(&reader);
    pair_files_close(&files);
    if (status != SA_OK)
        pair_text_free(out);
    return status;
}
