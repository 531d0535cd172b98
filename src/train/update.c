#include "train/update.h"

#include "base/block.h"
#include "math/vecmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sa_status updater_init(updater *u, const sa_train_options *options, const ranks *group, model *net, int threads,
                       const memory_plan *plan, sa_error *error) {
    *u = (updater){.options = options, .ranks = group, .net = net, .optimizer = optimizer_of(options->optimizer)};
    SA_TRY(pool_new(&u->pool, threads, gemm_work_alone, error));
    gemm_work_alone();
    u->n_tapes = threads;
    u->tapes = calloc((size_t)u->n_tapes, sizeof *u->tapes);
    u->gemms = calloc((size_t)threads, sizeof *u->gemms);
    u->shard_start = calloc((size_t)options->shards + 1, sizeof *u->shard_start);
    u->shard_result = calloc((size_t)options->shards, sizeof *u->shard_result);
    u->squares = calloc((size_t)ranks_blocks(net->params.count) + 1, sizeof *u->squares);
    if (!u->tapes || !u->gemms || !u->shard_start || !u->shard_result || !u->squares)
        return sa_fail_memory(error, 0);
    for (int i = 0; i < u->n_tapes; i++)
        SA_TRY(tape_new(&u->tapes[i], net->params.n, plan->arena, error));
    for (int i = 0; i < threads; i++)
        SA_TRY(gemm_new(&u->gemms[i], error));
    if (options->precision == SA_BF16 && !gemm_has(u->gemms[0], GEMM_BF16))
        return sa_fail(error, SA_USAGE, "this processor has no instructions for bf16: use --precision f32");
    gemm_precision precision = options->precision == SA_BF16 ? GEMM_BF16 : GEMM_F32;
    for (int i = 0; i < threads; i++) {
        gemm_set_precision(u->gemms[i], precision);
        gemm_keep(u->gemms[i], plan->products);
    }
    long count = net->params.count;
    for (int k = 0; k < u->optimizer->slots; k++)
        if (!(u->slot[k] = block_new_cleared((size_t)count * sizeof(real))))
            return sa_fail_memory(error, (size_t)count * sizeof(real));
    if (options->average > 0 && !(u->average = block_new_cleared((size_t)count * sizeof(real))))
        return sa_fail_memory(error, (size_t)count * sizeof(real));
    return SA_OK;
}

void updater_clear(updater *u) {
    for (int i = 0; u->tapes && i < u->n_tapes; i++)
        tape_free(u->tapes[i]);
    for (int i = 0; u->gemms && i < pool_threads(u->pool); i++)
        gemm_free(u->gemms[i]);
    free(u->tapes);
    free(u->gemms);
    free(u->shard_start);
    free(u->shard_result);
    for (int k = 0; k < OPTIMIZER_SLOTS_MAX; k++)
        free(u->slot[k]);
    free(u->average);
    free(u->squares);
    pool_free(u->pool);
    *u = (updater){0};
}

sa_status updater_pack(updater *u, sa_error *error) {
    return params_pack(&u->net->params, u->gemms, u->pool, error);
}

batch_size batch_size_of(const corpus *c, const size_t *pairs, int n) {
    batch_size size = {.B = n};
    for (int i = 0; i < n; i++) {
        const pair p = corpus_pair(c, pairs[i]);
        size.S = p.source_length > size.S ? p.source_length : size.S;
        size.T = p.target_length > size.T ? p.target_length : size.T;
    }
    return size;
}

bool batch_arrange(tape *t, const corpus *c, const size_t *pairs, int n, source_batch *source,
                   target_batch *target) {
    sentence *sides = tape_bytes(t, 2 * (size_t)n * sizeof *sides);
    if (!sides)
        return false;
    for (int i = 0; i < n; i++) {
        pair p = corpus_pair(c, pairs[i]);
        sides[i] = (sentence){p.source, p.source_length};
        sides[n + i] = (sentence){p.target, p.target_length};
    }
    return source_batch_make(t, n, sides, source) && target_batch_make(t, n, sides + n, source, target);
}

/* Every pair twice, one after the other. */
static const size_t *doubled(tape *t, const size_t *pairs, int n) {
    size_t *out = tape_bytes(t, 2 * (size_t)n * sizeof *out);
    for (int i = 0; out && i < 2 * n; i++)
        out[i] = pairs[i / 2];
    return out;
}

bool batch_pass(const model *net, tape *t, const corpus *c, const link_table *links, const size_t *pairs, int n,
                const regularisation *r, double scale, pass_result *result) {
    source_batch source;
    target_batch target;
    *result = (pass_result){0};
    int copies = r->r_drop > 0 ? 2 : 1;
    if (copies == 2 && !(pairs = doubled(t, pairs, n)))
        return false;
    n *= copies;
    if (!batch_arrange(t, c, pairs, n, &source, &target) ||
        (links && !link_table_guide(links, t, pairs, n, &target)) ||
        !model_pass(net, t, &source, &target, r, scale / copies, result))
        return false;
    result->sums.loss /= copies;
    result->sums.nll /= copies;
    result->words /= copies;
    return true;
}

/* The same with a teacher, if there is one. */
static bool run_pass(const updater *u, int worker, tape *t, const corpus *c, const link_table *links,
                     const size_t *pairs, int n, const regularisation *r, double scale, pass_result *result) {
    return u->teacher ? teacher_pass(u->teacher, worker, u->net, t, c, pairs, n, r, scale, result)
                      : batch_pass(u->net, t, c, links, pairs, n, r, scale, result);
}

regularisation regularisation_of(const sa_train_options *o, double baseline) {
    return (regularisation){
        .dropout = o->dropout,
        .dropout_emb = o->dropout_emb,
        .dropout_src = o->dropout_src,
        .dropout_trg = o->dropout_trg,
        .label_smoothing = o->label_smoothing,
        .r_drop = o->r_drop,
        .guide = o->guided_alignment_weight,
        .doubly_stochastic = o->doubly_stochastic,
        .picture_shift = o->picture_shift,
        /* the numbers of the code of Xu et al. 2015 */
        .hard = {.reward = 0.1f, .entropy = 0.002f, .expected = 0.5f, .baseline = baseline},
    };
}

/* Shards are taken in rounds of as many as there are tapes, one for each thread. */
typedef struct shard_job {
    updater *u;
    int round; /* its first shard */
    bool add;  /* to the gradients of rounds before */
    const corpus *c;
    const size_t *pairs;
    const int *start; /* of this rank: shard i is pairs[start[i] ... start[i + 1]) */
    int first;        /* number of pairs[0] among the update's */
    int64_t update;
    double scale;
    pass_result *result; /* per shard */
} shard_job;

static void run_shard(void *argument, int task, int worker) {
    shard_job *job = argument;
    const sa_train_options *o = job->u->options;
    tape *t = job->u->tapes[task];
    int shard = job->round + task;
    regularisation r = regularisation_of(o, job->u->baseline);
    int at = job->start[shard], n = job->start[shard + 1] - at;
    tape_reset(t, true);
    t->gemm = job->u->gemms[worker];
    t->owns_grads = !job->add && task == 0;
    t->seed = o->seed;
    t->update = (uint64_t)job->update;
    t->first_sentence = (r.r_drop > 0 ? 2 : 1) * (job->first + at);
    if (run_pass(job->u, worker, t, job->c, job->u->links, job->pairs + at, n, &r, job->scale, &job->result[shard]))
        tape_backward(t);
}

/* Work of a pair: a decoder's step costs about two of the encoder's. */
static long work_of(const corpus *c, size_t i) {
    pair p = corpus_pair(c, i);
    return p.source_length + 2 * (long)p.target_length;
}

/* Cuts a minibatch, sorted by length, into pieces of about equal work; returns how many (at most `shards`). */
static int cut_shards(const corpus *c, const size_t *pairs, int n, int shards, int *start) {
    long total = 0, sum = 0;
    for (int i = 0; i < n; i++)
        total += work_of(c, pairs[i]);
    int made = 0;
    start[made++] = 0;
    for (int i = 0; i < n && made < shards; i++) {
        sum += work_of(c, pairs[i]);
        if (sum * shards >= total * made && i + 1 < n)
            start[made++] = i + 1;
    }
    start[made] = n;
    return made;
}

/* The pass over all parameters: norm first, then the optimiser and the average, in the blocks that ranks share out.
 */
typedef struct block_job {
    updater *u;
    optimizer_step step;
    real keep; /* of the average */
} block_job;

static long block_size(const updater *u, int block) {
    long rest = u->net->params.count - (long)block * RANKS_BLOCK;
    return rest < RANKS_BLOCK ? rest : RANKS_BLOCK;
}

static void square_block(void *argument, int task, int worker) {
    (void)worker;
    updater *u = argument;
    int block = ranks_own_block(u->ranks, task);
    u->squares[task] = vec_sum_squares(u->net->params.grads + (long)block * RANKS_BLOCK, block_size(u, block));
}

static void update_block(void *argument, int task, int worker) {
    (void)worker;
    block_job *job = argument;
    updater *u = job->u;
    int block = ranks_own_block(u->ranks, task);
    long at = (long)block * RANKS_BLOCK, n = block_size(u, block);
    enum { PIECE = 4096 }; /* what the optimiser wrote is still in cache when the average reads it */
    for (long i = 0; i < n; i += PIECE) {
        long piece = n - i < PIECE ? n - i : PIECE;
        real *value = u->net->params.values + at + i;
        real *slot[OPTIMIZER_SLOTS_MAX] = {0};
        for (int k = 0; k < u->optimizer->slots; k++)
            slot[k] = u->slot[k] + at + i;
        u->optimizer->update(&job->step, value, u->net->params.grads + at + i, slot, piece);
        if (!u->average)
            continue;
        real *average = u->average + at + i;
#pragma omp simd
        for (long k = 0; k < piece; k++)
            average[k] = job->keep * average[k] + (1 - job->keep) * value[k];
    }
}

static sa_status apply(updater *u, int64_t update, double rate, update_result *result, sa_error *error) {
    long count = u->net->params.count;
    int blocks = ranks_own_blocks(u->ranks, count);
    double sum = 0;
    pool_run(u->pool, blocks, square_block, u);
    for (int i = 0; i < blocks; i++)
        sum += u->squares[i];
    SA_TRY(ranks_agree(u->ranks, SA_OK, &sum, 1, error));
    result->gradient_norm = sqrt(sum);
    if (!isfinite(result->gradient_norm) || !isfinite(result->loss))
        return sa_fail(error, SA_NUMERIC,
                       "update %lld: %s is not finite; the model is as after the update before. Lower the learning "
                       "rate (now %g) or clip (--clip-norm 1)",
                       (long long)update, isfinite(result->loss) ? "the gradient" : "the loss", rate);
    /* At first the average follows quickly, so that it forgets the random start. */
    double keep = fmin((double)u->options->average, (double)(1 + update) / (double)(10 + update));
    block_job job = {u, {u->options, update, rate, 1}, (real)keep};
    double clip = (double)u->options->clip_norm;
    if (clip > 0 && result->gradient_norm > clip)
        job.step.grad_scale = clip / result->gradient_norm;
    pool_run(u->pool, blocks, update_block, &job);
    ranks_share(u->ranks, u->net->params.values, count);
    return SA_OK;
}

static sa_status check_tapes(tape *const *tapes, int n, sa_error *error) {
    for (int i = 0; i < n; i++)
        if (tapes[i]->failed)
            return sa_fail(error, SA_MEMORY,
                           "not enough memory for the minibatch: use a smaller --mini-batch or "
                           "--max-length");
    return SA_OK;
}

/* Forward and backward of this rank's shards of one minibatch: their loss is added to *result, their gradient to
 * those of the update's minibatches before, if there are any. */
static sa_status run_minibatch(shard_job *job, int n, update_result *result, sa_error *error) {
    updater *u = job->u;
    int all = cut_shards(job->c, job->pairs, n, u->options->shards, u->shard_start);
    int first = all * u->ranks->rank / u->ranks->size;
    int shards = all * (u->ranks->rank + 1) / u->ranks->size - first;
    job->start = u->shard_start + first;
    for (job->round = 0; job->round < shards; job->round += u->n_tapes) {
        int tapes = shards - job->round < u->n_tapes ? shards - job->round : u->n_tapes;
        pool_run(u->pool, tapes, run_shard, job);
        SA_TRY(check_tapes(u->tapes, tapes, error));
        SA_TRY(params_collect(&u->net->params, u->tapes, tapes, job->add, u->gemms, u->pool, error));
        job->add = true;
    }
    for (int i = 0; i < shards; i++) {
        result->loss += job->result[i].sums.loss;
        result->nll += job->result[i].sums.nll;
    }
    return SA_OK;
}

/* Loss and gradients of this rank's shards of all the update's minibatches. */
static sa_status pass(updater *u, const corpus *c, const size_t *pairs, const size_t *start, int n, int64_t update,
                      update_result *result, sa_error *error) {
    for (size_t k = start[0]; k < start[n]; k++)
        result->words += corpus_pair(c, pairs[k]).target_length;
    double scale = 1.0 / (double)(u->options->loss_per_word ? (size_t)result->words : start[n] - start[0]);
    SA_TRY(updater_pack(u, error));
    bool add = false;
    for (int i = 0; i < n; i++) {
        int first = (int)(start[i] - start[0]);
        shard_job job = {u, 0, add, c, pairs + start[i], u->shard_start, first, update, scale, u->shard_result};
        SA_TRY(run_minibatch(&job, (int)(start[i + 1] - start[i]), result, error));
        add = job.add;
    }
    if (!add) /* the others had all shards */
        memset(u->net->params.grads, 0, (size_t)u->net->params.count * sizeof(real));
    return SA_OK;
}

/* Whatever became of this rank's share, the others are waiting to hear of it. */
static sa_status sum_over_ranks(updater *u, sa_status status, update_result *result, sa_error *error) {
    double sum[] = {result->loss, result->nll};
    SA_TRY(ranks_agree(u->ranks, status, sum, 2, error));
    result->loss = sum[0];
    result->nll = sum[1];
    ranks_sum(u->ranks, u->net->params.grads, u->net->params.count);
    return SA_OK;
}

sa_status updater_run(updater *u, const corpus *c, const size_t *pairs, const size_t *start, int n, int64_t update,
                      double rate, update_result *result, sa_error *error) {
    *result = (update_result){0};
    sa_status status = pass(u, c, pairs, start, n, update, result, error);
    SA_TRY(sum_over_ranks(u, status, result, error));
    SA_TRY(apply(u, update, rate, result, error));
    u->baseline += 0.1 * (result->nll / (double)(start[n] - start[0]) - u->baseline);
    return SA_OK;
}

typedef struct measure_job {
    updater *u;
    const corpus *c;
    const epoch *batches;
    pass_result *result; /* per minibatch */
    bool *ok;
} measure_job;

static void measure_batch(void *argument, int task, int worker) {
    measure_job *job = argument;
    tape *t = job->u->tapes[worker];
    const size_t *start = job->batches->start + task;
    tape_reset(t, false);
    t->gemm = job->u->gemms[worker];
    job->ok[task] = run_pass(job->u, worker, t, job->c, NULL, job->batches->pair + start[0],
                             (int)(start[1] - start[0]), &(regularisation){0}, 0, &job->result[task]);
}

sa_status measure_order(epoch *out, const corpus *c, batch_limits limits, sa_error *error) {
    SA_TRY(epoch_make(out, c, 0, 0, limits, 0, error));
    sa_status dealt = epoch_deal(out, 0, error);
    if (dealt != SA_OK)
        epoch_free(out);
    return dealt;
}

sa_status updater_measure(updater *u, const corpus *c, double *nll, long *words, sa_error *error) {
    epoch batches;
    batch_limits limits = {u->options->mini_batch, u->options->mini_batch_words};
    SA_TRY(measure_order(&batches, c, limits, error));
    measure_job job = {u, c, &batches, calloc(batches.n, sizeof(pass_result)), calloc(batches.n, sizeof(bool))};
    bool ok = job.result && job.ok;
    if (ok)
        pool_run(u->pool, (int)batches.n, measure_batch, &job);
    *nll = 0;
    *words = 0;
    for (size_t i = 0; ok && i < batches.n; i++) {
        ok = job.ok[i];
        *nll += job.result[i].sums.nll;
        *words += job.result[i].words;
    }
    epoch_free(&batches);
    free(job.result);
    free(job.ok);
    return ok ? SA_OK : sa_fail_memory(error, 0);
}

void updater_share(updater *u) {
    for (int k = 0; k < u->optimizer->slots; k++)
        ranks_share(u->ranks, u->slot[k], u->net->params.count);
    if (u->average)
        ranks_share(u->ranks, u->average, u->net->params.count);
}

sa_status updater_swap_average(updater *u, sa_error *error) {
    if (!u->average)
        return SA_OK;
    real *value = u->net->params.values, *average = u->average;
    long n = u->net->params.count;
#pragma omp simd
    for (long i = 0; i < n; i++) {
        real keep = value[i];
        value[i] = average[i];
        average[i] = keep;
    }
    return updater_pack(u, error);
}
