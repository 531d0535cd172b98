/* sa_score: forced decoding. The training pass gives log p of given words, all steps in a few products. */
#include "decode/batch.h"
#include "decode/ranking.h"
#include "decode/result.h"
#include "decode/symbols.h"
#include "decode/translate_options.h"
#include "model/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct scoring_job {
    const ensemble *models;
    const sa_translate_options *options;
    const char *const *targets;
    symbols *source, *target; /* ids with </s> */
    size_t *length;           /* of each line's source ids */
    sa_translation *out;
} scoring_job;

/* One batch: its sentences and what the models say of them. */
typedef struct scoring_batch {
    source_batch source;
    target_batch target;
    long words;        /* of all targets */
    double *log_p;     /* (models, words), in the order of pass_result.word_nll */
    hypothesis *found; /* of each sentence */
} scoring_batch;

/* ---- the batch --------------------------------------------------------------------------------------- */

static bool allocate(scoring_batch *b, const scoring_job *job, const size_t *lines, int n) {
    int S = 0, T = 0;
    for (int i = 0; i < n; i++) {
        S = (int)job->source[lines[i]].ids.n > S ? (int)job->source[lines[i]].ids.n : S;
        T = (int)job->target[lines[i]].ids.n > T ? (int)job->target[lines[i]].ids.n : T;
        b->words += (long)job->target[lines[i]].ids.n;
    }
    int *ids = calloc((size_t)S * (size_t)n, sizeof *ids), *lengths = calloc(2 * (size_t)n, sizeof *lengths);
    const int **words = calloc((size_t)n, sizeof *words);
    b->source = (source_batch){n, S, ids, lengths};
    b->target = (target_batch){n, T, words, lengths ? lengths + n : NULL};
    b->log_p = calloc((size_t)b->words * (size_t)job->models->n, sizeof *b->log_p);
    b->found = calloc((size_t)n, sizeof *b->found);
    if (!ids || !lengths || !words || !b->log_p || !b->found)
        return false;
    for (int i = 0; i < n; i++) {
        const id_list *source = &job->source[lines[i]].ids, *target = &job->target[lines[i]].ids;
        lengths[i] = (int)source->n;
        lengths[n + i] = (int)target->n;
        words[i] = target->id;
        for (size_t j = 0; j < source->n; j++)
            ids[j * (size_t)n + (size_t)i] = source->id[j];
    }
    return true;
}

static bool allocate_found(scoring_batch *b, bool attention) {
    for (int i = 0; i < b->target.B; i++) {
        hypothesis *h = &b->found[i];
        size_t length = (size_t)b->target.lengths[i], S = (size_t)b->source.lengths[i];
        h->length = (int)length;
        h->word_score = calloc(length, sizeof *h->word_score);
        h->attention = attention ? calloc(length * S, sizeof *h->attention) : NULL;
        if (!h->word_score || (attention && !h->attention))
            return false;
    }
    return true;
}

static void release(scoring_batch *b) {
    for (int i = 0; b->found && i < b->target.B; i++) {
        free(b->found[i].word_score);
        free(b->found[i].attention);
    }
    free((void *)b->source.ids);
    free((void *)b->source.lengths); /* the targets' lengths lie behind */
    free((void *)b->target.words);
    free(b->log_p);
    free(b->found);
}

/* Adds one model's weights, divided by the number of models that have some. */
static void add_attention(scoring_batch *b, tensor *const *weights, int attending) {
    for (int i = 0; i < b->target.B; i++)
        for (int j = 0; j < b->target.lengths[i]; j++) {
            int S = b->source.lengths[i];
            const real *from = weights[j]->data + (long)i * tensor_cols(weights[j]);
            for (int k = 0; k < S; k++)
                b->found[i].attention[(long)j * S + k] += (float)(from[k] / (real)attending);
        }
}

static bool run_models(scoring_batch *b, const ensemble *models, tape *t, bool attention) {
    int attending = 0;
    for (int m = 0; m < models->n; m++)
        attending += models->model[m]->preset->attends;
    for (int m = 0; m < models->n; m++) {
        pass_result result = {0};
        tape_reset(t, false);
        if (!model_pass(models->model[m], t, &b->source, &b->target, &(regularisation){0}, 1, &result))
            return false;
        for (long w = 0; w < b->words; w++)
            b->log_p[m * b->words + w] = -result.word_nll[w];
        if (attention && result.weights)
            add_attention(b, result.weights, attending);
    }
    return true;
}

/* ---- scores ------------------------------------------------------------------------------------------ */

static double coverage_of(const hypothesis *h, int positions, double *attended) {
    memset(attended, 0, (size_t)positions * sizeof *attended);
    for (int i = 0; i < h->length; i++)
        for (int j = 0; j < positions; j++)
            attended[j] += (double)h->attention[(long)i * positions + j];
    return ranking_coverage(attended, positions);
}

static sa_status add_up(scoring_batch *b, const scoring_job *job, sa_error *error) {
    double log_p[SA_ENSEMBLE_MAX], *attended = calloc((size_t)b->source.S, sizeof *attended);
    if (!attended)
        return sa_fail_memory(error, 0);
    long w = 0;
    for (int j = 0; j < b->target.T; j++)
        for (int i = 0; i < b->target.B; i++) {
            if (j >= b->target.lengths[i])
                continue;
            for (int m = 0; m < job->models->n; m++)
                log_p[m] = b->log_p[m * b->words + w];
            w++;
            hypothesis *h = &b->found[i];
            h->score += h->word_score[j] = ensemble_log_prob(log_p, job->models->n);
        }
    bool finite = true;
    for (int i = 0; i < b->target.B; i++) {
        hypothesis *h = &b->found[i];
        double coverage = job->options->coverage_penalty > 0 ? coverage_of(h, b->source.lengths[i], attended) : 0;
        h->normalized = ranking_score(job->options, h->score, h->length, coverage);
        finite = finite && isfinite(h->normalized);
    }
    free(attended);
    return finite ? SA_OK
                  : sa_fail(error, SA_NUMERIC, "a score is not finite: the numbers of this model are damaged");
}

static sa_status write_line(const scoring_job *job, size_t line, hypothesis *h, sa_error *error) {
    sa_translation *out = &job->out[line];
    out->hypothesis = calloc(1, sizeof *out->hypothesis);
    if (!out->hypothesis)
        return sa_fail_memory(error, 0);
    out->n = 1;
    SA_TRY(result_source(out, job->models, job->options, &job->source[line].ids, error));
    hypothesis with_ids = *h;
    with_ids.ids = job->target[line].ids.id;
    sa_status status =
        result_hypothesis(out->hypothesis, job->models, job->options, &with_ids, strdup(job->targets[line]), error);
    h->attention = with_ids.attention;
    h->word_score = with_ids.word_score;
    return status;
}

static sa_status score_batch(void *argument, const size_t *lines, int n, sa_error *error) {
    const scoring_job *job = argument;
    bool attention =
        (job->options->attention || job->options->coverage_penalty > 0) && ensemble_attends(job->models);
    scoring_batch b = {0};
    tape *t = NULL;
    bool ready = allocate(&b, job, lines, n) && allocate_found(&b, attention);
    sa_status status = ready ? model_borrow_tape(job->models->owner, &t, error) : sa_fail_memory(error, 0);
    if (status == SA_OK) {
        if (!run_models(&b, job->models, t, attention))
            status = sa_fail(error, SA_MEMORY,
                             "not enough memory to score %d pairs together: use a smaller mini-batch", n);
        model_return_tape(job->models->owner, t);
    }
    if (status == SA_OK)
        status = add_up(&b, job, error);
    for (int i = 0; status == SA_OK && i < n; i++)
        status = write_line(job, lines[i], &b.found[i], error);
    release(&b);
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------------- */

static sa_status prepare(scoring_job *job, const char *source, size_t i, sa_error *error) {
    const sa_model *owner = job->models->owner;
    id_list *source_ids = &job->source[i].ids, *target_ids = &job->target[i].ids;
    SA_TRY(symbols_encode(&job->source[i], owner->source, source, false, error));
    if (job->options->symbols)
        SA_TRY(symbols_read(&job->target[i], owner->target, job->targets[i], error));
    else
        SA_TRY(symbols_encode(&job->target[i], owner->target, job->targets[i], false, error));
    if (source_ids->n == 0 && target_ids->n == 0)
        return result_empty(&job->out[i], error);
    SA_TRY(result_end(&job->out[i], source_ids, job->options->max_length, error));
    SA_TRY(result_end(&job->out[i], target_ids, job->options->max_length, error));
    job->length[i] = source_ids->n;
    return SA_OK;
}

sa_status sa_score(const sa_model *const *models, int n_models, const char *const *sources,
                   const char *const *targets, size_t n, const sa_translate_options *options, sa_translation **out,
                   sa_error *error) {
    sa_translate_options defaults;
    sa_translate_options_init(&defaults);
    ensemble together;
    scoring_job job = {.models = &together, .options = options ? options : &defaults, .targets = targets};
    *out = NULL;
    SA_TRY(ensemble_make(&together, models, n_models, error));
    SA_TRY(translate_options_check(job.options, &together, error));
    job.out = calloc(n + 1, sizeof *job.out);
    job.source = calloc(n + 1, sizeof *job.source);
    job.target = calloc(n + 1, sizeof *job.target);
    job.length = calloc(n + 1, sizeof *job.length);
    sa_status status = job.out && job.source && job.target && job.length ? SA_OK : sa_fail_memory(error, 0);
    for (size_t i = 0; i < n && status == SA_OK; i++)
        status = prepare(&job, sources[i], i, error);
    if (status == SA_OK)
        status = batch_run(job.length, n, job.options->mini_batch, job.options->threads, score_batch, &job, error);
    for (size_t i = 0; i < n && job.source && job.target; i++) {
        symbols_free(&job.source[i]);
        symbols_free(&job.target[i]);
    }
    free(job.source);
    free(job.target);
    free(job.length);
    if (status == SA_OK)
        *out = job.out;
    else
        sa_translations_free(job.out, n);
    return status;
}
