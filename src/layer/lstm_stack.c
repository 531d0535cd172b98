#include "layer/lstm_stack.h"

#include "op/dropout.h"
#include "op/pointwise.h"

tensor *lstm_stack_run(tape *t, const lstm_stack *s, int from, const stack_input *in, stack_dropout dropout,
                       lstm_run *run) {
    tensor *x = in->x;
    for (int i = from; i < s->n && !t->failed; i++) {
        float rate = i > from ? dropout.rate : 0;
        tensor *dropped = op_dropout(t, x, rate, dropout.site + (unsigned)i, dropout.number);
        tensor *gates = lstm_cell_input(t, &s->cell[i], dropped, in->context);
        lstm_state before = in->before ? in->before[i] : (lstm_state){0};
        lstm_run states = lstm_cell_run(t, &s->cell[i], gates, in->over, in->reversed, before);
        if (t->failed)
            return NULL;
        x = s->residual_from && i + 1 >= s->residual_from ? op_add(t, states.all, x) : states.all;
        if (run)
            run[i] = states;
    }
    return t->failed ? NULL : x;
}

stack_masks lstm_stack_draw(tape *t, const lstm_stack *s, int sentences, stack_dropout dropout) {
    stack_masks out = {.number = dropout.number};
    for (int i = 1; i < s->n; i++)
        out.mask[i] = dropout_draw(t, sentences, s->cell[i].W->dim[1], dropout.rate, dropout.site + (unsigned)i);
    return out;
}

tensor *lstm_stack_step(tape *t, const lstm_stack *s, tensor *gates, tensor *context, const stack_masks *masks,
                        lstm_state *state) {
    tensor *x = NULL;
    for (int i = 0; i < s->n && !t->failed; i++) {
        if (i > 0)
            gates = lstm_cell_input(t, &s->cell[i], op_dropout_drawn(t, x, masks->mask[i], masks->number), NULL);
        state[i] = lstm_step(t, &s->cell[i].step, gates, i == 0 ? context : NULL, state[i]);
        x = s->residual_from && i + 1 >= s->residual_from && i > 0 ? op_add(t, state[i].h, x) : state[i].h;
    }
    return t->failed ? NULL : x;
}
