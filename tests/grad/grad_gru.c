/* src/op/gru.c and src/layer/gru_cell.c. */
#include "check.h"

#include "layer/gru_cell.h"

enum { B = 4, H = 3 };

static const bool live[B] = {true, false, true, false};
static const bool *rows; /* live, or NULL */

static gru_cell cell;
static const int lengths[B] = {2, 5, 1, 4};
static bool reversed;

static void build_run(check *c) {
    tensor **s = gru_cell_run(c->tape, &cell, check_tensor(c, c->x[0]), lengths, reversed);
    assert_non_null(s);
    for (int j = 0; j < 5; j++)
        check_output(c, s[j]);
}

static void declare_cell(check *c, int context, sa_reset reset) {
    check_begin(c);
    const weight_scope scope = {&c->params, "glorot"};
    gru_cell_declare(&cell, &scope, "cell", 2, context, H, reset);
    assert_false(c->params.failed);
}

static void gradients_match_for_sequences_in_both_directions(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        check c;
        reversed = i % 2;
        declare_cell(&c, 0, i < 2 ? SA_RESET_BEFORE : SA_RESET_AFTER);
        c.x[0] = check_input(&c, 3, (int[]){5, B, 2});
        check_gradients(&c, build_run);
        /* Padding keeps a state: the one before it, and that of the start when running backward. */
        for (int row = 0; row < B; row++)
            for (int j = lengths[row]; j < 5; j++)
                for (int k = 0; k < H; k++) {
                    real kept = reversed ? 0 : c.output[lengths[row] - 1]->data[row * H + k];
                    assert_true(c.output[j]->data[row * H + k] == kept);
                }
        check_end(&c);
    }
}

static void build_step(check *c) {
    check_output(c, gru_step(c->tape, &cell.step, check_tensor(c, c->x[0]),
                             cell.step.C ? check_tensor(c, c->x[2]) : NULL, check_tensor(c, c->x[1]), rows));
}

static void gradients_match_for_a_step_of_every_form(void **state) {
    (void)state;
    for (int form = 0; form < 8; form++) {
        check c;
        bool context = form & 2;
        rows = form & 4 ? live : NULL;
        declare_cell(&c, context ? 4 : 0, form & 1 ? SA_RESET_AFTER : SA_RESET_BEFORE);
        c.x[0] = check_input(&c, 2, (int[]){B, 3 * H});
        c.x[1] = check_input(&c, 2, (int[]){B, H});
        if (context)
            c.x[2] = check_input(&c, 2, (int[]){B, 4});
        check_gradients(&c, build_step);
        for (int i = 0; i < B * H && rows; i++)
            assert_int_equal(c.output[0]->data[i] == c.x[1]->value[i], !live[i / H]);
        check_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_a_step_of_every_form),
        cmocka_unit_test(gradients_match_for_sequences_in_both_directions),
    };
    return cmocka_run_group_tests_name("gru", tests, NULL, NULL);
}
