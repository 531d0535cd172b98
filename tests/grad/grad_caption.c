/* Models of pictures, whole: every number of every parameter against central differences, in double. And what hard
 * attention learns: the mean of its gradient over all that can be drawn is the gradient of the expected loss. */
#include "check.h"

#include "model/loss.h"
#include "op/attention_hard.h"
#include "op/linear.h"
#include "op/pointwise.h"

enum { PICTURES = 3, SIDE = 16, LENGTH = SIDE * SIDE + 1, PLACES = 4, V = 7, T_MOST = 3 };

static int pixels[PICTURES][LENGTH], words[PICTURES][T_MOST];
static const int target_length[PICTURES] = {2, 3, 1};

typedef struct run {
    model net;
    tape *tape;
    pool *team;
    regularisation rates;
    int first, n; /* the pictures that a pass is over */
    double scale;
} run;

static void begin(run *r, bool hard) {
    sa_error e;
    sa_model_config c;
    rng random = rng_at(3, 0, 0, 0);
    *r = (run){.n = PICTURES, .scale = 0.5};
    assert_int_equal(sa_model_config_preset(&c, "caption", &e), SA_OK);
    c.vocab_target = V;
    c.dim_emb = 3;
    c.dim_rnn = 5;
    c.dim_att = 4;
    c.dim_feature = 8;
    c.picture_side = SIDE;
    c.hard_attention = hard;
    if (model_declare(&r->net, &c, &e) != SA_OK)
        fail_msg("%s", e.text);
    params *p = &r->net.params;
    assert_int_equal(params_allocate(p, true, &e), SA_OK);
    for (int i = 0; i < p->n; i++)
        for (long k = 0; k < param_count(p->at[i]); k++)
            p->at[i]->value[k] = 1.2 * rng_uniform(&random) - 0.6;
    assert_int_equal(pool_new(&r->team, 1, NULL, &e), SA_OK);
    assert_int_equal(tape_new(&r->tape, p->n, 1 << 18, &e), SA_OK);
    r->tape->seed = 5;
    for (int i = 0; i < PICTURES; i++) {
        for (int k = 0; k < LENGTH; k++)
            pixels[i][k] = k + 1 < LENGTH ? (int)rng_below(&random, 1 << 24) : 0;
        for (int k = 0; k < T_MOST; k++)
            words[i][k] = k + 1 < target_length[i] ? (int)rng_below(&random, V) : 0;
    }
}

static void end(run *r) {
    tape_free(r->tape);
    pool_free(r->team);
    model_clear(&r->net);
}

static double pass(run *r, bool recording, pass_result *result) {
    sentence source_of[PICTURES], target_of[PICTURES];
    source_batch source;
    target_batch target;
    for (int i = 0; i < r->n; i++) {
        source_of[i] = (sentence){pixels[r->first + i], LENGTH};
        target_of[i] = (sentence){words[r->first + i], target_length[r->first + i]};
    }
    *result = (pass_result){0};
    tape_reset(r->tape, recording);
    assert_true(source_batch_make(r->tape, r->n, source_of, &source));
    assert_true(target_batch_make(r->tape, r->n, target_of, &source, &target));
    assert_true(model_pass(&r->net, r->tape, &source, &target, &r->rates, r->scale, result));
    if (recording) {
        tape_backward(r->tape);
        assert_false(r->tape->failed);
        assert_int_equal(params_collect(&r->net.params, &r->tape, 1, false, &r->tape->gemm, r->team, NULL), SA_OK);
    }
    return r->scale * result->sums.loss;
}

static double loss_at(run *r, real *value, double x, bool recording) {
    pass_result result;
    real kept = *value;
    *value = x;
    double loss = pass(r, recording, &result);
    *value = kept;
    return loss;
}

/* recording: what is drawn is part of the function. */
static void compare_with_slopes(run *r, bool recording) {
    pass_result result;
    pass(r, true, &result);
    params *p = &r->net.params;
    real *grads = malloc((size_t)p->count * sizeof *grads);
    assert_non_null(grads);
    memcpy(grads, p->grads, (size_t)p->count * sizeof *grads);
    for (int i = 0; i < p->n; i++) {
        param *q = p->at[i];
        for (long k = 0; k < param_count(q); k++) {
            double gradient = grads[q->grad - p->grads + k], x = q->value[k],
                   distance[] = {CHECK_STEP, CHECK_STEP / 32};
            bool agrees = false;
            for (int s = 0; s < 2 && !agrees; s++) { /* a corner of a rectifier may lie between two points */
                double above = loss_at(r, &q->value[k], x + distance[s], recording);
                double slope = (above - loss_at(r, &q->value[k], x - distance[s], recording)) / (2 * distance[s]);
                agrees = slope_agrees(gradient, slope, above, s ? 32 * CHECK_TOLERANCE : CHECK_TOLERANCE);
                if (s && !agrees)
                    check_slope(q->name, k, gradient, slope, above);
            }
        }
    }
    free(grads);
}

static void gradients_of_soft_attention_match(void **state) {
    (void)state;
    run r;
    begin(&r, false);
    compare_with_slopes(&r, false);
    end(&r);
}

static void gradients_match_with_places_to_be_looked_at_once_dropout_and_moved_pictures(void **state) {
    (void)state;
    run r;
    begin(&r, false);
    r.rates = (regularisation){
        .dropout = 0.3f, .dropout_emb = 0.2f, .label_smoothing = 0.1f, .doubly_stochastic = 2, .picture_shift = 3};
    compare_with_slopes(&r, true);
    end(&r);
}

/* Where nothing is drawn the place of the largest weight is looked at, whose weight learns nothing. */
static void gradients_of_the_largest_place_match(void **state) {
    (void)state;
    run r;
    begin(&r, true);
    compare_with_slopes(&r, false);
    end(&r);
}

/* ---- what is drawn ----------------------------------------------------------------------------------- */

enum { WIDTH = 2 };

/* One look at three places with the loss sum tanh(z), of one sentence. */
typedef struct look {
    params params;
    param *E, *W; /* energies: E x for x = 1; what tanh is taken of: W z */
    tape *tape;
    pool *team;
    hard_form form;
    double nll;
    tensor *weights;
} look;

static const real places[3][WIDTH] = {{0.3, -0.8}, {-0.5, 0.9}, {1.1, 0.2}};

/* The loss of one draw, its gradient in the parameters; *place is found out by its description. */
static double draw(look *l, uint64_t update, int *place, real a[3]) {
    static const int zero = 0, three = 3;
    tape *t = l->tape;
    tape_reset(t, true);
    t->update = update;
    tensor *one = tape_matrix(t, 1, 1), *values = tape_matrix(t, 3, WIDTH), *weights;
    assert_true(one && values);
    one->data[0] = 1;
    memcpy(values->data, places, sizeof places);
    annotations h = {values, NULL, &zero, &three, 3};
    const attention_form by_place = {.score = &score_location};
    tensor *soft = attention(t, &by_place, linear(t, one, l->E, NULL), &h, NULL, &weights);
    tensor *z = attention_hard(t, &l->form, soft, weights, &h, NULL);
    tensor *y = op_tanh(t, linear(t, z, l->W, NULL));
    assert_non_null(y);
    l->nll = y->data[0] + y->data[1];
    *place = -1;
    for (int j = 0; j < 3; j++)
        if (!memcmp(z->data, places[j], sizeof places[j]))
            *place = j;
    memcpy(a, weights->data, 3 * sizeof *a);
    tensor_grad_clear_once(y);
    y->grad[0] = y->grad[1] = l->form.scale;
    tape_backward(t);
    assert_int_equal(params_collect(&l->params, &t, 1, false, &t->gemm, l->team, NULL), SA_OK);
    return l->nll;
}

static void begin_look(look *l) {
    static const int sentence_zero = 0;
    *l = (look){.form = {.draws = true, .reward = 1, .baseline = 0.7, .scale = 0.25, .number = &sentence_zero}};
    l->E = params_declare(&l->params, "E", 3, 1, INIT_ZERO, 0, USE_PRODUCT);
    l->W = params_declare(&l->params, "W", WIDTH, WIDTH, INIT_ZERO, 0, USE_PRODUCT);
    assert_int_equal(params_allocate(&l->params, true, NULL), SA_OK);
    static const real E[] = {0.4, -0.3, 0.9}, W[] = {0.5, -0.2, 0.3, 0.8};
    memcpy(l->E->value, E, sizeof E);
    memcpy(l->W->value, W, sizeof W);
    assert_int_equal(tape_new(&l->tape, l->params.n, 1 << 14, NULL), SA_OK);
    assert_int_equal(pool_new(&l->team, 1, NULL, NULL), SA_OK);
    l->form.nll = &l->nll;
}

static void end_look(look *l) {
    params_free(&l->params);
    tape_free(l->tape);
    pool_free(l->team);
}

/* sum over places of a_j nll_j, from a draw of each. */
static double expected(look *l, double *gradient) {
    bool seen[3] = {false};
    double sum = 0;
    for (uint64_t update = 0; !seen[0] || !seen[1] || !seen[2]; update++) {
        int place;
        real a[3];
        assert_true(update < 1000);
        double nll = draw(l, update, &place, a);
        if (place < 0 || seen[place])
            continue;
        seen[place] = true;
        sum += a[place] * nll;
        for (long k = 0; gradient && k < l->params.count; k++)
            gradient[k] += a[place] * l->params.grads[k];
    }
    return sum;
}

static void the_mean_gradient_of_draws_is_that_of_the_expected_loss(void **state) {
    (void)state;
    look l;
    begin_look(&l);
    for (int with_entropy = 0; with_entropy < 2; with_entropy++) {
        double gradient[64] = {0};
        assert_true(l.params.count <= 64);
        l.form.baseline = with_entropy ? -3 : 0.7; /* which changes nothing in the mean */
        expected(&l, gradient);
        for (int i = 0; i < l.params.n; i++) {
            param *p = l.params.at[i];
            for (long k = 0; k < param_count(p); k++) {
                real kept = p->value[k];
                p->value[k] = kept + CHECK_STEP;
                double above = expected(&l, NULL);
                p->value[k] = kept - CHECK_STEP;
                double below = expected(&l, NULL);
                p->value[k] = kept;
                check_slope(p->name, k, gradient[p->grad - l.params.grads + k],
                            l.form.scale * (above - below) / (2 * CHECK_STEP), above);
            }
        }
    }
    end_look(&l);
}

static void the_entropy_of_the_weights_has_its_gradient(void **state) {
    (void)state;
    look l;
    begin_look(&l);
    int place;
    real a[3];
    draw(&l, 4, &place, a);
    l.form.baseline = l.nll; /* nothing else reaches the energies then */
    l.form.entropy = 0.3;
    draw(&l, 4, &place, a);
    double entropy = 0; /* sum a log a */
    for (int j = 0; j < 3; j++)
        entropy += a[j] * log(a[j]);
    for (int j = 0; j < 3; j++)
        assert_true(fabs(l.E->grad[j] - 0.25 * 0.3 * a[j] * (log(a[j]) - entropy)) < 1e-12);
    end_look(&l);
}

static void places_are_drawn_as_often_as_their_weights_say(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    look l;
    begin_look(&l);
    int count[4] = {0}, place;
    real a[3];
    for (int expects = 0; expects < 2; expects++) {
        memset(count, 0, sizeof count);
        l.form.expected = expects ? 0.5 : 0;
        for (int i = 0; i < DRAWS; i++) {
            draw(&l, (uint64_t)i, &place, a);
            count[place < 0 ? 3 : place]++;
        }
        double share = expects ? 0.5 : 1;
        for (int j = 0; j < 3; j++) {
            double p = share * a[j];
            assert_true(fabs(count[j] - DRAWS * p) < 4.5 * sqrt(DRAWS * p * (1 - p)));
        }
        assert_true(expects ? abs(count[3] - DRAWS / 2) < 4.5 * sqrt(DRAWS / 4.0) : count[3] == 0);
    }
    end_look(&l);
}

/* With a baseline that is the loss of the sentence, of all its words, a draw teaches the weights nothing. */
static void the_reward_is_the_whole_sentence(void **state) {
    (void)state;
    run r;
    pass_result result;
    begin(&r, true);
    params *p = &r.net.params;
    real *without = malloc((size_t)p->count * sizeof *without);
    assert_non_null(without);
    r.first = 1;
    r.n = 1;
    for (int update = 0; update < 3; update++) {
        r.tape->update = (uint64_t)update;
        r.rates.hard = (hard_learning){.reward = 1e-30f};
        pass(&r, true, &result);
        memcpy(without, p->grads, (size_t)p->count * sizeof *without);
        r.rates.hard = (hard_learning){.reward = 1, .baseline = result.sums.nll};
        pass(&r, true, &result);
        for (long k = 0; k < p->count; k++)
            assert_true(fabs(without[k] - p->grads[k]) < 1e-12);
        r.rates.hard.baseline += 1;
        pass(&r, true, &result);
        double difference = 0;
        for (long k = 0; k < p->count; k++)
            difference = fmax(difference, fabs(without[k] - p->grads[k]));
        assert_true(difference > 1e-4);
    }
    free(without);
    end(&r);
}

/* What is drawn belongs to a sentence, whichever tape it is on. */
static void draws_do_not_depend_on_the_other_sentences(void **state) {
    (void)state;
    run r;
    pass_result result;
    begin(&r, true);
    r.rates.hard = (hard_learning){.reward = 1, .entropy = 0.01f, .expected = 0.3f, .baseline = 2};
    for (int update = 0; update < 5; update++) {
        r.tape->update = (uint64_t)update;
        r.first = 0;
        r.n = PICTURES;
        r.tape->first_sentence = 0;
        double together = pass(&r, true, &result), apart = 0;
        r.n = 1;
        for (r.first = 0; r.first < PICTURES; r.first++) {
            r.tape->first_sentence = r.first;
            apart += pass(&r, true, &result);
        }
        assert_true(fabs(together - apart) < 1e-12);
    }
    end(&r);
}

static void a_hard_model_whose_sentences_all_expect_is_a_soft_one(void **state) {
    (void)state;
    run hard, soft;
    pass_result result;
    begin(&hard, true);
    begin(&soft, false);
    hard.rates.hard = (hard_learning){.reward = 1, .entropy = 0.01f, .expected = 1, .baseline = 2};
    assert_true(pass(&hard, true, &result) == pass(&soft, true, &result));
    for (long k = 0; k < soft.net.params.count; k++)
        assert_true(fabs(hard.net.params.grads[k] - soft.net.params.grads[k]) < 1e-14);
    end(&hard);
    end(&soft);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_soft_attention_match),
        cmocka_unit_test(gradients_match_with_places_to_be_looked_at_once_dropout_and_moved_pictures),
        cmocka_unit_test(gradients_of_the_largest_place_match),
        cmocka_unit_test(the_mean_gradient_of_draws_is_that_of_the_expected_loss),
        cmocka_unit_test(the_entropy_of_the_weights_has_its_gradient),
        cmocka_unit_test(places_are_drawn_as_often_as_their_weights_say),
        cmocka_unit_test(the_reward_is_the_whole_sentence),
        cmocka_unit_test(draws_do_not_depend_on_the_other_sentences),
        cmocka_unit_test(a_hard_model_whose_sentences_all_expect_is_a_soft_one),
    };
    return cmocka_run_group_tests_name("caption", tests, NULL, NULL);
}
