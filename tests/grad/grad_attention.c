/* src/op/attention.c and src/op/attention_scores.c. */
#include "check.h"

#include "op/attention.h"

/* Sources one after the other, in an order of their own; no row asks for the last of them when rows are mapped. */
enum { SOURCES = 4, N = 11, S = 5, D = 4, A = 3, ROWS = 6 };

static const int lengths[SOURCES] = {5, 1, 3, 2}, at[SOURCES] = {4, 3, 0, 9};
static const int source[ROWS] = {2, 0, 0, 1, 0, 2};
static tensor *weights;

static void build(check *c, const int *rows) {
    const annotations h = {check_tensor(c, c->x[0]), check_tensor(c, c->x[1]), at, lengths, S};
    const attention_form form = {.score = &score_additive, .v_a = c->p[0]};
    check_output(c, attention(c->tape, &form, check_tensor_consumed(c, c->x[2]), &h, rows, &weights));
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

/* ---- every score, everywhere it may look, with weights that are read too */

enum { NEAR = 2 };
static const int centre[ROWS] = {0, 3, 2, 9, 1, 2}; /* one beyond the end of its source */

typedef struct look_form {
    const char *name;
    const attention_score *score;
    int query; /* width */
    bool keys, window, place;
} look_form;
static const look_form looks[] = {
    {"additive", &score_additive, A, true, false, false},
    {"additive, window", &score_additive, A, true, true, false},
    {"additive, place", &score_additive, A, true, true, true},
    {"dot", &score_dot, D, false, false, false},
    {"dot of keys", &score_dot, A, true, false, false},
    {"dot, window", &score_dot, D, false, true, false},
    {"dot of keys, place", &score_dot, A, true, true, true},
    {"location", &score_location, S + 1, false, false, false},
    {"location of few", &score_location, 2, false, false, false},
    {"location of few, window", &score_location, 2, false, true, false},
    {"location, place", &score_location, S, false, true, true},
};
static const look_form *shape;

static void build_look(check *c) {
    tensor *values = check_tensor(c, c->x[0]);
    bool location = shape->score == &score_location;
    int next = 2;
    attention_form form = {.score = shape->score, .v_a = c->p[0], .window = shape->window ? NEAR : 0};
    tensor *q = check_tensor_consumed(c, c->x[1]);
    tensor *keys = shape->keys ? check_tensor(c, c->x[next++]) : location ? NULL : values;
    if (shape->place)
        form.place = check_tensor_consumed(c, c->x[next]);
    else if (shape->window)
        form.centre = centre;
    const annotations h = {values, keys, at, lengths, S};
    check_output(c, attention(c->tape, &form, q, &h, source, &weights));
    check_output(c, weights);
}

static double energy(const check *c, int i, int row, int j) {
    const real *q = c->x[1]->value + i * shape->query;
    const real *key = (shape->keys ? c->x[2]->value : c->x[0]->value) + (long)row * shape->query;
    double e = 0;
    if (shape->score == &score_location)
        return j < shape->query ? q[j] : -HUGE_VAL;
    for (int u = 0; u < shape->query; u++)
        e += shape->score == &score_dot ? q[u] * key[u] : c->p[0]->value[u] * tanh(q[u] + key[u]);
    return e;
}

/* Luong et al. 2015, 3.1 and 3.2, written down once more. */
static void compare_look(const check *c) {
    for (int i = 0; i < ROWS; i++) {
        int k = source[i], length = lengths[k], middle = centre[i];
        double p = 0, a[S] = {0}, sum = 0;
        if (shape->place) {
            p = length / (1 + exp(-c->x[shape->keys ? 3 : 2]->value[i]));
            middle = (int)floor(p);
        }
        middle = middle < length - 1 ? middle : length - 1;
        if (shape->score == &score_location && shape->window && middle - NEAR > shape->query - 1)
            continue; /* all that it could look at has no weight of its own: any choice would do */
        for (int j = 0; j < length; j++)
            if (!shape->window || abs(j - middle) <= NEAR)
                sum += a[j] = exp(energy(c, i, at[k] + j, j));
        for (int j = 0; j < length; j++) {
            double near = shape->place ? exp(-(j - p) * (j - p) / (2.0 * NEAR / 2 * NEAR / 2)) : 1;
            assert_true(fabs(weights->data[i * S + j] - a[j] / sum * near) < 1e-14);
        }
        for (int j = length; j < S; j++)
            assert_true(weights->data[i * S + j] == 0);
    }
}

static void gradients_match_for_every_score_everywhere_it_looks(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof looks / sizeof *looks; k++) {
        check c;
        int next = 2;
        shape = &looks[k];
        print_message("%s\n", shape->name);
        check_begin(&c);
        if (shape->score == &score_additive)
            c.p[0] = check_param(&c, "v_a", A, 0);
        c.x[0] = check_input(&c, 2, (int[]){N, D});
        c.x[1] = check_input(&c, 2, (int[]){ROWS, shape->query});
        if (shape->keys)
            c.x[next++] = check_input(&c, 2, (int[]){N, A});
        if (shape->place)
            c.x[next] = check_input(&c, 2, (int[]){ROWS, 1});
        check_gradients(&c, build_look);
        compare_look(&c);
        check_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_one_row_a_source),
        cmocka_unit_test(gradients_match_for_rows_that_share_sources),
        cmocka_unit_test(fewer_rows_than_sources_read_the_first),
        cmocka_unit_test(positions_beyond_the_end_get_no_weight_and_sources_without_rows_no_gradient),
        cmocka_unit_test(gradients_match_for_every_score_everywhere_it_looks),
        cmocka_unit_test(a_query_that_nothing_depends_on_gets_zeros),
    };
    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
