/* src/op/pointwise.c. */
#include "check.h"

#include "op/pointwise.h"

static void build_tanh(check *c) {
    check_output(c, op_tanh(c->tape, check_tensor(c, c->x[0])));
}

static void gradients_match_for_tanh(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){4, 7});
    check_gradients(&c, build_tanh);
    check_end(&c);
}

static void build_add(check *c) {
    tensor *a = check_tensor(c, c->x[0]);
    check_output(c, op_add(c->tape, op_add(c->tape, a, check_tensor(c, c->x[1])), a));
}

static void gradients_match_for_a_sum(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    for (int i = 0; i < 2; i++)
        c.x[i] = check_input(&c, 2, (int[]){4, 7});
    check_gradients(&c, build_add);
    for (int i = 0; i < 28; i++)
        assert_true(fabs(c.output[0]->data[i] - (2 * c.x[0]->value[i] + c.x[1]->value[i])) < 1e-15);
    check_end(&c);
}

static void build_maxout(check *c) {
    check_output(c, op_maxout(c->tape, check_tensor_consumed(c, c->x[0])));
}

static void gradients_match_for_maxout_away_from_ties(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){5, 8});
    int second = 0;
    for (int i = 0; i < 20; i++) {
        real *pair = c.x[0]->value + 2 * i;
        assert_true(fabs(pair[0] - pair[1]) > 4 * CHECK_STEP);
        second += pair[1] > pair[0];
    }
    assert_true(second > 0 && second < 20);
    check_gradients(&c, build_maxout);
    check_end(&c);
}

static void at_a_tie_of_maxout_the_first_gets_the_gradient(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){1, 4});
    memcpy(c.x[0]->value, (real[]){0.5, 0.5, -2, -2}, 4 * sizeof(real));
    check_prepare(&c);
    check_run(&c, build_maxout, true);
    check_backward(&c);
    const real *g = c.x[0]->grad;
    assert_true(g[0] == c.coefficient[0] && g[1] == 0 && g[2] == c.coefficient[1] && g[3] == 0);
    check_end(&c);
}

/* Who consumes leaves a gradient in any case: its input's maker waits for one there. */
static void maxout_that_nothing_depends_on_leaves_zeros(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){3, 4});
    check_prepare(&c);
    tape_reset(c.tape, true);
    tensor *x = check_tensor_consumed(&c, c.x[0]);
    assert_non_null(op_maxout(c.tape, x));
    tape_backward(c.tape);
    for (int i = 0; i < 12; i++)
        assert_true(x->grad[i] == 0);
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_tanh),
        cmocka_unit_test(gradients_match_for_a_sum),
        cmocka_unit_test(gradients_match_for_maxout_away_from_ties),
        cmocka_unit_test(at_a_tie_of_maxout_the_first_gets_the_gradient),
        cmocka_unit_test(maxout_that_nothing_depends_on_leaves_zeros),
    };
    return cmocka_run_group_tests_name("pointwise", tests, NULL, NULL);
}
