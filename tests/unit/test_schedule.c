#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"
#include "train/schedule.h"

static sa_train_options defaults(sa_schedule schedule) {
    sa_train_options o;
    sa_train_options_init(&o, "rnnsearch", NULL);
    o.schedule = schedule;
    return o;
}

/* The rate of update `update` of 16, with a base of 0.01. */
static double rate_of(const sa_train_options *o, int update) {
    schedule_place at = {update, (update - 1) / 16.0, 0};
    return schedule_rate(o, 0.01, &at);
}

static void the_rate_grows_evenly_to_its_value_and_stays(void **state) {
    (void)state;
    sa_train_options o = defaults(SA_SCHEDULE_CONSTANT);
    assert_true(rate_of(&o, 1) == 0.01);
    o.warmup = 4;
    for (int i = 1; i <= 16; i++)
        assert_true(fabs(rate_of(&o, i) - 0.01 * fmin(1, i / 4.0)) < 1e-9);
}

static void a_linear_schedule_falls_to_nothing_at_the_end(void **state) {
    (void)state;
    sa_train_options o = defaults(SA_SCHEDULE_LINEAR);
    o.warmup = 4;
    for (int i = 1; i <= 16; i++)
        assert_true(fabs(rate_of(&o, i) - 0.01 * fmin(1, i / 4.0) * (1 - (i - 1) / 16.0)) < 1e-9);
    expect_status(schedule_check(&o, &error), SA_USAGE);
    expect_text(error.text, "--after");
    o.after_minutes = 1;
    expect_status(schedule_check(&o, &error), SA_OK);
}

static void an_inverse_root_schedule_falls_from_the_end_of_the_warm_up(void **state) {
    (void)state;
    sa_train_options o = defaults(SA_SCHEDULE_INV_SQRT);
    expect_status(schedule_check(&o, &error), SA_USAGE);
    expect_text(error.text, "--warmup");
    o.warmup = 4;
    expect_status(schedule_check(&o, &error), SA_OK);
    assert_true(rate_of(&o, 4) == 0.01 && fabs(rate_of(&o, 16) - 0.005) < 1e-12);
    for (int i = 1; i <= 16; i++)
        assert_true(fabs(rate_of(&o, i) - 0.01 * fmin(i / 4.0, sqrt(4.0 / i))) < 1e-9);
}

static void a_plateau_counts_validations_without_a_new_best(void **state) {
    (void)state;
    sa_train_options o = defaults(SA_SCHEDULE_PLATEAU);
    o.plateau_patience = 3;
    for (int stalled = 0; stalled < 10; stalled++)
        assert_int_equal(schedule_cuts(&o, stalled), stalled == 3 || stalled == 6 || stalled == 9);
    o.schedule = SA_SCHEDULE_CONSTANT;
    assert_false(schedule_cuts(&o, 3));
    o.schedule = SA_SCHEDULE_PLATEAU;
    o.early_stopping = 3;
    expect_status(schedule_check(&o, &error), SA_USAGE);
    expect_text(error.text, "--plateau-patience");
    o.early_stopping = 0;
    expect_status(schedule_check(&o, &error), SA_OK);
}

static void training_follows_its_schedule(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "followed");
    o.schedule = SA_SCHEDULE_LINEAR;
    o.warmup = 4;
    o.learning_rate = 0.01f;
    o.after_epochs = 0;
    o.after_updates = 16;
    o.valid_freq = 16;
    o.progress_freq = 1;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    assert_int_equal(w.rates, 16);
    for (int i = 0; i < 16; i++)
        assert_true(fabs(w.rate[i] - rate_of(&o, i + 1)) < 1e-9);
}

static void training_lowers_its_rate_at_a_plateau_and_says_so(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "plateau");
    o.optimizer = SA_SGD;
    o.learning_rate = 1e-20f; /* nothing gets better */
    o.warmup = 0;
    o.schedule = SA_SCHEDULE_PLATEAU;
    o.plateau_factor = 0.25f;
    o.plateau_patience = 2;
    o.after_epochs = 0;
    o.after_updates = 14;
    o.valid_freq = 2;
    o.progress_freq = 1;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    assert_int_equal(w.rates, 14);
    for (int i = 0; i < 14; i++) /* the validations after updates 4 and 6, 8 and 10 bring nothing */
        assert_true(fabs(w.rate[i] / 1e-20 - (i < 6 ? 1 : i < 10 ? 0.25 : 0.0625)) < 1e-6);
    expect_text(w.messages, "no better validation since update 2: the learning rate falls to 0.25 of its value");
    expect_text(w.messages, "falls to 0.0625 of its value");
}

static void a_plateau_goes_on_over_a_kill_and_a_resume(void **state) {
    (void)state;
    toy_paths path;
    for (int killed = 0; killed < 2; killed++) {
        sa_train_options o = forty_updates(&path, killed ? "plateau-killed" : "plateau-whole");
        o.learning_rate = 0.5f; /* too much: validations get worse */
        o.warmup = 0;
        o.schedule = SA_SCHEDULE_PLATEAU;
        o.plateau_patience = 1;
        o.valid_freq = 4;
        watch w = {0};
        if (killed) {
            train_killed(&o, 18);
            o.resume = true;
            train_killed(&o, 31);
        }
        expect_status(sa_train(&o, look, &w, &error), SA_OK);
        assert_true(w.rates > 1 && w.rate[w.rates - 1] < 0.4);
        assert_true(killed ? w.rate[0] < 0.4 : w.rate[0] == 0.5); /* lowered before it was killed */
    }
    expect_same_run("plateau-whole", "plateau-killed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_grows_evenly_to_its_value_and_stays),
        cmocka_unit_test(a_linear_schedule_falls_to_nothing_at_the_end),
        cmocka_unit_test(an_inverse_root_schedule_falls_from_the_end_of_the_warm_up),
        cmocka_unit_test(a_plateau_counts_validations_without_a_new_best),
        cmocka_unit_test(training_follows_its_schedule),
        cmocka_unit_test(training_lowers_its_rate_at_a_plateau_and_says_so),
        cmocka_unit_test(a_plateau_goes_on_over_a_kill_and_a_resume),
    };
    return cmocka_run_group_tests(tests, make_text, remove_text);
}
