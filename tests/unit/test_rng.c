#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void philox_gives_the_published_vectors(void **state) {
    (void)state;
    /* philox4x32, 10 rounds: tests/kat_vectors of the authors' Random123. */
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        rng_philox(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void a_sequence_stays_what_it_was(void **state) {
    (void)state;
    /* By an independent implementation (Python); stored runs depend on it. */
    static const uint32_t expected[8] = {0xac198335, 0xb6eb2d8e, 0x359e5bc5, 0x6a1bc48b,
                                         0x410ad5cc, 0x06673dc3, 0xd17c99f8, 0xc9a3487e};
    rng r = rng_at(0x123456789abcdef0, 5000000007, 42, 3);
    for (int i = 0; i < 8; i++)
        assert_int_equal(rng_u32(&r), expected[i]);
    r = rng_at(0x123456789abcdef0, 5000000007, 42, 3);
    for (int i = 0; i < 4; i++)
        assert_true(rng_u64(&r) == (expected[2 * i] | (uint64_t)expected[2 * i + 1] << 32));
}

static void every_coordinate_matters_in_all_its_bits(void **state) {
    (void)state;
    enum { N = 1 + 4 * 64 };
    static uint64_t first[N];
    for (int i = 0; i < N; i++) {
        uint64_t at[4] = {7, 7, 7, 7};
        if (i)
            at[(i - 1) / 64] ^= (uint64_t)1 << (i - 1) % 64;
        rng r = rng_at(at[0], at[1], at[2], at[3]);
        first[i] = rng_u64(&r);
        for (int k = 0; k < i; k++)
            assert_true(first[i] != first[k]);
    }
}

static void a_copied_state_goes_on_alike(void **state) {
    (void)state;
    for (int spent = 0; spent < 9; spent++) {
        rng r = rng_at(1, 2, 3, 4), copy;
        for (int i = 0; i < spent; i++)
            rng_u32(&r);
        uint32_t saved[sizeof r / sizeof(uint32_t)];
        memcpy(saved, &r, sizeof r);
        memcpy(&copy, saved, sizeof copy);
        for (int i = 0; i < 20; i++)
            assert_int_equal(rng_u32(&r), rng_u32(&copy));
    }
}

static void the_block_number_carries_into_its_second_word_only(void **state) {
    (void)state;
    rng r = rng_at(1, 2, 3, 4);
    const uint32_t lane[2] = {r.counter[2], r.counter[3]};
    r.counter[0] = 0xffffffff;
    rng_u32(&r);
    assert_int_equal(r.counter[0], 0);
    assert_int_equal(r.counter[1], 1);
    assert_memory_equal(r.counter + 2, lane, sizeof lane);
}

static void uniform_reals_fill_the_half_open_interval_evenly(void **state) {
    (void)state;
    enum { N = 200000, BINS = 50 };
    int bin[BINS] = {0};
    double sum = 0;
    rng r = rng_at(11, 0, 0, 0);
    for (int i = 0; i < N; i++) {
        double value = rng_uniform(&r);
        assert_true(value >= 0 && value < 1);
        bin[(int)(value * BINS)]++;
        sum += value;
    }
    double chi2 = 0, mean = (double)N / BINS;
    for (int i = 0; i < BINS; i++)
        chi2 += (bin[i] - mean) * (bin[i] - mean) / mean;
    assert_true(chi2 < 90); /* 49 degrees of freedom: 1 in 4,000 */
    assert_true(fabs(sum / N - 0.5) < 0.003);

    rng extreme = {.block = {0xffffffff, 0xffffffff, 0, 0}, .used = 0};
    assert_true(rng_uniform(&extreme) == 1 - 0x1p-53);
    assert_true(rng_uniform(&extreme) == 0);
}

static void bounded_integers_have_no_bias(void **state) {
    (void)state;
    rng r = rng_at(5, 0, 0, 0);
    for (int i = 0; i < 100; i++)
        assert_true(rng_below(&r, 1) == 0);
    int count[6] = {0};
    for (int i = 0; i < 60000; i++) {
        uint64_t value = rng_below(&r, 6);
        assert_true(value < 6);
        count[value]++;
    }
    for (int i = 0; i < 6; i++)
        assert_true(abs(count[i] - 10000) < 500);
    /* A bare modulus would put half of the values into the first third of this range. */
    const uint64_t wide = (uint64_t)3 << 62;
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t value = rng_below(&r, wide);
        assert_true(value < wide);
        low += value < wide / 3;
    }
    assert_true(abs(low - 10000) < 500);
}

/* The normal value that a draw of these 53 bits gives. */
static double normal_of(uint64_t bits) {
    uint64_t word = bits << 11;
    rng r = {.block = {(uint32_t)word, (uint32_t)(word >> 32)}, .used = 0};
    return rng_normal(&r);
}

static void normal_values_invert_the_distribution_function(void **state) {
    (void)state;
    const uint64_t half = (uint64_t)1 << 52;
    for (int exponent = 0; exponent < 52; exponent++)
        for (uint64_t part = 0; part < 8; part++) {
            /* Below 1/2: the probability is exact, and erfc keeps its relative precision however small it is. */
            uint64_t bits = ((uint64_t)1 << exponent) + (part << exponent) / 8;
            if (bits >= half)
                continue;
            double p = ((double)bits * 2 + 1) * 0x1p-54, x = normal_of(bits);
            assert_true(fabs(0.5 * erfc(-x * 0.70710678118654752440) / p - 1) < 3e-14);
            assert_true(normal_of(2 * half - 1 - bits) == -x);
        }
    assert_true(fabs(normal_of(0) + 8.2923611) < 1e-6 && isfinite(normal_of(2 * half - 1)));
}

static void normal_values_have_the_moments_of_the_normal_distribution(void **state) {
    (void)state;
    enum { N = 200000 };
    double sum[5] = {0};
    rng r = rng_at(3, 1, 4, 1);
    for (int i = 0; i < N; i++) {
        double x = rng_normal(&r), power = 1;
        for (int k = 0; k < 5; k++, power *= x)
            sum[k] += power / N;
    }
    assert_true(fabs(sum[1]) < 0.01);
    assert_true(fabs(sum[2] - 1) < 0.015);
    assert_true(fabs(sum[3]) < 0.04);
    assert_true(fabs(sum[4] - 3) < 0.1);
}

static void shuffling_gives_every_order_equally_often(void **state) {
    (void)state;
    int count[27] = {0};
    rng r = rng_at(8, 0, 0, 0);
    for (int i = 0; i < 60000; i++) {
        size_t index[3] = {0, 1, 2};
        rng_shuffle(&r, index, 3);
        count[index[0] * 9 + index[1] * 3 + index[2]]++;
    }
    const int orders[6] = {5, 7, 11, 15, 19, 21};
    int all = 0;
    for (int i = 0; i < 6; i++) {
        assert_true(abs(count[orders[i]] - 10000) < 500);
        all += count[orders[i]];
    }
    assert_int_equal(all, 60000);
}

static void shuffling_keeps_every_element(void **state) {
    (void)state;
    enum { N = 1000 };
    size_t index[N], moved = 0;
    bool seen[N] = {false};
    for (size_t i = 0; i < N; i++)
        index[i] = i;
    rng r = rng_at(9, 0, 0, 0);
    rng_shuffle(&r, index, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(index[i] < N && !seen[index[i]]);
        seen[index[i]] = true;
        moved += index[i] != i;
    }
    assert_true(moved > N - 20);
    rng_shuffle(&r, index, 0);
    size_t one = 17;
    rng_shuffle(&r, &one, 1);
    assert_int_equal(one, 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_vectors),
        cmocka_unit_test(a_sequence_stays_what_it_was),
        cmocka_unit_test(every_coordinate_matters_in_all_its_bits),
        cmocka_unit_test(a_copied_state_goes_on_alike),
        cmocka_unit_test(the_block_number_carries_into_its_second_word_only),
        cmocka_unit_test(uniform_reals_fill_the_half_open_interval_evenly),
        cmocka_unit_test(bounded_integers_have_no_bias),
        cmocka_unit_test(normal_values_invert_the_distribution_function),
        cmocka_unit_test(normal_values_have_the_moments_of_the_normal_distribution),
        cmocka_unit_test(shuffling_gives_every_order_equally_often),
        cmocka_unit_test(shuffling_keeps_every_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
