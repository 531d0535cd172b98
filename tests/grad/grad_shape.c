/* src/op/shape.c and src/op/dropout.c. */
#include "check.h"

#include "op/dropout.h"
#include "op/pointwise.h"
#include "op/shape.h"

/* Row 2 three times, row 1 never. */
static const int picked[] = {2, 0, 2, 3, 2, 0};
enum { PICKED = sizeof picked / sizeof *picked };

static void build_gather(check *c) {
    tensor *a = check_tensor(c, c->x[0]), *b = c->n_inputs > 1 ? check_tensor(c, c->x[1]) : NULL;
    check_output(c, op_gather(c->tape, a, b, PICKED, picked));
    check_output(c, a); /* what others read adds up */
}

static void gradients_match_for_rows_gathered_from_one_matrix_or_two(void **state) {
    (void)state;
    for (int parts = 1; parts <= 2; parts++) {
        check c;
        check_begin(&c);
        c.x[0] = check_input(&c, 2, (int[]){4, 2});
        if (parts == 2)
            c.x[1] = check_input(&c, 2, (int[]){4, 5});
        check_gradients(&c, build_gather);
        const tensor *y = c.output[0];
        int cols = parts == 2 ? 7 : 2;
        assert_true(y->rank == 2 && y->dim[0] == PICKED && y->dim[1] == cols);
        for (int i = 0; i < PICKED; i++) {
            assert_memory_equal(y->data + i * cols, c.x[0]->value + picked[i] * 2, 2 * sizeof(real));
            if (parts == 2)
                assert_memory_equal(y->data + i * cols + 2, c.x[1]->value + picked[i] * 5, 5 * sizeof(real));
        }
        for (int k = 0; k < 5 && parts == 2; k++) /* a row that nobody picked */
            assert_true(c.x[1]->grad[5 + k] == 0);
        check_end(&c);
    }
}

/* Twice the same matrix, and a part of another one. */
static void build_gather_views(check *c) {
    tensor *x = check_tensor(c, c->x[0]), *part = tape_rows(c->tape, check_tensor(c, c->x[1]), 1, 4);
    check_output(c, op_gather(c->tape, x, x, PICKED, picked));
    check_output(c, op_gather(c->tape, x, part, PICKED, picked));
}

static void gradients_match_for_rows_gathered_from_the_same_matrix_and_from_a_part(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){4, 2});
    c.x[1] = check_input(&c, 2, (int[]){6, 3});
    check_gradients(&c, build_gather_views);
    check_end(&c);
}

/* Rows that overlap, and some that are in no mean. */
static const int mean_at[] = {3, 0, 2}, mean_of[] = {2, 1, 3};

static void build_mean(check *c) {
    tensor *x = check_tensor(c, c->x[0]);
    check_output(c, op_mean(c->tape, x, 3, mean_at, mean_of));
    check_output(c, x);
}

static void gradients_match_for_means_of_rows(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){6, 4});
    check_gradients(&c, build_mean);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            double sum = 0;
            for (int j = mean_at[i]; j < mean_at[i] + mean_of[i]; j++)
                sum += c.x[0]->value[j * 4 + k];
            assert_true(fabs(c.output[0]->data[i * 4 + k] - sum / mean_of[i]) < 1e-15);
        }
    check_end(&c);
}

/* Two addends with more rows, or as many, one of which others read too. */
static void build_add_to(check *c) {
    tensor *y = check_tensor_consumed(c, c->x[0]), *x = check_tensor(c, c->x[1]);
    assert_ptr_equal(op_add_to(c->tape, y, x), y);
    assert_ptr_equal(op_add_to(c->tape, y, check_tensor(c, c->x[2])), y);
    check_output(c, op_maxout(c->tape, y));
    check_output(c, x);
}

static void gradients_match_for_sums_in_place(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){3, 8});
    c.x[1] = check_input(&c, 2, (int[]){5, 8});
    c.x[2] = check_input(&c, 2, (int[]){3, 8});
    check_gradients(&c, build_add_to);
    check_run(&c, build_add_to, false);
    for (int i = 0; i < 12; i++) {
        real pair[2];
        for (int k = 0; k < 2; k++)
            pair[k] = c.x[0]->value[2 * i + k] + c.x[1]->value[2 * i + k] + c.x[2]->value[2 * i + k];
        assert_true(fabs(c.output[0]->data[i] - fmax(pair[0], pair[1])) < 1e-15);
    }
    check_end(&c);
}

static const int sentence[] = {0, 1, 2, 0, 1, 2, 0, 0, 2};
enum { ROWS = sizeof sentence / sizeof *sentence, D = 16 };

static void build_dropout(check *c) {
    c->tape->seed = 3;
    c->tape->update = 9;
    c->tape->first_sentence = 20;
    check_output(c, op_dropout(c->tape, check_tensor(c, c->x[0]), 0.4f, 2, sentence));
}

static void gradients_match_for_dropout_with_one_mask_a_sentence(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.always_record = true;
    c.x[0] = check_input(&c, 2, (int[]){ROWS, D});
    check_gradients(&c, build_dropout);
    int dropped = 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < D; k++) {
            real ratio = c.output[0]->data[i * D + k] / c.x[0]->value[i * D + k];
            assert_true(ratio == 0 || fabs(ratio * (1 - (double)0.4f) - 1) < 1e-12);
            for (int j = 0; j < i; j++) /* one mask a sentence */
                if (sentence[j] == sentence[i])
                    assert_int_equal(ratio == 0, c.output[0]->data[j * D + k] == 0);
            dropped += ratio == 0;
        }
    assert_true(dropped > ROWS * D / 5 && dropped < ROWS * D * 3 / 5);
    check_end(&c);
}

static void dropout_passes_its_input_through_when_off(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){ROWS, D});
    check_prepare(&c);
    tape_reset(c.tape, true);
    tensor *x = check_tensor(&c, c.x[0]);
    assert_ptr_equal(op_dropout(c.tape, x, 0, 2, sentence), x);
    tape_reset(c.tape, false);
    x = check_tensor(&c, c.x[0]);
    assert_ptr_equal(op_dropout(c.tape, x, 0.4f, 2, sentence), x);
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_rows_gathered_from_one_matrix_or_two),
        cmocka_unit_test(gradients_match_for_rows_gathered_from_the_same_matrix_and_from_a_part),
        cmocka_unit_test(gradients_match_for_means_of_rows),
        cmocka_unit_test(gradients_match_for_sums_in_place),
        cmocka_unit_test(gradients_match_for_dropout_with_one_mask_a_sentence),
        cmocka_unit_test(dropout_passes_its_input_through_when_off),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
