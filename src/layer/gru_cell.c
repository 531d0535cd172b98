#include "layer/gru_cell.h"

#include "op/linear.h"

void gru_cell_declare(gru_cell *g, const weight_scope *scope, const char *prefix, int input, int context, int width,
                      sa_reset reset) {
    *g = (gru_cell){.step.reset = reset};
    g->W_zr = weight_declare(scope, prefix, "W_zr", WEIGHT_MATRIX, 2, width, input, USE_PRODUCT);
    g->W = weight_declare(scope, prefix, "W", WEIGHT_MATRIX, 1, width, input, USE_PRODUCT);
    g->b = weight_declare(scope, prefix, "b", WEIGHT_BIAS, 1, width, 0, USE_PRODUCT);
    g->step.U_zr = weight_declare(scope, prefix, "U_zr", WEIGHT_RECURRENT, 2, width, width, USE_STEP);
    g->step.U = weight_declare(scope, prefix, "U", WEIGHT_RECURRENT, 1, width, width, USE_STEP);
    if (context) {
        g->step.C_zr = weight_declare(scope, prefix, "C_zr", WEIGHT_MATRIX, 2, width, context, USE_STEP);
        g->step.C = weight_declare(scope, prefix, "C", WEIGHT_MATRIX, 1, width, context, USE_STEP);
    }
}

gru_input gru_cell_input(tape *t, const gru_cell *g, tensor *x) {
    return (gru_input){linear_consumed(t, 1, &(linear_term){x, g->W_zr}, NULL),
                       linear_consumed(t, 1, &(linear_term){x, g->W}, g->b)};
}

tensor **gru_cell_run(tape *t, const gru_cell *g, tensor *x, const steps *over, bool reversed) {
    gru_input all = gru_cell_input(t, g, x);
    tensor *s = tape_matrix(t, 0, g->step.U->dim[1]), **states = tape_bytes(t, (size_t)over->T * sizeof *states);
    if (!s || !states)
        return NULL;
    tape_loop_begin(t, over, reversed);
    for (int i = 0; i < over->T; i++) {
        int j = tape_loop_next(t);
        gru_input now = {tape_step(t, all.gates, over, j), tape_step(t, all.candidate, over, j)};
        s = states[j] = gru_step(t, &g->step, now, NULL, s);
    }
    tape_loop_end(t);
    return t->failed ? NULL : states;
}
