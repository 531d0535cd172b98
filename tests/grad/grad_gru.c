/* src/op/gru.c and src/layer/gru_cell.c. */
#include "check.h"

#include "layer/gru_cell.h"

enum { H = 3, D = 4, IN = 2 };

static gru_cell cell;

/* Ways of a unit. */
enum { BEFORE, AFTER, NORMALISED, WAYS };

static void declare_cell(check *c, int input, int context, int way) {
    check_begin(c);
    const weight_scope scope = {&c->params, "glorot", 0};
    const gru_form form = {.input = input,
                           .context = context,
                           .width = H,
                           .reset = way == BEFORE ? SA_RESET_BEFORE : SA_RESET_AFTER,
                           .normalised = way == NORMALISED};
    gru_cell_declare(&cell, &scope, "cell", form);
    assert_false(c->params.failed);
}

/* ---- one step */

enum { ROWS = 4 };

static void build_step(check *c) {
    const gru_input x = {check_tensor_consumed(c, c->x[0]), check_tensor_consumed(c, c->x[1])};
    tensor *s = check_tensor(c, c->x[2]), *context = cell.step.C ? check_tensor(c, c->x[3]) : NULL;
    check_output(c, gru_step(c->tape, &cell.step, x, context, s));
}

static void declare_step(check *c, bool context, int way, int state_rows) {
    declare_cell(c, IN, context ? D : 0, way);
    c->x[0] = check_input(c, 2, (int[]){ROWS, 2 * H});
    c->x[1] = check_input(c, 2, (int[]){ROWS, H});
    c->x[2] = check_input(c, 2, (int[]){state_rows, H});
    if (context)
        c->x[3] = check_input(c, 2, (int[]){ROWS, D});
}

/* Row `row` of W times x. */
static double product(const param *W, int row, const real *x) {
    double sum = 0;
    for (int k = 0; k < W->dim[1]; k++)
        sum += W->value[row * W->dim[1] + k] * x[k];
    return sum;
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

/* gain * N(x), or x where gain is NULL. */
static void scale_row(double *x, const param *gain, int n) {
    double mean = 0, variance = 0;
    for (int k = 0; k < n; k++)
        mean += x[k] / n;
    for (int k = 0; k < n; k++)
        variance += (x[k] - mean) * (x[k] - mean) / n;
    for (int k = 0; gain && k < n; k++)
        x[k] = gain->value[k] * (x[k] - mean) / sqrt(variance + 1e-5);
}

static double bias(const param *b, int k) {
    return b ? b->value[k] : 0;
}

/* What a row's input and context give: gates, then the candidate; zeros without. */
static void given_to_row(const check *c, int i, double *zr, double *new) {
    const gru_weights *g = &cell.step;
    const real *context = g->C ? c->x[3]->value + i * D : NULL;
    for (int k = 0; k < 2 * H; k++)
        zr[k] = c->x[0]->value[i * 2 * H + k] + (context ? product(g->C_zr, k, context) : 0);
    for (int k = 0; k < H; k++)
        new[k] = c->x[1]->value[i * H + k] + (context ? product(g->C, k, context) : 0);
    scale_row(zr, g->norm.g_W_zr, 2 * H);
    scale_row(new, g->norm.g_W, H);
}

/* The equations of the headers, written down once more. */
static void row_of_definition(const double *zr, const double *new, const real *s, double *y) {
    const gru_weights *g = &cell.step;
    double of_state[2 * H], inner[H];
    real reset_state[H];
    for (int k = 0; k < 2 * H; k++)
        of_state[k] = product(g->U_zr, k, s);
    scale_row(of_state, g->norm.g_U_zr, 2 * H);
    for (int k = 0; k < 2 * H; k++)
        of_state[k] = sigmoid(zr[k] + of_state[k] + bias(g->norm.b_zr, k));
    for (int k = 0; k < H; k++)
        reset_state[k] = of_state[H + k] * s[k];
    for (int k = 0; k < H; k++)
        inner[k] = product(g->U, k, g->reset == SA_RESET_BEFORE ? reset_state : s);
    scale_row(inner, g->norm.g_U, H);
    for (int k = 0; k < H; k++) {
        double z = of_state[k], r = g->reset == SA_RESET_BEFORE ? 1 : of_state[H + k];
        double made = tanh(new[k] + r *(inner[k] + bias(g->norm.b_U, k)) + bias(g->norm.b, k));
        y[k] = (1 - z) * s[k] + z * made;
    }
}

static void compare_with_definition(const check *c) {
    for (int i = 0; i < ROWS; i++) {
        static const real zeros[H];
        double zr[2 * H], new[H], y[H];
        given_to_row(c, i, zr, new);
        row_of_definition(zr, new, i < c->x[2]->dim[0] ? c->x[2]->value + i * H : zeros, y);
        for (int k = 0; k < H; k++)
            assert_true(fabs(c->output[0]->data[i * H + k] - y[k]) < 1e-13);
    }
}

static void gradients_match_for_a_step_of_every_form(void **state) {
    (void)state;
    static const int state_rows[] = {ROWS, ROWS + 2, 2, 0};
    for (int form = 0; form < 8 * WAYS; form++) {
        check c;
        int m = state_rows[form & 3];
        declare_step(&c, form & 4, form >> 3, m);
        check_gradients(&c, build_step);
        compare_with_definition(&c);
        for (int k = ROWS * H; k < m * H; k++) /* of sequences that are over */
            assert_true(c.x[2]->grad[k] == 0);
        check_end(&c);
    }
}

static void a_step_that_nothing_depends_on_leaves_zeros_in_its_inputs(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        check c;
        declare_step(&c, true, way, ROWS);
        check_prepare(&c);
        check_run(&c, build_step, true);
        tape_backward(c.tape);
        for (int i = 0; i < 2; i++)
            for (long k = 0; k < c.x[i]->count; k++)
                assert_true(c.x[i]->tensor->grad[k] == 0);
        assert_false(c.x[2]->tensor->has_grad || c.x[3]->tensor->has_grad);
        check_end(&c);
    }
}

/* ---- units without input, one after the other */

static gru_transition deep;

static void build_transition(check *c) {
    check_output(c, gru_transition_run(c->tape, &deep, check_tensor(c, c->x[0])));
}

static void declare_deep(check *c, int n, int way) {
    const weight_scope scope = {&c->params, "glorot", 0};
    const gru_form form = {
        .width = H, .reset = way == BEFORE ? SA_RESET_BEFORE : SA_RESET_AFTER, .normalised = way == NORMALISED};
    gru_transition_declare(&deep, &scope, "deep", n, form);
    assert_false(c->params.failed);
}

static void gradients_match_for_units_without_input(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int n = 1; n <= 3; n++) {
            check c;
            check_begin(&c);
            declare_deep(&c, n, way);
            c.x[0] = check_input(&c, 2, (int[]){ROWS, H});
            check_gradients(&c, build_transition);
            cell = deep.cell[0];
            for (int i = 0; i < ROWS && n == 1; i++) {
                double zr[2 * H] = {0}, new[H] = {0}, y[H];
                for (int k = 0; k < 2 * H; k++)
                    zr[k] = bias(cell.b_zr, k);
                for (int k = 0; k < H; k++)
                    new[k] = bias(cell.b, k);
                row_of_definition(zr, new, c.x[0]->value + i * H, y);
                for (int k = 0; k < H; k++)
                    assert_true(fabs(c.output[0]->data[i * H + k] - y[k]) < 1e-13);
            }
            check_end(&c);
        }
}

/* ---- a loop that holds its state in the first iteration, then steps */

static const int lengths[] = {5, 4, 4, 1};
enum { B = 4, T = 5, N = 14 };

static void build_held(check *c) {
    tape *t = c->tape;
    steps over;
    steps_make(t, B, lengths, &over);
    tensor *gates = check_tensor_consumed(c, c->x[0]), *candidate = check_tensor_consumed(c, c->x[1]);
    tensor *s = check_tensor(c, c->x[2]), *states[T];
    tape_loop_begin(t, &over, false);
    for (int i = 0; i < T; i++) {
        int j = tape_loop_next(t), from = over.at[j] - B;
        const gru_input x = {j ? tape_rows(t, gates, from, over.n[j]) : NULL,
                             j ? tape_rows(t, candidate, from, over.n[j]) : NULL};
        s = states[j] = j ? gru_step(t, &cell.step, x, NULL, s) : gru_hold(t, &cell.step, s);
    }
    tape_loop_end(t);
    assert_memory_equal(states[0]->data, c->x[2]->value, B * H * sizeof(real));
    check_output(c, tape_joined(t, &over, states));
}

static void gradients_match_for_a_loop_that_holds_first(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        check c;
        declare_cell(&c, IN, 0, way);
        c.x[0] = check_input(&c, 2, (int[]){N - B, 2 * H});
        c.x[1] = check_input(&c, 2, (int[]){N - B, H});
        c.x[2] = check_input(&c, 2, (int[]){B, H});
        check_gradients(&c, build_held);
        check_end(&c);
    }
}

/* ---- whole sequences */

static bool reversed, joined;

static void build_run(check *c) {
    steps over;
    steps_make(c->tape, B, lengths, &over);
    tensor **s = gru_cell_run(c->tape, &cell, &deep, check_tensor(c, c->x[0]), &over, reversed);
    assert_non_null(s);
    if (joined)
        check_output(c, tape_joined(c->tape, &over, s));
    for (int j = 0; j < T; j++)
        check_output(c, s[j]);
}

/* Each sentence by itself: position j of sentence i is row i of step j. */
static void compare_with_sentences_alone(check *c, const tensor *all) {
    real kept[N * H];
    int at = 0, row[B][T];
    memcpy(kept, all->data, sizeof kept);
    for (int j = 0; j < T; j++)
        for (int i = 0; i < B && lengths[i] > j; i++)
            row[i][j] = at++;
    assert_int_equal(at, N);
    for (int i = 0; i < B; i++) {
        steps alone;
        tape_reset(c->tape, false);
        steps_make(c->tape, 1, &lengths[i], &alone);
        tensor *x = tape_matrix(c->tape, lengths[i], IN);
        assert_non_null(x);
        for (int j = 0; j < lengths[i]; j++)
            memcpy(x->data + j * IN, c->x[0]->value + row[i][j] * IN, IN * sizeof(real));
        tensor **s = gru_cell_run(c->tape, &cell, &deep, x, &alone, reversed);
        assert_non_null(s);
        for (int j = 0; j < lengths[i]; j++)
            for (int k = 0; k < H; k++)
                assert_true(fabs(s[j]->data[k] - kept[row[i][j] * H + k]) < 1e-14);
    }
}

static void gradients_match_for_sequences_in_both_directions(void **state) {
    (void)state;
    for (int form = 0; form < 8 * WAYS; form++) {
        check c;
        reversed = form & 1;
        joined = form & 2;
        declare_cell(&c, IN, 0, form >> 3);
        declare_deep(&c, form & 4 ? 2 : 0, form >> 3);
        c.x[0] = check_input(&c, 2, (int[]){N, IN});
        check_gradients(&c, build_run);
        if (joined)
            compare_with_sentences_alone(&c, c.output[0]);
        check_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_a_step_of_every_form),
        cmocka_unit_test(a_step_that_nothing_depends_on_leaves_zeros_in_its_inputs),
        cmocka_unit_test(gradients_match_for_units_without_input),
        cmocka_unit_test(gradients_match_for_a_loop_that_holds_first),
        cmocka_unit_test(gradients_match_for_sequences_in_both_directions),
    };
    return cmocka_run_group_tests_name("gru", tests, NULL, NULL);
}
