/* src/op/cover.c, and src/op/attention.c where keys have coverage. */
#include "check.h"

#include "op/cover.h"

enum { SOURCES = 3, N = 9, S = 5, D = 4, A = 3, ROWS = 5, MORE = 7, W = 4, WIDTH = 2 };

static const int lengths[SOURCES] = {5, 1, 3}, at[SOURCES] = {4, 3, 0};
static const int source[ROWS] = {2, 0, 0, 1, 2};

static annotations sources(tensor *values, tensor *keys) {
    return (annotations){values, keys, at, lengths, S};
}

/* ---- attention --------------------------------------------------------------------------------------- */

static const attention_score *score;
static tensor *weights;

/* Coverage has more rows than there are queries: those sentences are over. */
static void build_attention(check *c) {
    const annotations h = sources(check_tensor(c, c->x[0]), check_tensor(c, c->x[1]));
    const attention_form form = {.score = score,
                                 .v_a = score == &score_additive ? c->p[1] : NULL,
                                 .coverage = check_tensor(c, c->x[3]),
                                 .V_a = c->p[0]};
    check_output(c, attention(c->tape, &form, check_tensor_consumed(c, c->x[2]), &h, source, &weights));
}

static double energy(const check *c, int i, int j) {
    const real *key = c->x[1]->value + (at[source[i]] + j) * A, *q = c->x[2]->value + i * A;
    double e = 0;
    for (int u = 0; u < A; u++) {
        double covered = key[u];
        for (int k = 0; k < WIDTH; k++)
            covered += c->p[0]->value[u * WIDTH + k] * c->x[3]->value[(i * S + j) * WIDTH + k];
        e += score == &score_dot ? q[u] * covered : c->p[1]->value[u] * tanh(q[u] + covered);
    }
    return e;
}

static void gradients_match_for_keys_with_coverage(void **state) {
    (void)state;
    const attention_score *const scores[] = {&score_additive, &score_dot};
    for (int k = 0; k < 2; k++) {
        check c;
        score = scores[k];
        check_begin(&c);
        c.p[0] = check_param(&c, "V_a", A, WIDTH);
        c.p[1] = check_param(&c, "v_a", A, 0);
        c.x[0] = check_input(&c, 2, (int[]){N, D});
        c.x[1] = check_input(&c, 2, (int[]){N, A});
        c.x[2] = check_input(&c, 2, (int[]){ROWS, A});
        c.x[3] = check_input(&c, 2, (int[]){MORE, S * WIDTH});
        check_gradients(&c, build_attention);
        for (int i = 0; i < ROWS; i++) {
            double a[S], sum = 0;
            for (int j = 0; j < lengths[source[i]]; j++)
                sum += a[j] = exp(energy(&c, i, j));
            for (int j = 0; j < lengths[source[i]]; j++)
                assert_true(fabs(weights->data[i * S + j] - a[j] / sum) < 1e-14);
        }
        check_end(&c);
    }
}

/* ---- sum --------------------------------------------------------------------------------------------- */

static bool fertile;

static void build_sum(check *c) {
    const annotations h = sources(NULL, NULL);
    tensor *fertility = fertile ? check_tensor(c, c->x[2]) : NULL;
    check_output(c,
                 coverage_sum(c->tape, check_tensor(c, c->x[0]), check_tensor(c, c->x[1]), fertility, &h, source));
}

static void gradients_match_for_sums_of_weights(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        check c;
        fertile = k == 1;
        check_begin(&c);
        c.x[0] = check_input(&c, 2, (int[]){MORE, S});
        c.x[1] = check_input(&c, 2, (int[]){ROWS, S});
        if (fertile)
            c.x[2] = check_input(&c, 2, (int[]){N, 1});
        check_gradients(&c, build_sum);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < S; j++) {
                double phi = 1;
                bool inside = j < lengths[source[i]];
                if (fertile && inside)
                    phi = 2 / (1 + exp(-c.x[2]->value[at[source[i]] + j]));
                double y = inside ? c.x[0]->value[i * S + j] + c.x[1]->value[i * S + j] / phi : 0;
                assert_true(fabs(c.output[0]->data[i * S + j] - y) < 1e-14);
            }
        check_end(&c);
    }
}

/* ---- input ------------------------------------------------------------------------------------------- */

static void build_input(check *c) {
    const annotations h = sources(NULL, NULL);
    tensor *x = coverage_input(c->tape, check_tensor(c, c->x[0]), c->p[0], check_tensor(c, c->x[1]),
                               check_tensor(c, c->x[2]), &h, source);
    x->has_grad = false; /* it has no reader that would put a gradient in its place: check_backward does */
    check_output(c, x);
}

static void gradients_match_for_the_input_of_a_unit_at_each_position(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "w", W, 1);
    c.x[0] = check_input(&c, 2, (int[]){ROWS, S});
    c.x[1] = check_input(&c, 2, (int[]){N, W});
    c.x[2] = check_input(&c, 2, (int[]){ROWS, W});
    check_gradients(&c, build_input);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < S; j++)
            for (int u = 0; u < W; u++) {
                double y = 0;
                if (j < lengths[source[i]])
                    y = c.x[0]->value[i * S + j] * c.p[0]->value[u] + c.x[1]->value[(at[source[i]] + j) * W + u] +
                        c.x[2]->value[i * W + u];
                assert_true(fabs(c.output[0]->data[(i * S + j) * W + u] - y) < 1e-14);
            }
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_for_keys_with_coverage),
        cmocka_unit_test(gradients_match_for_sums_of_weights),
        cmocka_unit_test(gradients_match_for_the_input_of_a_unit_at_each_position),
    };
    return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
