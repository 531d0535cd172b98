/* src/op/xent.c. */
#include "check.h"

#include "op/xent.h"

enum { N_MOST = 1000 }; /* rows of two chunks and a part */
static int targets[N_MOST];
static float smoothing, agreement;
static double row_nll[N_MOST];
static xent_sums sums;
static const double scale = 0.25;

static void build(check *c) {
    sums = (xent_sums){1, 2}; /* what is there already must stay */
    assert_true(op_xent(c->tape, check_tensor(c, c->x[0]), c->p[0], c->p[1], targets, smoothing, agreement, scale,
                        &sums, row_nll));
    c->loss += scale * (sums.loss - 1);
}

static void declare(check *c, int N, int l, int V) {
    check_begin(c);
    c->p[0] = check_param(c, "W", V, l);
    c->p[1] = check_param(c, "b", V, 0);
    c->x[0] = check_input(c, 2, (int[]){N, l});
    for (int i = 0; i < N; i++)
        targets[i] = agreement > 0 && i % 2 ? targets[i - 1] : (int)rng_below(&c->random, (uint64_t)V);
}

/* The loss of the last pass against the equations of the header. */
static void compare_with_definition(const check *c) {
    int N = c->x[0]->dim[0], l = c->x[0]->dim[1], V = c->p[0]->dim[0];
    double loss = 1, nll = 2, *x = malloc(2 * (size_t)V * sizeof *x), epsilon = (double)smoothing;
    double *before = x + V; /* log p of the row before */
    assert_non_null(x);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int k = 0; k < V; k++) {
            x[k] = c->p[1]->value[k];
            for (int u = 0; u < l; u++)
                x[k] += c->p[0]->value[(long)k * l + u] * c->x[0]->value[i * l + u];
            sum += exp(x[k]);
        }
        for (int k = 0; k < V; k++)
            loss -= ((k == targets[i] ? 1 - epsilon : 0) + epsilon / V) * (x[k] - log(sum));
        double word = log(sum) - x[targets[i]];
        assert_true(fabs(row_nll[i] - word) < 1e-9);
        nll += word;
        for (int k = 0; k < V; k++) {
            double log_p = x[k] - log(sum);
            if (i % 2) /* both divergences of the pair in one */
                loss += (double)agreement / 2 * (exp(log_p) - exp(before[k])) * (log_p - before[k]);
            before[k] = log_p;
        }
    }
    free(x);
    assert_true(fabs(sums.loss / loss - 1) < 1e-10);
    assert_true(fabs(sums.nll / nll - 1) < 1e-10);
}

static void gradients_match_with_and_without_label_smoothing(void **state) {
    (void)state;
    const float rates[] = {0, 0.1f, 1};
    for (int i = 0; i < 3; i++) {
        check c;
        smoothing = rates[i];
        declare(&c, 7, 4, 9);
        check_gradients(&c, build);
        compare_with_definition(&c);
        if (smoothing <= 0)
            assert_true(sums.loss - 1 == sums.nll - 2);
        check_end(&c);
    }
}

static void gradients_match_over_several_chunks_of_rows(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        check c;
        smoothing = i ? 0.1f : 0;
        declare(&c, N_MOST, 2, 5);
        c.probes = 50;
        check_gradients(&c, build);
        compare_with_definition(&c);
        check_end(&c);
    }
}

static void gradients_match_of_pairs_of_rows_that_shall_agree(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        check c;
        agreement = 1.5f;
        smoothing = i ? 0.1f : 0;
        declare(&c, i < 2 ? 8 : N_MOST, 4, 9);
        c.probes = i < 2 ? c.probes : 50;
        check_gradients(&c, build);
        compare_with_definition(&c);
        check_end(&c);
        agreement = 0;
    }
}

static void without_recording_the_loss_is_the_same(void **state) {
    (void)state;
    check c;
    smoothing = 0.2f;
    declare(&c, 7, 4, 9);
    check_prepare(&c);
    double recorded = check_run(&c, build, true);
    assert_true(check_run(&c, build, false) == recorded);
    check_end(&c);
}

static void scores_of_a_thousand_do_not_overflow(void **state) {
    (void)state;
    check c;
    smoothing = 0.1f;
    declare(&c, 2, 1, 3);
    check_prepare(&c);
    memcpy(c.p[0]->value, (real[]){1000, -1000, 0}, 3 * sizeof(real));
    memset(c.p[1]->value, 0, 3 * sizeof(real));
    c.x[0]->value[0] = c.x[0]->value[1] = 1;
    targets[0] = 0;
    targets[1] = 1;
    check_run(&c, build, true);
    assert_true(fabs(row_nll[0]) < 1e-12 && fabs(row_nll[1] - 2000) < 1e-9);
    check_backward(&c);
    for (int k = 0; k < 3; k++)
        assert_true(isfinite(c.p[0]->grad[k]) && isfinite(c.p[1]->grad[k]));
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_with_and_without_label_smoothing),
        cmocka_unit_test(gradients_match_over_several_chunks_of_rows),
        cmocka_unit_test(gradients_match_of_pairs_of_rows_that_shall_agree),
        cmocka_unit_test(without_recording_the_loss_is_the_same),
        cmocka_unit_test(scores_of_a_thousand_do_not_overflow),
    };
    return cmocka_run_group_tests_name("xent", tests, NULL, NULL);
}
