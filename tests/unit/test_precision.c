#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "math/precision.h"
#include "math/vecmath.h"

#include <math.h>
#include <string.h>

enum { N = 600 }; /* more than one piece of narrow_round */

static float row[N], back[N], numbers[N];

static void draw(int n, uint64_t seed) {
    rng random = rng_at(seed, 0, 0, 0);
    for (int i = 0; i < n; i++)
        row[i] = (float)(rng_normal(&random) * exp(3 * rng_normal(&random)));
}

/* -most ... most. */
static void spread(float most) {
    for (int i = 0; i < N; i++)
        row[i] = most * (2 * (float)i / (N - 1) - 1);
}

static void write_and_read(gemm_precision type, int n) {
    float scale = narrow_write(type, row, n, numbers);
    narrow_read(&(narrow){type, 1, n, numbers, narrow_scaled(type) ? &scale : NULL}, 0, back);
}

static void a_row_is_within_half_a_step_of_what_was_written(void **state) {
    (void)state;
    for (int n = 1; n < N; n += 41) {
        draw(n, (uint64_t)n);
        float largest = vec_max_abs(row, n);
        for (int type = GEMM_F32; type <= GEMM_INT8; type++) {
            write_and_read(type, n);
            for (int i = 0; i < n; i++) {
                const float step[] = {0, fabsf(row[i]) * 0x1p-8f, largest / 127 * 0.5001f};
                assert_true(fabsf(back[i] - row[i]) <= step[type]);
            }
        }
    }
}

static void rounding_is_writing_and_reading(void **state) {
    (void)state;
    for (int type = GEMM_F32; type <= GEMM_INT8; type++) {
        draw(N, 7);
        write_and_read(type, N);
        narrow_round(type, row, N);
        assert_memory_equal(row, back, sizeof row);
    }
}

static void rows_follow_each_other_without_gaps(void **state) {
    (void)state;
    enum { COLS = 5, ROWS = 3 };
    float rows[ROWS][COLS] = {{1, 2, 3, 4, 5}, {-2, 0, 0, 0, 127}, {0, 0, 0, 0, 0}}, scale[ROWS];
    for (int type = GEMM_F32; type <= GEMM_INT8; type++) {
        for (int i = 0; i < ROWS; i++)
            scale[i] = narrow_write(type, rows[i], COLS, (char *)numbers + (size_t)i * narrow_bytes(type, COLS));
        const narrow m = {type, ROWS, COLS, numbers, narrow_scaled(type) ? scale : NULL};
        narrow_read(&m, 1, back);
        assert_memory_equal(back, rows[1], sizeof rows[1]);
        narrow_read(&m, 2, back);
        assert_memory_equal(back, rows[2], sizeof rows[2]);
    }
    assert_true(scale[0] == 5.0f / 127 && scale[1] == 1 && scale[2] == 0);
}

static void nan_is_not_lost(void **state) {
    (void)state;
    for (int type = GEMM_F32; type <= GEMM_INT8; type++) {
        float three[3] = {1, NAN, 3};
        narrow_round(type, three, 3);
        assert_true(isnan(three[1]));
    }
}

/* Too small for a scale of their size: rounded as far as that goes, never beyond 127. */
static void the_smallest_numbers_stay_in_range(void **state) {
    (void)state;
    const float small[] = {0x1p-149f, -0x1p-149f, 0x1p-148f, 0x1.8p-140f, -0x1.8p-140f};
    int8_t q[5];
    for (int n = 1; n <= 5; n++) {
        float scale = narrow_write(GEMM_INT8, small, n, q);
        for (int i = 0; i < n; i++)
            assert_true(q[i] >= -127 && fabsf((float)q[i] * scale) <= 1.1f * 0x1.8p-140f);
    }
}

static void the_largest_magnitude_is_found_and_nan_is_larger(void **state) {
    (void)state;
    spread(3);
    float largest = 0;
    for (int i = 0; i < N; i++) {
        largest = fmaxf(largest, fabsf(row[i]));
        if (i < 300 || i == N - 1)
            assert_true(vec_max_abs(row, i + 1) == largest);
    }
    float three[] = {-1, INFINITY, 3};
    assert_true(vec_max_abs(three, 1) == 1 && vec_max_abs(three, 3) == INFINITY && vec_max_abs(three, 0) == 0);
    three[2] = -NAN;
    assert_true(isnan(vec_max_abs(three, 3)));
}

static void bytes_are_the_nearest_whole_numbers(void **state) {
    (void)state;
    static int8_t q[N];
    static uint8_t u[N];
    spread(300);
    vec_to_int8(q, row, 2, N);
    vec_from_int8(back, q, 2, N);
    for (int i = 0; i < N; i++) {
        assert_true(q[i] == (int)fmaxf(-127, fminf(127, rintf(row[i] / 2))));
        assert_true(back[i] == 2 * (float)q[i]);
    }
    vec_to_uint8(u, row, 0.25f, N);
    for (int i = 0; i < N; i++)
        assert_true(u[i] == (int)rintf(row[i] / 4) + 128);
    vec_to_int8(q, row, 0, N);
    for (int i = 0; i < N; i++)
        assert_true(q[i] == 0);
}

static void sums_of_whole_numbers_are_scaled_where_they_lie(void **state) {
    (void)state;
    enum { n = 77 };
    int32_t sum[n], offset[n];
    float scale[n], bias[n], out[n], wanted[n];
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < n; i++) {
            sum[i] = 100000 * (i - 40);
            offset[i] = 128 * i;
            scale[i] = 0.5f * (float)(i % 4);
            bias[i] = (float)i;
            wanted[i] = (float)(sum[i] - offset[i]) * (scale[i] * 0.25f) + (way == 0 ? 0 : bias[i]);
        }
        memcpy(out, way == 1 ? (void *)bias : sum, sizeof out);
        const float *plus = way == 0 ? NULL : way == 1 ? out : bias; /* out itself: the sums lie apart */
        vec_from_int32(out, way == 1 ? (void *)sum : out, offset, scale, 0.25f, plus, n);
        for (int i = 0; i < n; i++)
            assert_true(out[i] == wanted[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_within_half_a_step_of_what_was_written),
        cmocka_unit_test(rounding_is_writing_and_reading),
        cmocka_unit_test(rows_follow_each_other_without_gaps),
        cmocka_unit_test(nan_is_not_lost),
        cmocka_unit_test(the_smallest_numbers_stay_in_range),
        cmocka_unit_test(the_largest_magnitude_is_found_and_nan_is_larger),
        cmocka_unit_test(bytes_are_the_nearest_whole_numbers),
        cmocka_unit_test(sums_of_whole_numbers_are_scaled_where_they_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
