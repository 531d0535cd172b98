/* src/tape/tape.c and src/tape/collect.c: views, loops, deferred products and their collection. */
#include "check.h"

#include "op/linear.h"
#include "op/pointwise.h"
#include "op/shape.h"

static tensor *sum(tape *t, tensor *x, param *W, tensor *addend) {
    return linear_sum(t, addend, NULL, 1, &(linear_term){x, W});
}

/* One tensor read as a whole, through views (one of them twice, others that overlap) and a view of a view. */
static void build_views(check *c) {
    tape *t = c->tape;
    tensor *x = op_tanh(t, check_tensor(c, c->x[0])); /* (6, 4) */
    tensor *first = tape_rows(t, x, 0, 2), *last = tape_rows(t, x, 4, 2), *most = tape_rows(t, x, 1, 4);
    tensor *row = tape_rows(t, most, 3, 1);
    assert_non_null(row);
    assert_ptr_equal(row->data, last->data);
    check_output(c, op_tanh(t, sum(t, first, c->p[0], last)));
    check_output(c, linear(t, most, c->p[0], NULL));
    check_output(c, op_tanh(t, sum(t, row, c->p[0], row)));
    check_output(c, x);
    check_output(c, sum(t, first, c->p[0], first));
}

/* Rows that nothing reads, and a view of no rows. */
static void build_part(check *c) {
    tensor *x = op_tanh(c->tape, check_tensor(c, c->x[0]));
    check_output(c, linear(c->tape, tape_rows(c->tape, x, 3, 2), c->p[0], NULL));
    check_output(c, linear(c->tape, tape_rows(c->tape, x, 6, 0), c->p[0], NULL));
}

static void gradients_of_all_views_add_up(void **state) {
    (void)state;
    for (int part = 0; part < 2; part++) {
        check c;
        check_begin(&c);
        c.p[0] = check_param(&c, "W", 4, 4);
        c.x[0] = check_input(&c, 2, (int[]){6, 4});
        check_gradients(&c, part ? build_part : build_views);
        for (int k = 0; k < 24 && part; k++)
            assert_int_equal(c.x[0]->grad[k] == 0, k / 4 != 3 && k / 4 != 4);
        check_end(&c);
    }
}

enum { STEPS = 6, SEQUENCES = 5, ROWS = 17, WIDTH = 4 };
static const int lengths[SEQUENCES] = {6, 4, 4, 2, 1};
static bool slabs, reversed, joined;

/* In an order of its own: step j reads rows of a state that has fewer rows, or more. */
static tensor *read_state(tape *t, tensor *s, int n) {
    int rows = (int)tensor_rows(s), *index = tape_bytes(t, (size_t)n * sizeof *index);
    assert_non_null(index);
    for (int i = 0; i < n; i++)
        index[i] = i % (rows < n ? rows : n);
    return op_gather(t, tape_rows(t, s, 0, rows < n ? rows : n), NULL, n, index);
}

/* s = tanh(x_j + U s + U tanh(s) + b), from the first step to the last or the other way. */
static void build_loop(check *c) {
    tape *t = c->tape;
    steps over;
    steps_make(t, SEQUENCES, lengths, &over);
    tensor *x = check_tensor(c, c->x[0]), *s = check_tensor(c, c->x[1]), *states[STEPS];
    assert_int_equal(over.at[STEPS], ROWS);
    if (slabs)
        tape_loop_begin(t, &over, reversed);
    for (int i = 0; i < STEPS; i++) {
        int j = slabs ? tape_loop_next(t) : reversed ? STEPS - 1 - i : i;
        tensor *before = read_state(t, s, over.n[j]);
        const linear_term terms[] = {{before, c->p[0]}, {op_tanh(t, before), c->p[0]}};
        s = states[j] = op_tanh(t, linear_sum(t, tape_step(t, x, &over, j), c->p[1], 2, terms));
    }
    tape_loop_end(t);
    check_output(c, states[2]);
    check_output(c, s);
    if (joined)
        check_output(c, linear(t, tape_joined(t, &over, states), c->p[0], NULL));
}

static void count_runs(const check *c, const param *p, int *runs, long *rows) {
    *runs = 0;
    *rows = 0;
    for (const deferred *d = c->tape->deferred[p->index]; d; d = d->next) {
        ++*runs;
        *rows += d->dy.rows;
    }
}

static void declare_loop(check *c) {
    check_begin(c);
    c->p[0] = check_param(c, "U", WIDTH, WIDTH);
    c->p[1] = check_param(c, "b", WIDTH, 0);
    c->x[0] = check_input(c, 2, (int[]){ROWS, WIDTH});
    c->x[1] = check_input(c, 2, (int[]){SEQUENCES, WIDTH});
}

static void gradients_match_for_loops_with_and_without_slabs(void **state) {
    (void)state;
    for (int way = 0; way < 2; way++) {
        real U[2][WIDTH * WIDTH];
        reversed = way;
        joined = false;
        for (int i = 0; i < 2; i++) {
            check c;
            slabs = i;
            declare_loop(&c);
            check_gradients(&c, build_loop);
            memcpy(U[i], c.p[0]->grad, sizeof U[i]);
            check_end(&c);
        }
        for (int k = 0; k < WIDTH * WIDTH; k++)
            assert_true(fabs(U[0][k] - U[1][k]) < 1e-13);
    }
}

static void gradients_match_for_steps_that_feed_each_other_and_are_read_as_one(void **state) {
    (void)state;
    slabs = joined = true;
    for (int way = 0; way < 2; way++) {
        check c;
        reversed = way;
        declare_loop(&c);
        check_gradients(&c, build_loop);
        check_end(&c);
    }
}

static void products_of_a_loop_melt_into_one_run_a_call_site(void **state) {
    (void)state;
    slabs = true;
    joined = false;
    for (int way = 0; way < 2; way++) {
        check c;
        int runs;
        long rows;
        reversed = way;
        declare_loop(&c);
        check_prepare(&c);
        check_run(&c, build_loop, true);
        check_backward(&c);
        count_runs(&c, c.p[0], &runs, &rows);
        assert_int_equal(runs, 2);
        assert_int_equal(rows, 2 * ROWS);
        count_runs(&c, c.p[1], &runs, &rows);
        assert_int_equal(runs, 1);
        assert_int_equal(rows, ROWS);
        check_end(&c);
    }
}

static void only_neighbours_in_memory_melt(void **state) {
    (void)state;
    check c;
    int runs;
    long rows;
    real x[64] = {0}, dy[64] = {0};
    const int ids[8] = {0};
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 4, 4);
    c.p[1] = check_param(&c, "E", 8, 4);
    c.p[2] = check_param(&c, "b", 4, 0);
    check_prepare(&c);
    tape_reset(c.tape, true);
    tape *t = c.tape;

    tape_defer_product(t, c.p[0], matrix_of(x + 16, 2, 4, 4), matrix_of(dy + 16, 2, 4, 4));
    tape_defer_product(t, c.p[0], matrix_of(x + 8, 2, 4, 4),
                       matrix_of(dy + 8, 2, 4, 4)); /* before it in both: melts */
    count_runs(&c, c.p[0], &runs, &rows);
    assert_true(runs == 1 && rows == 4);
    assert_ptr_equal(t->deferred[0]->x.at, x + 8);
    assert_ptr_equal(t->deferred[0]->dy.at, dy + 8);
    tape_defer_product(t, c.p[0], matrix_of(x, 2, 4, 4), matrix_of(dy + 40, 2, 4, 4)); /* in x alone */
    tape_defer_product(t, c.p[0], matrix_of(x + 40, 2, 4, 4), matrix_of(dy, 2, 4, 4)); /* in dy alone */
    tape_defer_product(t, c.p[0], matrix_of(x + 28, 2, 4, 4),
                       matrix_of(dy + 28, 2, 4, 4)); /* a row behind its end */
    count_runs(&c, c.p[0], &runs, &rows);
    assert_true(runs == 4 && rows == 10);
    tape_defer_product(t, c.p[0], matrix_of(x + 24, 1, 4, 4), matrix_of(dy + 24, 1, 4, 4)); /* at its end: melts */
    count_runs(&c, c.p[0], &runs, &rows);
    assert_true(runs == 4 && rows == 11);

    tape_defer_ids(t, c.p[1], ids + 4, matrix_of(dy + 16, 2, 4, 4));
    tape_defer_ids(t, c.p[1], ids + 2, matrix_of(dy + 8, 2, 4, 4));
    tape_defer_ids(t, c.p[1], ids, matrix_of(dy + 8, 0, 4, 4));
    tape_defer_ids(t, c.p[1], ids + 1, matrix_of(dy, 2, 4, 4));
    tape_defer_product(t, c.p[1], matrix_of(x, 2, 4, 4), matrix_of(dy, 2, 4, 4)); /* before one in dy, but no ids */
    count_runs(&c, c.p[1], &runs, &rows);
    assert_true(runs == 4 && rows == 8);

    tape_defer_rows(t, c.p[2], matrix_of(dy + 4, 1, 4, 4));
    tape_defer_rows(t, c.p[2], matrix_of(dy, 1, 4, 4));
    count_runs(&c, c.p[2], &runs, &rows);
    assert_true(runs == 1 && rows == 2);
    check_end(&c);
}

/* A matrix of more rows than a band has, and a vector; products, ids, sums of rows and direct gradients on several
 * tapes. */
enum { OUT = 2500, IN = 2, TAPES = 3, N = 4 };
typedef struct contribution {
    real x[N * IN], dy[N * OUT], e[N * IN];
    int ids[N];
} contribution;

static void leave_on_tape(tape *t, param *W, param *b, contribution *from, rng *random) {
    for (int i = 0; i < N * IN; i++) {
        from->x[i] = rng_uniform(random);
        from->e[i] = rng_uniform(random);
    }
    for (int i = 0; i < N * OUT; i++)
        from->dy[i] = rng_uniform(random);
    for (int i = 0; i < N; i++)
        from->ids[i] = i == 1 ? -1 : (int)rng_below(random, OUT);
    tape_reset(t, true);
    tape_defer_product(t, W, matrix_of(from->x, 1, IN, IN), matrix_of(from->dy, 1, OUT, OUT));
    tape_defer_product(t, W, matrix_of(from->x + 2 * IN, N - 2, IN, IN),
                       matrix_of(from->dy + 2 * OUT, N - 2, OUT, OUT));
    tape_defer_product(t, W, matrix_of(from->x + IN, 1, IN, IN), matrix_of(from->dy + OUT, 1, OUT, OUT));
    tape_defer_ids(t, W, from->ids, matrix_of(from->e, N, IN, IN));
    tape_defer_rows(t, b, matrix_of(from->e, N, IN, IN));
    real *direct = tape_direct_grad(t, W);
    assert_non_null(direct);
    assert_ptr_equal(tape_direct_grad(t, W), direct);
    for (int i = 0; i < OUT * IN; i++) {
        assert_true(direct[i] == 0);
        direct[i] = i * from->x[0];
    }
}

static void expect(const contribution *from, double *W, double *b) {
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < OUT * IN; k++)
            W[k] += from->dy[i * OUT + k / IN] * from->x[i * IN + k % IN];
        for (int k = 0; k < IN; k++) {
            if (from->ids[i] >= 0)
                W[from->ids[i] * IN + k] += from->e[i * IN + k];
            b[k] += from->e[i * IN + k];
        }
    }
    for (int k = 0; k < OUT * IN; k++)
        W[k] += k * from->x[0];
}

static void collecting_sets_or_adds_the_sum_of_what_all_tapes_left(void **state) {
    (void)state;
    params p = {0};
    param *W = params_declare(&p, "W", OUT, IN, INIT_ZERO, 0, USE_PRODUCT);
    param *b = params_declare(&p, "b", IN, 0, INIT_ZERO, 0, USE_PRODUCT);
    param *unused = params_declare(&p, "unused", 3, 3, INIT_ZERO, 0, USE_PRODUCT);
    assert_int_equal(params_allocate(&p, true, NULL), SA_OK);
    static contribution from[TAPES];
    static double W_sum[OUT * IN], b_sum[IN];
    static real kept[OUT * IN];
    tape *tapes[TAPES];
    gemm *workers[TAPES];
    rng random = rng_at(1, 2, 3, 4);
    for (int i = 0; i < TAPES; i++) {
        assert_int_equal(tape_new(&tapes[i], p.n, 4096, NULL), SA_OK);
        workers[i] = tapes[i]->gemm;
        leave_on_tape(tapes[i], W, b, &from[i], &random);
        expect(&from[i], W_sum, b_sum);
    }
    for (int threads = 1; threads <= TAPES; threads++) {
        pool *team;
        assert_int_equal(pool_new(&team, threads, NULL, NULL), SA_OK);
        for (long k = 0; k < p.count; k++) /* of the update before */
            p.grads[k] = 1e9;
        if (threads < TAPES)
            assert_int_equal(params_collect(&p, tapes, TAPES, false, workers, team, NULL), SA_OK);
        for (int i = 0; i < TAPES && threads == TAPES; i++) /* one call for each gives the same */
            assert_int_equal(params_collect(&p, &tapes[i], 1, i > 0, workers, team, NULL), SA_OK);
        for (int k = 0; k < OUT * IN; k++)
            assert_true(fabs(W->grad[k] - W_sum[k]) < 1e-10);
        for (int k = 0; k < IN; k++)
            assert_true(fabs(b->grad[k] - b_sum[k]) < 1e-13);
        for (int k = 0; k < 9; k++)
            assert_true(unused->grad[k] == 0);
        if (threads == 1)
            memcpy(kept, W->grad, sizeof kept);
        assert_memory_equal(kept, W->grad, sizeof kept);
        assert_int_equal(params_collect(&p, tapes, TAPES, true, workers, team, NULL), SA_OK);
        for (int k = 0; k < OUT * IN; k++)
            assert_true(fabs(W->grad[k] - 2 * W_sum[k]) < 1e-10);
        for (int k = 0; k < IN; k++)
            assert_true(fabs(b->grad[k] - 2 * b_sum[k]) < 1e-13);
        pool_free(team);
    }
    for (int i = 0; i < TAPES; i++)
        tape_free(tapes[i]);
    params_free(&p);
}

static void what_nothing_depends_on_gets_no_backward(void **state) {
    (void)state;
    check c;
    check_begin(&c);
    c.p[0] = check_param(&c, "W", 2, 2);
    c.x[0] = check_input(&c, 2, (int[]){1, 2});
    check_prepare(&c);
    tape_reset(c.tape, true);
    tensor *x = check_tensor(&c, c.x[0]);
    tensor *y = op_tanh(c.tape, linear(c.tape, x, c.p[0], NULL));
    assert_non_null(y);
    tape_backward(c.tape);
    assert_false(x->has_grad);
    assert_null(c.tape->deferred[0]);
    check_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_all_views_add_up),
        cmocka_unit_test(gradients_match_for_loops_with_and_without_slabs),
        cmocka_unit_test(gradients_match_for_steps_that_feed_each_other_and_are_read_as_one),
        cmocka_unit_test(products_of_a_loop_melt_into_one_run_a_call_site),
        cmocka_unit_test(only_neighbours_in_memory_melt),
        cmocka_unit_test(collecting_sets_or_adds_the_sum_of_what_all_tapes_left),
        cmocka_unit_test(what_nothing_depends_on_gets_no_backward),
    };
    return cmocka_run_group_tests_name("tape", tests, NULL, NULL);
}
