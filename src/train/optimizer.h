/* Optimisers: one update of plain arrays. A new one is a file with its struct and a line in optimizer_of. */
#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H

#include "base/error.h"
#include "math/real.h"

enum { OPTIMIZER_SLOTS_MAX = 2 };

/* What is the same for all parameters at one update. */
typedef struct optimizer_step {
    const sa_train_options *options;
    int64_t update;    /* from 1 */
    double rate;       /* learning rate after schedule */
    double grad_scale; /* clipping */
} optimizer_step;

typedef struct optimizer {
    const char *name;
    float usual_rate;
    int slots; /* arrays of the parameters' size that it keeps, 0 at first */
    void (*update)(const optimizer_step *step, real *value, const real *grad, real *const *slot, long n);
} optimizer;

extern const optimizer adadelta, adam, sgd;

static inline const optimizer *optimizer_of(sa_optimizer kind) {
    static const optimizer *const table[] = {[SA_ADADELTA] = &adadelta, [SA_ADAM] = &adam, [SA_SGD] = &sgd};
    return table[kind];
}

#endif
