/* The largest minibatch that limits allow, in bytes, and the other way round: limits for a number of bytes. */
#ifndef TRAIN_BATCH_FIT_H
#define TRAIN_BATCH_FIT_H

#include "train/epoch.h"
#include "train/pass_cost.h"

/* What pairs a minibatch can have whose longest target has t symbols, t from 0 to T, </s> counted. */
typedef struct length_table {
    int T;
    size_t *pairs; /* [t]: how many have a target of at most t symbols */
    int *source;   /* [t]: the longest source among them */
} length_table;

/* least: every side counts as so long at least. */
sa_status length_table_make(length_table *out, const corpus *c, int least, sa_error *error);
void length_table_free(length_table *t);

/* How a run makes its passes. */
typedef struct pass_kind {
    const pass_cost *cost;
    int shards;
    sa_precision precision;
} pass_kind;

/* Bytes of all shards of the largest minibatch, arenas and scratch; *arenas (may be NULL): of the arenas alone. */
double largest_minibatch(pass_kind kind, const length_table *t, batch_limits limits, double *arenas);
/* Of the limits under which that is at most `bytes`, those that make the fewest minibatches of the text: many
 * sentences where they are short, few where they are long. SA_USAGE when not even one pair fits. */
sa_status batch_limits_fit(batch_limits *out, pass_kind kind, const length_table *t, double bytes, sa_error *error);

#endif
