#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/pcg64.h"

/* Expected draws are those of numpy.random.default_rng. */

static double uniform(pcg64 *r) {
    return (double)(pcg64_u64(r) >> 11) * 0x1p-53;
}

static void seeds_and_draws_are_numpys(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        double draw[2];
    } cases[] = {{0, {0.6369616873214543, 0.2697867137638703}},
                 {42, {0.7739560485559633, 0.4388784397520523}},
                 {12345, {0.22733602246716966, 0.31675833970975287}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcg64 r = pcg64_seed(cases[i].seed);
        for (int k = 0; k < 2; k++)
            assert_true(uniform(&r) == cases[i].draw[k]);
    }
}

static void integers_are_numpys(void **state) {
    (void)state;
    static const uint32_t expected[] = {0, 7, 6, 4, 4, 8, 0, 6, 2, 0};
    pcg64 r = pcg64_seed(42);
    for (int i = 0; i < 10; i++)
        assert_int_equal(pcg64_below(&r, 10), expected[i]);
}

static void integers_have_no_bias(void **state) {
    (void)state;
    /* Of 2^32 draws, those that 3 * 2^30 does not share out are drawn again: else every third number would come
     * twice as often. */
    enum { DRAWS = 30000 };
    int third[3] = {0};
    pcg64 r = pcg64_seed(7);
    for (int i = 0; i < DRAWS; i++)
        third[pcg64_below(&r, 3u << 30) % 3]++;
    for (int k = 0; k < 3; k++)
        assert_in_range(third[k], DRAWS / 3 - 400, DRAWS / 3 + 400); /* five standard deviations */
}

static void bits_are_those_of_a_draw_the_lowest_first(void **state) {
    (void)state;
    pcg64 bits = pcg64_seed(12345), draws = bits;
    uint64_t draw = pcg64_u64(&draws);
    for (int i = 0; i < 64; i++)
        assert_int_equal(pcg64_bit(&bits), draw >> i & 1);
}

static void seeds_above_32_bits_are_others(void **state) {
    (void)state;
    pcg64 low = pcg64_seed(1), high = pcg64_seed(1 | UINT64_C(1) << 40);
    assert_true(pcg64_u64(&low) != pcg64_u64(&high));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_and_draws_are_numpys),
        cmocka_unit_test(integers_are_numpys),
        cmocka_unit_test(integers_have_no_bias),
        cmocka_unit_test(bits_are_those_of_a_draw_the_lowest_first),
        cmocka_unit_test(seeds_above_32_bits_are_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
