#include "text/corpus.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading
 * ------------------------------------------------------------------------------------------------------ */

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

/* Appends copies of both lines; n counts whole pairs. */
static sa_status add_pair(pair_text *text, size_t *capacity, const char *source, size_t source_length,
                          const char *target, size_t target_length, sa_error *error) {
    if (text->n == *capacity) {
        size_t more = *capacity ? 2 * *capacity : 1024;
        char **grown = realloc(text->source, more * sizeof *grown);
        if (!grown)
            return sa_fail_memory(error, more * sizeof *grown);
        text->source = grown;
        grown = realloc(text->target, more * sizeof *grown);
        if (!grown)
            return sa_fail_memory(error, more * sizeof *grown);
        text->target = grown;
        *capacity = more;
    }
    char *s = strndup(source, source_length), *t = strndup(target, target_length);
    if (!s || !t) {
        free(s);
        free(t);
        return sa_fail_memory(error, source_length + target_length);
    }
    text->source[text->n] = s;
    text->target[text->n++] = t;
    return SA_OK;
}

/* Counts what the reader replaced, and notes where the first was. */
static void note_replaced(pair_text *text, const sa_reader *reader, const char *name) {
    size_t line, column;
    sa_reader_first_replaced(reader, &line, &column);
    text->replaced += sa_reader_replaced(reader);
    if (line == 0 || text->replaced_at[0])
        return;
    /* Of a very long path the end says more, and the numbers must stay whole. */
    size_t length = strlen(name), most = 200;
    strbuf at = {0};
    strbuf_printf(&at, "%s%s:%zu:%zu", length > most ? "..." : "", length > most ? name + length - most : name,
                  line, column);
    if (!at.failed && at.length < sizeof text->replaced_at)
        memcpy(text->replaced_at, at.data, at.length + 1);
    strbuf_free(&at);
}

/* Reads the rest of a file whose partner has ended, to tell how many lines it has. */
static sa_status count_rest(sa_reader *reader, sa_error *error) {
    char *line;
    size_t length;
    do
        SA_TRY(sa_reader_next(reader, &line, &length, error));
    while (line);
    return SA_OK;
}

static sa_status read_two(pair_text *out, sa_reader *source, sa_reader *target, const char *source_name,
                          const char *target_name, sa_error *error) {
    size_t capacity = 0;
    for (;;) {
        char *s, *t;
        size_t s_length, t_length;
        SA_TRY(sa_reader_next(source, &s, &s_length, error));
        SA_TRY(sa_reader_next(target, &t, &t_length, error));
        if (!s && !t)
            return SA_OK;
        if (!s || !t) {
            SA_TRY(count_rest(s ? source : target, error));
            return sa_fail(
                error, SA_DATA,
                "%s has %zu lines, %s has %zu: line i of one must be the translation of line i of the other",
                source_name, sa_reader_line(source), target_name, sa_reader_line(target));
        }
        SA_TRY(add_pair(out, &capacity, s, s_length, t, t_length, error));
    }
}

/* Notes a TSV line of the wrong form: its number, and for the first what is wrong. A few are enough to see the
 * kind. */
static void note_wrong(strbuf *wrong, size_t n_wrong, const char *name, size_t line, size_t fields) {
    if (n_wrong == 1)
        strbuf_printf(wrong, "%s:%zu: %zu field%s, where source, tab, target are needed", name, line, fields,
                      fields == 1 ? "" : "s");
    else if (n_wrong <= 5)
        strbuf_printf(wrong, "%s %zu", n_wrong == 2 ? "; so too in line" : ",", line);
    else if (n_wrong == 6)
        strbuf_puts(wrong, " and others");
}

static sa_status read_tsv_lines(pair_text *out, sa_reader *reader, const char *name, strbuf *wrong,
                                sa_error *error) {
    size_t capacity = 0, n_wrong = 0;
    for (;;) {
        char *line;
        size_t length;
        SA_TRY(sa_reader_next(reader, &line, &length, error));
        if (!line)
            return SA_OK;
        size_t tabs = 0;
        for (const char *c = line; (c = strchr(c, '\t')); c++)
            tabs++;
        if (tabs != 1) {
            note_wrong(wrong, ++n_wrong, name, sa_reader_line(reader), tabs + 1);
            continue;
        }
        const char *tab = strchr(line, '\t');
        size_t left = (size_t)(tab - line);
        SA_TRY(add_pair(out, &capacity, line, left, tab + 1, length - left - 1, error));
    }
}

static sa_status read_tsv(pair_text *out, sa_reader *reader, const char *name, sa_error *error) {
    strbuf wrong = {0};
    sa_status status = read_tsv_lines(out, reader, name, &wrong, error);
    if (status == SA_OK && wrong.failed)
        status = sa_fail_memory(error, 0);
    else if (status == SA_OK && wrong.length > 0)
        status = sa_fail(error, SA_DATA, "%s", wrong.data);
    strbuf_free(&wrong);
    return status;
}

static sa_status read_files(pair_text *out, sa_reader *source, sa_reader *target, const char *source_name,
                            const char *target_name, sa_error *error) {
    if (target)
        SA_TRY(read_two(out, source, target, source_name, target_name, error));
    else
        SA_TRY(read_tsv(out, source, source_name, error));
    if (out->n == 0)
        return sa_fail(error, SA_DATA, "%s: there are no lines in it", source_name);
    note_replaced(out, source, source_name);
    if (target)
        note_replaced(out, target, target_name);
    return SA_OK;
}

static const char *name_of(const char *path) {
    return path && !strcmp(path, "-") ? "standard input" : path;
}

sa_status pair_text_read(pair_text *out, const char *source, const char *target, bool strict, sa_error *error) {
    *out = (pair_text){0};
    if (target && !strcmp(source, "-") && !strcmp(target, "-"))
        return sa_fail(error, SA_USAGE,
                       "standard input cannot be both source and target; give two files, or one "
                       "of pairs with a tab between");
    sa_reader *s = NULL, *t = NULL;
    sa_status status = sa_reader_open(&s, source, strict, error);
    if (status == SA_OK && target)
        status = sa_reader_open(&t, target, strict, error);
    if (status == SA_OK)
        status = read_files(out, s, t, name_of(source), name_of(target), error);
    sa_reader_free(s);
    sa_reader_free(t);
    if (status != SA_OK)
        pair_text_free(out);
    return status;
}

sa_status pair_text_hold_out(pair_text *text, size_t n, pair_text *held, sa_error *error) {
    *held = (pair_text){0};
    if (n > text->n / 2)
        n = text->n / 2;
    if (n == 0)
        return SA_OK;
    held->source = malloc(n * sizeof *held->source);
    held->target = malloc(n * sizeof *held->target);
    if (!held->source || !held->target) {
        pair_text_free(held);
        return sa_fail_memory(error, 2 * n * sizeof *held->source);
    }
    text->n -= n;
    held->n = n;
    held->first = text->first + text->n;
    memcpy(held->source, text->source + text->n, n * sizeof *held->source);
    memcpy(held->target, text->target + text->n, n * sizeof *held->target);
    return SA_OK;
}

/* ---- encoding
 * ----------------------------------------------------------------------------------------------------- */

typedef enum verdict { KEEP, EMPTY, TOO_LONG } verdict;

static verdict judge(size_t source, size_t target, int max_length) {
    if (source == 0 || target == 0)
        return EMPTY;
    size_t most = max_length > 0 ? (size_t)max_length : INT_MAX - 1;
    return source > most || target > most ? TOO_LONG : KEEP;
}

/* Appends the ids of pairs that are kept to ids, and their lengths to out->pair. */
static sa_status encode_pairs(corpus *out, const pair_text *text, const vocab *source, const vocab *target,
                              int max_length, corpus_counts *counts, id_list *ids, sa_error *error) {
    for (size_t i = 0; i < text->n; i++) {
        size_t start = ids->n, n[2];
        const char *const line[2] = {text->source[i], text->target[i]};
        SA_TRY(vocab_encode_pair((const vocab *const[]){source, target}, line,
                                 (const size_t[]){strlen(line[0]), strlen(line[1])}, ids, n, error));
        counts->read++;
        switch (judge(n[0], n[1], max_length)) {
        case KEEP:
            counts->kept++;
            out->source_symbols += n[0];
            out->target_symbols += n[1];
            out->pair[out->n++] =
                (pair){.source_length = (int)n[0] + 1, .target_length = (int)n[1] + 1, .line = text->first + i};
            continue;
        case EMPTY:
            counts->empty++;
            break;
        case TOO_LONG:
            counts->too_long++;
            break;
        }
        ids->n = start;
    }
    return SA_OK;
}

sa_status corpus_encode(corpus *out, const pair_text *text, const vocab *source, const vocab *target,
                        int max_length, corpus_counts *counts, sa_error *error) {
    *out = (corpus){0};
    *counts = (corpus_counts){0};
    id_list ids = {0};
    out->pair = malloc((text->n ? text->n : 1) * sizeof *out->pair);
    sa_status status = out->pair ? encode_pairs(out, text, source, target, max_length, counts, &ids, error)
                                 : sa_fail_memory(error, text->n * sizeof *out->pair);
    out->ids = ids.id;
    if (status != SA_OK) {
        corpus_free(out);
        return status;
    }
    /* Only now do the ids stay where they are. */
    const int *at = out->ids;
    for (size_t i = 0; i < out->n; i++) {
        pair *p = &out->pair[i];
        p->source = at;
        p->target = at + p->source_length;
        at = p->target + p->target_length;
    }
    return SA_OK;
}

void corpus_free(corpus *c) {
    free(c->pair);
    free(c->ids);
    *c = (corpus){0};
}
