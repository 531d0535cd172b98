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
