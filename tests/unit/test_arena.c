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

/* The same allocations again: the same addresses, nothing more from the system. */
static void a_pass_that_repeats_finds_one_chunk_and_asks_for_nothing(void **state) {
    (void)state;
    enum { N = 100 };
    static const size_t sizes[] = {10, 5000, 300, 2000, 9000, 64};
    arena *a = arena_new(4096);
    char *at[N];
    size_t held = 0, handed_out = 0;
    assert_non_null(a);
    for (int i = 0; i < N; i++) {
        assert_non_null(arena_alloc(a, sizes[i % 6]));
        handed_out += (sizes[i % 6] + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    }
    for (int round = 0; round < 3; round++) {
        arena_reset(a);
        for (int i = 0; i < N; i++) {
            char *p = arena_alloc(a, sizes[i % 6]);
            assert_non_null(p);
            if (round > 0)
                assert_ptr_equal(p, at[i]);
            else if (i > 0)
                assert_true(p > at[i - 1] && p <= at[i - 1] + 9000 + ARENA_ALIGN);
            at[i] = p;
        }
        assert_true(arena_capacity(a) >= handed_out && arena_capacity(a) < handed_out + handed_out / 8 + ARENA_ALIGN);
        assert_true(round == 0 || arena_capacity(a) == held);
        held = arena_capacity(a);
    }
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
    assert_null(arena_zalloc(a, SIZE_MAX));
    char *p = arena_alloc(a, 100);
    assert_non_null(p);
    memset(p, 1, 100);
    arena_free(a);
}

static void cleared_memory_is_zero_even_when_used_before(void **state) {
    (void)state;
    arena *a = arena_new(4096);
    assert_non_null(a);
    char *p = arena_alloc(a, 1000);
    assert_non_null(p);
    memset(p, 1, 1000);
    arena_reset(a);
    const char *q = arena_zalloc(a, 1000);
    assert_ptr_equal(q, p);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(q[i], 0);
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
        cmocka_unit_test(a_pass_that_repeats_finds_one_chunk_and_asks_for_nothing),
        cmocka_unit_test(a_release_keeps_what_is_older_than_its_mark),
        cmocka_unit_test(impossible_sizes_give_null_and_the_arena_goes_on),
        cmocka_unit_test(cleared_memory_is_zero_even_when_used_before),
        cmocka_unit_test(freeing_null_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
