/* src/op/linear.c and src/op/embed.c. */
#include "check.h"

#include "op/embed.h"
#include "op/linear.h"
#include "op/pointwise.h"

static void build_linear(check *c) {
    check_output(c, linear(c->tape, check_tensor(c, c->x[0]), c->p[0], c->p[1]));
}

static void gradients_match_for_a_linear_map(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 4, 3);
    c.p[1] = check_param(&c, "b", 4, 0);
    c.x[0] = check_input(&c, 3, (int[]){2, 5, 3});
    check_gradients(&c, build_linear);
    check_end(&c);
}

static void build_without_bias(check *c) {
    check_output(c, linear(c->tape, check_tensor(c, c->x[0]), c->p[0], NULL));
}

static void gradients_match_for_a_linear_map_without_bias(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 1, 7);
    c.x[0] = check_input(&c, 2, (int[]){1, 7});
    check_gradients(&c, build_without_bias);
    check_end(&c);
}

static void build_sum(check *c) {
    const linear_term terms[] = {{check_tensor(c, c->x[0]), c->p[0]},
                                 {check_tensor(c, c->x[1]), c->p[1]},
                                 {check_tensor(c, c->x[2]), c->p[2]}};
    check_output(c, linear_sum(c->tape, check_tensor(c, c->x[3]), c->p[3], 3, terms));
}

static void gradients_match_for_three_terms_with_addend_and_bias(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "U", 3, 4);
    c.p[1] = check_param(&c, "V", 3, 2);
    c.p[2] = check_param(&c, "C", 3, 5);
    c.p[3] = check_param(&c, "b", 3, 0);
    c.x[0] = check_input(&c, 2, (int[]){6, 4});
    c.x[1] = check_input(&c, 2, (int[]){6, 2});
    c.x[2] = check_input(&c, 2, (int[]){6, 5});
    c.x[3] = check_input(&c, 2, (int[]){6, 3});
    check_gradients(&c, build_sum);
    check_end(&c);
}

static void build_addend(check *c) {
    const linear_term term = {check_tensor(c, c->x[0]), c->p[0]};
    check_output(c, linear_sum(c->tape, check_tensor(c, c->x[1]), NULL, 1, &term));
}

static void gradients_match_for_a_term_with_addend_and_no_bias(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 3, 4);
    c.x[0] = check_input(&c, 2, (int[]){2, 4});
    c.x[1] = check_input(&c, 2, (int[]){2, 3});
    check_gradients(&c, build_addend);
    check_end(&c);
}

/* One tensor and one weight twice in a sum, and the tensor again as its own addend, read by a second product. */
static void build_shared(check *c) {
    tensor *x = check_tensor(c, c->x[0]);
    const linear_term terms[] = {{x, c->p[0]}, {x, c->p[0]}};
    tensor *y = linear_sum(c->tape, x, c->p[1], 2, terms);
    check_output(c, linear(c->tape, y, c->p[0], c->p[1]));
    check_output(c, y);
}

static void gradients_add_up_over_all_readers(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 4, 4);
    c.p[1] = check_param(&c, "b", 4, 0);
    c.x[0] = check_input(&c, 2, (int[]){3, 4});
    check_gradients(&c, build_shared);
    check_end(&c);
}

static tensor *consumed[2];

/* Two products side by side that their readers consume, of one tensor that others read too. */
static void build_consumed(check *c) {
    tensor *x = check_tensor(c, c->x[0]);
    const linear_term terms[] = {{x, c->p[0]}, {check_tensor(c, c->x[1]), c->p[1]}};
    consumed[0] = linear_consumed(c->tape, 2, terms, c->p[2]);
    consumed[1] = linear_consumed(c->tape, 1, terms, NULL);
    check_output(c, op_maxout(c->tape, consumed[0]));
    check_output(c, x);
    check_output(c, op_maxout(c->tape, consumed[1]));
}

static void gradients_match_for_products_that_are_consumed(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 6, 4);
    c.p[1] = check_param(&c, "V", 6, 2);
    c.p[2] = check_param(&c, "b", 6, 0);
    c.x[0] = check_input(&c, 2, (int[]){5, 4});
    c.x[1] = check_input(&c, 2, (int[]){5, 2});
    check_gradients(&c, build_consumed);
    for (int i = 0; i < 2; i++)
        assert_true(consumed[i]->rank == 2 && consumed[i]->grad == consumed[i]->data && consumed[i]->has_grad);
    check_run(&c, build_consumed, false);
    assert_true(!consumed[0]->grad && !consumed[0]->has_grad);
    check_end(&c);
}

static void build_of_no_rows(check *c) {
    tensor *x = check_tensor(c, c->x[0]), *none = tape_rows(c->tape, x, 3, 0);
    assert_int_equal(tensor_rows(linear_consumed(c->tape, 1, &(linear_term){none, c->p[0]}, c->p[1])), 0);
    check_output(c, linear(c->tape, none, c->p[0], c->p[1]));
    check_output(c, x);
}

static void products_of_no_rows_leave_no_gradient(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 2, 4);
    c.p[1] = check_param(&c, "b", 2, 0);
    c.x[0] = check_input(&c, 2, (int[]){3, 4});
    check_gradients(&c, build_of_no_rows);
    for (int k = 0; k < 8; k++)
        assert_true(c.p[0]->grad[k] == 0);
    check_end(&c);
}

static const int words[] = {2, -1, 0, 5, 2, 2, -1, 5};

static void build_embed(check *c) {
    tensor *e = embed(c->tape, c->p[0], 3, c->p[1], 8, words);
    assert_true(e && e->rank == 2 && e->dim[0] == 8 && e->dim[1] == 3);
    check_output(c, e);
}

/* Rows are as wide as an embedding, or wider. */
static void gradients_match_for_embeddings_with_repeated_and_absent_words(void **state) {
    (void)state;
    for (int width = 3; width < 6; width += 2) {
        check c;
        check_begin(&c);
        c.p[0] = check_param(&c, "E", 6, width);
        c.p[1] = check_param(&c, "b", 3, 0);
        check_gradients(&c, build_embed);
        const tensor *e = c.output[0];
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 3; k++) {
                real wanted = words[i] < 0 ? 0 : c.p[0]->value[width * words[i] + k] + c.p[1]->value[k];
                assert_true(e->data[3 * i + k] == wanted);
            }
        for (int k = 0; k < width; k++) /* words that do not occur, and what is behind an embedding */
            assert_true(c.p[0]->grad[width * 1 + k] == 0 && c.p[0]->grad[width * 4 + k] == 0 &&
                        (k < 3 || c.p[0]->grad[width * 2 + k] == 0));
        check_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_a_linear_map),
        cmocka_unit_test(gradients_match_for_a_linear_map_without_bias),
        cmocka_unit_test(gradients_match_for_three_terms_with_addend_and_bias),
        cmocka_unit_test(gradients_match_for_a_term_with_addend_and_no_bias),
        cmocka_unit_test(gradients_add_up_over_all_readers),
        cmocka_unit_test(gradients_match_for_products_that_are_consumed),
        cmocka_unit_test(products_of_no_rows_leave_no_gradient),
        cmocka_unit_test(gradients_match_for_embeddings_with_repeated_and_absent_words),
    };
    return cmocka_run_group_tests_name("linear", tests, NULL, NULL);
}
