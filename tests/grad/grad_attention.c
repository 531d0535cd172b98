/* src/op/attention_additive.c. */
#include "check.h"

#include "op/attention_additive.h"

/* Sources one after the other, in an order of their own; no row asks for the last of them when rows are mapped. */
enum { SOURCES = 4, N = 11, S = 5, D = 4, A = 3, ROWS = 6 };

static const int lengths[SOURCES] = {5, 1, 3, 2}, at[SOURCES] = {4, 3, 0, 9};
static const int source[ROWS] = {2, 0, 0, 1, 0, 2};
static tensor *weights;

static void build(check *c, const int *rows) {
    const annotations h = {check_tensor(c, c->x[0]), check_tensor(c, c->x[1]), at, lengths, S};
    check_output(c, attention_additive(c->tape, check_tensor_consumed(c, c->x[2]), &h, c->p[0], rows, &weights));
}

static void build_plain(check *c) {
    build(c, NULL);
}

static void build_mapped(check *c) {
    build(c, source);
}

static void declare(check *c, int rows) {
    check_begin(c);
    c->p[0] = check_param(c, "v_a", A, 0);
    c->x[0] = check_input(c, 2, (int[]){N, D});
    c->x[1] = check_input(c, 2, (int[]){N, A});
    c->x[2] = check_input(c, 2, (int[]){rows, A});
}

/* The equations of the header, written down once more. */
static void compare_with_definition(const check *c, int rows, const int *map) {
    const real *h = c->x[0]->value, *keys = c->x[1]->value, *q = c->x[2]->value, *v = c->p[0]->value;
    for (int i = 0; i < rows; i++) {
        int k = map ? map[i] : i;
        double a[S] = {0}, sum = 0;
        for (int j = 0; j < lengths[k]; j++) {
            double e = 0;
            for (int u = 0; u < A; u++)
                e += v[u] * tanh(q[i * A + u] + keys[(at[k] + j) * A + u]);
            sum += a[j] = exp(e);
        }
        for (int j = 0; j < S; j++)
            assert_true(fabs(weights->data[i * S + j] - a[j] / sum) < 1e-14);
        for (int u = 0; u < D; u++) {
            double context = 0;
            for (int j = 0; j < lengths[k]; j++)
                context += a[j] / sum * h[(at[k] + j) * D + u];
            assert_true(fabs(c->output[0]->data[i * D + u] - context) < 1e-14);
        }
    }
}

static void gradients_match_for_one_row_a_source(void **state) {
    (void)state;
    check c;
    declare(&c, SOURCES);
    check_gradients(&c, build_plain);
    compare_with_definition(&c, SOURCES, NULL);
    check_end(&c);
}

static void gradients_match_for_rows_that_share_sources(void **state) {
    (void)state;
    check c;
    declare(&c, ROWS);
    check_gradients(&c, build_mapped);
    compare_with_definition(&c, ROWS, source);
    check_end(&c);
}

static void fewer_rows_than_sources_read_the_first(void **state) {
    (void)state;
    check c;
    declare(&c, SOURCES - 2);
    check_gradients(&c, build_plain);
    compare_with_definition(&c, SOURCES - 2, NULL);
    check_end(&c);
}

static void positions_beyond_the_end_get_no_weight_and_sources_without_rows_no_gradient(void **state) {
    (void)state;
    check c;
    declare(&c, ROWS);
    check_prepare(&c);
    check_run(&c, build_mapped, true);
    for (int i = 0; i < ROWS; i++)
        for (int j = lengths[source[i]]; j < S; j++)
            assert_true(weights->data[i * S + j] == 0);
    check_backward(&c);
    for (int k = 0; k < SOURCES; k++)
        for (int j = 0; j < lengths[k]; j++) {
            double h = 0, key = 0;
            for (int u = 0; u < D; u++)
                h += fabs(c.x[0]->grad[(at[k] + j) * D + u]);
            for (int u = 0; u < A; u++)
                key += fabs(c.x[1]->grad[(at[k] + j) * A + u]);
            assert_int_equal(h > 0, k < SOURCES - 1);
            /* One position alone has weight 1 whatever its key. */
            assert_int_equal(key > 0, k < SOURCES - 1 && lengths[k] > 1);
        }
    check_end(&c);
}

static void a_query_that_nothing_depends_on_gets_zeros(void **state) {
    (void)state;
    check c;
    declare(&c, ROWS);
    check_prepare(&c);
    check_run(&c, build_mapped, true);
    tape_backward(c.tape);
    const tensor *q = c.x[2]->tensor;
    for (int i = 0; i < ROWS * A; i++)
        assert_true(q->grad[i] == 0);
    assert_false(c.x[0]->tensor->has_grad || c.x[1]->tensor->has_grad);
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_one_row_a_source),
        cmocka_unit_test(gradients_match_for_rows_that_share_sources),
        cmocka_unit_test(fewer_rows_than_sources_read_the_first),
        cmocka_unit_test(positions_beyond_the_end_get_no_weight_and_sources_without_rows_no_gradient),
        cmocka_unit_test(a_query_that_nothing_depends_on_gets_zeros),
    };
    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
