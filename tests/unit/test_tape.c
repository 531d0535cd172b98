#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "op/attention_additive.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/gru.h"
#include "op/linear.h"
#include "op/pointwise.h"
#include "op/shape.h"
#include "op/xent.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static tape *new_tape(int n_params, bool recording) {
    sa_error e;
    tape *t;
    if (tape_new(&t, n_params, 1 << 14, &e) != SA_OK)
        fail_msg("%s", e.text);
    tape_reset(t, recording);
    return t;
}

/* ---- loops */

static void a_loop_lays_its_iterations_one_behind_the_other(void **state) {
    (void)state;
    enum { N = 7, B = 3, H = 5 };
    tape *t = new_tape(1, true);
    tensor *first[N], *second[N];
    real *bare[N];
    tape_loop_begin(t, N);
    for (int i = 0; i < N; i++) {
        tape_loop_next(t);
        first[i] = tape_matrix(t, B, H);
        assert_non_null(tape_bytes(t, 100)); /* what is no number does not come between */
        bare[i] = tape_reals(t, 11);
        second[i] = tape_tensor(t, 1, (int[]){H});
        assert_true(first[i] && bare[i] && second[i]);
    }
    tape_loop_end(t);
    for (int i = 0; i < N; i++) {
        assert_ptr_equal(first[i]->data, first[0]->data + i * B * H);
        assert_ptr_equal(first[i]->grad, first[0]->grad + i * B * H);
        assert_ptr_equal(bare[i], bare[0] + i * 11);
        assert_ptr_equal(second[i]->data, second[0]->data + i * H);
        assert_ptr_equal(second[i]->grad, second[0]->grad + i * H);
    }
    tape_free(t);
}

static void loops_follow_each_other_and_leave_the_rest_alone(void **state) {
    (void)state;
    tape *t = new_tape(1, true);
    float *kept[2][3], *between = NULL;
    for (int loop = 0; loop < 2; loop++) {
        int width = loop ? 40 : 9;
        tape_loop_begin(t, 3);
        for (int i = 0; i < 3; i++) {
            tape_loop_next(t);
            kept[loop][i] = tape_reals(t, width);
            assert_non_null(kept[loop][i]);
            for (int k = 0; k < width; k++)
                kept[loop][i][k] = (float)(100 * loop + 10 * i);
        }
        tape_loop_end(t);
        if (loop == 0) {
            between = tape_reals(t, 200);
            assert_non_null(between);
            memset(between, 0, 200 * sizeof *between);
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 40; k++) {
            assert_true(k >= 9 || kept[0][i][k] == (float)(10 * i));
            assert_true(kept[1][i][k] == (float)(100 + 10 * i));
        }
    tape_free(t);
}

/* What only goes forward may not fill memory for all steps at once. */
static void a_loop_that_does_not_record_allocates_as_it_goes(void **state) {
    (void)state;
    tape *t = new_tape(1, false);
    tape_loop_begin(t, 1 << 20);
    tape_loop_next(t);
    assert_non_null(tape_matrix(t, 10, 100));
    assert_true(arena_capacity(t->arena) < 100000);
    tape_loop_end(t);
    tape_free(t);
}

/* ---- tensors and views */

static void tensors_have_a_gradient_only_when_recording(void **state) {
    (void)state;
    for (int recording = 0; recording < 2; recording++) {
        tape *t = new_tape(1, recording);
        tensor *x = tape_tensor(t, 4, (int[]){2, 3, 4, 5});
        assert_non_null(x);
        assert_true(x->rank == 4 && tensor_count(x) == 120 && tensor_cols(x) == 5 && tensor_rows(x) == 24);
        assert_int_equal(x->grad != NULL, recording);
        assert_false(x->has_grad);
        tensor *same = tape_like(t, x);
        assert_non_null(same);
        assert_memory_equal(same->dim, x->dim, sizeof x->dim);
        assert_ptr_not_equal(same->data, x->data);
        tape_free(t);
    }
}

static void views_share_data_and_gradient(void **state) {
    (void)state;
    tape *t = new_tape(1, true);
    tensor *x = tape_tensor(t, 3, (int[]){4, 2, 3});
    assert_non_null(x);
    for (int i = 0; i < 24; i++)
        x->grad[i] = 9; /* undefined until something is there */
    tensor *slice = tape_slice(t, x, 2), *row = tape_slice(t, slice, 1);
    assert_true(slice->rank == 2 && slice->dim[0] == 2 && slice->dim[1] == 3 && row->rank == 1 && row->dim[0] == 3);
    assert_ptr_equal(slice->data, x->data + 12);
    assert_ptr_equal(row->data, x->data + 15);
    assert_ptr_equal(row->grad, x->grad + 15);
    assert_true(x->has_grad && slice->has_grad && row->has_grad);
    for (int i = 0; i < 24; i++)
        assert_true(x->grad[i] == 0);
    x->grad[0] = 1;
    tensor *again = tape_slice(t, x, 0);
    assert_true(again->grad == x->grad && again->grad[0] == 1); /* cleared once, not twice */
    tape_free(t);
}

static void numbers_from_elsewhere_become_a_tensor_without_gradient(void **state) {
    (void)state;
    tape *t = new_tape(1, false);
    float numbers[6] = {1, 2, 3, 4, 5, 6};
    tensor *x = tape_wrap(t, 2, 3, numbers);
    assert_true(x && x->data == numbers && x->rank == 2 && x->dim[0] == 2 && x->dim[1] == 3 && !x->grad);
    tape_free(t);
}

static void gradients_are_written_first_and_added_to_later(void **state) {
    (void)state;
    tape *t = new_tape(1, true);
    tensor *x = tape_matrix(t, 1, 2);
    assert_non_null(x);
    x->grad[0] = x->grad[1] = 5;
    assert_false(tensor_grad_accumulates(x));
    assert_true(tensor_grad_accumulates(x));
    tensor_grad_clear_once(x);
    assert_true(x->grad[0] == 5);
    tensor *y = tape_matrix(t, 1, 2);
    assert_non_null(y);
    y->grad[0] = 5;
    tensor_grad_clear_once(y);
    assert_true(y->grad[0] == 0 && y->has_grad);
    tape_free(t);
}

/* ---- records */

typedef struct numbered {
    op_record record;
    int number;
    char rest[40];
} numbered;
static int order[8], n_order;

static void note(tape *t, op_record *record) {
    order[n_order++] = ((numbered *)record)->number;
    if (n_order == 3)
        tape_fail(t);
}

static void backward_runs_from_the_last_record_to_the_first_until_one_fails(void **state) {
    (void)state;
    tape *t = new_tape(1, true);
    n_order = 0;
    for (int i = 0; i < 5; i++) {
        numbered *r = tape_record(t, sizeof *r, note);
        assert_non_null(r);
        for (size_t k = 0; k < sizeof r->rest; k++)
            assert_int_equal(r->rest[k], 0);
        r->number = i;
    }
    tape_backward(t);
    assert_int_equal(n_order, 3);
    assert_true(order[0] == 4 && order[1] == 3 && order[2] == 2);
    tape_reset(t, true);
    tape_backward(t); /* nothing is left */
    assert_int_equal(n_order, 3);
    tape_reset(t, false);
    assert_null(tape_record(t, sizeof(numbered), note));
    assert_false(t->failed);
    tape_free(t);
}

static void a_reset_forgets_gradients_that_wait(void **state) {
    (void)state;
    params p = {0};
    param *W = params_declare(&p, "W", 2, 2, INIT_ZERO, 0, USE_PRODUCT);
    tape *t = new_tape(p.n, true);
    float x[2] = {0};
    tape_defer_product(t, W, 0, matrix_of(x, 1, 2, 2), matrix_of(x, 1, 2, 2));
    float *direct = tape_direct_grad(t, W);
    assert_true(t->deferred[0] && direct);
    direct[0] = 3;
    tape_reset(t, true);
    assert_null(t->deferred[0]);
    assert_null(t->direct[0]);
    assert_true(tape_direct_grad(t, W)[0] == 0);
    tape_free(t);
    params_free(&p);
}

/* ---- failure */

/* More memory than there is, refused before anybody is asked for it. */
static void exhaust(tape *t) {
    assert_null(tape_bytes(t, SIZE_MAX));
    assert_true(t->failed);
}

static void a_failed_allocation_fails_the_tape_until_it_is_reset(void **state) {
    (void)state;
    for (int in_loop = 0; in_loop < 2; in_loop++) {
        tape *t = new_tape(1, true);
        if (in_loop) {
            tape_loop_begin(t, 2);
            tape_loop_next(t);
        }
        assert_null(tape_reals(t, LONG_MAX / 2));
        assert_true(t->failed);
        assert_null(tape_bytes(t, 1));
        assert_null(tape_reals(t, 1));
        assert_null(tape_matrix(t, 1, 1));
        assert_null(tape_record(t, sizeof(numbered), note));
        tape_reset(t, true);
        assert_false(t->failed);
        assert_non_null(tape_matrix(t, 1, 1));
        tape_free(t);
    }
}

static void null_given_to_a_view_fails_the_tape(void **state) {
    (void)state;
    tape *t = new_tape(1, true);
    assert_null(tape_slice(t, NULL, 0));
    assert_true(t->failed);
    tape_free(t);
}

typedef struct operands {
    params p;
    param *W, *b, *out, *out_b;
    gru_weights step;
    tensor *x, *wide, *pair, *keys, *steps[1];
} operands;

static void declare(operands *o) {
    *o = (operands){0};
    o->W = params_declare(&o->p, "W", 2, 2, INIT_ZERO, 0, USE_PRODUCT);
    o->b = params_declare(&o->p, "b", 2, 0, INIT_ZERO, 0, USE_PRODUCT);
    o->step =
        (gru_weights){.U_zr = params_declare(&o->p, "U_zr", 4, 2, INIT_ZERO, 0, USE_PRODUCT), .U = o->W, .b = o->b};
    o->out = params_declare(&o->p, "out", 3, 2, INIT_ZERO, 0, USE_PRODUCT);
    o->out_b = params_declare(&o->p, "out.b", 3, 0, INIT_ZERO, 0, USE_PRODUCT);
    assert_int_equal(params_allocate(&o->p, true, NULL), SA_OK);
}

static void make(operands *o, tape *t) {
    o->x = o->steps[0] = tape_matrix(t, 1, 2);
    o->pair = tape_matrix(t, 1, 4);
    o->wide = tape_matrix(t, 1, 6);
    o->keys = tape_tensor(t, 3, (int[]){1, 1, 2});
    tensor *const all[] = {o->x, o->pair, o->wide, o->keys};
    for (int i = 0; i < 4; i++) {
        assert_non_null(all[i]);
        memset(all[i]->data, 0, (size_t)tensor_count(all[i]) * sizeof(float));
    }
}

static const int one[] = {1}, zero[] = {0};

/* Operation k; false when there is none. *result is what it returns, NULL-like when it failed. */
static bool apply(int k, tape *t, operands *o, const void **result) {
    const annotations h = {o->keys, o->keys, one};
    xent_sums sums = {0};
    switch (k) {
    case 0:
        *result = linear(t, o->x, o->W, o->b);
        return true;
    case 1:
        *result = embed(t, o->W, o->b, zero, 1, 1);
        return true;
    case 2:
        *result = gru_step(t, &o->step, o->wide, NULL, o->x, NULL);
        return true;
    case 3:
        *result = linear_sum(t, o->x, o->b, 1, &(linear_term){o->x, o->W});
        return true;
    case 4:
        *result = op_tanh(t, o->x);
        return true;
    case 5:
        *result = op_add(t, o->x, o->x);
        return true;
    case 6:
        *result = op_maxout(t, o->x);
        return true;
    case 7:
        *result = op_join_steps(t, 1, o->steps, NULL);
        return true;
    case 8:
        *result = op_pack_steps(t, 1, o->steps, one);
        return true;
    case 9:
        *result = op_dropout(t, o->x, 0.5f, 1, zero);
        return true;
    case 10:
        *result = attention_additive(t, o->x, &h, o->b, NULL, NULL);
        return true;
    case 11:
        *result = op_xent(t, o->x, o->out, o->out_b, zero, 0, 1, &sums, NULL) ? o : NULL;
        return true;
    default:
        return false;
    }
}

static void every_operation_returns_null_on_a_tape_that_has_failed(void **state) {
    (void)state;
    operands o;
    declare(&o);
    tape *t = new_tape(o.p.n, true);
    int k = 0;
    for (const void *result;; k++) {
        tape_reset(t, true);
        make(&o, t);
        if (!apply(k, t, &o, &result))
            break;
        assert_non_null(result); /* as a rule it works */
        assert_false(t->failed);
        exhaust(t);
        apply(k, t, &o, &result);
        assert_null(result);
        assert_true(t->failed);
    }
    assert_int_equal(k, 12);
    tape_free(t);
    params_free(&o.p);
}

static void every_operation_that_is_given_null_fails_the_tape(void **state) {
    (void)state;
    operands o;
    declare(&o);
    tape *t = new_tape(o.p.n, true);
    o.x = o.pair = o.wide = o.keys = o.steps[0] = NULL;
    const void *result;
    for (int k = 0; apply(k, t, &o, &result); k++)
        if (k != 1) { /* embed reads no tensor */
            assert_null(result);
            assert_true(t->failed);
            tape_reset(t, true);
        }
    tape_free(t);
    params_free(&o.p);
}

int main(void) {
    gemm_work_alone();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_lays_its_iterations_one_behind_the_other),
        cmocka_unit_test(loops_follow_each_other_and_leave_the_rest_alone),
        cmocka_unit_test(a_loop_that_does_not_record_allocates_as_it_goes),
        cmocka_unit_test(tensors_have_a_gradient_only_when_recording),
        cmocka_unit_test(views_share_data_and_gradient),
        cmocka_unit_test(numbers_from_elsewhere_become_a_tensor_without_gradient),
        cmocka_unit_test(gradients_are_written_first_and_added_to_later),
        cmocka_unit_test(backward_runs_from_the_last_record_to_the_first_until_one_fails),
        cmocka_unit_test(a_reset_forgets_gradients_that_wait),
        cmocka_unit_test(a_failed_allocation_fails_the_tape_until_it_is_reset),
        cmocka_unit_test(null_given_to_a_view_fails_the_tape),
        cmocka_unit_test(every_operation_returns_null_on_a_tape_that_has_failed),
        cmocka_unit_test(every_operation_that_is_given_null_fails_the_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
