#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"

#include <math.h>
#include <string.h>

static void every_listed_preset_exists_and_can_be_declared(void **state) {
    (void)state;
    const char *const *names = sa_model_presets();
    int n = 0;
    for (; names[n]; n++) {
        sa_model_config c;
        sa_error e;
        model m;
        assert_int_equal(sa_model_config_preset(&c, names[n], &e), SA_OK);
        assert_string_equal(c.preset, names[n]);
        assert_string_equal(preset_find(names[n])->name, names[n]);
        if (model_declare(&m, &c, &e) != SA_OK)
            fail_msg("%s: %s", names[n], e.text);
        assert_int_equal(m.params.n > 0, 1);
        model_clear(&m);
        for (int k = 0; k < n; k++)
            assert_string_not_equal(names[k], names[n]);
    }
    assert_true(n >= 2);
}

static void an_unknown_name_is_an_error_that_lists_the_presets(void **state) {
    (void)state;
    static const char *const wrong[] = {"rnnsaerch", "", "RNNsearch", "rnnsearch ", "%s%n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sa_model_config c;
        sa_error e = {0};
        memset(&c, 77, sizeof c);
        assert_null(preset_find(wrong[i]));
        assert_int_equal(sa_model_config_preset(&c, wrong[i], &e), SA_USAGE);
        assert_int_equal(e.status, SA_USAGE);
        assert_non_null(strstr(e.text, wrong[i]));
        for (const char *const *name = sa_model_presets(); *name; name++)
            assert_non_null(strstr(e.text, *name));
        assert_int_equal(sa_model_config_preset(&c, wrong[i], NULL), SA_USAGE);
    }
}

static void a_model_of_an_unknown_preset_is_not_declared(void **state) {
    (void)state;
    sa_model_config c;
    sa_error e = {0};
    model m;
    assert_int_equal(sa_model_config_preset(&c, "rnnsearch", NULL), SA_OK);
    strcpy(c.preset, "nonsense");
    assert_int_equal(model_declare(&m, &c, &e), SA_USAGE);
    assert_non_null(strstr(e.text, "nonsense"));
    assert_non_null(strstr(e.text, "rnnencdec"));
    assert_int_equal(m.params.n, 0);
}

/* Bahdanau et al. 2015, A.2.3 and B.1. */
static void the_papers_presets_have_the_papers_sizes(void **state) {
    (void)state;
    static const char *const names[] = {"rnnsearch", "rnnencdec"};
    for (int i = 0; i < 2; i++) {
        sa_model_config c;
        assert_int_equal(sa_model_config_preset(&c, names[i], NULL), SA_OK);
        assert_true(c.vocab_source == 30000 && c.vocab_target == 30000);
        assert_true(c.dim_emb == 620 && c.dim_rnn == 1000 && c.dim_dec == 1000);
        assert_int_equal(c.dim_att, i == 0 ? 1000 : 0);
        assert_true(c.dim_maxout == 500 && c.output_rank == 0 && !c.tied_target);
        assert_true(c.order == SA_LOOK_FIRST && c.reset == SA_RESET_BEFORE);
        assert_string_equal(c.init, "paper");
        assert_int_equal(preset_find(names[i])->attends, i == 0);
    }
}

static sa_model_config valid(void) {
    sa_model_config c;
    assert_int_equal(sa_model_config_preset(&c, "rnnsearch", NULL), SA_OK);
    return c;
}

static void refused(const sa_model_config *c, const char *first, const char *second) {
    model m;
    sa_error e = {0};
    assert_int_equal(model_declare(&m, c, &e), SA_USAGE);
    if (!strstr(e.text, first) || !strstr(e.text, second))
        fail_msg("\"%s\" has not \"%s\" and \"%s\"", e.text, first, second);
    assert_int_equal(m.params.n, 0);
}

static void tied_embeddings_need_a_readout_of_their_width(void **state) {
    (void)state;
    sa_model_config c = valid();
    model m;
    c.tied_target = true;
    refused(&c, "dim-maxout (500)", "dim-emb (620)");
    c.output_rank = 619;
    refused(&c, "output-rank (619)", "dim-emb (620)");
    c.output_rank = 620;
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    model_clear(&m);
    c.output_rank = 0;
    c.dim_maxout = 620;
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    model_clear(&m);
}

static void sizes_beyond_their_limits_are_refused_by_name(void **state) {
    (void)state;
    sa_model_config c = valid();
    const struct {
        int *field;
        const char *name;
        int least;
    } size[] = {{&c.vocab_source, "source", 3},   {&c.vocab_target, "target", 3},    {&c.dim_emb, "dim-emb", 1},
                {&c.dim_rnn, "dim-rnn", 1},       {&c.dim_dec, "dim-dec", 1},        {&c.dim_att, "dim-att", 1},
                {&c.dim_maxout, "dim-maxout", 1}, {&c.output_rank, "output-rank", 0}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        model m;
        int usual = *size[i].field;
        *size[i].field = size[i].least - 1;
        refused(&c, size[i].name, "must be");
        *size[i].field = (1 << 24) + 1;
        refused(&c, size[i].name, "must be");
        *size[i].field = size[i].least;
        assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
        model_clear(&m);
        *size[i].field = usual;
    }
}

static void recurrent_parts_that_do_not_fit_together_are_refused(void **state) {
    (void)state;
    sa_model_config c = valid();
    model m;
    c.layer_norm = SA_NORM_ALL;
    refused(&c, "layer-norm", "reset after");
    c.reset = SA_RESET_AFTER;
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    model_clear(&m);
    c.decoder_transition = 1;
    refused(&c, "decoder-transition", "leave it out"); /* of look-first */
    c.order = SA_CONDITIONAL;
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    model_clear(&m);
    c.encoder_transition = 1;
    c.word_encoder = true;
    refused(&c, "encoder-transition", "leave it out");
    c.encoder_transition = 0;
    c.decoder_start = SA_START_MEAN;
    refused(&c, "decoder-start", "leave it out");
    c.decoder_start = SA_START_BACKWARD;
    c.layer_norm = SA_NORM_ENCODER;
    refused(&c, "layer-norm encoder", "word-encoder");
    assert_int_equal(sa_model_config_preset(&c, "rnnencdec", NULL), SA_OK);
    c.order = SA_CONDITIONAL;
    refused(&c, "conditional", "rnnencdec");
}

static void an_unknown_initialisation_is_an_error_that_lists_them(void **state) {
    (void)state;
    sa_model_config c = valid();
    strcpy(c.init, "xavier");
    refused(&c, "xavier", "paper, glorot, uniform");
}

static void a_scale_goes_with_uniform_initial_values_only(void **state) {
    (void)state;
    sa_model_config c = valid();
    model m;
    c.init_scale = 0.1f;
    refused(&c, "rnnsearch", "no init-scale");
    strcpy(c.init, "uniform");
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    model_clear(&m);
    c.init_scale = 0;
    refused(&c, "init-scale", "must be");
    c.init_scale = NAN;
    refused(&c, "init-scale", "must be");
    /* What a preset has by itself is not asked back. */
    assert_int_equal(sa_model_config_preset(&c, "seq2seq", NULL), SA_OK);
    strcpy(c.init, "glorot");
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    model_clear(&m);
}

/* Sutskever et al. 2014, 3.4: 384M parameters, of which 64M are recurrent; biases not counted. */
static void seq2seq_has_the_papers_number_of_parameters(void **state) {
    (void)state;
    sa_model_config c;
    model m;
    long matrices = 0, recurrent = 0;
    assert_int_equal(sa_model_config_preset(&c, "seq2seq", NULL), SA_OK);
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    for (int i = 0; i < m.params.n; i++) {
        const param *p = m.params.at[i];
        matrices += p->rank == 2 ? param_count(p) : 0;
        recurrent += p->rank == 2 && strstr(p->name, "coder.") ? param_count(p) : 0;
    }
    assert_true(matrices == 384000000 && recurrent == 64000000);
    model_clear(&m);
}

/* Vaswani et al. 2017, table 3: 65M with what is counted there. */
static void transformer_has_the_papers_sizes_and_shares_its_embeddings(void **state) {
    (void)state;
    sa_model_config c;
    model m;
    assert_int_equal(sa_model_config_preset(&c, "transformer", NULL), SA_OK);
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    long matrices = 0;
    for (int i = 0; i < m.params.n; i++)
        matrices += m.params.at[i]->rank == 2 ? param_count(m.params.at[i]) : 0;
    assert_true(matrices == 37000L * 512 + 12L * (4 * 512 * 512 + 2 * 512 * 2048) + 6L * 4 * 512 * 512);
    assert_true(m.source_embedding == m.target_embedding && m.W_out == m.target_embedding);
    model_clear(&m);
    c.vocab_source = 36000;
    refused(&c, "one vocabulary", "36000 and 37000");
    c.tied_source = false;
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    assert_non_null(params_find(&m.params, "source.embedding"));
    model_clear(&m);
    c.heads = 7;
    refused(&c, "dim-emb (512)", "heads (7)");
    c.heads = 8;
    c.align_head = 9;
    refused(&c, "align-head 9", "8 heads");
    c.align_head = 0;
    c.align_layer = 3;
    c.dec_layers = 2;
    refused(&c, "align-layer 3", "2 layers");
}

static void residual_connections_begin_where_widths_are_equal(void **state) {
    (void)state;
    sa_model_config c;
    assert_int_equal(sa_model_config_preset(&c, "gnmt", NULL), SA_OK);
    for (c.residual_from = 1; c.residual_from < 3; c.residual_from++)
        refused(&c, "residual-from", "at least 3");
}

static void coverage_needs_a_score_that_reads_the_source(void **state) {
    (void)state;
    sa_model_config c;
    model m;
    assert_int_equal(sa_model_config_preset(&c, "luong", NULL), SA_OK);
    c.coverage = SA_COVERAGE_LINGUISTIC;
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    assert_int_equal(params_find(&m.params, "attention.V_a")->dim[1], 1);
    model_clear(&m);
    c.score = SA_SCORE_LOCATION;
    c.max_location = 50;
    refused(&c, "coverage", "location");
}

static void a_model_without_attention_has_no_parameters_for_it(void **state) {
    (void)state;
    sa_model_config c;
    model m;
    assert_int_equal(sa_model_config_preset(&c, "rnnencdec", NULL), SA_OK);
    assert_int_equal(model_declare(&m, &c, NULL), SA_OK);
    for (int i = 0; i < m.params.n; i++) {
        assert_null(strstr(m.params.at[i]->name, "attention"));
        assert_null(strstr(m.params.at[i]->name, "backward"));
    }
    assert_int_equal(params_find(&m.params, "decoder.gru.C")->dim[1], c.dim_rnn);
    model_clear(&m);
}

static void an_option_that_a_preset_does_not_read_is_refused_by_name(void **state) {
    (void)state;
    sa_model_config c;
    assert_int_equal(sa_model_config_preset(&c, "rnnencdec", NULL), SA_OK);
    assert_false(sa_model_config_has(&c, "dim-att"));
    assert_true(sa_model_config_has(&c, "dim-rnn"));
    assert_false(sa_model_config_has(&c, "dim-nothing"));
    c.order = SA_CONDITIONAL;
    assert_string_equal(sa_model_config_choice(&c, "decoder-order"), "conditional");
    assert_string_equal(sa_model_config_choice(&c, "reset"), "before");
    assert_null(sa_model_config_choice(&c, "dim-rnn"));
    assert_null(sa_model_config_choice(&c, "coverage"));
    assert_null(sa_model_config_choice(&c, "nothing"));
    c.order = (sa_order)3;
    assert_null(sa_model_config_choice(&c, "decoder-order"));
    c.dim_att = 10;
    refused(&c, "rnnencdec", "no dim-att");
    c = valid();
    assert_true(sa_model_config_has(&c, "dim-att"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_listed_preset_exists_and_can_be_declared),
        cmocka_unit_test(an_unknown_name_is_an_error_that_lists_the_presets),
        cmocka_unit_test(a_model_of_an_unknown_preset_is_not_declared),
        cmocka_unit_test(the_papers_presets_have_the_papers_sizes),
        cmocka_unit_test(tied_embeddings_need_a_readout_of_their_width),
        cmocka_unit_test(sizes_beyond_their_limits_are_refused_by_name),
        cmocka_unit_test(recurrent_parts_that_do_not_fit_together_are_refused),
        cmocka_unit_test(an_unknown_initialisation_is_an_error_that_lists_them),
        cmocka_unit_test(a_scale_goes_with_uniform_initial_values_only),
        cmocka_unit_test(seq2seq_has_the_papers_number_of_parameters),
        cmocka_unit_test(transformer_has_the_papers_sizes_and_shares_its_embeddings),
        cmocka_unit_test(residual_connections_begin_where_widths_are_equal),
        cmocka_unit_test(coverage_needs_a_score_that_reads_the_source),
        cmocka_unit_test(a_model_without_attention_has_no_parameters_for_it),
        cmocka_unit_test(an_option_that_a_preset_does_not_read_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
