/* sa_translate: lines to sentences, batches of similar length, threads, and back to lines in order. */
#include "decode/dictionary.h"
#include "decode/line_batches.h"
#include "decode/result.h"
#include "decode/search.h"
#include "decode/symbols.h"
#include "decode/translate_options.h"

#include <stdlib.h>
#include <string.h>

/* A line to translate. */
typedef struct source_line {
    symbols source; /* ids with </s>; none: nothing to translate */
    forced_start start;
} source_line;

typedef struct translation_job {
    const ensemble *models;
    const sa_translate_options *options;
    source_line *line;
    size_t *length; /* of each line's ids */
    sa_translation *out;
} translation_job;

/* ---- text -------------------------------------------------------------------------------------------- */

/* The source position that word i looked at most, </s> left out. */
static size_t most_attended(const hypothesis *h, int i, int source_length) {
    const float *a = h->attention + (size_t)i * (size_t)source_length;
    int best = 0;
    for (int j = 1; j < source_length - 1; j++)
        best = a[j] > a[best] ? j : best;
    return (size_t)best;
}

/* What stands in the place of <unk>. A subword's blank stays before its translation. */
static const char *replacement(const sa_dictionary *d, const char *source) {
    bool blank = source[0] == ' ';
    const char *found = d ? dictionary_find(d, source + blank) : NULL;
    return found ? found + !blank : source;
}

/* texts[i]: what is written for <unk> at i, NULL for what the vocabulary says. */
static void choose_texts(const translation_job *job, const source_line *line, const hypothesis *h,
                         const char **texts) {
    for (int i = 0; i < h->length - 1; i++) {
        texts[i] = NULL;
        if (h->ids[i] != VOCAB_UNK)
            continue;
        if (i < line->start.n)
            texts[i] = line->start.symbols.text[i];
        else if (job->options->replace_unk)
            texts[i] = replacement(job->options->dictionary,
                                   line->source.text[most_attended(h, i, (int)line->source.ids.n)]);
    }
}

static sa_status write_symbols(const vocab *v, const hypothesis *h, char **out, sa_error *error) {
    strbuf text = {0};
    for (int i = 0; i < h->length - 1; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? " " : "", vocab_piece(v, h->ids[i]));
    *out = strbuf_take(&text);
    return *out ? SA_OK : sa_fail_memory(error, 0);
}

static sa_status write_text(const translation_job *job, const source_line *line, const hypothesis *h, char **out,
                            sa_error *error) {
    if (job->options->symbols)
        return write_symbols(job->models->owner->target, h, out, error);
    const char **texts = calloc((size_t)h->length, sizeof *texts);
    if (!texts)
        return sa_fail_memory(error, 0);
    strbuf text = {0};
    choose_texts(job, line, h, texts);
    sa_status status = vocab_decode(job->models->owner->target, h->ids, (size_t)h->length - 1, texts, &text, error);
    free(texts);
    if (status == SA_OK && !(*out = strbuf_take(&text)))
        return sa_fail_memory(error, 0);
    strbuf_free(&text);
    return status;
}

static sa_status write_line(const translation_job *job, size_t line, hypotheses *found, sa_error *error) {
    sa_translation *out = &job->out[line];
    const source_line *from = &job->line[line];
    out->hypothesis = calloc((size_t)found->n, sizeof *out->hypothesis);
    if (!out->hypothesis)
        return sa_fail_memory(error, 0);
    SA_TRY(result_source(out, job->models, job->options, &from->source.ids, error));
    for (int k = 0; k < found->n; k++) {
        char *text;
        SA_TRY(write_text(job, from, &found->at[k], &text, error));
        out->n = k + 1;
        SA_TRY(result_hypothesis(&out->hypothesis[k], job->models, job->options, &found->at[k], text, error));
    }
    return SA_OK;
}

/* ---- batches ----------------------------------------------------------------------------------------- */

static source_sentence sentence_of(const translation_job *job, size_t line) {
    const source_line *x = &job->line[line];
    return (source_sentence){.ids = x->source.ids.id,
                             .length = (int)x->source.ids.n,
                             .number = job->options->first_line + line,
                             .prefix = x->start.symbols.ids.id,
                             .n_prefix = x->start.n,
                             .open = x->start.open};
}

static sa_status translate_batch(void *argument, const size_t *lines, int n, sa_error *error) {
    const translation_job *job = argument;
    const sa_model *owner = job->models->owner;
    source_sentence *sentences = calloc((size_t)n, sizeof *sentences);
    hypotheses *found = calloc((size_t)n, sizeof *found);
    tape *t = NULL;
    sa_status status = sentences && found ? model_borrow_tape(owner, &t, error) : sa_fail_memory(error, 0);
    if (status == SA_OK) {
        for (int i = 0; i < n; i++)
            sentences[i] = sentence_of(job, lines[i]);
        status = search_translate(job->models, owner->target, t, sentences, n, job->options, found, error);
        model_return_tape(owner, t);
    }
    for (int i = 0; status == SA_OK && i < n; i++)
        status = write_line(job, lines[i], &found[i], error);
    for (int i = 0; found && i < n; i++)
        hypotheses_free(&found[i]);
    free(found);
    free(sentences);
    return status;
}

/* Encodes line i; one without words is answered at once. */
static sa_status prepare(translation_job *job, const char *text, size_t i, sa_error *error) {
    const sa_translate_options *o = job->options;
    const sa_model *owner = job->models->owner;
    source_line *line = &job->line[i];
    id_list *ids = &line->source.ids;
    SA_TRY(symbols_encode(&line->source, owner->source, text, o->replace_unk, error));
    if (ids->n == 0)
        return result_empty(&job->out[i], error);
    SA_TRY(result_end(&job->out[i], ids, o->max_length, error));
    job->length[i] = ids->n;
    const char *prefix = o->prefix ? o->prefix[i] : NULL;
    return prefix ? forced_start_read(&line->start, owner->target, prefix, error) : SA_OK;
}

static void release(translation_job *job, size_t n) {
    for (size_t i = 0; job->line && i < n; i++) {
        symbols_free(&job->line[i].source);
        forced_start_free(&job->line[i].start);
    }
    free(job->line);
    free(job->length);
}

sa_status sa_translate_ensemble(const sa_model *const *models, int n_models, const char *const *lines, size_t n,
                                const sa_translate_options *options, sa_translation **out, sa_error *error) {
    sa_translate_options defaults;
    sa_translate_options_init(&defaults);
    ensemble together;
    translation_job job = {.models = &together, .options = options ? options : &defaults};
    *out = NULL;
    SA_TRY(ensemble_make(&together, models, n_models, error));
    SA_TRY(translate_options_check(job.options, &together, error));
    job.out = calloc(n + 1, sizeof *job.out);
    job.line = calloc(n + 1, sizeof *job.line);
    job.length = calloc(n + 1, sizeof *job.length);
    sa_status status = job.out && job.line && job.length ? SA_OK : sa_fail_memory(error, 0);
    for (size_t i = 0; i < n && status == SA_OK; i++)
        status = prepare(&job, lines[i], i, error);
    if (status == SA_OK)
        status =
            batch_run(job.length, n, job.options->mini_batch, job.options->threads, translate_batch, &job, error);
    release(&job, n);
    if (status == SA_OK)
        *out = job.out;
    else
        sa_translations_free(job.out, n);
    return status;
}

sa_status sa_translate(const sa_model *m, const char *const *lines, size_t n, const sa_translate_options *options,
                       sa_translation **out, sa_error *error) {
    return sa_translate_ensemble(&m, 1, lines, n, options, out, error);
}
