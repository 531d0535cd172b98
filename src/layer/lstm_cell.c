#include "layer/lstm_cell.h"

#include "op/linear.h"

void lstm_cell_declare(lstm_cell *l, const weight_scope *scope, const char *prefix, int input, int context,
                       int width, sa_cell cell, bool looped) {
    param_use use = looped ? USE_STEP : USE_PRODUCT;
    *l = (lstm_cell){.step.cell = cell};
    l->W = weight_declare(scope, prefix, "W", WEIGHT_MATRIX, 4, width, input, use);
    l->b = weight_declare(scope, prefix, "b", WEIGHT_LSTM_BIAS, 4, width, 0, USE_PRODUCT);
    l->step.U = weight_declare(scope, prefix, "U", WEIGHT_RECURRENT, 4, width, width, USE_STEP);
    if (context)
        l->step.C = weight_declare(scope, prefix, "C", WEIGHT_MATRIX, 4, width, context, use);
}

tensor *lstm_cell_input(tape *t, const lstm_cell *l, tensor *x, tensor *context) {
    const linear_term terms[] = {{x, l->W}, {context, l->step.C}};
    return linear_consumed(t, context ? 2 : 1, terms, l->b);
}

lstm_run lstm_cell_run(tape *t, const lstm_cell *l, tensor *gates, const steps *over, bool reversed,
                       lstm_state before) {
    size_t list = (size_t)over->T * sizeof(tensor *);
    lstm_run out = {tape_bytes(t, list), tape_bytes(t, list), NULL};
    int H = l->step.U->dim[1];
    lstm_state now = before.h ? before : (lstm_state){tape_matrix(t, 0, H), tape_matrix(t, 0, H)};
    if (t->failed)
        return (lstm_run){0};
    tape_loop_begin(t, over, reversed);
    for (int i = 0; i < over->T; i++) {
        int j = tape_loop_next(t);
        now = lstm_step(t, &l->step, tape_step(t, gates, over, j), NULL, now);
        out.h[j] = now.h;
        out.c[j] = now.c;
    }
    tape_loop_end(t);
    if (t->failed)
        return (lstm_run){0};
    out.all = tape_joined(t, over, out.h);
    return out;
}
