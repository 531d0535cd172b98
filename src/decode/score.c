/* sa_score_pairs: forced decoding. The training pass gives log p of given words, all steps in a few products. */
#include "decode/line_batches.h"
#include "decode/pair_symbols.h"
#include "decode/ranking.h"
#include "decode/result.h"
#include "decode/translate_options.h"
#include "model/loss.h"
#include "text/words.h"

#include <limits.h>
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
    int n;
    int *positions; /* of each source */
    sentence *source, *target;
    long words;        /* of all targets */
    long *first;       /* word of each target, among them */
    double *log_p;     /* (models, words) */
    hypothesis *found; /* of each sentence */
} scoring_batch;

/* ---- the batch --------------------------------------------------------------------------------------- */

static bool allocate(scoring_batch *b, const scoring_job *job, const size_t *lines, int n) {
    b->n = n;
    b->positions = calloc((size_t)n, sizeof *b->positions);
    b->source = calloc((size_t)n, sizeof *b->source);
    b->target = calloc((size_t)n, sizeof *b->target);
    b->first = calloc((size_t)n, sizeof *b->first);
    b->found = calloc((size_t)n, sizeof *b->found);
    if (!b->positions || !b->source || !b->target || !b->first || !b->found)
        return false;
    for (int i = 0; i < n; i++) {
        const id_list *source = &job->source[lines[i]].ids, *target = &job->target[lines[i]].ids;
        b->source[i] = (sentence){source->id, (int)source->n};
        b->target[i] = (sentence){target->id, (int)target->n};
        b->positions[i] = model_positions(&job->models->model[0]->config, (int)source->n);
        b->first[i] = b->words;
        b->words += (long)target->n;
    }
    b->log_p = calloc((size_t)b->words * (size_t)job->models->n, sizeof *b->log_p);
    return b->log_p != NULL;
}

static bool allocate_found(scoring_batch *b, bool attention) {
    for (int i = 0; i < b->n; i++) {
        hypothesis *h = &b->found[i];
        size_t length = (size_t)b->target[i].length, S = (size_t)b->positions[i];
        h->length = (int)length;
        h->word_score = calloc(length, sizeof *h->word_score);
        h->attention = attention ? calloc(length * S, sizeof *h->attention) : NULL;
        if (!h->word_score || (attention && !h->attention))
            return false;
    }
    return true;
}

static void release(scoring_batch *b) {
    for (int i = 0; b->found && i < b->n; i++) {
        free(b->found[i].word_score);
        free(b->found[i].attention);
    }
    free(b->positions);
    free(b->source);
    free(b->target);
    free(b->first);
    free(b->log_p);
    free(b->found);
}

/* Row r of step j, in the order of the pass, is word j of sentence target->number[r]. */
static void note_scores(const scoring_batch *b, const target_batch *target, const double *word_nll, double *log_p) {
    const steps *s = &target->steps;
    for (int j = 0; j < s->T; j++)
        for (int r = 0; r < s->n[j]; r++)
            log_p[b->first[target->number[r]] + j] = -word_nll[s->at[j] + r];
}

/* Adds one model's weights, divided by the number of models that have some. */
static void add_attention(scoring_batch *b, const target_batch *target, const tensor *weights, int attending) {
    for (int r = 0; r < b->n; r++) {
        int i = target->number[r], S = b->positions[i];
        for (int j = 0; j < b->target[i].length; j++) {
            const real *from = weights->data + (long)(target->steps.at[j] + r) * tensor_cols(weights);
            for (int k = 0; k < S; k++)
                b->found[i].attention[(long)j * S + k] += (float)(from[k] / (real)attending);
        }
    }
}

static bool run_models(scoring_batch *b, const ensemble *models, tape *t, bool attention) {
    int attending = 0;
    for (int m = 0; m < models->n; m++)
        attending += models->model[m]->preset->attends;
    for (int m = 0; m < models->n; m++) {
        pass_result result = {0};
        source_batch source;
        target_batch target;
        tape_reset(t, false);
        if (!source_batch_make(t, b->n, b->source, &source) ||
            !target_batch_make(t, b->n, b->target, &source, &target) ||
            !model_pass(models->model[m], t, &source, &target, &(regularisation){0}, 1, &result))
            return false;
        note_scores(b, &target, result.word_nll, b->log_p + m * b->words);
        if (attention && result.weights)
            add_attention(b, &target, result.weights, attending);
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
    int longest = 1;
    for (int i = 0; i < b->n; i++)
        longest = b->positions[i] > longest ? b->positions[i] : longest;
    double log_p[SA_ENSEMBLE_MAX], *attended = calloc((size_t)longest, sizeof *attended);
    if (!attended)
        return sa_fail_memory(error, 0);
    bool finite = true;
    for (int i = 0; i < b->n; i++) {
        hypothesis *h = &b->found[i];
        for (int j = 0; j < h->length; j++) {
            for (int m = 0; m < job->models->n; m++)
                log_p[m] = b->log_p[m * b->words + b->first[i] + j];
            h->score += h->word_score[j] = ensemble_log_prob(log_p, job->models->n);
        }
        double coverage = job->options->coverage_penalty > 0 ? coverage_of(h, b->positions[i], attended) : 0;
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
    SA_TRY(result_source(out, job->models, job->options, &job->source[line], NULL, error));
    hypothesis with_ids = *h;
    with_ids.ids = job->target[line].ids.id;
    sa_status status = result_hypothesis(out->hypothesis, job->models, job->options, &with_ids,
                                         strdup(job->targets[line]), NULL, job->target[line].word, error);
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

/* The ids of `line`, which is the original but for what is protected in it, and, for attention, their words. */
static sa_status encode_side(const scoring_job *job, symbols *out, const vocab *v, const char *original,
                             const char *line, sa_error *error) {
    SA_TRY(symbols_encode(out, v, line, false, error));
    if (!job->options->attention)
        return SA_OK;
    int *origin = NULL;
    if (line != original)
        SA_TRY(words_under_protection(&origin, original, line, error));
    sa_status status = symbols_number(out, v, line, strlen(line), 0, origin, error);
    free(origin);
    return status;
}

/* Symbols are words themselves. */
static sa_status read_symbols(const scoring_job *job, symbols *out, const char *line, sa_error *error) {
    SA_TRY(symbols_read(out, job->models->owner->target, line, error));
    out->word = calloc(out->ids.n + 1, sizeof *out->word);
    for (size_t i = 0; out->word && i < out->ids.n; i++)
        out->word[i] = (int)i;
    return out->word ? SA_OK : sa_fail_memory(error, out->ids.n * sizeof *out->word);
}

/* Both sides as ids: the source as it is translated, and in the target symbols for those of its items that come
 * through as they are. */
static sa_status encode(scoring_job *job, const char *source, size_t i, sa_error *error) {
    const sa_model *owner = job->models->owner;
    bool read = job->options->symbols;
    const char *line[2] = {source, read ? "" : job->targets[i]};
    strbuf text[2] = {{0}, {0}};
    const char *original[2] = {source, job->targets[i]};
    sa_status status = pair_symbols_protect(text, line, owner, job->options->protect, error);
    if (status == SA_OK)
        status = encode_side(job, &job->source[i], owner->source, original[0], line[0], error);
    if (status == SA_OK && read)
        status = read_symbols(job, &job->target[i], original[1], error);
    else if (status == SA_OK)
        status = encode_side(job, &job->target[i], owner->target, original[1], line[1], error);
    strbuf_free(&text[0]);
    strbuf_free(&text[1]);
    return status;
}

static sa_status prepare(scoring_job *job, const char *source, size_t i, sa_error *error) {
    id_list *source_ids = &job->source[i].ids, *target_ids = &job->target[i].ids;
    SA_TRY(encode(job, source, i, error));
    if (source_ids->n == 0 && target_ids->n == 0)
        return result_empty(&job->out[i], error);
    bool is_text = vocab_length(job->models->owner->source) == 0;
    SA_TRY(result_end(&job->out[i], source_ids, is_text ? job->options->max_length : INT_MAX, error));
    SA_TRY(result_end(&job->out[i], target_ids, job->options->max_length, error));
    job->length[i] = source_ids->n;
    return SA_OK;
}

sa_status sa_score_pairs(const sa_model *const *models, int n_models, const char *const *sources,
                         const char *const *targets, size_t n, const sa_translate_options *options,
                         sa_translation **out, sa_error *error) {
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
    symbols_free_all(job.source, n);
    symbols_free_all(job.target, n);
    free(job.length);
    if (status == SA_OK)
        *out = job.out;
    else
        sa_translations_free(job.out, n);
    return status;
}
