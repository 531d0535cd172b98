/* src/op/shape.c and src/op/dropout.c. */
#include "check.h"

#include "op/dropout.h"
#include "op/shape.h"

enum { B = 3, S = 4 };

/* Steps 0, 2 and 3 are inputs of their own; step 1 is step 0 again. */
static tensor **steps(check *c, check_variable *const *x) {
    tensor **step = tape_bytes(c->tape, S * sizeof *step);
    assert_non_null(step);
    step[0] = step[1] = check_tensor(c, x[0]);
    step[2] = check_tensor(c, x[1]);
    step[3] = check_tensor(c, x[2]);
    return step;
}

static void build_join(check *c) {
    tensor **a = steps(c, c->x), **b = steps(c, c->x + 3);
    check_output(c, op_join_steps(c->tape, S, a, b));
}

static void build_join_one(check *c) {
    check_output(c, op_join_steps(c->tape, S, steps(c, c->x), NULL));
}

static void gradients_match_for_steps_joined_to_rows(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    for (int k = 0; k < 3; k++)
        c.x[k] = check_input(&c, 2, (int[]){B, 2});
    for (int k = 3; k < 6; k++)
        c.x[k] = check_input(&c, 2, (int[]){B, 5});
    check_gradients(&c, build_join);
    const tensor *y = c.output[0];
    assert_true(y->rank == 3 && y->dim[0] == B && y->dim[1] == S && y->dim[2] == 7);
    /* position 2 of sentence 1 */
    assert_memory_equal(y->data + (1 * S + 2) * 7, c.x[1]->value + 1 * 2, 2 * sizeof(real));
    assert_memory_equal(y->data + (1 * S + 2) * 7 + 2, c.x[4]->value + 1 * 5, 5 * sizeof(real));
    check_end(&c);

    check_begin(&c);
    for (int k = 0; k < 3; k++)
        c.x[k] = check_input(&c, 2, (int[]){B, 2});
    check_gradients(&c, build_join_one);
    check_end(&c);
}

static const int lengths[B] = {4, 1, 3};

static void build_pack(check *c) {
    check_output(c, op_pack_steps(c->tape, S, steps(c, c->x), lengths));
}

static void gradients_match_for_steps_packed_without_padding(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    for (int k = 0; k < 3; k++)
        c.x[k] = check_input(&c, 2, (int[]){B, 2});
    check_gradients(&c, build_pack);
    const tensor *y = c.output[0];
    assert_true(y->dim[0] == 8 && y->dim[1] == 2);
    /* rows: step 0 of 0, 1, 2; step 1 of 0, 2; step 2 of 0, 2; step 3 of 0 */
    assert_memory_equal(y->data + 2 * 6, c.x[1]->value + 2 * 2, 2 * sizeof(real));
    assert_memory_equal(y->data + 2 * 7, c.x[2]->value, 2 * sizeof(real));
    for (int k = 0; k < 4; k++) /* padding has no slope */
        assert_true(c.x[2]->grad[2 + k] == 0);
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
        cmocka_unit_test(gradients_match_for_steps_joined_to_rows),
        cmocka_unit_test(gradients_match_for_steps_packed_without_padding),
        cmocka_unit_test(gradients_match_for_dropout_with_one_mask_a_sentence),
        cmocka_unit_test(dropout_passes_its_input_through_when_off),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
