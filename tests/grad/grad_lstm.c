/* src/op/lstm.c, src/layer/lstm_cell.c and src/layer/lstm_stack.c. */
#include "check.h"

#include "layer/lstm_stack.h"

enum { H = 3, D = 4, IN = 2 };

static lstm_cell cell;
static bool has_context;

static void declare_cell(check *c, int context, sa_cell kind) {
    check_begin(c);
    const weight_scope scope = {&c->params, "glorot", 0};
    lstm_cell_declare(&cell, &scope, "cell", IN, context, H, kind, true);
    assert_false(c->params.failed);
}

/* ---- one step */

enum { ROWS = 4 };

static void build_step(check *c) {
    const lstm_state before = {check_tensor(c, c->x[1]), check_tensor(c, c->x[2])};
    tensor *x = check_tensor_consumed(c, c->x[0]), *context = has_context ? check_tensor(c, c->x[3]) : NULL;
    lstm_state after = lstm_step(c->tape, &cell.step, x, context, before);
    check_output(c, after.h);
    check_output(c, after.c);
}

static double gate(const check *c, int row, int k, const real *h) {
    double sum = c->x[0]->value[row * 4 * H + k];
    for (int j = 0; j < H; j++)
        sum += cell.step.U->value[k * H + j] * h[j];
    for (int j = 0; has_context && j < D; j++)
        sum += cell.step.C->value[k * D + j] * c->x[3]->value[row * D + j];
    return sum;
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

/* The equations of the header, written down once more. */
static void compare_with_definition(const check *c) {
    static const real zeros[H];
    for (int row = 0; row < ROWS; row++) {
        bool begins = row >= c->x[1]->dim[0];
        const real *h = begins ? zeros : c->x[1]->value + row * H, *m = begins ? zeros : c->x[2]->value + row * H;
        for (int k = 0; k < H; k++) {
            double i = sigmoid(gate(c, row, k, h)), f = sigmoid(gate(c, row, H + k, h));
            double o = sigmoid(gate(c, row, 2 * H + k, h)), g = tanh(gate(c, row, 3 * H + k, h));
            double memory = f * m[k] + i * g;
            double shown = o * (cell.step.cell == SA_CELL_LSTM ? tanh(memory) : memory);
            assert_true(fabs(c->output[0]->data[row * H + k] - shown) < 1e-14);
            assert_true(fabs(c->output[1]->data[row * H + k] - memory) < 1e-14);
        }
    }
}

static void gradients_match_for_a_step_of_every_form(void **state) {
    (void)state;
    static const int state_rows[] = {ROWS, ROWS + 2, 2, 0};
    for (int form = 0; form < 16; form++) {
        check c;
        int m = state_rows[form >> 2];
        has_context = form & 2;
        declare_cell(&c, has_context ? D : 0, form & 1 ? SA_CELL_LSTM_LINEAR : SA_CELL_LSTM);
        c.x[0] = check_input(&c, 2, (int[]){ROWS, 4 * H});
        c.x[1] = check_input(&c, 2, (int[]){m, H});
        c.x[2] = check_input(&c, 2, (int[]){m, H});
        if (has_context)
            c.x[3] = check_input(&c, 2, (int[]){ROWS, D});
        check_gradients(&c, build_step);
        compare_with_definition(&c);
        for (int k = ROWS * H; k < m * H; k++) /* of sequences that are over */
            assert_true(c.x[1]->grad[k] == 0 && c.x[2]->grad[k] == 0);
        check_end(&c);
    }
}

static void a_step_that_nothing_depends_on_leaves_zeros_in_its_input(void **state) {
    (void)state;
    check c;
    has_context = false;
    declare_cell(&c, 0, SA_CELL_LSTM);
    c.x[0] = check_input(&c, 2, (int[]){ROWS, 4 * H});
    c.x[1] = check_input(&c, 2, (int[]){ROWS, H});
    c.x[2] = check_input(&c, 2, (int[]){ROWS, H});
    check_prepare(&c);
    check_run(&c, build_step, true);
    tape_backward(c.tape);
    for (long k = 0; k < c.x[0]->count; k++)
        assert_true(c.x[0]->tensor->grad[k] == 0);
    assert_false(c.x[1]->tensor->has_grad || c.x[2]->tensor->has_grad);
    check_end(&c);
}

/* ---- a stack over whole sequences */

static const int lengths[] = {5, 4, 4, 1}, sentence[] = {2, 0, 1, 3, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
enum { B = 4, T = 5, N = 14, LAYERS = 3 };

typedef struct stack_form {
    int from, residual_from;
    bool reversed, context, states;
    float dropout;
} stack_form;

static lstm_stack stack;
static stack_form form;

static void build_stack(check *c) {
    tape *t = c->tape;
    steps over;
    steps_make(t, B, lengths, &over);
    lstm_state before[LAYERS] = {{0}};
    lstm_run run[LAYERS];
    if (form.states) {
        before[1] = (lstm_state){check_tensor(c, c->x[1]), check_tensor(c, c->x[2])};
    }
    const stack_input in = {.x = check_tensor(c, c->x[0]),
                            .context = form.context ? check_tensor(c, c->x[form.states ? 3 : 1]) : NULL,
                            .over = &over,
                            .reversed = form.reversed,
                            .before = form.states ? before : NULL};
    check_output(c, lstm_stack_run(t, &stack, form.from, &in, (stack_dropout){form.dropout, 7, sentence}, run));
    check_output(c, run[LAYERS - 1].c[form.reversed ? 0 : T - 1]);
}

static void gradients_match_for_stacks(void **state) {
    (void)state;
    static const stack_form forms[] = {
        {.from = 0},
        {.from = 0, .reversed = true, .residual_from = 2},
        {.from = 1, .context = true, .residual_from = 3},
        {.from = 0, .states = true, .dropout = 0.4f},
        {.from = 1, .states = true, .context = true, .residual_from = 2, .dropout = 0.3f}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        check c;
        form = forms[k];
        check_begin(&c);
        c.always_record = form.dropout > 0;
        const weight_scope scope = {&c.params, "glorot", 0};
        stack = (lstm_stack){.n = LAYERS, .residual_from = form.residual_from};
        for (int i = form.from; i < LAYERS; i++) {
            char prefix[] = "layer.0";
            prefix[6] = (char)('0' + i);
            lstm_cell_declare(&stack.cell[i], &scope, prefix, H, form.context ? D : 0, H, SA_CELL_LSTM, false);
        }
        c.x[0] = check_input(&c, 2, (int[]){N, H});
        if (form.states) {
            c.x[1] = check_input(&c, 2, (int[]){B, H});
            c.x[2] = check_input(&c, 2, (int[]){B, H});
        }
        if (form.context)
            c.x[form.states ? 3 : 1] = check_input(&c, 2, (int[]){N, D});
        c.probes = 24;
        check_gradients(&c, build_stack);
        check_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_a_step_of_every_form),
        cmocka_unit_test(a_step_that_nothing_depends_on_leaves_zeros_in_its_input),
        cmocka_unit_test(gradients_match_for_stacks),
    };
    return cmocka_run_group_tests_name("lstm", tests, NULL, NULL);
}
