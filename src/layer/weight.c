#include "layer/weight.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct start {
    param_init init;
    double scale;
} start;

static start paper(weight_kind kind) {
    switch (kind) {
    case WEIGHT_RECURRENT:
        return (start){INIT_ORTHOGONAL, 1};
    case WEIGHT_ALIGNMENT:
        return (start){INIT_NORMAL, 0.001};
    case WEIGHT_ALIGNMENT_VECTOR:
    case WEIGHT_BIAS:
    case WEIGHT_LSTM_BIAS:
        return (start){INIT_ZERO, 0};
    default:
        return (start){INIT_NORMAL, 0.01};
    }
}

/* A forget gate that begins open (Gers et al. 2000) lets gradients through long sentences from the first update on.
 */
static start glorot(weight_kind kind, int out, int in) {
    switch (kind) {
    case WEIGHT_RECURRENT:
        return (start){INIT_ORTHOGONAL, 1};
    case WEIGHT_EMBEDDING:
        return (start){INIT_NORMAL, 1 / sqrt(in)};
    case WEIGHT_ALIGNMENT_VECTOR:
        return (start){INIT_UNIFORM, 1 / sqrt(out)};
    case WEIGHT_BIAS:
        return (start){INIT_ZERO, 0};
    case WEIGHT_LSTM_BIAS:
        return (start){INIT_BLOCK, 1};
    default:
        return (start){INIT_UNIFORM, sqrt(6.0 / (in + out))};
    }
}

static start start_of(const weight_scope *scope, weight_kind kind, int out, int in) {
    if (kind == WEIGHT_GAIN)
        return (start){INIT_CONSTANT, 1};
    if (strcmp(scope->init, "uniform") == 0)
        return (start){INIT_UNIFORM, scope->scale};
    return strcmp(scope->init, "paper") == 0 ? paper(kind) : glorot(kind, out, in);
}

param *weight_declare(const weight_scope *scope, const char *prefix, const char *name, weight_kind kind, int blocks,
                      int out, int in, param_use use) {
    char full[64];
    snprintf(full, sizeof full, "%s.%s", prefix, name);
    start s = start_of(scope, kind, out, in);
    return params_declare(scope->params, full, blocks * out, in, s.init, s.scale, use);
}
