#include "decode/shortlist.h"

#include "base/hash.h"
#include "model/model_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sa_status shortlist_vocabularies(const vocab *source, const vocab *target, char out[40], sa_error *error) {
    const vocab *const side[2] = {source, target};
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        strbuf bytes = {0};
        sa_status status = vocab_save(side[k], &bytes, error);
        hash[k] = hash_bytes(bytes.data, bytes.length);
        strbuf_free(&bytes);
        SA_TRY(status);
    }
    snprintf(out, 40, "%016" PRIx64 " %016" PRIx64, hash[0], hash[1]);
    return SA_OK;
}

static sa_status find_numbers(const st_file *file, const char *name, const int **out, int64_t *n, sa_error *error) {
    const st_tensor *t = st_find(file, name);
    if (!t || t->dtype != ST_I32 || t->rank != 1 || t->dim[0] > INT32_MAX)
        return sa_fail(error, SA_FORMAT, "%s: damaged shortlist: %s is missing or no list of numbers",
                       st_path(file), name);
    *out = t->data;
    *n = t->dim[0];
    return SA_OK;
}

static bool are_words(const int *word, int64_t n, int size) {
    bool all = true;
    for (int64_t i = 0; i < n; i++)
        all = all && word[i] >= 0 && word[i] < size;
    return all;
}

/* Whether starts begin with 0, never fall, and end with n. */
static bool are_starts(const int *start, int64_t n_starts, int64_t n) {
    bool ok = n_starts > 0 && start[0] == 0 && start[n_starts - 1] == n;
    for (int64_t i = 0; ok && i + 1 < n_starts; i++)
        ok = start[i] <= start[i + 1];
    return ok;
}

static sa_status check_header(const st_file *file, const sa_model *m, sa_error *error) {
    char wanted[40];
    const char *format = st_metadata(file, "format"), *stored = st_metadata(file, "vocabularies");
    if (!format || strcmp(format, SHORTLIST_FORMAT) || !stored)
        return sa_fail(error, SA_FORMAT,
                       "%s: not a shortlist (or of another version): softalign shortlist makes one", st_path(file));
    SA_TRY(shortlist_vocabularies(m->source, m->target, wanted, error));
    if (strcmp(stored, wanted))
        return sa_fail(
            error, SA_DATA,
            "%s: made for a model with other vocabularies; make one for this model with softalign shortlist",
            st_path(file));
    return SA_OK;
}

static sa_status read_shortlist(sa_shortlist *s, const sa_model *m, sa_error *error) {
    int64_t starts = 0, words = 0, frequent = 0;
    SA_TRY(check_header(s->file, m, error));
    s->vocab_size[SA_SOURCE] = vocab_size(m->source);
    s->vocab_size[SA_TARGET] = vocab_size(m->target);
    SA_TRY(find_numbers(s->file, SHORTLIST_START, &s->start, &starts, error));
    SA_TRY(find_numbers(s->file, SHORTLIST_WORD, &s->word, &words, error));
    SA_TRY(find_numbers(s->file, SHORTLIST_FREQUENT, &s->frequent, &frequent, error));
    s->n_frequent = (int)frequent;
    if (starts != s->vocab_size[SA_SOURCE] + 1 || !are_starts(s->start, starts, words) ||
        !are_words(s->word, words, s->vocab_size[SA_TARGET]) ||
        !are_words(s->frequent, frequent, s->vocab_size[SA_TARGET]))
        return sa_fail(error, SA_FORMAT, "%s: damaged shortlist", st_path(s->file));
    return SA_OK;
}

sa_status sa_shortlist_open(sa_shortlist **out, const char *path, const sa_model *m, sa_error *error) {
    *out = NULL;
    if (!m->source)
        return sa_fail(error, SA_USAGE, "this model was planned, not opened: it has no vocabularies");
    sa_shortlist *s = calloc(1, sizeof *s);
    if (!s)
        return sa_fail_memory(error, sizeof *s);
    sa_status status = st_open(&s->file, path, error);
    if (status == SA_OK)
        status = read_shortlist(s, m, error);
    if (status == SA_OK)
        *out = s;
    else
        sa_shortlist_free(s);
    return status;
}

void sa_shortlist_free(sa_shortlist *s) {
    if (!s)
        return;
    st_close(s->file);
    free(s);
}
