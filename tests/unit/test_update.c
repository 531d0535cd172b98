#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "train/update.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"

enum { PAIRS = 30, LONGEST = 9, SYMBOLS = 40 };

/* A small model, and pairs of random symbols. */
static const ranks alone = {.size = 1};

typedef struct fixture {
    sa_train_options options;
    model net;
    updater u;
    int ids[PAIRS][2][LONGEST];
    corpus c;
    size_t order[PAIRS];
} fixture;

static void begin(fixture *f, void (*choose)(sa_train_options *), int threads) {
    sa_error e;
    *f = (fixture){0};
    sa_train_options *o = &f->options;
    assert_int_equal(sa_train_options_init(o, "small", &e), SA_OK);
    o->model.vocab_source = o->model.vocab_target = SYMBOLS;
    o->model.dim_emb = o->model.dim_maxout = o->model.dim_att = 12;
    o->model.dim_rnn = o->model.dim_dec = 20;
    o->optimizer = SA_SGD;
    o->average = 0;
    o->precision = SA_F32;
    choose(o);
    rng random = rng_at(3, 1, 4, 1);
    for (int i = 0; i < PAIRS; i++) {
        int length[2];
        for (int side = 0; side < 2; side++) {
            length[side] = 1 + (int)rng_below(&random, LONGEST);
            for (int j = 0; j + 1 < length[side]; j++)
                f->ids[i][side][j] = 2 + (int)rng_below(&random, SYMBOLS - 2);
        }
        append_pair(&f->c, SYMBOLS, f->ids[i][0], length[0], f->ids[i][1], length[1]);
        f->order[i] = (size_t)i;
    }
    if (model_declare(&f->net, &o->model, &e) || params_allocate(&f->net.params, true, &e) ||
        params_initialise(&f->net.params, 7, &e) ||
        updater_init(&f->u, o, &alone, &f->net, threads, &(memory_plan){1 << 20, GEMM_PRODUCTS_MAX}, &e))
        fail_msg("%s", e.text);
}

static void end(fixture *f) {
    updater_clear(&f->u);
    corpus_free(&f->c);
    model_clear(&f->net);
}

static update_result run(fixture *f, const size_t *start, int n, int64_t update) {
    sa_error e;
    update_result result;
    if (updater_run(&f->u, &f->c, f->order, start, n, update, 0.1, &result, &e))
        fail_msg("%s", e.text);
    return result;
}

static void plain(sa_train_options *o) {
    o->dropout = o->dropout_emb = o->dropout_src = o->dropout_trg = o->r_drop = o->label_smoothing = 0;
    o->loss_per_word = false;
}

static void with_dropout_per_word(sa_train_options *o) {
    o->loss_per_word = true;
}

static void with_r_drop(sa_train_options *o) {
    o->r_drop = 3;
}

static void as_it_comes(sa_train_options *o) {
    (void)o;
}

static void averaged(sa_train_options *o) {
    o->average = 0.5f;
}

static double distance(const real *a, const real *b, long n) {
    double sum = 0, all = 0;
    for (long i = 0; i < n; i++) {
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        all += (double)a[i] * (double)a[i];
    }
    return sqrt(sum / all);
}

static void several_minibatches_give_the_gradient_of_one_as_large_as_all(void **state) {
    (void)state;
    void (*const choice[])(sa_train_options *) = {plain, with_dropout_per_word, with_r_drop};
    for (int k = 0; k < 3; k++) {
        static fixture whole, parts;
        begin(&whole, choice[k], 1);
        begin(&parts, choice[k], 1);
        update_result one = run(&whole, (size_t[]){0, PAIRS}, 1, 1);
        update_result several = run(&parts, (size_t[]){0, 7, 20, PAIRS}, 3, 1);
        long n = whole.net.params.count;
        assert_int_equal(one.words, several.words);
        assert_true(fabs(one.loss / several.loss - 1) < 1e-6 && fabs(one.nll / several.nll - 1) < 1e-6);
        assert_true(one.gradient_norm > 0.01 && fabs(one.gradient_norm / several.gradient_norm - 1) < 1e-5);
        double apart = distance(whole.net.params.grads, parts.net.params.grads, n);
        if (!(apart < 1e-5))
            fail_msg("%s: gradients %g apart", ((const char *[]){"plain", "with dropout", "with R-Drop"})[k],
                     apart);
        assert_true(distance(whole.net.params.values, parts.net.params.values, n) < 1e-6);
        end(&whole);
        end(&parts);
    }
}

static void several_minibatches_give_the_same_bits_with_any_number_of_threads(void **state) {
    (void)state;
    static fixture one, more;
    begin(&one, as_it_comes, 1);
    run(&one, (size_t[]){0, 11, 23, PAIRS}, 3, 1);
    for (int threads = 2; threads <= 3; threads++) {
        begin(&more, as_it_comes, threads);
        run(&more, (size_t[]){0, 11, 23, PAIRS}, 3, 1);
        size_t bytes = (size_t)one.net.params.count * sizeof(real);
        assert_memory_equal(one.net.params.grads, more.net.params.grads, bytes);
        assert_memory_equal(one.net.params.values, more.net.params.values, bytes);
        end(&more);
    }
    end(&one);
}

static void plain_with_r_drop(sa_train_options *o) {
    plain(o);
    o->r_drop = 3;
}

/* Two passes of one pair disagree by nothing but their masks. */
static void r_drop_without_dropout_changes_nothing_and_with_it_the_loss(void **state) {
    (void)state;
    static fixture made[4];
    void (*const choice[])(sa_train_options *) = {plain, plain_with_r_drop, as_it_comes, with_r_drop};
    update_result result[4];
    for (int k = 0; k < 4; k++) {
        begin(&made[k], choice[k], 1);
        result[k] = run(&made[k], (size_t[]){0, PAIRS}, 1, 1);
    }
    long n = made[0].net.params.count;
    assert_true(fabs(result[1].loss / result[0].loss - 1) < 1e-6 && fabs(result[1].nll / result[0].nll - 1) < 1e-6);
    assert_true(distance(made[0].net.params.grads, made[1].net.params.grads, n) < 1e-5);
    assert_int_equal(result[0].words, result[1].words);
    assert_true(result[3].loss > result[2].loss * 1.001);
    assert_true(distance(made[2].net.params.grads, made[3].net.params.grads, n) > 0.05);
    for (int k = 0; k < 4; k++)
        end(&made[k]);
}

static void drop_source_words(sa_train_options *o) {
    plain(o);
    o->dropout_src = 0.2f;
}

static void drop_target_words(sa_train_options *o) {
    plain(o);
    o->dropout_trg = 0.2f;
}

static void words_dropped_on_either_side_change_the_gradient(void **state) {
    (void)state;
    static fixture made[3];
    void (*const choice[])(sa_train_options *) = {plain, drop_source_words, drop_target_words};
    for (int k = 0; k < 3; k++) {
        begin(&made[k], choice[k], 1);
        run(&made[k], (size_t[]){0, PAIRS}, 1, 1);
    }
    for (int k = 0; k < 3; k++)
        assert_true(distance(made[k].net.params.grads, made[(k + 1) % 3].net.params.grads,
                             made[0].net.params.count) > 0.05);
    for (int k = 0; k < 3; k++)
        end(&made[k]);
}

/* a = k a + (1 - k) x after every update, k = min(average, (1 + t) / (10 + t)). */
static void the_average_follows_the_values(void **state) {
    (void)state;
    static fixture f;
    begin(&f, averaged, 2);
    long n = f.net.params.count;
    double *expected = calloc((size_t)n, sizeof *expected);
    assert_non_null(expected);
    for (int update = 1; update <= 12; update++) {
        run(&f, (size_t[]){0, PAIRS}, 1, update);
        double keep = fmin(0.5, (1.0 + update) / (10.0 + update));
        for (long i = 0; i < n; i++)
            expected[i] = keep * expected[i] + (1 - keep) * (double)f.net.params.values[i];
    }
    double most = 0;
    for (long i = 0; i < n; i++)
        most = fmax(most, fabs((double)f.u.average[i] - expected[i]));
    assert_true(most < 1e-6);
    real *kept = malloc((size_t)n * sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, f.net.params.values, (size_t)n * sizeof *kept);
    assert_true(distance(kept, f.u.average, n) > 1e-4);
    assert_int_equal(updater_swap_average(&f.u, NULL), SA_OK);
    assert_memory_equal(kept, f.u.average, (size_t)n * sizeof *kept);
    assert_int_equal(updater_swap_average(&f.u, NULL), SA_OK);
    assert_memory_equal(kept, f.net.params.values, (size_t)n * sizeof *kept);
    free(expected);
    free(kept);
    end(&f);
}

static void an_update_that_is_not_finite_changes_nothing(void **state) {
    (void)state;
    static fixture f;
    sa_error e;
    update_result result;
    begin(&f, as_it_comes, 1);
    size_t bytes = (size_t)f.net.params.count * sizeof(real);
    f.net.b_out->value[3] = INFINITY;
    real *kept = malloc(bytes);
    assert_non_null(kept);
    memcpy(kept, f.net.params.values, bytes);
    assert_int_equal(updater_run(&f.u, &f.c, f.order, (size_t[]){0, 15, PAIRS}, 2, 4, 0.25, &result, &e),
                     SA_NUMERIC);
    assert_non_null(strstr(e.text, "update 4: "));
    assert_non_null(strstr(e.text, "now 0.25"));
    assert_memory_equal(kept, f.net.params.values, bytes);
    free(kept);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_dropped_on_either_side_change_the_gradient),
        cmocka_unit_test(r_drop_without_dropout_changes_nothing_and_with_it_the_loss),
        cmocka_unit_test(several_minibatches_give_the_gradient_of_one_as_large_as_all),
        cmocka_unit_test(several_minibatches_give_the_same_bits_with_any_number_of_threads),
        cmocka_unit_test(the_average_follows_the_values),
        cmocka_unit_test(an_update_that_is_not_finite_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
