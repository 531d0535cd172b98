#include "layer/coverage.h"

#include "op/linear.h"
#include "op/shape.h"

static void declare_neural(coverage_unit *c, const weight_scope *scope, int D, int n) {
    int d = c->width;
    c->w_zr = weight_declare(scope, "coverage", "w_zr", WEIGHT_MATRIX, 2, d, 1, USE_PRODUCT);
    c->w = weight_declare(scope, "coverage", "w", WEIGHT_MATRIX, 1, d, 1, USE_PRODUCT);
    c->H_zr = weight_declare(scope, "coverage", "H_zr", WEIGHT_MATRIX, 2, d, D, USE_PRODUCT);
    c->H = weight_declare(scope, "coverage", "H", WEIGHT_MATRIX, 1, d, D, USE_PRODUCT);
    c->b = weight_declare(scope, "coverage", "b", WEIGHT_BIAS, 1, d, 0, USE_PRODUCT);
    c->S_zr = weight_declare(scope, "coverage", "S_zr", WEIGHT_MATRIX, 2, d, n, USE_STEP);
    c->S = weight_declare(scope, "coverage", "S", WEIGHT_MATRIX, 1, d, n, USE_STEP);
    c->step = (gru_weights){.reset = SA_RESET_BEFORE};
    c->step.U_zr = weight_declare(scope, "coverage", "U_zr", WEIGHT_RECURRENT, 2, d, d, USE_STEP);
    c->step.U = weight_declare(scope, "coverage", "U", WEIGHT_RECURRENT, 1, d, d, USE_STEP);
}

void coverage_declare(coverage_unit *c, const weight_scope *scope, const sa_model_config *config, int A, int D,
                      int n) {
    *c = (coverage_unit){.kind = config->coverage};
    if (c->kind == SA_COVERAGE_NONE)
        return;
    c->width = c->kind == SA_COVERAGE_NEURAL ? config->dim_coverage : 1;
    c->V_a = weight_declare(scope, "attention", "V_a", WEIGHT_ALIGNMENT, 1, A, c->width, USE_PRODUCT);
    if (c->kind == SA_COVERAGE_FERTILITY)
        c->U_f = weight_declare(scope, "coverage", "U_f", WEIGHT_MATRIX, 1, 1, D, USE_PRODUCT);
    if (c->kind == SA_COVERAGE_NEURAL)
        declare_neural(c, scope, D, n);
}

coverage_source coverage_of_source(tape *t, const coverage_unit *c, tensor *h) {
    coverage_source known = {0};
    if (c->kind == SA_COVERAGE_FERTILITY)
        known.fertility = linear(t, h, c->U_f, NULL);
    if (c->kind == SA_COVERAGE_NEURAL) {
        known.gates = linear(t, h, c->H_zr, NULL);
        known.candidate = linear(t, h, c->H, c->b);
    }
    return known;
}

tensor *coverage_start(tape *t, const coverage_unit *c, int n, const annotations *h) {
    return op_zeros(t, n, h->longest * c->width);
}

/* A gated unit at every position. */
static tensor *step_neural(tape *t, const coverage_unit *c, tensor *C, tensor *a, tensor *s, const annotations *h,
                           const coverage_source *known, const int *source) {
    if (!C || !a)
        return tape_fail(t);
    int n = (int)tensor_rows(a), S = h->longest;
    tensor *before = tape_reshaped(t, C, (int)tensor_rows(C) * S, c->width);
    const gru_input x = {coverage_input(t, a, c->w_zr, known->gates, linear(t, s, c->S_zr, NULL), h, source),
                         coverage_input(t, a, c->w, known->candidate, linear(t, s, c->S, NULL), h, source)};
    return tape_reshaped(t, gru_step(t, &c->step, x, NULL, before), n, S * c->width);
}

tensor *coverage_attention(tape *t, const coverage_unit *c, attention_form form, tensor *q, tensor *s,
                           const annotations *h, const coverage_source *known, const int *source, tensor **C,
                           tensor **weights) {
    if (c->kind == SA_COVERAGE_NONE)
        return attention(t, &form, q, h, source, weights);
    form.coverage = *C;
    form.V_a = c->V_a;
    tensor *context = attention(t, &form, q, h, source, weights);
    if (!context)
        return NULL;
    *C = c->kind == SA_COVERAGE_NEURAL ? step_neural(t, c, *C, *weights, s, h, known, source)
                                       : coverage_sum(t, *C, *weights, known->fertility, h, source);
    return context;
}
