#include "layer/gru_cell.h"

#include "op/linear.h"

#include <stdio.h>

static void declare_norm(gru_cell *g, const weight_scope *scope, const char *prefix, gru_form form) {
    gru_norm *n = &g->step.norm;
    int H = form.width;
    if (form.input || form.context) {
        n->g_W_zr = weight_declare(scope, prefix, "g_W_zr", WEIGHT_GAIN, 2, H, 0, USE_PRODUCT);
        n->g_W = weight_declare(scope, prefix, "g_W", WEIGHT_GAIN, 1, H, 0, USE_PRODUCT);
    }
    n->g_U_zr = weight_declare(scope, prefix, "g_U_zr", WEIGHT_GAIN, 2, H, 0, USE_PRODUCT);
    n->g_U = weight_declare(scope, prefix, "g_U", WEIGHT_GAIN, 1, H, 0, USE_PRODUCT);
    n->b_zr = weight_declare(scope, prefix, "b_zr", WEIGHT_BIAS, 2, H, 0, USE_PRODUCT);
    n->b = weight_declare(scope, prefix, "b", WEIGHT_BIAS, 1, H, 0, USE_PRODUCT);
    n->b_U = weight_declare(scope, prefix, "b_U", WEIGHT_BIAS, 1, H, 0, USE_PRODUCT);
}

static void declare_biases(gru_cell *g, const weight_scope *scope, const char *prefix, gru_form form) {
    if (form.gate_bias)
        g->b_zr = weight_declare(scope, prefix, "b_zr", WEIGHT_BIAS, 2, form.width, 0, USE_PRODUCT);
    g->b = weight_declare(scope, prefix, "b", WEIGHT_BIAS, 1, form.width, 0, USE_PRODUCT);
}

void gru_cell_declare(gru_cell *g, const weight_scope *scope, const char *prefix, gru_form form) {
    int H = form.width;
    param_use use = form.looped ? USE_STEP : USE_PRODUCT;
    *g = (gru_cell){.step.reset = form.reset};
    if (form.input) {
        g->W_zr = weight_declare(scope, prefix, "W_zr", WEIGHT_MATRIX, 2, H, form.input, use);
        g->W = weight_declare(scope, prefix, "W", WEIGHT_MATRIX, 1, H, form.input, use);
    }
    if (form.normalised)
        declare_norm(g, scope, prefix, form);
    else
        declare_biases(g, scope, prefix, form);
    g->step.U_zr = weight_declare(scope, prefix, "U_zr", WEIGHT_RECURRENT, 2, H, H, USE_STEP);
    g->step.U = weight_declare(scope, prefix, "U", WEIGHT_RECURRENT, 1, H, H, USE_STEP);
    if (form.context) {
        g->step.C_zr = weight_declare(scope, prefix, "C_zr", WEIGHT_MATRIX, 2, H, form.context, USE_STEP);
        g->step.C = weight_declare(scope, prefix, "C", WEIGHT_MATRIX, 1, H, form.context, USE_STEP);
    }
}

gru_input gru_cell_input(tape *t, const gru_cell *g, tensor *x) {
    return (gru_input){linear_consumed(t, 1, &(linear_term){x, g->W_zr}, g->b_zr),
                       linear_consumed(t, 1, &(linear_term){x, g->W}, g->b)};
}

/* ---- deep transition --------------------------------------------------------------------------------- */

void gru_transition_declare(gru_transition *d, const weight_scope *scope, const char *prefix, int n,
                            gru_form form) {
    SA_ASSERT(n <= GRU_TRANSITIONS_MAX);
    char name[48];
    form.input = form.context = 0;
    form.gate_bias = true;
    d->n = n;
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s.%d", prefix, i + 1);
        gru_cell_declare(&d->cell[i], scope, name, form);
    }
}

/* A step whose input is its biases, or with layer normalisation nothing. */
static tensor *step_without_input(tape *t, const gru_cell *g, tensor *s) {
    gru_input x = {0};
    if (g->b) {
        int n = (int)tensor_rows(s);
        x = (gru_input){linear_bias(t, n, g->b_zr), linear_bias(t, n, g->b)};
    }
    return gru_step(t, &g->step, x, NULL, s);
}

tensor *gru_transition_run(tape *t, const gru_transition *d, tensor *s) {
    for (int i = 0; s && i < d->n; i++)
        s = step_without_input(t, &d->cell[i], s);
    return s ? s : tape_fail(t);
}

tensor **gru_cell_run(tape *t, const gru_cell *g, const gru_transition *deep, tensor *x, const steps *over,
                      bool reversed) {
    gru_input all = gru_cell_input(t, g, x);
    tensor *s = tape_matrix(t, 0, g->step.U->dim[1]), **states = tape_bytes(t, (size_t)over->T * sizeof *states);
    if (!s || !states)
        return NULL;
    tape_loop_begin(t, over, reversed);
    for (int i = 0; i < over->T; i++) {
        int j = tape_loop_next(t);
        gru_input now = {tape_step(t, all.gates, over, j), tape_step(t, all.candidate, over, j)};
        s = states[j] = gru_transition_run(t, deep, gru_step(t, &g->step, now, NULL, s));
    }
    tape_loop_end(t);
    return t->failed ? NULL : states;
}
