#include "serve/search_job.h"

#include "base/error.h"
#include "serve/fields.h"

#include <stdlib.h>
#include <string.h>

static search_job *of(const job *j) {
    return (search_job *)(void *)(uintptr_t)j;
}

/* Samples follow from a line's number, so that lines of several requests do not go together. */
static bool same_search(const job *a, const job *b) {
    return !of(a)->options.sample && fields_equal(search_fields, &of(a)->options, &of(b)->options) &&
           of(a)->options.protect == of(b)->options.protect;
}

/* Of a search by itself the results are moved into the jobs. */
static void move_results(job_unit *const *units, size_t n, sa_translation *found) {
    for (size_t i = 0; i < n; i++) {
        of(units[i]->job)->result[units[i]->number] = found[i];
        int length = found[i].hypothesis[0].length;
        units[i]->words = length > 0 ? length - 1 : 0;
        found[i] = (sa_translation){0};
    }
    sa_translations_free(found, n);
}

/* What units of a batch are to the library: texts side by side. */
typedef struct columns {
    const char **text, **other;
} columns;

static sa_status make_columns(columns *c, size_t n, sa_error *error) {
    c->text = calloc(n, sizeof *c->text);
    c->other = calloc(n, sizeof *c->other);
    return c->text && c->other ? SA_OK : sa_fail_memory(error, n * sizeof *c->text);
}

static void free_columns(columns *c) {
    free(c->text);
    free(c->other);
}

static sa_status run_translate(job_unit *const *units, size_t n, sa_error *error) {
    const search_job *first = of(units[0]->job);
    sa_translate_options o = first->options;
    sa_translation *found = NULL;
    columns c;
    sa_status status = make_columns(&c, n, error);
    if (status == SA_OK) {
        for (size_t i = 0; i < n; i++) {
            const search_job *j = of(units[i]->job);
            c.text[i] = j->text[units[i]->number];
            c.other[i] = j->prefix ? j->prefix[units[i]->number] : NULL;
        }
        o.prefix = c.other;
        o.first_line = n == 1 ? units[0]->number : 0;
        status = sa_translate_ensemble(HOSTED(first->job.model), c.text, n, &o, &found, error);
    }
    if (status == SA_OK)
        move_results(units, n, found);
    free_columns(&c);
    return status;
}

static sa_status run_score(job_unit *const *units, size_t n, sa_error *error) {
    const search_job *first = of(units[0]->job);
    sa_translation *found = NULL;
    columns c;
    sa_status status = make_columns(&c, n, error);
    if (status == SA_OK) {
        for (size_t i = 0; i < n; i++) {
            const search_job *j = of(units[i]->job);
            c.text[i] = j->text[units[i]->number];
            c.other[i] = j->target[units[i]->number];
        }
        status = sa_score_pairs(HOSTED(first->job.model), c.text, c.other, n, &first->options, &found, error);
    }
    if (status == SA_OK)
        move_results(units, n, found);
    free_columns(&c);
    return status;
}

static void free_texts(char **text, size_t n) {
    for (size_t i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

static void free_search(job *j) {
    search_job *s = of(j);
    free_texts(s->text, j->n);
    free_texts(s->target, j->n);
    free_texts(s->prefix, j->n);
    sa_translations_free(s->result, j->n);
    free(s);
}

const job_kind translate_kind = {"translate", same_search, run_translate, free_search};
const job_kind score_kind = {"score", same_search, run_score, free_search};

/* ---- making one -------------------------------------------------------------------------------------- */

/* Options that are wrong by themselves, or with this model. */
static sa_status check_options(const hosted_model *m, const sa_translate_options *o, sa_error *error) {
    sa_translation *nothing;
    SA_TRY(sa_translate_ensemble(HOSTED(m), NULL, 0, o, &nothing, error));
    sa_translations_free(nothing, 0);
    return SA_OK;
}

sa_status search_job_new(search_job **out, const job_kind *kind, const hosted_model *model,
                         const sa_translate_options *options, size_t n, sa_error *error) {
    *out = NULL;
    SA_TRY(check_options(model, options, error));
    search_job *j = calloc(1, sizeof *j);
    if (!j)
        return sa_fail_memory(error, sizeof *j);
    j->options = *options;
    j->options.threads = 1; /* batches are what runs side by side */
    sa_status status = job_init(&j->job, kind, model, n, error);
    j->text = calloc(n + 1, sizeof *j->text);
    j->target = kind == &score_kind ? calloc(n + 1, sizeof *j->target) : NULL;
    j->prefix = kind == &translate_kind ? calloc(n + 1, sizeof *j->prefix) : NULL;
    j->result = calloc(n + 1, sizeof *j->result);
    if (status == SA_OK && (!j->text || !(j->target || j->prefix) || !j->result))
        status = sa_fail_memory(error, n * sizeof *j->result);
    if (status == SA_OK)
        *out = j;
    else
        job_release(&j->job);
    return status;
}

static char *copy_like_lines(const char *text) {
    static const char mark[] = "\xEF\xBB\xBF";
    if (strncmp(text, mark, 3) == 0)
        text += 3;
    char *copy = strdup(text), *to = copy;
    for (const char *from = copy; from && *from; from++)
        if (*from != '\r')
            *to++ = *from;
        else if (from[1] != '\n')
            *to++ = ' ';
    if (copy)
        *to = '\0';
    return copy;
}

sa_status search_job_set(search_job *j, size_t i, const char *text, const char *target, const char *prefix,
                         sa_error *error) {
    j->text[i] = copy_like_lines(text);
    bool ok = j->text[i] != NULL;
    if (target)
        ok = (j->target[i] = copy_like_lines(target)) && ok;
    if (prefix)
        ok = (j->prefix[i] = copy_like_lines(prefix)) && ok;
    j->job.unit[i].length = strlen(text);
    return ok ? SA_OK : sa_fail_memory(error, strlen(text));
}
