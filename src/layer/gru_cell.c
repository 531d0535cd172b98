#include "layer/gru_cell.h"

#include "op/linear.h"

#include <string.h>

void gru_cell_declare(gru_cell *g, const weight_scope *scope, const char *prefix, int input, int context, int width,
                      sa_reset reset) {
    g->W = weight_declare(scope, prefix, "W", WEIGHT_MATRIX, 3, width, input, USE_PRODUCT);
    g->step.U_zr = weight_declare(scope, prefix, "U_zr", WEIGHT_RECURRENT, 2, width, width, USE_PRODUCT);
    g->step.U = weight_declare(scope, prefix, "U", WEIGHT_RECURRENT, 1, width, width, USE_PRODUCT);
    g->step.C = context ? weight_declare(scope, prefix, "C", WEIGHT_MATRIX, 3, width, context, USE_PRODUCT) : NULL;
    g->step.b = weight_declare(scope, prefix, "b", WEIGHT_BIAS, 1, width, 0, USE_PRODUCT);
    g->step.reset = reset;
}

static bool *live_rows(tape *t, int S, int B, const int *lengths) {
    bool *live = tape_bytes(t, (size_t)S * (size_t)B);
    for (int j = 0; live && j < S; j++)
        for (int i = 0; i < B; i++)
            live[(long)j * B + i] = j < lengths[i];
    return live;
}

tensor **gru_cell_run(tape *t, const gru_cell *g, tensor *x, const int *lengths, bool reversed) {
    tensor *Wx = linear(t, x, g->W, NULL);
    if (!Wx)
        return NULL;
    int S = x->dim[0], B = x->dim[1];
    tensor *s = tape_matrix(t, B, g->step.U->dim[1]);
    tensor **states = tape_bytes(t, (size_t)S * sizeof *states);
    bool *live = live_rows(t, S, B, lengths);
    if (!s || !states || !live)
        return NULL;
    memset(s->data, 0, (size_t)tensor_count(s) * sizeof *s->data);
    tape_loop_begin(t, S);
    for (int i = 0; i < S; i++) {
        int j = reversed ? S - 1 - i : i;
        tape_loop_next(t);
        s = states[j] = gru_step(t, &g->step, tape_slice(t, Wx, j), NULL, s, live + (long)j * B);
    }
    tape_loop_end(t);
    return t->failed ? NULL : states;
}
