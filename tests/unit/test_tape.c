#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer/gru_cell.h"
#include "op/attention.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/norm.h"
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

/* Steps of 4, 3, 3 and 1 rows, at rows 0, 4, 7 and 10. */
enum { B = 4, T = 4, N = 11 };
static const int rows_of[T] = {4, 3, 3, 1}, row_at[T + 1] = {0, 4, 7, 10, N};
static const steps ragged = {B, T, rows_of, row_at};

static void a_loop_lays_its_steps_one_behind_the_other(void **state) {
    (void)state;
    enum { H = 5 };
    for (int reversed = 0; reversed < 2; reversed++) {
        tape *t = new_tape(1, true);
        tensor *first[T], *second[T];
        real *bare[T];
        tape_loop_begin(t, &ragged, reversed);
        for (int i = 0; i < T; i++) {
            int j = tape_loop_next(t), n = rows_of[j];
            assert_int_equal(j, reversed ? T - 1 - i : i);
            first[j] = tape_matrix(t, n, H);
            assert_non_null(tape_bytes(t, 100)); /* what is no number does not come between */
            bare[j] = tape_reals(t, 11L * n);
            second[j] = tape_consumed(t, n, 3);
            assert_true(first[j] && bare[j] && second[j]);
        }
        tape_loop_end(t);
        for (int j = 0; j < T; j++) {
            assert_ptr_equal(first[j]->data, first[0]->data + row_at[j] * H);
            assert_ptr_equal(first[j]->grad, first[0]->grad + row_at[j] * H);
            assert_ptr_equal(bare[j], bare[0] + row_at[j] * 11);
            assert_ptr_equal(second[j]->data, second[0]->data + row_at[j] * 3);
        }
        tape_free(t);
    }
}

static void loops_follow_each_other_and_leave_the_rest_alone(void **state) {
    (void)state;
    tape *t = new_tape(1, true);
    float *kept[2][T], *between = NULL;
    for (int loop = 0; loop < 2; loop++) {
        int width = loop ? 40 : 9;
        tape_loop_begin(t, &ragged, loop == 0);
        for (int i = 0; i < T; i++) {
            int j = tape_loop_next(t);
            kept[loop][j] = tape_reals(t, (long)width * rows_of[j]);
            assert_non_null(kept[loop][j]);
            for (int k = 0; k < width * rows_of[j]; k++)
                kept[loop][j][k] = (float)(100 * loop + 10 * j);
        }
        tape_loop_end(t);
        if (loop == 0) {
            between = tape_reals(t, 200);
            assert_non_null(between);
            memset(between, 0, 200 * sizeof *between);
        }
    }
    for (int j = 0; j < T; j++)
        for (int k = 0; k < 40 * rows_of[j]; k++) {
            assert_true(k >= 9 * rows_of[j] || kept[0][j][k] == (float)(10 * j));
            assert_true(kept[1][j][k] == (float)(100 + 10 * j));
        }
    tape_free(t);
}

/* ---- what a loop left, as one matrix */

static void steps_of_a_loop_become_views_of_one_matrix(void **state) {
    (void)state;
    for (int recording = 0; recording < 2; recording++) {
        tape *t = new_tape(1, recording);
        tensor *x[T];
        tape_loop_begin(t, &ragged, true);
        for (int i = 0; i < T; i++) {
            int j = tape_loop_next(t);
            x[j] = tape_matrix(t, rows_of[j], 3);
            assert_non_null(x[j]);
            for (int k = 0; k < 3 * rows_of[j]; k++)
                x[j]->data[k] = (float)(3 * row_at[j] + k);
        }
        tape_loop_end(t);
        tensor *y = tape_joined(t, &ragged, x);
        assert_true(y && y->rank == 2 && y->dim[0] == N && y->dim[1] == 3 && y->data == x[0]->data);
        for (int k = 0; k < 3 * N; k++)
            assert_true(y->data[k] == (float)k);
        assert_int_equal(y->grad != NULL, recording);
        for (int j = 0; j < T; j++) {
            assert_ptr_equal(x[j]->whole, y);
            assert_false(tensor_has_grad(x[j]));
            tensor *again = tape_step(t, y, &ragged, j);
            assert_true(again && again->data == x[j]->data && again->grad == x[j]->grad &&
                        again->dim[0] == rows_of[j] && again->dim[1] == 3);
        }
        for (int k = 0; k < 3 * N && recording; k++)
            y->grad[k] = 9;
        if (recording)
            tensor_grad_clear_once(x[1]); /* of one is of all */
        for (int k = 0; k < 3 * N && recording; k++)
            assert_true(y->grad[k] == 0);
        assert_int_equal(tensor_has_grad(x[T - 1]), recording);
        tape_free(t);
    }
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
    tensor *part = tape_rows(t, x, 3, 4), *row = tape_rows(t, part, 1, 1), *none = tape_rows(t, x, 8, 0);
    assert_true(part->rank == 2 && part->dim[0] == 4 && part->dim[1] == 3 && row->rank == 2 && row->dim[0] == 1);
    assert_true(none && tensor_rows(none) == 0);
    assert_ptr_equal(part->data, x->data + 9);
    assert_ptr_equal(row->data, x->data + 12);
    assert_ptr_equal(row->grad, x->grad + 12);
    assert_false(tensor_has_grad(x) || tensor_has_grad(part) || tensor_has_grad(row));
    for (int i = 0; i < 24; i++)
        assert_true(x->grad[i] == 9);
    assert_true(tensor_grad_accumulates(row)); /* what no view covers must have a gradient too */
    assert_true(x->has_grad && tensor_has_grad(part) && tensor_has_grad(row));
    for (int i = 0; i < 24; i++)
        assert_true(x->grad[i] == 0);
    x->grad[0] = 1;
    tensor_grad_clear_once(part);
    assert_true(tensor_grad_accumulates(part) && x->grad[0] == 1); /* cleared once, not twice */
    tape_free(t);
}

static void a_view_of_what_has_a_gradient_already_clears_nothing(void **state) {
    (void)state;
    tape *t = new_tape(1, true);
    tensor *x = tape_matrix(t, 2, 2), *part = tape_rows(t, x, 1, 1);
    assert_non_null(part);
    for (int i = 0; i < 4; i++)
        x->grad[i] = 9;
    assert_false(tensor_grad_accumulates(x));
    assert_true(tensor_has_grad(part) && tensor_grad_accumulates(part));
    tensor_grad_clear_once(part);
    for (int i = 0; i < 4; i++)
        assert_true(x->grad[i] == 9);
    tape_free(t);
}

static void the_gradient_of_what_is_consumed_takes_its_place(void **state) {
    (void)state;
    for (int recording = 0; recording < 2; recording++) {
        tape *t = new_tape(1, recording);
        tensor *x = tape_consumed(t, 3, 2), *part = tape_rows(t, x, 1, 2);
        assert_true(x && part && x->rank == 2 && x->dim[0] == 3 && x->dim[1] == 2);
        assert_ptr_equal(x->grad, recording ? x->data : NULL);
        assert_ptr_equal(part->grad, recording ? x->data + 2 : NULL);
        assert_int_equal(x->has_grad, recording);
        assert_int_equal(tensor_has_grad(part), recording);
        x->data[0] = 5;
        if (recording)
            tensor_grad_clear_once(part);
        assert_true(x->data[0] == 5);
        tape_free(t);
    }
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
    tape_defer_product(t, W, matrix_of(x, 1, 2, 2), matrix_of(x, 1, 2, 2));
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
    const steps two = {1, 2, (int[]){1, 1}, (int[]){0, 1, 2}};
    for (int in_loop = 0; in_loop < 2; in_loop++) {
        tape *t = new_tape(1, true);
        if (in_loop) {
            tape_loop_begin(t, &two, false);
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

/* What operations read. Each of them works with these sizes. */
enum { X, OTHER, STATE, CONTEXT, GATES, CANDIDATE, QUERY, KEYS, VALUES, TENSORS };

typedef struct operands {
    params p;
    param *W, *b, *out, *out_b;
    gru_cell cell, normalised;
    tensor *at[TENSORS];
} operands;

static void declare(operands *o) {
    *o = (operands){0};
    o->W = params_declare(&o->p, "W", 2, 2, INIT_ZERO, 0, USE_PRODUCT);
    o->b = params_declare(&o->p, "b", 2, 0, INIT_ZERO, 0, USE_PRODUCT);
    o->out = params_declare(&o->p, "out", 3, 2, INIT_ZERO, 0, USE_PRODUCT);
    o->out_b = params_declare(&o->p, "out.b", 3, 0, INIT_ZERO, 0, USE_PRODUCT);
    gru_form form = {.input = 2, .context = 2, .width = 2, .reset = SA_RESET_BEFORE};
    gru_cell_declare(&o->cell, &(weight_scope){&o->p, "paper", 0}, "cell", form);
    form.reset = SA_RESET_AFTER;
    form.normalised = true;
    gru_cell_declare(&o->normalised, &(weight_scope){&o->p, "paper", 0}, "normalised", form);
    assert_false(o->p.failed);
    assert_int_equal(params_allocate(&o->p, true, NULL), SA_OK);
}

static void make(operands *o, tape *t) {
    for (int k = 0; k < TENSORS; k++) {
        bool consumed = k == GATES || k == CANDIDATE || k == QUERY;
        int cols = k == GATES ? 4 : 2;
        o->at[k] = consumed ? tape_consumed(t, 1, cols) : tape_matrix(t, 1, cols);
        assert_non_null(o->at[k]);
        memset(o->at[k]->data, 0, (size_t)tensor_count(o->at[k]) * sizeof(float));
    }
}

static const int one[] = {1}, zero[] = {0}, zero_and_one[] = {0, 1};
static const steps single = {1, 1, one, zero_and_one};

static const void *apply_linear(tape *t, operands *o) {
    return linear(t, o->at[X], o->W, o->b);
}
static const void *apply_linear_sum(tape *t, operands *o) {
    const linear_term terms[] = {{o->at[X], o->W}, {o->at[OTHER], o->W}};
    return linear_sum(t, NULL, o->b, 2, terms);
}
static const void *apply_linear_consumed(tape *t, operands *o) {
    const linear_term terms[] = {{o->at[X], o->W}, {o->at[OTHER], o->W}};
    return linear_consumed(t, 2, terms, NULL);
}
static const void *apply_embed(tape *t, operands *o) {
    return embed(t, o->W, o->W->dim[1], o->b, 1, zero);
}
static const void *apply_gru_step(tape *t, operands *o) {
    return gru_step(t, &o->cell.step, (gru_input){o->at[GATES], o->at[CANDIDATE]}, o->at[CONTEXT], o->at[STATE]);
}
static const void *apply_gru_norm_step(tape *t, operands *o) {
    return gru_step(t, &o->normalised.step, (gru_input){o->at[GATES], o->at[CANDIDATE]}, o->at[CONTEXT],
                    o->at[STATE]);
}
static const void *apply_gru_hold(tape *t, operands *o) {
    return gru_hold(t, &o->cell.step, o->at[STATE]);
}
static const void *apply_gru_norm_hold(tape *t, operands *o) {
    return gru_hold(t, &o->normalised.step, o->at[STATE]);
}
static const void *apply_gru_cell_input(tape *t, operands *o) {
    const gru_input x = gru_cell_input(t, &o->cell, o->at[X]);
    return x.gates && x.candidate ? o : NULL;
}
static const void *apply_gru_cell_run(tape *t, operands *o) {
    gru_cell alone = o->cell;
    alone.step.C_zr = alone.step.C = NULL;
    return gru_cell_run(t, &alone, &(gru_transition){0}, o->at[X], &single, false);
}
static const void *apply_gru_transition_run(tape *t, operands *o) {
    gru_transition deep = {.n = 1, .cell = {o->normalised}};
    gru_weights *step = &deep.cell[0].step;
    step->C_zr = step->C = step->norm.g_W_zr = step->norm.g_W = NULL;
    return gru_transition_run(t, &deep, o->at[STATE]);
}
static const void *apply_norm(tape *t, operands *o) {
    return op_norm(t, o->at[CANDIDATE], o->b, o->b);
}
static const void *apply_norm_consumed(tape *t, operands *o) {
    return op_norm_consumed(t, o->at[CANDIDATE], o->b, NULL);
}
static const void *apply_bias(tape *t, operands *o) {
    return linear_bias(t, 2, o->b);
}
static const void *apply_mean(tape *t, operands *o) {
    return op_mean(t, o->at[X], 1, zero, one);
}
static const void *apply_tanh(tape *t, operands *o) {
    return op_tanh(t, o->at[X]);
}
static const void *apply_maxout(tape *t, operands *o) {
    return op_maxout(t, o->at[GATES]);
}
static const void *apply_gather(tape *t, operands *o) {
    return op_gather(t, o->at[X], NULL, 1, zero);
}
static const void *apply_gather_by_index(tape *t, operands *o) { /* KEYS stands for the index */
    return op_gather(t, o->at[X], o->at[OTHER], 1, o->at[KEYS] ? zero : NULL);
}
static const void *apply_add_to(tape *t, operands *o) {
    return op_add_to(t, o->at[CANDIDATE], o->at[X]);
}
static const void *apply_dropout(tape *t, operands *o) {
    return op_dropout(t, o->at[X], 0.5f, 1, zero);
}
static const void *apply_attention(tape *t, operands *o) {
    const annotations h = {o->at[VALUES], o->at[KEYS], zero, one, 1};
    const attention_form form = {.score = &score_additive, .v_a = o->b};
    return attention(t, &form, o->at[QUERY], &h, NULL, NULL);
}
static const void *apply_xent(tape *t, operands *o) {
    xent_sums sums = {0};
    return op_xent(t, o->at[X], o->out, o->out_b, zero, 0, 0, 1, &sums, NULL) ? o : NULL;
}
static const void *apply_rows(tape *t, operands *o) {
    return tape_rows(t, o->at[X], 0, 1);
}
static const void *apply_step(tape *t, operands *o) {
    return tape_step(t, o->at[X], &single, 0);
}
static const void *apply_joined(tape *t, operands *o) {
    return tape_joined(t, &single, &o->at[X]);
}

#define READS(k) (1u << (k))
static const struct operation {
    const void *(*apply)(tape *t, operands *o); /* NULL when it failed */
    unsigned reads;
} operations[] = {
    {apply_linear, READS(X)},
    {apply_linear_sum, READS(X) | READS(OTHER)},
    {apply_linear_consumed, READS(X) | READS(OTHER)},
    {apply_embed, 0},
    {apply_gru_step, READS(GATES) | READS(CANDIDATE) | READS(CONTEXT) | READS(STATE)},
    {apply_gru_norm_step, READS(GATES) | READS(CANDIDATE) | READS(CONTEXT) | READS(STATE)},
    {apply_gru_hold, READS(STATE)},
    {apply_gru_norm_hold, READS(STATE)},
    {apply_gru_transition_run, READS(STATE)},
    {apply_norm, READS(CANDIDATE)},
    {apply_norm_consumed, READS(CANDIDATE)},
    {apply_bias, 0},
    {apply_mean, READS(X)},
    {apply_gru_cell_input, READS(X)},
    {apply_gru_cell_run, READS(X)},
    {apply_tanh, READS(X)},
    {apply_maxout, READS(GATES)},
    {apply_gather, READS(X)},
    {apply_gather_by_index, READS(X) | READS(KEYS)},
    {apply_add_to, READS(CANDIDATE) | READS(X)},
    {apply_dropout, READS(X)},
    {apply_attention, READS(QUERY) | READS(KEYS) | READS(VALUES)},
    {apply_xent, READS(X)},
    {apply_rows, READS(X)},
    {apply_step, READS(X)},
    {apply_joined, READS(X)},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void every_operation_returns_null_on_a_tape_that_has_failed(void **state) {
    (void)state;
    operands o;
    declare(&o);
    tape *t = new_tape(o.p.n, true);
    for (int i = 0; i < OPERATIONS; i++) {
        tape_reset(t, true);
        make(&o, t);
        assert_non_null(operations[i].apply(t, &o)); /* as a rule it works */
        assert_false(t->failed);
        make(&o, t);
        exhaust(t);
        assert_null(operations[i].apply(t, &o));
        assert_true(t->failed);
    }
    tape_free(t);
    params_free(&o.p);
}

static void every_operation_that_is_given_null_fails_the_tape(void **state) {
    (void)state;
    operands o;
    declare(&o);
    tape *t = new_tape(o.p.n, true);
    for (int i = 0; i < OPERATIONS; i++)
        for (int k = 0; k < TENSORS; k++) {
            if (!(operations[i].reads & READS(k)))
                continue;
            tape_reset(t, true);
            make(&o, t);
            o.at[k] = NULL;
            if (operations[i].apply(t, &o) || !t->failed)
                fail_msg("operation %d works without its tensor %d", i, k);
        }
    tape_free(t);
    params_free(&o.p);
}

int main(void) {
    gemm_work_alone();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_lays_its_steps_one_behind_the_other),
        cmocka_unit_test(loops_follow_each_other_and_leave_the_rest_alone),
        cmocka_unit_test(steps_of_a_loop_become_views_of_one_matrix),
        cmocka_unit_test(tensors_have_a_gradient_only_when_recording),
        cmocka_unit_test(views_share_data_and_gradient),
        cmocka_unit_test(a_view_of_what_has_a_gradient_already_clears_nothing),
        cmocka_unit_test(the_gradient_of_what_is_consumed_takes_its_place),
        cmocka_unit_test(numbers_from_elsewhere_become_a_tensor_without_gradient),
        cmocka_unit_test(gradients_are_written_first_and_added_to_later),
        cmocka_unit_test(backward_runs_from_the_last_record_to_the_first_until_one_fails),
        cmocka_unit_test(a_reset_forgets_gradients_that_wait),
        cmocka_unit_test(a_failed_allocation_fails_the_tape_until_it_is_reset),
        cmocka_unit_test(every_operation_returns_null_on_a_tape_that_has_failed),
        cmocka_unit_test(every_operation_that_is_given_null_fails_the_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
