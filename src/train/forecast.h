/* How much memory a run will take, told before it is taken. */
#ifndef TRAIN_FORECAST_H
#define TRAIN_FORECAST_H

#include "train/update.h"

typedef enum forecast_part {
    FORECAST_PARAMETERS,
    FORECAST_GRADIENTS,
    FORECAST_OPTIMIZER,
    FORECAST_AVERAGE,
    FORECAST_PACKS,      /* the weights once more, as products like them */
    FORECAST_PASSES,     /* of the largest minibatch */
    FORECAST_VALIDATION, /* what validation takes beyond that */
    FORECAST_TEACHER,    /* a model that this one is trained with, and its passes */
    FORECAST_PRODUCTS,   /* compiled, as many as will be kept: fewer where memory is short */
    FORECAST_PARTS
} forecast_part;

typedef struct forecast {
    double part[FORECAST_PARTS]; /* bytes */
    memory_plan plan;
    batch_limits
        limits; /* of the options; with mini_batch_fit, unless it is a resume, as wide as the workspace allows */
} forecast;

/* What decides. */
typedef struct forecast_input {
    const sa_train_options *options;
    const model *net; /* declared; needs no values */
    const corpus *train, *valid;
    int threads;
    int ranks;            /* that share out the shards */
    const model *teacher; /* that the run has beside its own; NULL: none */
} forecast_input;

/* Before any text is read: whether a model of these sizes fits, however few symbols there will be. */
sa_status forecast_check_sizes(const sa_train_options *o, int threads, sa_error *error);
/* SA_MEMORY, with the parts and the options that make them smaller, when more is needed than is left. SA_USAGE when
 * the workspace holds no pair. */
sa_status forecast_make(forecast *out, const forecast_input *in, sa_error *error);
/* One line: the sum, and the parts. */
void forecast_describe(const forecast *f, char *text, size_t size);

#endif
