#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/vecmath.h"
#include "row_sample.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 17 };
static float x[N], y[N];

/* Numbers evenly over [low, high], and closer and closer to 0. */
static void spread(float low, float high) {
    rng random = rng_at(1, 0, 0, 0);
    for (int i = 0; i < N; i++) {
        x[i] = low + (high - low) * (float)rng_uniform(&random);
        if (i % 4 == 0)
            x[i] *= (float)exp(-20 * rng_uniform(&random));
    }
    x[0] = 0;
    x[1] = low;
    x[2] = high;
}

/* Distance from the exact value in units of its last place as a float. */
static double ulps(float value, double exact) {
    int exponent;
    frexp(fmax(fabs(exact), (double)FLT_MIN), &exponent);
    return fabs((double)value - exact) / ldexp(1, exponent - FLT_MANT_DIG);
}

/* 4.9 of them where the processor fuses multiplication and addition, 6.3 elsewhere. */
static void tanh_is_within_7_ulp(void **state) {
    (void)state;
    spread(-12, 12);
    vec_tanh(y, x, N);
    for (int i = 0; i < N; i++) {
        if (ulps(y[i], tanh((double)x[i])) > 7)
            fail_msg("tanh(%.9g) = %.9g", (double)x[i], (double)y[i]);
        assert_true(y[i] >= -1 && y[i] <= 1);
    }
    assert_true(y[0] == 0);
}

/* By way of tanh, so that its error is absolute: 4 ulp of numbers just below 1. */
static void sigmoid_is_within_a_22nd_binary_place(void **state) {
    (void)state;
    spread(-20, 20);
    vec_sigmoid(y, x, N);
    for (int i = 0; i < N; i++) {
        if (fabs((double)y[i] - 1 / (1 + exp(-(double)x[i]))) > 0x1p-22)
            fail_msg("sigmoid(%.9g) = %.9g", (double)x[i], (double)y[i]);
        assert_true(y[i] >= 0 && y[i] <= 1);
    }
    assert_true(y[0] == 0.5f);
}

static void exp_is_within_2_ulp(void **state) {
    (void)state;
    spread(-87, 88);
    vec_exp_shift(y, x, 0, N);
    for (int i = 0; i < N; i++)
        if (ulps(y[i], exp((double)x[i])) > 2)
            fail_msg("exp(%.9g) = %.9g", (double)x[i], (double)y[i]);
    assert_true(y[0] == 1);
}

static void log_is_within_2_ulp(void **state) {
    (void)state;
    for (int i = 0; i < N; i++) /* every exponent, and close to 1 from both sides */
        x[i] = i % 2 ? (float)exp(-87.3 + 174 * (double)i / N) : 1 + (float)(i - N / 2) / (2 * N);
    x[0] = 1;
    x[1] = FLT_MIN;
    x[2] = FLT_MAX;
    vec_log(y, x, N);
    for (int i = 0; i < N; i++)
        if (ulps(y[i], log((double)x[i])) > 2)
            fail_msg("log(%.9g) = %.9g", (double)x[i], (double)y[i]);
    assert_true(y[0] == 0);
    float small[] = {0, FLT_MIN / 4}, out[2];
    vec_log(out, small, 2);
    assert_true(out[0] == -INFINITY && out[1] == -INFINITY);
}

static void extreme_numbers_saturate(void **state) {
    (void)state;
    float large[] = {-1000, 1000, -INFINITY, INFINITY, -FLT_MAX, FLT_MAX}, out[6];
    vec_tanh(out, large, 6);
    for (int i = 0; i < 6; i++)
        assert_true(out[i] == (i % 2 ? 1.0f : -1.0f));
    vec_sigmoid(out, large, 6);
    for (int i = 0; i < 6; i++)
        assert_true(out[i] == (i % 2 ? 1.0f : 0.0f));
    float scores[] = {1000, -1000, 999, -INFINITY};
    float sum = vec_exp_shift(out, scores, 1000, 4);
    assert_true(out[0] == 1 && out[1] == 0 && ulps(out[2], exp(-1)) < 2 && out[3] == 0);
    assert_true(ulps(sum, 1 + exp(-1)) < 2);
    /* Above 88 exp stays finite rather than infinite; shifted rows never get there. */
    assert_true(isfinite(vec_exp_shift(out, large, 0, 2)) && out[1] > 1e38f);
}

static void nan_passes_through(void **state) {
    (void)state;
    enum { n = 37 };
    for (int at = 0; at < n; at++) { /* wherever it stands in the vector registers, or behind them */
        float in[n] = {0}, out[n], one[n], sums[n] = {0}, dq[n] = {0}, dk[n] = {0};
        for (int i = 0; i < n; i++)
            one[i] = 1;
        in[at] = NAN;
        vec_tanh(out, in, n);
        assert_true(isnan(out[at]) && out[(at + 1) % n] == 0);
        vec_sigmoid(out, in, n);
        assert_true(isnan(out[at]) && out[(at + 1) % n] == 0.5f);
        assert_true(isnan(vec_exp_shift(out, in, 0, n)) && isnan(out[at]) && out[(at + 1) % n] == 1);
        assert_true(isnan(vec_sum(in, n)) && isnan(vec_dot(in, one, n)) && isnan(vec_sum_squares(in, n)));
        assert_true(isnan(vec_tanh_dot(one, in, one, n)));
        vec_tanh_dot_backward(1, one, in, one, sums, dq, dk, n);
        assert_true(isnan(sums[at]) && isnan(dq[at]) && isnan(dk[at]) && !isnan(dq[(at + 1) % n]));
    }
}

/* size: the sum of the terms' absolute values. */
static void near_sum(double got, double wanted, double size) {
    if (!(fabs(got - wanted) <= (double)FLT_EPSILON * (4 + s.n / 8.0) * size))
        fail_msg("%d terms: %.9g instead of %.9g", s.n, got, wanted);
}

static void check_sums(void) {
    double dot = 0, sum = 0, squares = 0, energy = 0, exps = 0, size[3] = {0};
    float largest = -2;
    for (int i = 0; i < s.n; i++) {
        double a = (double)s.a[i], b = (double)s.b[i], h = (double)s.c[i] * tanh(a + b);
        dot += a * b;
        sum += a;
        squares += a * a;
        energy += h;
        exps += exp(a - 0.5);
        size[0] += fabs(a * b);
        size[1] += fabs(a);
        size[2] += fabs(h);
        largest = fmaxf(largest, s.a[i]);
    }
    near_sum((double)vec_dot(s.a, s.b, s.n), dot, size[0]);
    near_sum((double)vec_sum(s.a, s.n), sum, size[1]);
    near_sum(vec_sum_squares(s.a, s.n), squares, squares);
    near_sum((double)vec_tanh_dot(s.c, s.a, s.b, s.n), energy, size[2]);
    near_sum((double)vec_exp_shift(y, s.a, 0.5f, s.n), exps, exps);
    near_sum((double)vec_sum_exp(s.a, 0.5f, s.n), exps, exps);
    assert_true(vec_max(s.a, s.n) == largest);
}

static void sums_are_those_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_sums);
}

static void check_elements(void) {
    const int n = s.n;
    static float out[MOST + 1];
    out[n] = 77; /* what lies behind must stay */
#define START memcpy(out, s.c, (size_t)n * sizeof *out)
#define EACH(value)                                                                                                \
    do {                                                                                                           \
        for (int i = 0; i < n; i++) {                                                                              \
            const double a = (double)s.a[i], b = (double)s.b[i], c = (double)s.c[i];                               \
            (void)a, (void)b, (void)c;                                                                             \
            near(out[i], value);                                                                                   \
        }                                                                                                          \
        assert_true(out[n] == 77);                                                                                 \
    } while (0)
    START;
    vec_add(out, s.a, n);
    EACH(c + a);
    START;
    vec_axpy(out, 0.75f, s.a, n);
    EACH(c + 0.75 * a);
    START;
    vec_mul_add(out, s.a, s.b, n);
    EACH(c + a * b);
    START;
    vec_mul(out, s.a, s.b, n);
    EACH(a * b);
    START;
    vec_mul(out, out, out, n);
    EACH(c * c);
    START;
    vec_tanh_backward(out, s.a, s.b, n);
    EACH(c + a * (1 - b * b));
    START;
    vec_sigmoid_backward(out, s.a, s.b, n);
    EACH(c + a * b * (1 - b));
    START;
    vec_tanh(out, out, n); /* in place */
    EACH(tanh(c));
    START;
    vec_sigmoid(out, out, n);
    EACH(1 / (1 + exp(-c)));
    START;
    vec_exp_shift(out, out, 0.5f, n);
    EACH(exp(c - 0.5));
#undef START
#undef EACH
}

static void elements_are_those_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_elements);
}

static void check_tanh_dot_backward(void) {
    static float dv[MOST], dq[MOST], dk[MOST];
    for (int i = 0; i < s.n; i++) {
        dv[i] = 1;
        dq[i] = 2;
        dk[i] = 3;
    }
    vec_tanh_dot_backward(0.7f, s.c, s.a, s.b, dv, dq, dk, s.n);
    for (int i = 0; i < s.n; i++) {
        double h = tanh((double)s.a[i] + (double)s.b[i]), de = (double)0.7f, g = de * (double)s.c[i] * (1 - h * h);
        near(dv[i], 1 + de * h);
        near(dq[i], 2 + g);
        near(dk[i], 3 + g);
    }
}

static void the_gradient_of_an_energy_is_that_of_its_equation(void **state) {
    (void)state;
    for_every_length(check_tanh_dot_backward);
}

/* ---- a row times a matrix: a times rows of b, c, d in turns */

static void check_row_times(void) {
    enum { ROWS = 5, STRIDE = MOST + 3 };
    static float m[ROWS * STRIDE], out[MOST + 1], alone[2];
    const float *const from[3] = {s.b, s.c, s.d};
    const int n = s.n, rows = n < ROWS ? n : ROWS;
    for (int i = 0; i < rows; i++)
        memcpy(m + i * STRIDE, from[i % 3], (size_t)n * sizeof *m);
    out[n] = 77;
    vec_row_times(out, s.a, m, STRIDE, rows, n);
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < rows; i++)
            sum += (double)s.a[i] * (double)from[i % 3][j];
        near(out[j], sum);
        vec_row_times(alone, s.a, m + j, STRIDE, rows, 1);
        near(alone[0], sum);
    }
    assert_true(out[n] == 77);
}

static void a_row_times_a_matrix_is_that_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_row_times);
}

/* Columns beyond do not change those before, as long as the machine adds all of them alike. */
static void a_column_of_a_product_does_not_depend_on_how_many_there_are(void **state) {
    (void)state;
    enum { ROWS = 37, COLUMNS = 128 };
    static float row[ROWS], m[ROWS * COLUMNS], all[COLUMNS], some[COLUMNS];
    for (int i = 0; i < ROWS; i++) {
        row[i] = (float)sin(i);
        for (int j = 0; j < COLUMNS; j++)
            m[i * COLUMNS + j] = (float)cos(i * 3 + j * 7);
    }
    vec_row_times(all, row, m, COLUMNS, ROWS, COLUMNS);
    for (int n = 16; n <= COLUMNS; n += 16) {
        vec_row_times(some, row, m, COLUMNS, ROWS, n);
        assert_memory_equal(some, all, (size_t)n * sizeof *all);
    }
}

/* ---- layer normalisation, and what a Transformer has beside it */

static void check_normalise(void) {
    static float z[MOST + 1], kept[MOST + 1], dgain[MOST + 1];
    const int n = s.n;
    double mean = 0, variance = 0, d_mean = 0, d_slope = 0;
    for (int i = 0; i < n; i++)
        mean += (double)s.a[i] / n;
    for (int i = 0; i < n; i++)
        variance += ((double)s.a[i] - mean) * ((double)s.a[i] - mean) / n;
    double scale = 1 / sqrt(variance + 1e-5);
    memcpy(z, s.a, (size_t)n * sizeof *z);
    z[n] = kept[n] = dgain[n] = 77;
    assert_true(fabs((double)vec_normalise(z, n) / scale - 1) < 1e-4);
    for (int i = 0; i < n; i++)
        assert_true(fabs((double)z[i] - ((double)s.a[i] - mean) * scale) < 1e-4);
    vec_scale(kept, z, s.b, s.c, n);
    for (int i = 0; i < n; i++)
        near(kept[i], (double)s.b[i] * (double)z[i] + (double)s.c[i]);
    for (int i = 0; i < n; i++) {
        dgain[i] = 1;
        d_mean += (double)s.d[i] * (double)s.b[i] / n;
        d_slope += (double)s.d[i] * (double)s.b[i] * (double)z[i] / n;
    }
    memcpy(kept, z, (size_t)n * sizeof *z);
    vec_normalise_backward(z, s.d, s.b, 0.5f, dgain, n);
    for (int i = 0; i < n; i++) {
        near(dgain[i], 1 + (double)s.d[i] * (double)kept[i]);
        near(z[i], 0.5 * ((double)s.d[i] * (double)s.b[i] - d_mean - (double)kept[i] * d_slope));
    }
    assert_true(z[n] == 77 && kept[n] == 77 && dgain[n] == 77);
}

static void normalisation_and_its_gradient_are_those_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_normalise);
}

static void check_relu(void) {
    static float out[MOST + 1], dy[MOST + 1];
    out[s.n] = dy[s.n] = 77;
    vec_relu(out, s.a, s.n);
    memcpy(dy, s.b, (size_t)s.n * sizeof *dy);
    vec_relu_backward(dy, out, s.n);
    for (int i = 0; i < s.n; i++)
        assert_true(out[i] == (s.a[i] > 0 ? s.a[i] : 0) && dy[i] == (s.a[i] > 0 ? s.b[i] : 0));
    assert_true(out[s.n] == 77 && dy[s.n] == 77);
}

static void a_rectifier_and_its_gradient_are_those_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_relu);
}

static void units_are_dropped_at_their_rate_and_by_their_key(void **state) {
    (void)state;
    enum { UNITS = 4096, KEYS = 200 };
    static float ones[UNITS], first[UNITS], out[UNITS];
    const uint32_t limit = (uint32_t)(0.3 * 4294967296.0);
    long dropped = 0, both = 0, neighbours = 0;
    for (int i = 0; i < UNITS; i++)
        ones[i] = 1;
    vec_drop(first, ones, 12345, limit, 1.25f, UNITS);
    for (uint64_t key = 0; key < KEYS; key++) {
        vec_drop(out, ones, 12345 + key * 0x9E3779B97F4A7C15u, limit, 1.25f, UNITS);
        for (int i = 0; i < UNITS; i++) {
            assert_true(out[i] == 0 || out[i] == 1.25f);
            dropped += out[i] == 0;
            both += key > 0 && out[i] == 0 && first[i] == 0;
            neighbours += i > 0 && out[i] == 0 && out[i - 1] == 0;
        }
        if (key == 0)
            assert_memory_equal(out, first, sizeof out);
    }
    /* Within five standard deviations: keys and neighbours are independent. */
    double all = (double)UNITS * KEYS;
    assert_true(fabs((double)dropped / all - 0.3) < 5 * sqrt(0.21 / all));
    assert_true(fabs((double)both / all - 0.09) < 5 * sqrt(0.09 * 0.91 / all) + 0.09 / KEYS);
    assert_true(fabs((double)neighbours / all - 0.09) < 5 * sqrt(0.09 * 0.91 / all) + 0.09 / UNITS);
}

/* Ties among them: every third pair. */
static void check_maxout(void) {
    static float most[MOST + 1], pair[2 * MOST + 1];
    for (int i = 0; i < s.n; i += 3)
        s.d[2 * i + 1] = s.d[2 * i];
    most[s.n] = 77;
    vec_maxout(most, s.d, s.n);
    memcpy(pair, s.d, 2 * (size_t)s.n * sizeof *pair);
    pair[2 * s.n] = 77;
    vec_maxout_backward(pair, s.a, s.n);
    for (int i = 0; i < s.n; i++) {
        int larger = s.d[2 * i + 1] > s.d[2 * i];
        assert_true(most[i] == s.d[2 * i + larger]);
        assert_true(pair[2 * i + larger] == s.a[i] && pair[2 * i + !larger] == 0);
    }
    assert_true(most[s.n] == 77 && pair[2 * s.n] == 77);
}

static void maxout_takes_the_larger_of_each_pair_and_the_first_of_equals(void **state) {
    (void)state;
    for_every_length(check_maxout);
}

/* Rows of a tensor are aligned to their width, not to the registers. */
static void check_alignment(void) {
    static float a[MOST + 16], b[MOST + 16], out[2][MOST + 16];
    float dot[16], sum[16], energy[16], exps[16];
    double squares[16];
    if (s.n > 1000)
        return;
    for (int shift = 0; shift < 16; shift++) {
        memcpy(a + shift, s.a, (size_t)s.n * sizeof *a);
        memcpy(b + shift, s.b, (size_t)s.n * sizeof *b);
        float *to = out[shift > 0];
        dot[shift] = vec_dot(a + shift, b + shift, s.n);
        sum[shift] = vec_sum(a + shift, s.n);
        squares[shift] = vec_sum_squares(a + shift, s.n);
        energy[shift] = vec_tanh_dot(b + shift, a + shift, a + shift, s.n);
        exps[shift] = vec_exp_shift(to, a + shift, 1, s.n);
        assert_true(dot[shift] == dot[0] && sum[shift] == sum[0] && squares[shift] == squares[0]);
        assert_true(energy[shift] == energy[0] && exps[shift] == exps[0]);
        assert_memory_equal(out[0], to, (size_t)s.n * sizeof *to);
    }
}

static void results_do_not_depend_on_where_a_row_lies(void **state) {
    (void)state;
    for_every_length(check_alignment);
}

static float from_bf16(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void bfloat16_is_the_nearest_with_ties_to_even(void **state) {
    (void)state;
    static const float in[] = {0,          1,        -2.5f,     0x1.01p0f, 0x1.03p0f, 0x1.010002p0f, 0x1.02fffep0f,
                               -0x1.01p0f, INFINITY, -INFINITY, FLT_MAX,   0x1p-126f};
    static const float out[] = {0,         1,  -2.5f,    1,         0x1.04p0f, 0x1.02p0f,
                                0x1.02p0f, -1, INFINITY, -INFINITY, INFINITY,  0x1p-126f};
    enum { n = sizeof in / sizeof *in };
    uint16_t bits[n];
    vec_to_bf16(bits, in, n);
    for (int i = 0; i < n; i++)
        assert_true(from_bf16(bits[i]) == out[i]);
    static uint16_t many[N];
    spread(-3, 3);
    vec_to_bf16(many, x, N);
    for (int i = 0; i < N; i++) /* half a unit of 8 binary places */
        assert_true(fabsf(from_bf16(many[i]) - x[i]) <= 0x1p-8f * fabsf(x[i]));
    static const uint32_t nans[] = {0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF};
    for (int i = 0; i < 4; i++) { /* their last bits carry the mark alone */
        float nan;
        memcpy(&nan, &nans[i], sizeof nan);
        vec_to_bf16(bits, &nan, 1);
        assert_true(isnan(from_bf16(bits[0])));
    }
}

/* In float alone the last blocks would add nothing to so large a sum. */
static void long_sums_of_squares_keep_their_precision(void **state) {
    (void)state;
    long n = 40000000;
    float *ones = malloc((size_t)n * sizeof *ones);
    assert_non_null(ones);
    for (long i = 0; i < n; i++)
        ones[i] = 1;
    assert_true(vec_sum_squares(ones, n) == 4e7);
    free(ones);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tanh_is_within_7_ulp),
        cmocka_unit_test(sigmoid_is_within_a_22nd_binary_place),
        cmocka_unit_test(exp_is_within_2_ulp),
        cmocka_unit_test(log_is_within_2_ulp),
        cmocka_unit_test(extreme_numbers_saturate),
        cmocka_unit_test(nan_passes_through),
        cmocka_unit_test(sums_are_those_of_plain_loops),
        cmocka_unit_test(elements_are_those_of_plain_loops),
        cmocka_unit_test(the_gradient_of_an_energy_is_that_of_its_equation),
        cmocka_unit_test(a_row_times_a_matrix_is_that_of_plain_loops),
        cmocka_unit_test(a_column_of_a_product_does_not_depend_on_how_many_there_are),
        cmocka_unit_test(normalisation_and_its_gradient_are_those_of_plain_loops),
        cmocka_unit_test(a_rectifier_and_its_gradient_are_those_of_plain_loops),
        cmocka_unit_test(units_are_dropped_at_their_rate_and_by_their_key),
        cmocka_unit_test(maxout_takes_the_larger_of_each_pair_and_the_first_of_equals),
        cmocka_unit_test(results_do_not_depend_on_where_a_row_lies),
        cmocka_unit_test(bfloat16_is_the_nearest_with_ties_to_even),
        cmocka_unit_test(long_sums_of_squares_keep_their_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
