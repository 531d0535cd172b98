#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sa_model_config preset_config(const char *name) {
    sa_model_config c;
    sa_error e;
    if (sa_model_config_preset(&c, name, &e) != SA_OK)
        fail_msg("%s", e.text);
    return c;
}

static void declare(model *m, const sa_model_config *c) {
    sa_error e;
    if (model_declare(m, c, &e) != SA_OK)
        fail_msg("%s", e.text);
}

/* ---- how many */

static void has_millions(const char *millions, const sa_model_config *c) {
    model m;
    char text[16];
    declare(&m, c);
    snprintf(text, sizeof text, "%.1f", (double)params_learned(&m.params) / 1e6);
    assert_string_equal(text, millions);
    model_clear(&m);
}

static void the_presets_have_the_papers_number_of_parameters(void **state) {
    (void)state;
    sa_model_config c = preset_config("rnnsearch");
    has_millions("80.4", &c);
    c.output_rank = 620;
    has_millions("84.3", &c);
    c = preset_config("rnnencdec");
    has_millions("68.6", &c);
}

/* Summed up by hand, with V = 30,000, m = 620, n = 1000, l = 500, A = 1000, D = 2000. */
static void the_number_of_parameters_is_the_sum_of_the_equations(void **state) {
    (void)state;
    const long V = 30000, m = 620, n = 1000, l = 500, A = 1000, D = 2000;
    const long embeddings = 2 * (V * m + m), unit = 3 * n * m + 3 * n * n + n, initial = n * n + n;
    const long attention = A * n + A * D + A, readout = 2 * l * (n + m + D + 1), output = V * l + V;
    model net;
    sa_model_config c = preset_config("rnnsearch");
    declare(&net, &c);
    assert_int_equal(params_learned(&net.params),
                     embeddings + 3 * unit + 3 * n * D + initial + attention + readout + output);
    model_clear(&net);
    c.output_rank = 620;
    declare(&net, &c);
    assert_int_equal(params_learned(&net.params),
                     embeddings + 3 * unit + 3 * n * D + initial + attention + readout + 620 * l + V * 620 + V);
    model_clear(&net);
    c = preset_config("rnnencdec");
    declare(&net, &c);
    assert_int_equal(params_learned(&net.params),
                     embeddings + 2 * unit + 3 * n * n + initial + 2 * l * (n + m + n + 1) + output);
    model_clear(&net);
}

static void tied_embeddings_are_one_parameter(void **state) {
    (void)state;
    model apart, tied;
    sa_model_config c = preset_config("rnnsearch");
    c.output_rank = c.dim_emb;
    declare(&apart, &c);
    c.tied_target = true;
    declare(&tied, &c);
    assert_ptr_equal(tied.W_out, tied.target_embedding);
    assert_null(params_find(&tied.params, "output.W_o"));
    assert_int_equal(params_learned(&apart.params) - params_learned(&tied.params),
                     (long)c.vocab_target * c.dim_emb);
    model_clear(&apart);
    model_clear(&tied);
}

/* ---- where */

static void parameters_lie_aligned_in_one_block_in_the_order_of_declaration(void **state) {
    (void)state;
    params p = {0};
    static const int shape[][2] = {{3, 5}, {7, 0}, {16, 1}, {1, 1}, {33, 2}};
    char name[16];
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "p%d", i);
        param *made = params_declare(&p, name, shape[i][0], shape[i][1], INIT_ZERO, 0, USE_PRODUCT);
        assert_true(made && made->index == i && made->rank == (shape[i][1] ? 2 : 1) && !made->value);
        assert_ptr_equal(params_find(&p, name), made);
    }
    assert_null(params_find(&p, "p"));
    assert_int_equal(params_learned(&p), 15 + 7 + 16 + 1 + 66);
    assert_int_equal(params_allocate(&p, true, NULL), SA_OK);
    long at = 0;
    for (int i = 0; i < 5; i++) {
        assert_ptr_equal(p.at[i]->value, p.values + at);
        assert_ptr_equal(p.at[i]->grad, p.grads + at);
        assert_int_equal((uintptr_t)p.at[i]->value % 64, 0);
        at += (param_count(p.at[i]) + 15) / 16 * 16;
    }
    assert_int_equal(p.count, at);
    for (long i = 0; i < p.count; i++)
        assert_true(p.values[i] == 0);
    params_free(&p);
    assert_true(p.n == 0 && !p.at && !p.values);
}

static void without_gradients_there_is_no_block_for_them(void **state) {
    (void)state;
    params p = {0};
    param *W = params_declare(&p, "W", 2, 2, INIT_ZERO, 0, USE_PRODUCT);
    assert_int_equal(params_allocate(&p, false, NULL), SA_OK);
    assert_true(W->value && !W->grad && !p.grads);
    params_free(&p);
}

/* ---- initial values */

static model initialise(const sa_model_config *c, uint64_t seed) {
    model m;
    sa_error e;
    declare(&m, c);
    assert_int_equal(params_allocate(&m.params, false, &e), SA_OK);
    for (long i = 0; i < m.params.count; i++) /* whatever was there */
        m.params.values[i] = 7;
    assert_int_equal(params_initialise(&m.params, seed, &e), SA_OK);
    return m;
}

static model initialised(const char *init, uint64_t seed) {
    sa_model_config c = preset_config("rnnsearch");
    c.vocab_source = 150;
    c.vocab_target = 170;
    c.dim_emb = 60;
    c.dim_rnn = 40;
    c.dim_dec = 50;
    c.dim_att = 70;
    c.dim_maxout = 30;
    strcpy(c.init, init);
    return initialise(&c, seed);
}

static sa_model_config seq2seq(const char *init) {
    sa_model_config c = preset_config("seq2seq");
    c.vocab_source = c.vocab_target = 150;
    c.dim_emb = 60;
    c.dim_rnn = 40;
    c.layers = 2;
    strcpy(c.init, init);
    return c;
}

/* Each square block of rows: R R^T = 1. */
static void is_orthogonal(const param *p) {
    int n = p->dim[1];
    assert_int_equal(p->dim[0] % n, 0);
    for (int i = 0; i < p->dim[0]; i++)
        for (int j = i / n * n; j <= i; j++) {
            double dot = 0;
            for (int k = 0; k < n; k++)
                dot += (double)p->value[i * n + k] * (double)p->value[j * n + k];
            assert_true(fabs(dot - (i == j)) < 1e-6);
        }
}

/* Mean, variance and fourth moment within five standard errors. */
static void is_normal(const param *p, double scale) {
    long n = param_count(p);
    double sum = 0, square = 0, fourth = 0;
    for (long i = 0; i < n; i++) {
        double v = (double)p->value[i] / scale;
        sum += v / (double)n;
        square += v * v / (double)n;
        fourth += v * v * v * v / (double)n;
    }
    double error = 5 / sqrt((double)n);
    assert_true(fabs(sum) < error);
    assert_true(fabs(square - 1) < error * sqrt(2));
    assert_true(fabs(fourth - 3) < error * sqrt(96));
}

static void is_uniform(const param *p, double limit) {
    long n = param_count(p);
    double sum = 0, square = 0, largest = 0;
    for (long i = 0; i < n; i++) {
        double v = (double)p->value[i] / limit;
        assert_true(fabs(v) <= 1.000001);
        largest = fmax(largest, fabs(v));
        sum += v / (double)n;
        square += v * v / (double)n;
    }
    double error = 5 / sqrt((double)n);
    assert_true(fabs(sum) < error * sqrt(1 / 3.0));
    assert_true(fabs(square - 1 / 3.0) < error * sqrt(4 / 45.0));
    assert_true(largest > 0.9);
}

static bool is_zero(const param *p) {
    for (long i = 0; i < param_count(p); i++)
        if (p->value[i] != 0)
            return false;
    return true;
}

static bool is_bias(const param *p) {
    size_t n = strlen(p->name);
    return p->rank == 1 && n > 2 && !strcmp(p->name + n - 2, ".b");
}

/* Of both gates: two matrices, one below the other. */
static bool is_of_gates(const param *p) {
    const char *last = strrchr(p->name, '_');
    return last && !strcmp(last, "_zr");
}

static bool is_recurrent(const param *p) {
    const char *last = strrchr(p->name, '.');
    return last && (!strcmp(last, ".U") || !strcmp(last, ".U_zr"));
}

static bool is_alignment_vector(const param *p) {
    return !strcmp(p->name, "attention.v_a");
}

static bool is_alignment(const param *p) {
    return !strcmp(p->name, "attention.W_a") || !strcmp(p->name, "attention.U_a");
}

/* Bahdanau et al. 2015, B.1. */
static void the_papers_initial_values(void **state) {
    (void)state;
    model m = initialised("paper", 1);
    for (int i = 0; i < m.params.n; i++) {
        const param *p = m.params.at[i];
        if (is_recurrent(p))
            is_orthogonal(p);
        else if (is_bias(p) || is_alignment_vector(p))
            assert_true(is_zero(p));
        else
            is_normal(p, is_alignment(p) ? 0.001 : 0.01);
    }
    model_clear(&m);
}

static void glorots_initial_values(void **state) {
    (void)state;
    model m = initialised("glorot", 1);
    for (int i = 0; i < m.params.n; i++) {
        const param *p = m.params.at[i];
        int blocks = is_of_gates(p) ? 2 : 1;
        if (is_recurrent(p))
            is_orthogonal(p);
        else if (is_bias(p))
            assert_true(is_zero(p));
        else if (is_alignment_vector(p))
            is_uniform(p, 1 / sqrt(p->dim[0]));
        else if (p == m.source_embedding || p == m.target_embedding)
            is_normal(p, 1 / sqrt(p->dim[1]));
        else
            is_uniform(p, sqrt(6.0 / (p->dim[0] / blocks + p->dim[1])));
    }
    model_clear(&m);
}

/* Sutskever et al. 2014: everything, biases too. */
static void uniform_initial_values_have_one_width(void **state) {
    (void)state;
    sa_model_config c = seq2seq("uniform");
    c.init_scale = 0.08f;
    model m = initialise(&c, 1);
    for (int i = 0; i < m.params.n; i++)
        is_uniform(m.params.at[i], 0.08);
    model_clear(&m);
}

static void gains_begin_as_1_whatever_the_initialisation(void **state) {
    (void)state;
    static const char *const names[] = {"paper", "glorot", "uniform"};
    for (int k = 0; k < 3; k++) {
        sa_model_config c = preset_config("transformer-small");
        c.vocab_source = c.vocab_target = 20;
        c.dim_emb = 8;
        c.dim_ffn = 8;
        strcpy(c.init, names[k]);
        c.init_scale = k == 2 ? 0.1f : 0;
        model m = initialise(&c, 1);
        const param *gain = params_find(&m.params, "decoder.2.look.norm.gain");
        for (int i = 0; i < 8; i++)
            assert_true(gain->value[i] == 1);
        model_clear(&m);
    }
}

static void a_forget_gate_begins_open_with_glorots_initial_values(void **state) {
    (void)state;
    sa_model_config c = seq2seq("glorot");
    model m = initialise(&c, 1);
    const param *b = params_find(&m.params, "encoder.2.b"), *W = params_find(&m.params, "encoder.2.W");
    int n = b->dim[0] / 4;
    for (int i = 0; i < 4 * n; i++)
        assert_true(b->value[i] == (i / n == 1 ? 1 : 0));
    is_orthogonal(params_find(&m.params, "encoder.2.U"));
    is_uniform(W, sqrt(6.0 / (W->dim[0] / 4 + W->dim[1])));
    model_clear(&m);
}

static void the_blocks_of_gates_are_different_matrices(void **state) {
    (void)state;
    model m = initialised("paper", 1);
    const param *U = params_find(&m.params, "decoder.gru.U_zr");
    size_t block = (size_t)U->dim[1] * (size_t)U->dim[1];
    assert_int_equal(U->dim[0], 2 * U->dim[1]);
    assert_memory_not_equal(U->value, U->value + block, block * sizeof *U->value);
    model_clear(&m);
}

static void initial_values_follow_from_seed_and_name(void **state) {
    (void)state;
    model first = initialised("paper", 1), same = initialised("paper", 1), other = initialised("paper", 2);
    size_t bytes = (size_t)first.params.count * sizeof(float);
    assert_memory_equal(first.params.values, same.params.values, bytes);
    for (int i = 0; i < first.params.n; i++) {
        const param *p = first.params.at[i];
        if (!is_zero(p))
            assert_memory_not_equal(p->value, other.params.at[i]->value, (size_t)param_count(p) * sizeof(float));
        for (int k = 0; k < i; k++) /* and no two parameters start alike */
            assert_true(is_zero(p) || memcmp(p->value, first.params.at[k]->value, 16 * sizeof(float)));
    }
    /* Declared in another order, in other company. */
    params alone = {0};
    const param *U = params_find(&first.params, "decoder.gru.U"), *E = first.source_embedding;
    param *late =
        params_declare(&alone, "decoder.gru.U", U->dim[0], U->dim[1], U->init, U->init_scale, USE_PRODUCT);
    param *early =
        params_declare(&alone, "source.embedding", E->dim[0], E->dim[1], E->init, E->init_scale, USE_PRODUCT);
    assert_int_equal(params_allocate(&alone, false, NULL), SA_OK);
    assert_int_equal(params_initialise(&alone, 1, NULL), SA_OK);
    assert_memory_equal(late->value, U->value, (size_t)param_count(U) * sizeof(float));
    assert_memory_equal(early->value, E->value, (size_t)param_count(E) * sizeof(float));
    params_free(&alone);
    model_clear(&first);
    model_clear(&same);
    model_clear(&other);
}

/* ---- packs */

static void packs_are_made_of_what_products_are_made_with(void **state) {
    (void)state;
    for (int gradients = 0; gradients < 2; gradients++) {
        params p = {0};
        param *product = params_declare(&p, "product", 5, 3, INIT_NORMAL, 1, USE_PRODUCT);
        param *step = params_declare(&p, "step", 5, 3, INIT_NORMAL, 1, USE_STEP);
        param *lookup = params_declare(&p, "lookup", 5, 3, INIT_NORMAL, 1, USE_LOOKUP);
        param *vector = params_declare(&p, "vector", 5, 0, INIT_NORMAL, 1, USE_PRODUCT);
        gemm *g;
        pool *alone;
        assert_int_equal(gemm_new(&g, NULL), SA_OK);
        assert_int_equal(pool_new(&alone, 1, NULL, NULL), SA_OK);
        assert_int_equal(params_allocate(&p, gradients, NULL), SA_OK);
        assert_int_equal(params_pack(&p, &g, alone, NULL), SA_OK);
        assert_true(product->forward && step->forward && !vector->forward && !vector->backward);
        assert_true(!lookup->forward && !lookup->backward);
        assert_int_equal(step->backward != NULL, gradients);
        assert_null(product->backward); /* in float many rows are as fast without */
        const gemm_pack *kept = product->forward;
        assert_int_equal(params_pack(&p, &g, alone, NULL), SA_OK);
        assert_ptr_equal(product->forward, kept); /* filled again, not made again */
        pool_free(alone);
        params_free(&p);
        gemm_free(g);
    }
}

int main(void) {
    gemm_work_alone();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_presets_have_the_papers_number_of_parameters),
        cmocka_unit_test(the_number_of_parameters_is_the_sum_of_the_equations),
        cmocka_unit_test(tied_embeddings_are_one_parameter),
        cmocka_unit_test(parameters_lie_aligned_in_one_block_in_the_order_of_declaration),
        cmocka_unit_test(without_gradients_there_is_no_block_for_them),
        cmocka_unit_test(the_papers_initial_values),
        cmocka_unit_test(glorots_initial_values),
        cmocka_unit_test(uniform_initial_values_have_one_width),
        cmocka_unit_test(gains_begin_as_1_whatever_the_initialisation),
        cmocka_unit_test(a_forget_gate_begins_open_with_glorots_initial_values),
        cmocka_unit_test(the_blocks_of_gates_are_different_matrices),
        cmocka_unit_test(initial_values_follow_from_seed_and_name),
        cmocka_unit_test(packs_are_made_of_what_products_are_made_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
