#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/kept_state.h"

static tape *t;

static int begin(void **state) {
    (void)state;
    if (tape_new(&t, 0, 1 << 14, NULL))
        return -1;
    tape_reset(t, false);
    return 0;
}

static int end(void **state) {
    (void)state;
    tape_free(t);
    return 0;
}

/* (rows, cols) of start, start + 1, ... */
static tensor *counted(int rows, int cols, int start) {
    tensor *x = tape_matrix(t, rows, cols);
    assert_non_null(x);
    for (int i = 0; i < rows * cols; i++)
        x->data[i] = (real)(start + i);
    return x;
}

static void parts_are_gathered_from_the_rows_of_parents(void **state) {
    (void)state;
    static const int parent[4] = {2, 0, 2, 1}, fewer[2] = {3, 3};
    kept_state k = {0};
    decoder_state s = {.length = 1, .n = 2, .part = {counted(3, 2, 10), counted(3, 1, 50)}};
    assert_true(kept_state_take(&k, &s, parent, 4) && kept_state_give(&k, t, &s));
    assert_int_equal(s.length, 1);
    assert_int_equal(s.n, 2);
    for (int i = 0; i < 4; i++) {
        assert_true(s.part[0]->data[2 * i] == 10 + 2 * parent[i] &&
                    s.part[0]->data[2 * i + 1] == 11 + 2 * parent[i]);
        assert_true(s.part[1]->data[i] == 50 + parent[i]);
    }
    s.length = 2;
    assert_true(kept_state_take(&k, &s, fewer, 2) && kept_state_give(&k, t, &s));
    assert_int_equal(tensor_rows(s.part[0]), 2);
    assert_true(s.part[1]->data[0] == 51 && s.part[1]->data[1] == 51);
    kept_state_free(&k);
}

/* Three steps of a beam; memory rows carry their own number. */
static void a_trail_leads_through_the_rows_that_a_hypothesis_grew_from(void **state) {
    (void)state;
    static const int rows[3] = {2, 3, 2};
    static const int parent[3][3] = {{0, 1, 0}, {2, 1}, {1}};
    static const int trail[3][3] = {{0}, {0, 4}, {1, 3, 6}}; /* of the first row after each step */
    kept_state k = {0};
    int there = 0;
    for (int step = 0; step < 3; step++) {
        decoder_state s = {.length = step + 1, .n_memories = 2};
        s.memory[0] = counted(rows[step], 1, there);
        s.memory[1] = counted(rows[step], 3, 3 * there);
        there += rows[step];
        int next = step < 2 ? rows[step + 1] : 1;
        assert_true(kept_state_take(&k, &s, parent[step], next) && kept_state_give(&k, t, &s));
        assert_int_equal(s.n_memories, 2);
        assert_int_equal(tensor_rows(s.memory[0]), there);
        for (int i = 0; i < there; i++)
            assert_true(s.memory[0]->data[i] == i && s.memory[1]->data[3 * i] == 3 * i);
        if (step < 2)
            assert_memory_equal(s.trail, trail[step], (size_t)(step + 1) * sizeof(int));
        else
            assert_memory_equal(s.trail, trail[2], sizeof trail[2]);
    }
    kept_state_free(&k);
}

static void nothing_is_left_where_no_hypothesis_goes_on(void **state) {
    (void)state;
    kept_state k = {0};
    decoder_state s = {
        .length = 1, .n = 1, .n_memories = 1, .part = {counted(2, 2, 0)}, .memory = {counted(2, 2, 0)}};
    assert_true(kept_state_take(&k, &s, NULL, 0));
    kept_state_free(&k);
    kept_state_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_are_gathered_from_the_rows_of_parents, begin, end),
        cmocka_unit_test_setup_teardown(a_trail_leads_through_the_rows_that_a_hypothesis_grew_from, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_left_where_no_hypothesis_goes_on, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
