/* sa_translate: lines to sentences, batches of similar length, threads, and back to lines in order. */
#include "base/thread.h"
#include "decode/search.h"
#include "model/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sa_translate_options_init(sa_translate_options *options) {
    *options = (sa_translate_options){.beam_size = 5,
                                      .n_best = 1,
                                      .normalize = 1,
                                      .max_length_factor = 2,
                                      .max_length = 1000,
                                      .mini_batch = 32,
                                      .threads = 0};
}

static sa_status check(const sa_translate_options *o, sa_error *error) {
    if (o->beam_size < 1 || o->beam_size > 1000)
        return sa_fail(error, SA_USAGE, "beam size is %d; it must be from 1 to 1000", o->beam_size);
    if (o->n_best < 1 || o->n_best > o->beam_size)
        return sa_fail(error, SA_USAGE, "n-best is %d; it must be from 1 to the beam size, %d", o->n_best,
                       o->beam_size);
    if (o->mini_batch < 1 || o->mini_batch > 1000000)
        return sa_fail(error, SA_USAGE, "mini-batch is %d; it must be from 1 to 1000000", o->mini_batch);
    if (!(o->max_length_factor > 0) || o->max_length < 1 || !isfinite(o->normalize))
        return sa_fail(error, SA_USAGE, "max-length-factor and max-length must be above 0, normalize a number");
    return SA_OK;
}

typedef struct translation_job {
    const sa_model *model;
    const sa_translate_options *options;
    sa_translation *out;
    id_list *ids;  /* per line; empty: nothing to translate */
    size_t *order; /* lines that need translating, longest first */
    size_t n;
    sa_status *status; /* per batch */
    sa_error *error;
} translation_job;

static char **symbol_texts(const vocab *v, const int *ids, int n) {
    char **text = calloc((size_t)n, sizeof *text);
    for (int i = 0; text && i < n; i++)
        if (!(text[i] = strdup(vocab_piece(v, ids[i])))) {
            while (i-- > 0)
                free(text[i]);
            free(text);
            return NULL;
        }
    return text;
}

static sa_status write_one(const translation_job *job, hypothesis *from, sa_hypothesis *to, sa_error *error) {
    strbuf text = {0};
    const vocab *target = job->model->target;
    sa_status status = vocab_decode(target, from->ids, (size_t)from->length - 1, NULL, &text, error);
    if (status != SA_OK) {
        strbuf_free(&text);
        return status;
    }
    *to = (sa_hypothesis){.text = strbuf_take(&text),
                          .score = from->score,
                          .normalized = from->normalized,
                          .length = from->length,
                          .attention = from->attention};
    from->attention = NULL;
    if (job->options->attention)
        to->symbol = symbol_texts(target, from->ids, from->length);
    if (!to->text || (job->options->attention && !to->symbol))
        return sa_fail_memory(error, 0);
    return SA_OK;
}

static sa_status write_line(const translation_job *job, size_t line, hypotheses *found, sa_error *error) {
    sa_translation *out = &job->out[line];
    int n = found->n < job->options->n_best ? found->n : job->options->n_best;
    out->hypothesis = calloc((size_t)n, sizeof *out->hypothesis);
    if (!out->hypothesis)
        return sa_fail_memory(error, 0);
    out->source_length = (int)job->ids[line].n;
    if (job->options->attention &&
        !(out->source_symbol = symbol_texts(job->model->source, job->ids[line].id, out->source_length)))
        return sa_fail_memory(error, 0);
    for (int k = 0; k < n; k++) {
        out->n = k + 1;
        SA_TRY(write_one(job, &found->at[k], &out->hypothesis[k], error));
    }
    return SA_OK;
}

static sa_status translate_batch(const translation_job *job, const size_t *lines, int n, sa_error *error) {
    source_sentence *sentences = calloc((size_t)n, sizeof *sentences);
    hypotheses *found = calloc((size_t)n, sizeof *found);
    tape *t = NULL;
    sa_status status = sentences && found ? model_borrow_tape(job->model, &t, error) : sa_fail_memory(error, 0);
    if (status == SA_OK) {
        for (int i = 0; i < n; i++)
            sentences[i] = (source_sentence){job->ids[lines[i]].id, (int)job->ids[lines[i]].n};
        const sa_translate_options *o = job->options;
        search_options options = {o->beam_size, o->normalize, o->max_length_factor, o->attention};
        status = search_translate(&job->model->net, t, sentences, n, &options, found, error);
        model_return_tape(job->model, t);
    }
    for (int i = 0; status == SA_OK && i < n; i++)
        status = write_line(job, lines[i], &found[i], error);
    for (int i = 0; found && i < n; i++)
        hypotheses_free(&found[i]);
    free(found);
    free(sentences);
    return status;
}

static void batch_task(void *argument, int task, int worker) {
    (void)worker;
    translation_job *job = argument;
    size_t batch = (size_t)job->options->mini_batch, at = (size_t)task * batch;
    size_t n = job->n - at < batch ? job->n - at : batch;
    job->status[task] = translate_batch(job, job->order + at, (int)n, &job->error[task]);
}

static bool write_empty(sa_translation *out) {
    out->hypothesis = calloc(1, sizeof *out->hypothesis);
    if (!out->hypothesis)
        return false;
    out->n = 1;
    out->hypothesis->text = strdup("");
    return out->hypothesis->text != NULL;
}

/* Encodes all lines, answers those without words at once, and orders the rest. */
static sa_status prepare(translation_job *job, const char *const *lines, size_t n, sa_error *error) {
    size_t limit = (size_t)job->options->max_length;
    for (size_t i = 0; i < n; i++) {
        id_list *ids = &job->ids[i];
        SA_TRY(vocab_encode(job->model->source, lines[i], strlen(lines[i]), ids, error));
        if (ids->n == 0) {
            if (!write_empty(&job->out[i]))
                return sa_fail_memory(error, 0);
            continue;
        }
        if (ids->n > limit) {
            ids->n = limit;
            job->out[i].cropped = true;
        }
        if (!id_list_push(ids, VOCAB_EOS))
            return sa_fail_memory(error, 0);
        job->order[job->n++] = i;
    }
    return SA_OK;
}

typedef struct length_key {
    size_t length, line;
} length_key;

static int compare_lengths(const void *a, const void *b) {
    const length_key *x = a, *y = b;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return x->line < y->line ? -1 : 1;
}

static sa_status sort_by_length(translation_job *job, sa_error *error) {
    length_key *key = calloc(job->n + 1, sizeof *key);
    if (!key)
        return sa_fail_memory(error, job->n * sizeof *key);
    for (size_t i = 0; i < job->n; i++)
        key[i] = (length_key){job->ids[job->order[i]].n, job->order[i]};
    qsort(key, job->n, sizeof *key, compare_lengths);
    for (size_t i = 0; i < job->n; i++)
        job->order[i] = key[i].line;
    free(key);
    return SA_OK;
}

static sa_status run_batches(translation_job *job, sa_error *error) {
    size_t batches = (job->n + (size_t)job->options->mini_batch - 1) / (size_t)job->options->mini_batch;
    if (batches == 0)
        return SA_OK;
    job->status = calloc(batches, sizeof *job->status);
    job->error = calloc(batches, sizeof *job->error);
    if (!job->status || !job->error)
        return sa_fail_memory(error, 0);
    size_t threads = job->options->threads > 0 ? (size_t)job->options->threads : (size_t)thread_cores();
    pool *workers;
    SA_TRY(pool_new(&workers, (int)(threads < batches ? threads : batches), gemm_work_alone, error));
    gemm_work_alone();
    pool_run(workers, (int)batches, batch_task, job);
    pool_free(workers);
    for (size_t i = 0; i < batches; i++)
        if (job->status[i] != SA_OK) {
            if (error)
                *error = job->error[i];
            return job->status[i];
        }
    return SA_OK;
}

sa_status sa_translate(const sa_model *m, const char *const *lines, size_t n, const sa_translate_options *options,
                       sa_translation **out, sa_error *error) {
    sa_translate_options defaults;
    sa_translate_options_init(&defaults);
    translation_job job = {.model = m, .options = options ? options : &defaults};
    *out = NULL;
    SA_TRY(check(job.options, error));
    if (!m->source)
        return sa_fail(error, SA_USAGE, "this model was planned, not opened: it has no values to translate with");
    job.out = calloc(n + 1, sizeof *job.out);
    job.ids = calloc(n + 1, sizeof *job.ids);
    job.order = calloc(n + 1, sizeof *job.order);
    sa_status status = job.out && job.ids && job.order ? SA_OK : sa_fail_memory(error, 0);
    if (status == SA_OK)
        status = prepare(&job, lines, n, error);
    if (status == SA_OK)
        status = sort_by_length(&job, error);
    if (status == SA_OK)
        status = run_batches(&job, error);
    for (size_t i = 0; job.ids && i < n; i++)
        id_list_free(&job.ids[i]);
    free(job.ids);
    free(job.order);
    free(job.status);
    free(job.error);
    if (status == SA_OK)
        *out = job.out;
    else
        sa_translations_free(job.out, n);
    return status;
}

static void free_texts(char **text, int n) {
    for (int i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

void sa_translations_free(sa_translation *translations, size_t n) {
    for (size_t i = 0; translations && i < n; i++) {
        sa_translation *t = &translations[i];
        for (int k = 0; t->hypothesis && k < t->n; k++) {
            free(t->hypothesis[k].text);
            free(t->hypothesis[k].attention);
            free_texts(t->hypothesis[k].symbol, t->hypothesis[k].length);
        }
        free(t->hypothesis);
        free_texts(t->source_symbol, t->source_length);
    }
    free(translations);
}
