#include "train/link_table.h"

#include "base/hash.h"
#include "text/words.h"

#include <stdlib.h>
#include <string.h>

/* One way through the text and its links. */
typedef struct table_reader {
    link_table *table;
    const corpus *text;
    const vocab *const *side;
    pair_reader lines;
    sa_reader *links;
    const char *name; /* of the links, for messages */
    size_t pair;      /* the next of the corpus */
    int *word[2];     /* of each symbol of the pair */
    size_t room[2];
} table_reader;

static int count_words(const char *line, size_t length) {
    word_counter count = {0};
    words_take(&count, line, length);
    return count.n;
}

/* ---- a pair ------------------------------------------------------------------------------------------ */

/* The words of the n symbols of a side; `encoded` is the line but for what is protected in it. */
static sa_status number_side(table_reader *r, int side, const char *line, const strbuf *encoded, size_t n,
                             sa_error *error) {
    if (r->room[side] < n) {
        int *grown = realloc(r->word[side], n * sizeof *grown);
        if (!grown)
            return sa_fail_memory(error, n * sizeof *grown);
        r->word[side] = grown;
        r->room[side] = n;
    }
    int *origin = NULL;
    SA_TRY(words_of_symbols(r->side[side], encoded->data, encoded->length, r->word[side], n, error));
    if (vocab_protects(r->side[0]) && vocab_protects(r->side[1]))
        SA_TRY(words_under_protection(&origin, line, encoded->data, error));
    for (size_t i = 0; origin && i < n; i++)
        r->word[side][i] = origin[r->word[side][i]];
    free(origin);
    return SA_OK;
}

static sa_status number_symbols(table_reader *r, const pair_lines *lines, const corpus_entry *e, sa_error *error) {
    strbuf line[2] = {{0}, {0}}, encoded[2] = {{0}, {0}};
    for (int side = 0; side < 2; side++)
        strbuf_append(&line[side], lines->line[side], lines->length[side]);
    bool ok = !line[0].failed && !line[1].failed;
    if (ok && vocab_protects(r->side[0]) && vocab_protects(r->side[1]))
        ok = protect_pair(encoded, lines->line, lines->length, false);
    else
        for (int side = 0; ok && side < 2; side++)
            strbuf_append(&encoded[side], lines->line[side], lines->length[side]);
    ok = ok && !encoded[0].failed && !encoded[1].failed;
    sa_status status = ok ? SA_OK : sa_fail_memory(error, lines->length[0] + lines->length[1]);
    const int length[2] = {e->source_length, e->target_length};
    for (int side = 0; side < 2 && status == SA_OK; side++)
        status = number_side(r, side, line[side].data, &encoded[side], (size_t)length[side] - 1, error);
    for (int side = 0; side < 2; side++) {
        strbuf_free(&line[side]);
        strbuf_free(&encoded[side]);
    }
    return status;
}

static bool push(link_table *table, symbol_link link) {
    if (table->n == table->capacity) {
        size_t capacity = table->capacity > 0 ? 2 * table->capacity : 1024;
        symbol_link *grown = realloc(table->link, capacity * sizeof *grown);
        if (!grown)
            return false;
        table->link = grown;
        table->capacity = capacity;
    }
    table->link[table->n++] = link;
    return true;
}

/* Each link of words as links of all their symbols. */
static sa_status add_links(table_reader *r, const corpus_entry *e, const sa_links *links, sa_error *error) {
    for (size_t k = 0; k < links->n; k++)
        for (int t = 0; t < e->target_length - 1; t++)
            for (int s = 0; r->word[1][t] == links->link[k].target && s < e->source_length - 1; s++)
                if (r->word[0][s] == links->link[k].source && !push(r->table, (symbol_link){s, t}))
                    return sa_fail_memory(error, r->table->n * sizeof(symbol_link));
    return SA_OK;
}

static sa_status check_links(const table_reader *r, const pair_lines *lines, const sa_links *links,
                             sa_error *error) {
    int words[2];
    for (int side = 0; side < 2; side++)
        words[side] = count_words(lines->line[side], lines->length[side]);
    for (size_t k = 0; k < links->n; k++) {
        const sa_link *l = &links->link[k];
        bool source = l->source >= words[0];
        if (source || l->target >= words[1])
            return sa_fail(error, SA_DATA,
                           "%s:%zu: the link %d-%d names word %d of the %s, which has %d (words count from 0)",
                           r->name, sa_reader_line(r->links), l->source, l->target, source ? l->source : l->target,
                           source ? "source" : "target", words[source ? 0 : 1]);
    }
    return SA_OK;
}

static sa_status take_pair(table_reader *r, const pair_lines *lines, const sa_links *links, sa_error *error) {
    SA_TRY(check_links(r, lines, links, error));
    const corpus_entry *e = r->pair < r->text->n ? &r->text->entry[r->pair] : NULL;
    if (!e || e->line != r->lines.n - 1)
        return SA_OK; /* dropped, or held out */
    SA_TRY(number_symbols(r, lines, e, error));
    SA_TRY(add_links(r, e, links, error));
    r->table->at[++r->pair] = r->table->n;
    return SA_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------- */

static sa_status next_links(table_reader *r, char **line, sa_links *links, sa_error *error) {
    size_t length;
    sa_error inner;
    *links = (sa_links){0};
    SA_TRY(sa_reader_next(r->links, line, &length, error));
    if (!*line)
        return SA_OK;
    r->table->hash = hash_more(r->table->hash, *line, length + 1);
    if (sa_links_parse(links, *line, 0, false, &inner) == SA_OK)
        return SA_OK;
    return sa_fail(error, inner.status, "%s:%zu: %s", r->name, sa_reader_line(r->links), inner.text);
}

/* The rest of both, to tell how many lines they have. */
static sa_status fail_at_end(table_reader *r, sa_error *error) {
    pair_lines lines = {{"", ""}, {0, 0}};
    char *line = (char *)"";
    size_t length;
    while (lines.line[SA_SOURCE])
        SA_TRY(pair_reader_next(&r->lines, &lines, error));
    while (line)
        SA_TRY(sa_reader_next(r->links, &line, &length, error));
    return sa_fail(error, SA_DATA,
                   "%s has %zu lines, but the training text has %zu: line i has the links of pair i", r->name,
                   sa_reader_line(r->links), r->lines.n);
}

static sa_status read_all(table_reader *r, sa_error *error) {
    for (;;) {
        pair_lines lines;
        char *line;
        sa_links links;
        SA_TRY(next_links(r, &line, &links, error));
        sa_status status = pair_reader_next(&r->lines, &lines, error);
        if (status == SA_OK && !line != !lines.line[SA_SOURCE])
            status = fail_at_end(r, error);
        bool end = status == SA_OK && !line;
        if (status == SA_OK && !end)
            status = take_pair(r, &lines, &links, error);
        sa_links_free(&links);
        SA_TRY(status);
        if (end)
            break;
    }
    return r->pair == r->text->n
               ? SA_OK
               : sa_fail(error, SA_DATA,
                         "%s: the file of ids is not of the training text that the links belong to; "
                         "delete it",
                         r->text->path ? r->text->path : "the training text");
}

sa_status link_table_read(link_table *out, const char *path, const pair_files *files, const corpus *text,
                          const vocab *const side[2], sa_error *error) {
    table_reader r = {
        .table = out, .text = text, .side = side, .name = strcmp(path, "-") ? path : "standard input"};
    *out = (link_table){.at = calloc(text->n + 1, sizeof *out->at), .hash = HASH_START};
    sa_status status = out->at ? SA_OK : sa_fail_memory(error, text->n * sizeof *out->at);
    if (status == SA_OK)
        status = sa_reader_open(&r.links, path, false, error);
    if (status == SA_OK)
        status = pair_reader_open(&r.lines, files, error);
    if (status == SA_OK) {
        status = read_all(&r, error);
        pair_reader_close(&r.lines);
    }
    sa_reader_free(r.links);
    free(r.word[0]);
    free(r.word[1]);
    if (status != SA_OK)
        link_table_free(out);
    return status;
}

void link_table_free(link_table *table) {
    free(table->at);
    free(table->link);
    *table = (link_table){0};
}

/* ---- batches ----------------------------------------------------------------------------------------- */

bool link_table_guide(const link_table *table, tape *t, const size_t *pairs, int n, target_batch *target) {
    const steps *s = &target->steps;
    size_t links = 0;
    for (int i = 0; i < n; i++)
        links += table->at[pairs[i] + 1] - table->at[pairs[i]];
    int *at = tape_bytes(t, ((size_t)s->at[s->T] + 1) * sizeof *at);
    int *column = tape_bytes(t, (links + 1) * sizeof *column);
    if (!at || !column)
        return false;
    int made = 0;
    for (int j = 0; j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++) {
            size_t of = pairs[target->number[i]];
            at[s->at[j] + i] = made;
            for (size_t k = table->at[of]; k < table->at[of + 1]; k++)
                if (table->link[k].target == j)
                    column[made++] = table->link[k].source;
        }
    at[s->at[s->T]] = made;
    target->guide = (guide_rows){at, column};
    return true;
}
