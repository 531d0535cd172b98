#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/vecmath.h"
#include "row_sample.h"

/* ---- a gated recurrent unit between its products: a is z or r, in (0, 1) */

static void check_gru_mix(void) {
    static float mixed[MOST + 1], c[MOST + 1];
    for (int stateless = 0; stateless < 2; stateless++) {
        mixed[s.n] = 77;
        vec_gru_mix(mixed, filled_with(c, s.c), s.a, stateless ? NULL : s.b, s.n);
        for (int i = 0; i < s.n; i++) {
            double z = (double)s.a[i], state = stateless ? 0 : (double)s.b[i], h = tanh((double)s.c[i]);
            near(c[i], h);
            near(mixed[i], (1 - z) * state + z * h);
        }
        assert_true(mixed[s.n] == 77 && c[s.n] == 77);
    }
}

static void check_gru_unmix(void) {
    static float ds[MOST + 1], z[MOST + 1], c[MOST + 1];
    for (int stateless = 0; stateless < 2; stateless++) {
        filled_with(ds, s.c);
        filled_with(z, s.a);
        vec_gru_unmix(stateless ? NULL : ds, z, filled_with(c, s.c), s.d, stateless ? NULL : s.b, s.n);
        for (int i = 0; i < s.n; i++) {
            double gate = (double)s.a[i], h = (double)s.c[i], dy = (double)s.d[i];
            double state = stateless ? 0 : (double)s.b[i];
            near(z[i], dy * (h - state) * gate * (1 - gate));
            near(c[i], dy * gate * (1 - h * h));
            near(ds[i], (double)s.c[i] + (stateless ? 0 : dy * (1 - gate)));
        }
        assert_true(ds[s.n] == 77 && z[s.n] == 77 && c[s.n] == 77);
    }
}

static void check_gru_reset(void) {
    static float ds[MOST + 1], r[MOST + 1], u[MOST + 1];
    vec_gru_reset_before(filled_with(ds, s.c), filled_with(r, s.a), s.d, s.b, s.n);
    for (int i = 0; i < s.n; i++) {
        double gate = (double)s.a[i], state = (double)s.b[i], d = (double)s.d[i];
        near(ds[i], (double)s.c[i] + d * gate);
        near(r[i], d * state * gate * (1 - gate));
    }
    assert_true(ds[s.n] == 77 && r[s.n] == 77);
    vec_gru_reset_after(filled_with(r, s.a), filled_with(u, s.b), s.d, s.n);
    for (int i = 0; i < s.n; i++) {
        double gate = (double)s.a[i], inner = (double)s.b[i], dc = (double)s.d[i];
        near(u[i], dc * gate);
        near(r[i], dc * inner * gate * (1 - gate));
    }
    assert_true(r[s.n] == 77 && u[s.n] == 77);
}

/* A row of numbers that lie behind each other, in the order of vec_gru_norm. */
static float norm_numbers[16 * MOST];
static vec_gru_norm norm_row(bool input) {
    const int n = s.n;
    const int behind[] = {0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15};
    const float *at[11];
    for (int k = 0; k < 11; k++)
        at[k] = norm_numbers + behind[k] * n;
    vec_gru_norm r = {at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8], at[9], at[10]};
    if (!input)
        r.x_zr = r.x = r.gain_x_zr = r.gain_x = NULL;
    return r;
}

static double norm_gate(const vec_gru_norm *r, int k) {
    double sum = (double)r->gain_u_zr[k] * (double)r->u_zr[k] + (double)r->b_zr[k];
    return 1 / (1 + exp(-(sum + (r->x ? (double)r->gain_x_zr[k] * (double)r->x_zr[k] : 0))));
}

static void check_gru_norm_form(bool input, bool stateless) {
    static float mixed[MOST + 1], ds[MOST + 1], d[4 * MOST + 1];
    const int n = s.n;
    const vec_gru_norm r = norm_row(input);
    filled_with(ds, s.c);
    mixed[n] = d[4 * n] = 77;
    vec_gru_norm_mix(mixed, &r, stateless ? NULL : s.b, n);
    vec_gru_norm_unmix(stateless ? NULL : ds, d, &r, s.d, stateless ? NULL : s.b, n);
    for (int i = 0; i < n; i++) {
        double z = norm_gate(&r, i), reset = norm_gate(&r, n + i), state = stateless ? 0 : (double)s.b[i];
        double u = (double)r.gain_u[i] * (double)r.u[i] + (double)r.b_u[i], dy = (double)s.d[i];
        double c = tanh((double)r.b[i] + (input ? (double)r.gain_x[i] * (double)r.x[i] : 0) + reset * u);
        double dc = dy * z * (1 - c * c);
        near(mixed[i], (1 - z) * state + z * c);
        near(d[i], dy * (c - state) * z * (1 - z));
        near(d[n + i], dc * u * reset * (1 - reset));
        near(d[2 * n + i], dc);
        near(d[3 * n + i], dc * reset);
        near(ds[i], (double)s.c[i] + (stateless ? 0 : dy * (1 - z)));
    }
    assert_true(mixed[n] == 77 && ds[n] == 77 && d[4 * n] == 77);
}

static void check_gru_norm(void) {
    for (int k = 0; k < 16 * s.n; k++)
        norm_numbers[k] = sinf((float)(k * 7 + s.n));
    for (int form = 0; form < 4; form++)
        check_gru_norm_form(form & 1, form & 2);
}

static void a_normalised_gated_unit_and_its_gradient_are_those_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_gru_norm);
}

static void check_gru(void) {
    for (int i = 0; i < s.n; i++)
        s.a[i] = 0.5f + 0.5f * s.a[i];
    check_gru_mix();
    check_gru_unmix();
    check_gru_reset();
}

static void a_gated_unit_and_its_gradient_are_those_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_gru);
}

/* ---- a long short-term memory between its products: a, b, c, d are what goes into i, f, o and g, in forward; in
 * backward the values of the gates, in (0, 1), and of the candidate */

typedef struct lstm_check {
    float x[4 * MOST + 1], h[MOST + 1], memory[MOST + 1], dc[MOST + 1];
} lstm_check;
static lstm_check l;

static double sigmoid(double value) {
    return 1 / (1 + exp(-value));
}

static void fill_lstm(void) {
    const float *const part[4] = {s.a, s.b, s.c, s.d};
    for (int k = 0; k < 4; k++)
        memcpy(l.x + k * s.n, part[k], (size_t)s.n * sizeof(float));
    l.x[4 * s.n] = l.h[s.n] = l.memory[s.n] = l.dc[s.n] = 77;
}

static void check_lstm_mix(bool squash, const float *c) {
    fill_lstm();
    vec_lstm_mix(l.h, l.memory, l.x, c, squash, s.n);
    for (int k = 0; k < s.n; k++) {
        double i = sigmoid((double)s.a[k]), f = sigmoid((double)s.b[k]), o = sigmoid((double)s.c[k]);
        double g = tanh((double)s.d[k]), memory = i * g + (c ? f * (double)c[k] : 0);
        near(l.x[k], i);
        near(l.x[s.n + k], f);
        near(l.x[2 * s.n + k], o);
        near(l.x[3 * s.n + k], g);
        near(l.memory[k], memory);
        near(l.h[k], o * (squash ? tanh(memory) : memory));
    }
    assert_true(l.x[4 * s.n] == 77 && l.h[s.n] == 77 && l.memory[s.n] == 77);
}

static void check_lstm_unmix(bool squash, const float *c) {
    fill_lstm();
    memcpy(l.dc, s.b, (size_t)s.n * sizeof *l.dc);
    vec_lstm_unmix(c ? l.dc : NULL, l.x, s.b, s.d, s.a, c, squash, s.n); /* dh = b, dmemory = d, memory = a */
    for (int k = 0; k < s.n; k++) {
        double i = (double)s.a[k], f = (double)s.b[k], o = (double)s.c[k], g = (double)s.d[k], memory = i, dh = f;
        double seen = squash ? tanh(memory) : memory;
        double d = (double)s.d[k] + dh * o * (squash ? 1 - seen * seen : 1);
        near(l.x[k], d * g * i * (1 - i));
        near(l.x[s.n + k], c ? d * (double)c[k] * f * (1 - f) : 0);
        near(l.x[2 * s.n + k], dh * seen * o * (1 - o));
        near(l.x[3 * s.n + k], d * i * (1 - g * g));
        near(l.dc[k], (double)s.b[k] + (c ? d * f : 0));
    }
    assert_true(l.x[4 * s.n] == 77 && l.dc[s.n] == 77);
}

static void check_lstm(void) {
    for (int form = 0; form < 4; form++) {
        check_lstm_mix(form & 1, form & 2 ? s.b : NULL);
        check_lstm_unmix(form & 1, form & 2 ? s.c : NULL);
    }
}

static void a_long_memory_and_its_gradient_are_those_of_plain_loops(void **state) {
    (void)state;
    for_every_length(check_lstm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gated_unit_and_its_gradient_are_those_of_plain_loops),
        cmocka_unit_test(a_normalised_gated_unit_and_its_gradient_are_those_of_plain_loops),
        cmocka_unit_test(a_long_memory_and_its_gradient_are_those_of_plain_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
