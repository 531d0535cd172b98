#include "decode/dictionary.h"

#include "text/corpus.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    const char *source, *target;
    size_t line;
} entry;

struct sa_dictionary {
    entry *entry; /* by source, then line */
    size_t n;
    strbuf bytes; /* both sides of all, zero-terminated */
};

static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = strcmp(x->source, y->source);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* Appends the line without blanks around it. */
static void add_trimmed(strbuf *out, const char *line) {
    const char *from = line + strspn(line, " "), *to = from + strlen(from);
    while (to > from && to[-1] == ' ')
        to--;
    strbuf_append(out, from, (size_t)(to - from));
    strbuf_append(out, "", 1);
}

static sa_status fill(sa_dictionary *d, const pair_text *text, sa_error *error) {
    for (size_t i = 0; i < text->n; i++) {
        add_trimmed(&d->bytes, text->source[i]);
        strbuf_puts(&d->bytes, " ");
        add_trimmed(&d->bytes, text->target[i]);
    }
    d->entry = calloc(text->n, sizeof *d->entry);
    if (d->bytes.failed || !d->entry)
        return sa_fail_memory(error, d->bytes.length);
    const char *at = d->bytes.data;
    for (d->n = 0; d->n < text->n; d->n++) {
        const char *target = at + strlen(at) + 1;
        d->entry[d->n] = (entry){at, target, d->n};
        at = target + strlen(target) + 1;
    }
    qsort(d->entry, d->n, sizeof *d->entry, compare_entries);
    return SA_OK;
}

sa_status sa_dictionary_open(sa_dictionary **out, const char *path, bool strict, sa_error *error) {
    pair_text text;
    *out = NULL;
    sa_dictionary *d = calloc(1, sizeof *d);
    if (!d)
        return sa_fail_memory(error, sizeof *d);
    sa_status status = pair_text_read(&text, path, NULL, strict, error);
    if (status == SA_OK) {
        status = fill(d, &text, error);
        pair_text_free(&text);
    }
    if (status == SA_OK)
        *out = d;
    else
        sa_dictionary_free(d);
    return status;
}

void sa_dictionary_free(sa_dictionary *d) {
    if (!d)
        return;
    free(d->entry);
    strbuf_free(&d->bytes);
    free(d);
}

const char *dictionary_find(const sa_dictionary *d, const char *word) {
    size_t low = 0, high = d->n; /* the first entry not below the word */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(d->entry[middle].source, word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->n && strcmp(d->entry[low].source, word) == 0 ? d->entry[low].target : NULL;
}
