/* src/op/norm.c, src/op/position.c, src/op/dropout.c where rows have masks of their own, and op_relu. */
#include "check.h"

#include "op/norm.h"
#include "op/pointwise.h"
#include "op/position.h"

enum { N = 6, D = 7 };

static const int sentence[N] = {1, 0, 1, 0, 2, 1}, position[N] = {0, 0, 1, 3, 2, 5};
static unit_dropout dropout;

static void build_norm(check *c) {
    tensor *x = check_tensor(c, c->x[0]), *f = check_tensor_consumed(c, c->x[1]);
    check_output(c, op_add_norm(c->tape, x, f, c->p[0], c->p[1], &dropout));
}

static void declare_norm(check *c, float rate) {
    check_begin(c);
    dropout = (unit_dropout){rate, 3, sentence, position, false};
    c->always_record = rate > 0;
    c->p[0] = check_param(c, "gain", D, 0);
    c->p[1] = check_param(c, "b", D, 0);
    for (int i = 0; i < 2; i++)
        c->x[i] = check_input(c, 2, (int[]){N, D});
}

static void gradients_match_for_a_normalised_sum_with_and_without_dropout(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        check c;
        declare_norm(&c, k ? 0.4f : 0);
        check_gradients(&c, build_norm);
        check_end(&c);
    }
}

static void rows_are_normalised_as_the_equation_says(void **state) {
    (void)state;
    check c;
    declare_norm(&c, 0);
    check_prepare(&c);
    check_run(&c, build_norm, false);
    for (int i = 0; i < N; i++) {
        double z[D], mean = 0, variance = 0;
        for (int k = 0; k < D; k++) {
            z[k] = c.x[0]->value[i * D + k] + c.x[1]->value[i * D + k];
            mean += z[k] / D;
        }
        for (int k = 0; k < D; k++)
            variance += (z[k] - mean) * (z[k] - mean) / D;
        for (int k = 0; k < D; k++) {
            double y = c.p[0]->value[k] * (z[k] - mean) / sqrt(variance + 1e-5) + c.p[1]->value[k];
            assert_true(fabs(c.output[0]->data[i * D + k] - y) < 1e-13);
        }
    }
    check_end(&c);
}

static void a_sum_that_nothing_depends_on_gets_zeros(void **state) {
    (void)state;
    check c;
    declare_norm(&c, 0);
    check_prepare(&c);
    check_run(&c, build_norm, true);
    tape_backward(c.tape);
    for (int k = 0; k < N * D; k++)
        assert_true(c.x[1]->tensor->grad[k] == 0);
    assert_false(c.x[0]->tensor->has_grad);
    check_end(&c);
}

/* The same of one addend, read by what consumes it and by what does not, with and without a bias. */
static void build_alone(check *c) {
    tensor *f[2];
    for (int i = 0; i < 2; i++)
        f[i] = check_tensor_consumed(c, c->x[i]);
    check_output(c, op_norm(c->tape, f[0], c->p[0], c->p[1]));
    check_output(c, op_maxout(c->tape, op_norm_consumed(c->tape, f[1], c->p[2], NULL)));
}

static void gradients_match_for_a_normalised_row_by_itself(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "gain", D, 0);
    c.p[1] = check_param(&c, "b", D, 0);
    c.p[2] = check_param(&c, "other", D + 1, 0);
    c.x[0] = check_input(&c, 2, (int[]){N, D});
    c.x[1] = check_input(&c, 2, (int[]){N, D + 1});
    check_gradients(&c, build_alone);
    check_run(&c, build_alone, false);
    for (int i = 0; i < N; i++) {
        real z[D];
        memcpy(z, c.x[0]->value + i * D, sizeof z);
        double mean = 0, variance = 0;
        for (int k = 0; k < D; k++)
            mean += z[k] / D;
        for (int k = 0; k < D; k++)
            variance += (z[k] - mean) * (z[k] - mean) / D;
        for (int k = 0; k < D; k++) {
            double y = c.p[0]->value[k] * (z[k] - mean) / sqrt(variance + 1e-5) + c.p[1]->value[k];
            assert_true(fabs(c.output[0]->data[i * D + k] - y) < 1e-13);
        }
    }
    check_end(&c);
}

static void build_units(check *c) {
    check_output(c, op_dropout_units(c->tape, check_tensor(c, c->x[0]), &dropout));
}

static void gradients_match_for_dropout_of_units_and_of_rows(void **state) {
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        check c;
        check_begin(&c);
        dropout = (unit_dropout){0.5f, 9, sentence, position, whole};
        c.always_record = true;
        c.x[0] = check_input(&c, 2, (int[]){N, D});
        check_gradients(&c, build_units);
        check_end(&c);
    }
}

/* A share of them, about as large as was asked for, and the rest scaled. */
static void rows_are_dropped_whole(void **state) {
    (void)state;
    enum { ROWS = 4000, WIDE = 3 };
    static int of_one[ROWS], at[ROWS];
    const double rate = 0.3, keep = 1 / (1 - (double)0.3f);
    int dropped = 0;
    tape *t;
    assert_int_equal(tape_new(&t, 0, 1 << 16, NULL), SA_OK);
    tape_reset(t, true);
    for (int i = 0; i < ROWS; i++)
        at[i] = i;
    const unit_dropout d = {(float)rate, 2, of_one, at, true};
    for (int i = 0; i < ROWS; i++) {
        real x[WIDE] = {1, 1, 1};
        unit_dropout_row(t, &d, i, x, WIDE);
        for (int k = 0; k < WIDE; k++)
            assert_true(x[k] == x[0] && (x[k] == 0 || fabs(x[k] - keep) < 1e-12));
        dropped += x[0] == 0;
    }
    assert_true(fabs(dropped - rate * ROWS) < 4 * sqrt(rate * (1 - rate) * ROWS));
    tape_free(t);
}

/* Where a row lies among others says nothing about its mask; its sentence, position and site do. */
static void masks_of_units_belong_to_sentence_position_and_site(void **state) {
    (void)state;
    enum { WIDE = 64 };
    static const int one[2] = {1, 1}, other[2] = {0, 1}, five[2] = {5, 5}, places[2] = {5, 6};
    tape *t;
    assert_int_equal(tape_new(&t, 0, 1 << 16, NULL), SA_OK);
    real first[WIDE], x[4][WIDE];
    tape_reset(t, true);
    t->seed = 3;
    t->update = 4;
    t->first_sentence = 10;
    for (int k = 0; k < WIDE; k++)
        first[k] = x[0][k] = x[1][k] = x[2][k] = x[3][k] = 1;
    const unit_dropout d = {0.5f, 2, one, five, false}, moved = {0.5f, 2, other, places, false},
                       elsewhere = {0.5f, 3, one, five, false};
    unit_dropout_row(t, &d, 0, first, WIDE);
    unit_dropout_row(t, &d, 1, x[0], WIDE);
    assert_memory_equal(first, x[0], sizeof first);
    unit_dropout_row(t, &moved, 0, x[1], WIDE);
    unit_dropout_row(t, &moved, 1, x[2], WIDE);
    unit_dropout_row(t, &elsewhere, 0, x[3], WIDE);
    for (int k = 1; k < 4; k++)
        assert_memory_not_equal(first, x[k], sizeof first);
    t->first_sentence = 11; /* the same sentence, in another piece of the minibatch */
    for (int k = 0; k < WIDE; k++)
        x[0][k] = 1;
    unit_dropout_row(t, &(unit_dropout){0.5f, 2, other, five, false}, 0, x[0], WIDE);
    assert_memory_equal(first, x[0], sizeof first);
    tape_free(t);
}

static void build_position(check *c) {
    check_output(c, op_position(c->tape, check_tensor(c, c->x[0]), 1.7, position));
}

static void gradients_match_for_positions_and_their_waves_are_those_of_the_paper(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){N, D});
    check_gradients(&c, build_position);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < D; k++) {
            double angle = position[i] / pow(10000, (double)(k - k % 2) / D),
                   wave = k % 2 ? cos(angle) : sin(angle);
            assert_true(fabs(c.output[0]->data[i * D + k] - (1.7 * c.x[0]->value[i * D + k] + wave)) < 1e-13);
        }
    check_end(&c);
}

static void build_relu(check *c) {
    tensor *sum = op_add(c->tape, check_tensor(c, c->x[0]), check_tensor(c, c->x[1]));
    check_output(c, op_relu(c->tape, sum));
}

static void gradients_match_for_a_rectifier(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    for (int i = 0; i < 2; i++)
        c.x[i] = check_input(&c, 2, (int[]){N, D});
    check_gradients(&c, build_relu);
    int zeros = 0;
    for (int k = 0; k < N * D; k++) {
        double x = c.x[0]->value[k] + c.x[1]->value[k];
        zeros += x < 0;
        assert_true(c.output[0]->data[k] == (x > 0 ? x : 0));
        assert_true(c.x[0]->grad[k] == (x > 0 ? c.coefficient[k] : 0));
    }
    assert_true(zeros > 0 && zeros < N * D);
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_a_normalised_sum_with_and_without_dropout),
        cmocka_unit_test(rows_are_normalised_as_the_equation_says),
        cmocka_unit_test(gradients_match_for_a_normalised_row_by_itself),
        cmocka_unit_test(a_sum_that_nothing_depends_on_gets_zeros),
        cmocka_unit_test(gradients_match_for_dropout_of_units_and_of_rows),
        cmocka_unit_test(rows_are_dropped_whole),
        cmocka_unit_test(masks_of_units_belong_to_sentence_position_and_site),
        cmocka_unit_test(gradients_match_for_positions_and_their_waves_are_those_of_the_paper),
        cmocka_unit_test(gradients_match_for_a_rectifier),
    };
    return cmocka_run_group_tests_name("norm", tests, NULL, NULL);
}
