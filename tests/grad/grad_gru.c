/* src/op/gru.c and src/layer/gru_cell.c. */
#include "check.h"

#include "layer/gru_cell.h"

enum { B = 4, H = 3 };

static void build_gates(check *c) {
    tensor *z = NULL, *r = gru_gates(c->tape, check_tensor(c, c->x[0]), check_tensor(c, c->x[1]), &z);
    check_output(c, r);
    check_output(c, z);
}

/* The candidate's third of x stays without gradient: gru_gates must leave it at zero. */
static void gradients_match_for_gates(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){B, 3 * H});
    c.x[1] = check_input(&c, 2, (int[]){B, 2 * H});
    check_gradients(&c, build_gates);
    for (int i = 0; i < B; i++)
        for (int k = 2 * H; k < 3 * H; k++)
            assert_true(c.x[0]->grad[i * 3 * H + k] == 0);
    check_end(&c);
}

static const bool live[B] = {true, false, true, false};

static void build_update(check *c) {
    check_output(c, gru_update(c->tape, check_tensor(c, c->x[0]), check_tensor(c, c->x[1]),
                               check_tensor(c, c->x[2]), check_tensor(c, c->x[3]), c->p[0], NULL));
}

static void build_update_live(check *c) {
    check_output(c, gru_update(c->tape, check_tensor(c, c->x[0]), check_tensor(c, c->x[1]),
                               check_tensor(c, c->x[2]), check_tensor(c, c->x[3]), c->p[0], live));
}

static void declare_update(check *c) {
    check_begin(c);
    c->p[0] = check_param(c, "b", H, 0);
    c->x[0] = check_input(c, 2, (int[]){B, 3 * H});
    c->x[1] = check_input(c, 2, (int[]){B, H});
    c->x[2] = check_input(c, 2, (int[]){B, H});
    c->x[3] = check_input(c, 2, (int[]){B, H});
}

static void gradients_match_for_updates(void **state) {
    (void)state;
    check c;
    declare_update(&c);
    check_gradients(&c, build_update);
    check_end(&c);
}

static void gradients_match_for_updates_that_keep_ended_rows(void **state) {
    (void)state;
    check c;
    declare_update(&c);
    check_gradients(&c, build_update_live);
    for (int i = 0; i < B; i++)
        for (int k = 0; k < H; k++)
            assert_int_equal(c.output[0]->data[i * H + k] == c.x[3]->value[i * H + k], !live[i]);
    check_end(&c);
}

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
    check_output(c, gru_cell_step(c->tape, &cell, check_tensor(c, c->x[0]), check_tensor(c, c->x[1]), live));
}

static void gradients_match_for_a_step_with_both_resets(void **state) {
    (void)state;
    for (int after = 0; after < 2; after++) {
        check c;
        declare_cell(&c, 4, after ? SA_RESET_AFTER : SA_RESET_BEFORE);
        c.x[0] = check_input(&c, 2, (int[]){B, 3 * H});
        c.x[1] = check_input(&c, 2, (int[]){B, H});
        check_gradients(&c, build_step);
        check_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_gates),
        cmocka_unit_test(gradients_match_for_updates),
        cmocka_unit_test(gradients_match_for_updates_that_keep_ended_rows),
        cmocka_unit_test(gradients_match_for_a_step_with_both_resets),
        cmocka_unit_test(gradients_match_for_sequences_in_both_directions),
    };
    return cmocka_run_group_tests_name("gru", tests, NULL, NULL);
}
