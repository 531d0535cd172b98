/* One update of the parameters from one minibatch, or from several. */
#ifndef TRAIN_UPDATE_H
#define TRAIN_UPDATE_H

#include "base/thread.h"
#include "model/loss.h"
#include "ranks/ranks.h"
#include "text/corpus.h"
#include "train/epoch.h"
#include "train/link_table.h"
#include "train/optimizer.h"
#include "train/teacher.h"

/* Everything an update needs. The number of shards is the run's; threads take shards and bands of work as they
 * come, and no result depends on how many there are. Of several ranks each has some of the shards, and updates its
 * blocks of values, slots and average; of the others' it gets the values at once, the rest by updater_share. */
typedef struct updater {
    const sa_train_options *options;
    const ranks *ranks;     /* among which this is one */
    const teacher *teacher; /* that the model is trained with; NULL: none */
    model *net;
    const link_table *links; /* that guide its attention; NULL: none */
    const optimizer *optimizer;
    real *slot[OPTIMIZER_SLOTS_MAX]; /* blocks like the parameters' */
    real *average;                   /* exponential moving average of the values; NULL: off */
    double baseline;                 /* 0.9^k falling mean of -log p of a sentence, over the updates before */
    double *squares;                 /* sums of them over blocks of the gradient */
    pool *pool;
    gemm **gemms; /* one per worker */
    tape **tapes; /* one per worker; they borrow the workers' gemms */
    int n_tapes;
    int *shard_start;          /* shards + 1 */
    pass_result *shard_result; /* shards */
} updater;

typedef struct update_result {
    double loss;          /* summed, label smoothing included */
    double nll;           /* summed */
    long words;           /* target symbols, </s> included */
    double gradient_norm; /* before clipping, of the scaled loss */
} update_result;

/* What an updater is to do with memory (train/forecast.h). */
typedef struct memory_plan {
    size_t arena; /* bytes that a tape asks of the system at a time, at best what its largest pass takes */
    int products; /* compiled ones that each gemm keeps */
} memory_plan;

sa_status updater_init(updater *u, const sa_train_options *options, const ranks *group, model *net, int threads,
                       const memory_plan *plan, sa_error *error);
void updater_clear(updater *u);

/* An update from n minibatches, of which i is pairs[start[i] ... start[i + 1]), one after the other: up to rounding
 * the update from one minibatch of all their pairs, in the memory that the largest of them takes.
 * update: from 1. rate: the learning rate. SA_NUMERIC when loss or gradient is not finite; then nothing has
 * changed. All ranks take part, with the same arguments, and get the same result. */
sa_status updater_run(updater *u, const corpus *c, const size_t *pairs, const size_t *start, int n, int64_t update,
                      double rate, update_result *result, sa_error *error);

/* Loss without training over pairs[0 ... n) in minibatches of the options' size. */
sa_status updater_measure(updater *u, const corpus *c, double *nll, long *words, sa_error *error);

/* The minibatches that updater_measure takes. */
sa_status measure_order(epoch *out, const corpus *c, batch_limits limits, sa_error *error);

/* Sentences of a minibatch, its longest source and target. */
typedef struct batch_size {
    int B, S, T;
} batch_size;
batch_size batch_size_of(const corpus *c, const size_t *pairs, int n);
/* What a training pass of a run does beyond computing the loss. baseline: see updater. */
regularisation regularisation_of(const sa_train_options *o, double baseline);
/* Those pairs as a model wants them, in the tape's arena. False once the tape has failed. */
bool batch_arrange(tape *t, const corpus *c, const size_t *pairs, int n, source_batch *source,
                   target_batch *target);
/* The model's pass over those pairs, as in model_pass, guided by links unless they are NULL; the tape was reset.
 * With R-Drop each pair goes through twice, as sentences 2i and 2i + 1 of the tape, and *result is the mean of
 * both. False once it has failed. */
bool batch_pass(const model *net, tape *t, const corpus *c, const link_table *links, const size_t *pairs, int n,
                const regularisation *r, double scale, pass_result *result);

/* Everyone gets all of the slots and of the average, which is wanted before they are read or saved. */
void updater_share(updater *u);
/* Exchanges values and average; packs are renewed. Called twice, everything is as before. Does nothing without an
 * average. */
sa_status updater_swap_average(updater *u, sa_error *error);
/* Renews the packs after values changed from outside. */
sa_status updater_pack(updater *u, sa_error *error);

#endif
