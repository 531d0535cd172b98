/* src/op/guide.c. */
#include "check.h"

#include "op/guide.h"

enum { ROWS = 4, S = 5 };
static const int at[ROWS + 1] = {0, 1, 1, 4, 6}, column[] = {2, 0, 1, 4, 3, 3};
static const double scale = 0.25;
static double sum;

static void build(check *c) {
    sum = op_guide(c->tape, check_tensor(c, c->x[0]), &(guide_rows){at, column}, scale);
    c->loss += scale * sum;
}

/* Weights are positive. */
static void declare(check *c) {
    check_begin(c);
    c->x[0] = check_input(c, 2, (int[]){ROWS, S});
    for (long k = 0; k < c->x[0]->count; k++)
        c->x[0]->value[k] = 0.1 + rng_uniform(&c->random);
}

static void gradients_match(void **state) {
    (void)state;
    check c;
    declare(&c);
    check_gradients(&c, build);
    check_end(&c);
}

static void the_loss_is_that_of_the_definition(void **state) {
    (void)state;
    check c;
    declare(&c);
    check_gradients(&c, build);
    const real *a = c.x[0]->value;
    double expected =
        -log(a[2] + 1e-6) - (log(a[10] + 1e-6) + log(a[11] + 1e-6) + log(a[14] + 1e-6)) / 3 - log(a[18] + 1e-6);
    assert_true(fabs(sum - expected) < 1e-10);
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match),
        cmocka_unit_test(the_loss_is_that_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
