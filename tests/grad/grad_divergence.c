/* src/op/divergence.c. */
#include "check.h"

#include "op/divergence.h"
#include "op/linear.h"

static const double scale = 0.25;
static tape *other;
static params others;
static real other_hidden[1000 * 3];
static double sum;

/* The other model has an output layer of another width. */
static void declare(check *c, int N, int l, int V) {
    check_begin(c);
    c->p[0] = check_param(c, "W", V, l);
    c->p[1] = check_param(c, "b", V, 0);
    c->x[0] = check_input(c, 2, (int[]){N, l});
    others = (params){0};
    param *W = params_declare(&others, "W", V, 3, INIT_ZERO, 0, USE_PRODUCT);
    param *b = params_declare(&others, "b", V, 0, INIT_ZERO, 0, USE_PRODUCT);
    assert_true(W && b);
    assert_int_equal(params_allocate(&others, false, NULL), SA_OK);
    for (long i = 0; i < others.count; i++)
        others.values[i] = check_draw(c);
    for (int i = 0; i < N * 3; i++)
        other_hidden[i] = check_draw(c);
    assert_int_equal(tape_new(&other, others.n, 1 << 16, NULL), SA_OK);
}

static void end(check *c) {
    tape_free(other);
    params_free(&others);
    check_end(c);
}

static tensor *said(const check *c) {
    tape_reset(other, false);
    return tape_wrap(other, c->x[0]->dim[0], 3, other_hidden);
}

static void build_tvd(check *c) {
    sum = 1; /* what is there already must stay */
    assert_true(op_tvd(c->tape, (output_rows){check_tensor(c, c->x[0]), c->p[0], c->p[1]}, other,
                       (output_rows){said(c), others.at[0], others.at[1]}, scale, &sum));
    c->loss += scale * (sum - 1);
}

static void probabilities(const real *W, const real *b, const real *h, int l, int V, double *p) {
    double total = 0;
    for (int v = 0; v < V; v++) {
        double x = b[v];
        for (int u = 0; u < l; u++)
            x += W[v * l + u] * h[u];
        total += p[v] = exp(x);
    }
    for (int v = 0; v < V; v++)
        p[v] /= total;
}

static void tvd_has_its_value_and_gradient(void **state) {
    (void)state;
    const int sizes[] = {7, 1000}; /* rows of one chunk, and of three */
    for (int k = 0; k < 2; k++) {
        enum { L = 4, V = 9 };
        check c;
        double p[V], q[V], expected = 1;
        declare(&c, sizes[k], L, V);
        c.probes = k ? 40 : 0;
        check_gradients(&c, build_tvd);
        for (int i = 0; i < sizes[k]; i++) {
            probabilities(c.p[0]->value, c.p[1]->value, c.x[0]->value + i * L, L, V, p);
            probabilities(others.at[0]->value, others.at[1]->value, other_hidden + i * 3, 3, V, q);
            for (int v = 0; v < V; v++)
                expected += fabs(p[v] - q[v]) / 2;
        }
        assert_true(fabs(sum / expected - 1) < 1e-10);
        end(&c);
    }
}

enum { N = 5, S = 3 };
static real looked[N * S];

static void build_kl(check *c) {
    tensor b = {.rank = 2, .dim = {N, S}, .data = looked};
    tensor *a = check_tensor(c, c->x[0]);
    sum = 1;
    op_kl(c->tape, a, &b, -scale, &sum);
    c->loss += -scale * (sum - 1);
}

static void kl_has_its_value_and_gradient(void **state) {
    (void)state;
    check c;
    double expected = 1;
    check_begin(&c);
    c.x[0] = check_input(&c, 2, (int[]){N, S});
    for (int i = 0; i < N * S; i++) {
        c.x[0]->value[i] = 0.05 + fabs(check_draw(&c));
        looked[i] = i % 4 ? 0.05 + fabs(check_draw(&c)) : 0; /* nothing there: 1e-10 */
        expected += c.x[0]->value[i] * log((c.x[0]->value[i] + 1e-10) / (looked[i] + 1e-10));
    }
    check_gradients(&c, build_kl);
    assert_true(fabs(sum / expected - 1) < 1e-12);
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tvd_has_its_value_and_gradient),
        cmocka_unit_test(kl_has_its_value_and_gradient),
    };
    return cmocka_run_group_tests_name("divergence", tests, NULL, NULL);
}
