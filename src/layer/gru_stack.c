#include "layer/gru_stack.h"

#include "op/dropout.h"
#include "op/pointwise.h"
#include "op/shape.h"

#include <stdio.h>

static void declare_unit(gru_cell *g, gru_transition *deep, const weight_scope *scope, const char *name,
                         int transitions, gru_form form) {
    char below[56];
    snprintf(below, sizeof below, "%s.deep", name);
    gru_cell_declare(g, scope, name, form);
    gru_transition_declare(deep, scope, below, transitions, form);
}

void gru_stack_declare(gru_stack *s, const weight_scope *scope, const char *prefix, int layers, int transitions,
                       gru_form form) {
    SA_ASSERT(layers >= 1 && layers <= GRU_LAYERS_MAX);
    s->n = layers;
    for (int i = 0; i < layers; i++) {
        gru_pair *l = &s->layer[i];
        char forward[48], backward[48], number[16] = "";
        if (i > 0) {
            snprintf(number, sizeof number, ".%d", i + 1);
            form.input = 2 * form.width;
            form.gate_bias = true;
        }
        snprintf(forward, sizeof forward, "%s%s.forward", prefix, number);
        snprintf(backward, sizeof backward, "%s%s.backward", prefix, number);
        declare_unit(&l->forward, &l->deep_forward, scope, forward, transitions, form);
        declare_unit(&l->backward, &l->deep_backward, scope, backward, transitions, form);
    }
}

tensor *gru_stack_run(tape *t, const gru_stack *s, tensor *x, const steps *over, gru_stack_dropout dropout,
                      const int *order, tensor **first) {
    tensor *below = NULL;
    for (int i = 0; i < s->n; i++) {
        const gru_pair *l = &s->layer[i];
        tensor **forward = gru_cell_run(t, &l->forward, &l->deep_forward, x, over, false);
        tensor **backward = gru_cell_run(t, &l->backward, &l->deep_backward, x, over, true);
        if (!forward || !backward)
            return NULL;
        tensor *ahead = tape_joined(t, over, forward), *behind = tape_joined(t, over, backward);
        *first = backward[0];
        if (s->n == 1)
            return op_gather(t, ahead, behind, over->at[over->T], order);
        tensor *both = op_join(t, ahead, behind);
        below = below ? op_add(t, both, below) : both;
        x = op_dropout(t, below, i + 1 < s->n ? dropout.rate : 0, dropout.site + (unsigned)i + 1, dropout.number);
    }
    return op_gather(t, below, NULL, over->at[over->T], order);
}
