#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

#include <string.h>

static void allocations_are_aligned_and_apart(void **state) {
    (void)state;
    enum { N = 500 };
    arena *a = arena_new(4096);
    unsigned char *at[N];
    size_t size[N];
    assert_non_null(a);
    for (size_t i = 0; i < N; i++) {
        size[i] = i * i % 700;
        at[i] = arena_alloc(a, size[i]);
        assert_non_null(at[i]);
        assert_int_equal((uintptr_t)at[i] % ARENA_ALIGN, 0);
        memset(at[i], (int)i & 255, size[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(at[i][k], i & 255);
    arena_free(a);
}

static void even_empty_allocations_have_an_address_of_their_own(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    assert_non_null(a);
    void *first = arena_alloc(a, 0), *second = arena_alloc(a, 0);
    assert_true(first && second && first != second);
    arena_free(a);
}

static void an_allocation_larger_than_a_chunk_gets_one_of_its_own(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    assert_non_null(a);
    char *small = arena_alloc(a, 16), *large = arena_alloc(a, 5 << 20);
    assert_true(small && large);
    memset(large, 1, 5 << 20);
    assert_true(arena_capacity(a) >= 4096 + (5 << 20));
    arena_free(a);
}

/* A pass of 100 allocations, the k-th k times as large as the first. */
enum { PASS = 100 };
static void run_pass(arena *a, size_t k, unsigned char *at[PASS]) {
    static const size_t sizes[] = {64, 5056, 320, 2048, 9024, 128};
    for (int i = 0; i < PASS; i++) {
        assert_non_null(at[i] = arena_alloc(a, k * sizes[i % 6]));
        memset(at[i], i, k * sizes[i % 6]);
    }
}

static void a_pass_that_repeats_takes_nothing_from_the_system(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    unsigned char *first[PASS], *again[PASS];
    assert_non_null(a);
    run_pass(a, 1, first);
    arena_reset(a);
    run_pass(a, 1, first);
    size_t held = arena_capacity(a);
    for (int round = 0; round < 3; round++) {
        arena_reset(a);
        run_pass(a, 1, again);
        assert_memory_equal(again, first, sizeof first);
        assert_int_equal(arena_capacity(a), held);
    }
    arena_free(a);
}

static void what_took_several_chunks_is_one_after_a_reset(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    unsigned char *at[PASS];
    assert_non_null(a);
    run_pass(a, 1, at);
    arena_reset(a);
    run_pass(a, 1, at);
    for (int i = 0; i + 1 < PASS; i++)
        assert_true(at[i + 1] > at[i] && at[i + 1] - at[i] <= 9024);
    arena_free(a);
}

static void passes_of_many_sizes_leave_little_more_than_the_largest_needs(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    unsigned char *at[PASS];
    assert_non_null(a);
    for (size_t k = 1; k <= 12; k++) {
        run_pass(a, k, at);
        arena_reset(a);
    }
    size_t largest = 12 * (17 * (64 + 5056 + 320 + 2048) + 16 * (9024 + 128));
    assert_true(arena_capacity(a) >= largest);
    assert_true(arena_capacity(a) < largest + largest / 4 + (4 << 20)); /* chunks are rounded to large pages */
    arena_free(a);
}

static void what_was_released_on_the_way_is_not_kept_memory_for(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    assert_non_null(a);
    for (int i = 0; i < 100; i++) { /* never more than 6,000 bytes at a time */
        arena_mark mark = arena_get_mark(a);
        assert_true(arena_alloc(a, 3000) && arena_alloc(a, 3000));
        arena_release(a, mark);
    }
    arena_reset(a);
    assert_true(arena_capacity(a) < 8192);
    arena_free(a);
}

static void a_release_keeps_what_is_older_than_its_mark(void **state) {
    (void)state;
    arena *a = arena_new(1024);
    assert_non_null(a);
    char *old = arena_alloc(a, 600);
    assert_non_null(old);
    memset(old, 'o', 600);
    arena_mark mark = arena_get_mark(a);
    void *first = arena_alloc(a, 100);
    for (int i = 0; i < 20; i++) {
        char *more = arena_alloc(a, 900);
        assert_non_null(more);
        memset(more, 'm', 900);
    }
    size_t held = arena_capacity(a);
    arena_release(a, mark);
    assert_ptr_equal(arena_alloc(a, 100), first);
    for (int i = 0; i < 20; i++) {
        char *more = arena_alloc(a, 900);
        assert_non_null(more);
        memset(more, 'n', 900);
    }
    assert_int_equal(arena_capacity(a), held);
    for (int i = 0; i < 600; i++)
        assert_int_equal(old[i], 'o');
    arena_free(a);
}

static void impossible_sizes_give_null_and_the_arena_goes_on(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    assert_non_null(a);
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_alloc(a, SIZE_MAX - ARENA_ALIGN));
    char *p = arena_alloc(a, 100);
    assert_non_null(p);
    memset(p, 1, 100);
    arena_free(a);
}

static void freeing_null_is_fine(void **state) {
    (void)state;
    arena_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_apart),
        cmocka_unit_test(even_empty_allocations_have_an_address_of_their_own),
        cmocka_unit_test(an_allocation_larger_than_a_chunk_gets_one_of_its_own),
        cmocka_unit_test(a_pass_that_repeats_takes_nothing_from_the_system),
        cmocka_unit_test(what_took_several_chunks_is_one_after_a_reset),
        cmocka_unit_test(passes_of_many_sizes_leave_little_more_than_the_largest_needs),
        cmocka_unit_test(what_was_released_on_the_way_is_not_kept_memory_for),
        cmocka_unit_test(a_release_keeps_what_is_older_than_its_mark),
        cmocka_unit_test(impossible_sizes_give_null_and_the_arena_goes_on),
        cmocka_unit_test(freeing_null_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
