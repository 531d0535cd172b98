/* Gradients against central differences, in double. A check owns parameters and inputs filled with random numbers,
 * runs a function of them on a tape, and compares what backward gives with (f(x + h) - f(x - h)) / 2h, number by
 * number.
 *
 *   check c;
 *   check_begin(&c);
 *   c.p[0] = check_param(&c, "W", 4, 3);
 *   c.x[0] = check_input(&c, 2, (int[]){5, 3});
 *   check_gradients(&c, build);      build makes its tensors with check_tensor and ends with check_output
 *   check_end(&c);
 */
#ifndef GRAD_CHECK_H
#define GRAD_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tape/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* |analytic - numeric| may be TOLERANCE of their size. Sizes below FLOOR * loss (a loss below 1 counts as 1) count
 * as that, because the difference of two losses has an error of about 1e-16 loss / STEP. */
#define CHECK_STEP 1e-5
#define CHECK_TOLERANCE 1e-6
#define CHECK_FLOOR 2e-4

enum { CHECK_MOST = 8 };

typedef struct check_variable {
    int rank, dim[4];
    long count;
    real *value, *grad;
    tensor *tensor; /* of the pass that is running */
} check_variable;

typedef struct check {
    params params;
    param *p[CHECK_MOST];
    check_variable *x[CHECK_MOST];
    check_variable inputs[CHECK_MOST];
    int n_inputs;
    tape *tape;
    gemm *workers[1];
    pool *team;
    rng random;

    bool always_record; /* for functions that are another one when not recording: dropout */
    long probes;        /* most numbers of a variable that are tried; 0: all */

    real coefficient[4096]; /* what outputs are weighted with */
    tensor *output[CHECK_MOST];
    int n_outputs;
    double loss; /* sum of outputs * coefficients, plus what build adds */
    long tried;
} check;

typedef void check_function(check *c);

static inline real check_draw(check *c) {
    return 1.6 * rng_uniform(&c->random) - 0.8;
}

static inline void check_begin(check *c) {
    *c = (check){.random = rng_at(17, 0, 0, 0)};
    for (size_t i = 0; i < sizeof c->coefficient / sizeof *c->coefficient; i++)
        c->coefficient[i] = check_draw(c);
    assert_int_equal(pool_new(&c->team, 1, NULL, NULL), SA_OK);
}

static inline void check_end(check *c) {
    for (int i = 0; i < c->n_inputs; i++) {
        free(c->inputs[i].value);
        free(c->inputs[i].grad);
    }
    params_free(&c->params);
    tape_free(c->tape);
    pool_free(c->team);
}

/* cols 0: a vector. Its values are drawn when the check runs. */
static inline param *check_param(check *c, const char *name, int rows, int cols) {
    param *p = params_declare(&c->params, name, rows, cols, INIT_ZERO, 0, USE_PRODUCT);
    assert_non_null(p);
    return p;
}

static inline check_variable *check_input(check *c, int rank, const int *dim) {
    assert_true(c->n_inputs < CHECK_MOST);
    check_variable *x = &c->inputs[c->n_inputs++];
    *x = (check_variable){.rank = rank, .count = 1};
    for (int i = 0; i < rank; i++) {
        x->dim[i] = dim[i];
        x->count *= dim[i];
    }
    x->value = calloc((size_t)x->count + 1, sizeof *x->value);
    x->grad = calloc((size_t)x->count + 1, sizeof *x->grad);
    assert_true(x->value && x->grad);
    for (long i = 0; i < x->count; i++)
        x->value[i] = check_draw(c);
    return x;
}

/* The input as a tensor of the running pass; one per input and pass. */
static inline tensor *check_tensor(check *c, check_variable *x) {
    x->tensor = tape_tensor(c->tape, x->rank, x->dim);
    assert_non_null(x->tensor);
    memcpy(x->tensor->data, x->value, (size_t)x->count * sizeof *x->value);
    return x->tensor;
}

/* The same for an input that its reader consumes: a matrix. */
static inline tensor *check_tensor_consumed(check *c, check_variable *x) {
    assert_int_equal(x->rank, 2);
    x->tensor = tape_consumed(c->tape, x->dim[0], x->dim[1]);
    assert_non_null(x->tensor);
    memcpy(x->tensor->data, x->value, (size_t)x->count * sizeof *x->value);
    return x->tensor;
}

/* Adds the tensor, weighted, to the loss. */
static inline void check_output(check *c, tensor *y) {
    assert_non_null(y);
    assert_true(c->n_outputs < CHECK_MOST && tensor_count(y) <= 4096 - 64 * CHECK_MOST);
    const real *coefficient = c->coefficient + 64 * (long)c->n_outputs;
    for (long i = 0; i < tensor_count(y); i++)
        c->loss += coefficient[i] * y->data[i];
    c->output[c->n_outputs++] = y;
}

static inline double check_run(check *c, check_function *build, bool recording) {
    tape_reset(c->tape, recording);
    c->n_outputs = 0;
    c->loss = 0;
    build(c);
    assert_false(c->tape->failed);
    return c->loss;
}

static inline void check_backward(check *c) {
    for (int k = 0; k < c->n_outputs; k++) {
        tensor *y = c->output[k];
        tensor_grad_clear_once(y);
        for (long i = 0; i < tensor_count(y); i++)
            y->grad[i] += c->coefficient[64 * (long)k + i];
    }
    tape_backward(c->tape);
    assert_false(c->tape->failed);
    for (int i = 0; i < c->n_inputs; i++) {
        check_variable *x = &c->inputs[i];
        assert_true(x->tensor->has_grad);
        memcpy(x->grad, x->tensor->grad, (size_t)x->count * sizeof *x->grad);
    }
    assert_int_equal(params_collect(&c->params, &c->tape, 1, false, c->workers, c->team, NULL), SA_OK);
}

static inline bool slope_agrees(double gradient, double slope, double loss, double tolerance) {
    double size = fmax(fabs(gradient) + fabs(slope), CHECK_FLOOR * fmax(1, fabs(loss)));
    return fabs(gradient - slope) <= tolerance * size;
}

/* Fails the test, with a name, when the gradient is not the slope. */
static inline void check_slope(const char *name, long index, double gradient, double slope, double loss) {
    if (!slope_agrees(gradient, slope, loss, CHECK_TOLERANCE))
        fail_msg("%s[%ld]: gradient %.12g, slope %.12g", name, index, gradient, slope);
}

static inline void check_numbers(check *c, check_function *build, const char *name, real *value, const real *grad,
                                 long count) {
    long n = c->probes && c->probes < count ? c->probes : count;
    for (long i = 0; i < n; i++) {
        long at = i * count / n;
        real kept = value[at];
        value[at] = kept + CHECK_STEP;
        double above = check_run(c, build, c->always_record);
        value[at] = kept - CHECK_STEP;
        double below = check_run(c, build, c->always_record);
        value[at] = kept;
        check_slope(name, at, grad[at], (above - below) / (2 * CHECK_STEP), above);
        c->tried++;
    }
}

/* Draws the parameters and makes a tape for them; parameters can be set by hand afterwards. */
static inline void check_prepare(check *c) {
    assert_int_equal(params_allocate(&c->params, true, NULL), SA_OK);
    for (int i = 0; i < c->params.n; i++)
        for (long k = 0; k < param_count(c->params.at[i]); k++)
            c->params.at[i]->value[k] = check_draw(c);
    assert_int_equal(tape_new(&c->tape, c->params.n, 1 << 16, NULL), SA_OK);
    c->workers[0] = c->tape->gemm;
}

/* Compares the gradients of all parameters and inputs, then again with packed weights. Leaves outputs and gradients
 * of the numbers as they are. */
static inline void check_gradients(check *c, check_function *build) {
    if (!c->tape)
        check_prepare(c);
    for (int packed = 0; packed < 2; packed++) {
        if (packed)
            assert_int_equal(params_pack(&c->params, c->workers, c->team, NULL), SA_OK);
        check_run(c, build, true);
        check_backward(c);
        for (int i = 0; i < c->params.n; i++) {
            param *p = c->params.at[i];
            check_numbers(c, build, p->name, p->value, p->grad, param_count(p));
        }
        for (int i = 0; i < c->n_inputs; i++) {
            char name[] = "input 0";
            name[6] = (char)('0' + i);
            check_numbers(c, build, name, c->inputs[i].value, c->inputs[i].grad, c->inputs[i].count);
        }
    }
    assert_true(c->tried > 0);
    check_run(c, build, true);
}

#endif
