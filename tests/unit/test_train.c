#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"

static void train_forty(const char *run, int threads) {
    toy_paths path;
    sa_train_options o = forty_updates(&path, run);
    o.threads = threads;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
}

static void a_hundred_pairs_are_learned_by_heart(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "heart");
    watch w = {0};
    o.after_epochs = 30;
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.done, "limit");
    char best[300];
    snprintf(best, sizeof best, "%s/best.safetensors", o.output);
    assert_true(toy_bleu(best) > 99.999);
}

static void the_number_of_threads_changes_no_byte(void **state) {
    (void)state;
    train_forty("threads1", 1);
    train_forty("threads2", 2);
    train_forty("threads3", 3);
    expect_same_run("threads1", "threads2");
    expect_same_run("threads1", "threads3");
}

/* 8 minibatches an epoch: updates of 3, 3 and 2. */
static sa_train_options delayed(toy_paths *path, const char *run) {
    sa_train_options o = forty_updates(path, run);
    o.optimizer_delay = 3;
    return o;
}

static void updates_from_several_minibatches_are_the_same_with_any_number_of_threads(void **state) {
    (void)state;
    static const char *const run[] = {"delay1", "delay2", "delay3"};
    for (int threads = 1; threads <= 3; threads++) {
        toy_paths path;
        sa_train_options o = delayed(&path, run[threads - 1]);
        o.threads = threads;
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    }
    expect_same_run("delay1", "delay2");
    expect_same_run("delay1", "delay3");
}

static void the_last_update_of_an_epoch_takes_the_minibatches_that_are_left(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = delayed(&path, "rest");
    o.after_updates = 7;
    o.valid_freq = 0;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    assert_int_equal(w.validations, 3); /* two epochs of 3 updates, and the end */
}

/* The cross-entropy of the run's last validation. */
static double last_cross_entropy(const char *run) {
    char *metrics = read_metrics(run), *last = NULL;
    for (char *at = metrics; (at = strstr(at, "\"cross_entropy\":")); at++)
        last = at;
    assert_non_null(last);
    double value = strtod(last + strlen("\"cross_entropy\":"), NULL);
    free(metrics);
    return value;
}

static void bfloat16_learns_what_32_bits_learn_and_the_number_of_threads_changes_no_byte(void **state) {
    (void)state;
    static const char *const run[] = {"half1", "half2", "half3"};
    for (int threads = 1; threads <= 3; threads++) {
        toy_paths path;
        sa_train_options o = forty_updates(&path, run[threads - 1]);
        o.threads = threads;
        o.precision = SA_BF16;
        sa_status status = sa_train(&o, NULL, NULL, &error);
        if (status == SA_USAGE) { /* a processor without it */
            expect_text(error.text, "--precision f32");
            skip();
        }
        expect_status(status, SA_OK);
    }
    expect_same_run("half1", "half2");
    expect_same_run("half1", "half3");
    train_forty("single", 1);
    double half = last_cross_entropy("half1"), whole = last_cross_entropy("single");
    assert_true(half != whole);
    assert_true(half > 0.99 * whole && half < 1.01 * whole);
}

static void a_run_that_is_killed_and_resumed_ends_as_if_it_had_not_been(void **state) {
    (void)state;
    train_forty("whole", 1);
    for (int threads = 1; threads <= 2; threads++) {
        toy_paths path;
        const char *run = threads == 1 ? "killed1" : "killed2";
        sa_train_options o = forty_updates(&path, run);
        o.threads = threads;
        train_killed(&o, 27);
        o.resume = true;
        train_killed(&o, 33);
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        expect_same_run("whole", run);
    }
}

/* Minibatches of 4 to 12 pairs, whose number in an epoch nobody knows before. */
static void minibatches_by_symbols_are_the_same_after_a_kill(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = forty_updates(&path, "words");
    o.mini_batch = 12;
    o.mini_batch_words = 40;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    o = forty_updates(&path, "words-killed");
    o.mini_batch = 12;
    o.mini_batch_words = 40;
    train_killed(&o, 33);
    o.resume = true;
    o.mini_batch_words = 0; /* the run's value stays */
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.messages, "--mini-batch-words stays 40");
    expect_same_run("words", "words-killed");
}

static void a_minibatch_has_no_more_symbols_than_asked(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "sized");
    o.mini_batch = 0;
    o.mini_batch_words = 80; /* ten pairs of 7 words and </s> */
    o.after_epochs = 1;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.done, "best at update 10 ");
    o.mini_batch_words = 0;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text(error.text, "mini-batch is 0");
}

static void a_pair_of_two_thousand_words_is_trained_on(void **state) {
    (void)state;
    toy_paths path;
    char own[200];
    snprintf(own, sizeof own, "%s/long", folder);
    assert_int_equal(mkdir(own, 0777), 0);
    sa_train_options o = toy_options(&path, own, "run");
    for (int side = 0; side < 2; side++) {
        FILE *f = fopen(side ? path.target : path.source, "w");
        assert_non_null(f);
        for (int line = 0; line < 3; line++) /* the second is too long by far, and dropped */
            for (int i = 0, n = line == 1 ? 100000 : 2000; i < n; i++)
                fprintf(f, "w%d%c", i % 50, i + 1 < n ? ' ' : '\n');
        fclose(f);
    }
    char valid[2][300];
    snprintf(valid[0], sizeof valid[0], "%s/src", folder);
    snprintf(valid[1], sizeof valid[1], "%s/tgt", folder);
    o.valid_source = valid[0];
    o.valid_target = valid[1];
    o.model.dim_emb = o.model.dim_maxout = o.model.dim_att = o.model.dim_rnn = o.model.dim_dec = 8;
    o.max_length = 3000;
    o.after_epochs = 0;
    o.after_updates = 2;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.messages, "training text: 2 pairs, 4000 + 4000 symbols");
    expect_text(w.messages, "1 longer than 3000");
}

static void a_kill_between_updates_of_several_minibatches_changes_nothing(void **state) {
    (void)state;
    for (int killed = 0; killed < 2; killed++) {
        toy_paths path;
        sa_train_options o = delayed(&path, killed ? "delay-killed" : "delay-whole");
        if (killed) {
            train_killed(&o, 23);
            o.resume = true;
            train_killed(&o, 31);
        }
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    }
    expect_same_run("delay-whole", "delay-killed");
}

/* Words are cut otherwise in each of its five epochs. */
static sa_train_options sampled(toy_paths *path, const char *run, sa_vocab_type type) {
    sa_train_options o = forty_updates(path, run);
    o.vocab_type = type;
    o.model.vocab_source = o.model.vocab_target = 60;
    o.subword_sampling = 0.2f;
    return o;
}

static void words_cut_otherwise_are_the_same_after_a_kill_and_with_more_threads(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        static const char *const whole[] = {"bpe", "unigram"}, *const killed[] = {"bpe-killed", "unigram-killed"};
        sa_vocab_type type = k ? SA_VOCAB_UNIGRAM : SA_VOCAB_BPE;
        toy_paths path;
        sa_train_options o = sampled(&path, whole[k], type);
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        assert_false(run_file_exists(whole[k], "epoch-0.corpus"));
        double sampling = last_cross_entropy(whole[k]);
        o = sampled(&path, killed[k], type);
        o.threads = 2;
        train_killed(&o, 13);
        o.resume = true;
        train_killed(&o, 33);
        o.subword_sampling = 0; /* the run's value stays */
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        expect_same_run(whole[k], killed[k]);
        o = sampled(&path, "plain", type);
        o.subword_sampling = 0;
        o.overwrite = true;
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        assert_true(last_cross_entropy("plain") != sampling);
    }
}

/* Three of eight validations, with a stop between: the best ones, whatever else was there before. */
static void the_models_of_the_best_validations_stay(void **state) {
    (void)state;
    toy_paths path;
    for (int stop = 0; stop < 2; stop++) {
        const char *run = stop ? "best-three-stopped" : "best-three";
        sa_train_options o = forty_updates(&path, run);
        o.valid_freq = 5;
        o.keep = 3;
        watch w = {.stop_at = 22};
        if (stop) {
            expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
            o.resume = true;
        }
        expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
        int kept = 0;
        for (int update = 5; update <= 40; update += 5) {
            char name[40];
            snprintf(name, sizeof name, "update-%d.safetensors", update);
            kept += run_file_exists(run, name);
            if (stop && run_file_exists("best-three", name))
                expect_same_file("best-three", run, name);
        }
        assert_int_equal(kept, 3);
    }
    expect_same_run("best-three", "best-three-stopped");
    sa_train_options o = forty_updates(&path, "best-three");
    o.overwrite = true;
    o.after_updates = 3;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    assert_false(run_file_exists("best-three", "update-40.safetensors"));
}

static void subword_sampling_without_subwords_is_refused(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = sampled(&path, "never", SA_VOCAB_WORD);
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text(error.text, "--vocab-type bpe or unigram");
    o.vocab_type = SA_VOCAB_BPE;
    o.subword_sampling = 1;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text(error.text, "below 1");
    o.subword_sampling = 0.5f;
    o.guided_alignment = path.source;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text(error.text, "guided-alignment");
}

static void a_run_that_is_stopped_can_go_on(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = forty_updates(&path, "stopped");
    watch w = {.stop_at = 15};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    expect_text(error.text, "15");
    expect_text(error.text, path.output);
    assert_string_equal(w.done, "");
    assert_true(run_file_exists("stopped", "state.safetensors"));
    o.resume = true;
    w = (watch){.stop_at = 40};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    w = (watch){0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    train_forty("unstopped", 1);
    expect_same_run("unstopped", "stopped");
    w = (watch){0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.done, "nothing to do");
}

/* The limit is reached and the stop asked for at the same update: nothing validated it yet. */
static void a_run_stopped_at_its_limit_is_validated_when_resumed(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "limit");
    o.after_epochs = 0;
    o.after_updates = 7;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    int validations = w.validations;
    o.output = strcat(path.output, "-stopped");
    w = (watch){.stop_at = 7};
    sa_status status = sa_train(&o, look, &w, &error);
    expect_status(status, SA_STOPPED);
    o.resume = true;
    int before = w.validations;
    w = (watch){0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    assert_int_equal(before + w.validations, validations);
    expect_same_run("limit", "limit-stopped");
}

static void a_resume_keeps_what_defines_the_run_and_says_so(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = forty_updates(&path, "kept");
    watch w = {.stop_at = 15};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    o.resume = true;
    o.learning_rate = 0.5f;
    w = (watch){.stop_at = 16};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    expect_text(w.messages, "--learning-rate stays 0.01,");
    expect_text(w.messages, "resumed after update 15");
}

static void a_resume_with_another_text_is_refused(void **state) {
    (void)state;
    toy_paths path, other;
    sa_train_options o = forty_updates(&path, "text");
    watch w = {.stop_at = 15};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    char fewer[200];
    snprintf(fewer, sizeof fewer, "%s/fewer", folder);
    assert_int_equal(mkdir(fewer, 0777), 0);
    assert_true(toy_write(fewer, 20));
    sa_train_options p = toy_options(&other, fewer, "run");
    o.train_source = p.train_source;
    o.train_target = p.train_target;
    o.resume = true;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_DATA);
    expect_text(error.text, p.train_source);
    expect_text(error.text, "100 lines, this file has 20");
}

static void early_stopping_ends_the_run_and_says_why(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "patience");
    o.optimizer = SA_SGD;
    o.learning_rate = 1e-20f; /* nothing gets better */
    o.early_stopping = 1;
    o.early_stopping_metric = SA_VALID_CROSS_ENTROPY;
    o.after_epochs = 0;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.done, "early stopping; best at update 5 ");
    expect_text(w.done, "1 validation since, patience 1");
    assert_int_equal(w.validations, 2);
}

static void patience_is_counted_on_over_a_resume(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "patience2");
    o.optimizer = SA_SGD;
    o.learning_rate = 1e-20f;
    o.early_stopping = 2;
    o.early_stopping_metric = SA_VALID_PERPLEXITY;
    o.after_epochs = 0;
    watch w = {.stop_at = 11};
    expect_status(sa_train(&o, look, &w, &error), SA_STOPPED);
    assert_int_equal(w.validations, 2);
    o.resume = true;
    w = (watch){0};
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.done, "early stopping");
    assert_int_equal(w.validations, 1);
}

static void a_folder_with_a_run_is_neither_trained_in_nor_touched(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "twice");
    o.after_epochs = 1;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    size_t n;
    char *log = read_run_file("twice", "train.log", &n);
    expect_status(sa_train(&o, NULL, NULL, &error), SA_IO);
    expect_text(error.text, "--resume");
    expect_text(error.text, "--overwrite");
    expect_text(error.text, path.output);

    /* To overwrite means to train first. */
    o.overwrite = true;
    o.max_length = 1;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_DATA);
    expect_text(error.text, "--max-length");
    size_t m;
    char *again = read_run_file("twice", "train.log", &m);
    assert_string_equal(log, again);
    assert_true(run_file_exists("twice", "best.safetensors"));
    free(log);
    free(again);
    o.max_length = 50;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
}

static void a_run_that_cannot_begin_leaves_nothing(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "never");
    o.max_length = 1;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_DATA);
    assert_int_not_equal(access(path.output, F_OK), 0);
    o.max_length = 50;
    o.resume = true;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_IO);
    expect_text(error.text, "no run to resume");
    assert_int_not_equal(access(path.output, F_OK), 0);
}

static void the_log_has_what_was_said_before_it_was_opened(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "log");
    o.after_epochs = 1;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_OK);
    size_t n;
    char *log = read_run_file("log", "train.log", &n);
    expect_text(log, "source vocabulary: ");
    expect_text(log, "training text: 100 pairs");
    expect_text(log, "limit of updates");
    free(log);
}

static void every_optimizer_lowers_the_loss(void **state) {
    (void)state;
    static const struct {
        const char *run;
        sa_optimizer optimizer;
        float rate;
    } way[] = {{"adadelta", SA_ADADELTA, 0}, {"adam", SA_ADAM, 0}, {"sgd", SA_SGD, 0}};
    for (int k = 0; k < 3; k++) {
        toy_paths path;
        sa_train_options o = toy_options(&path, folder, way[k].run);
        o.optimizer = way[k].optimizer;
        o.learning_rate = way[k].rate;
        o.after_epochs = 10;
        watch w = {0};
        expect_status(sa_train(&o, look, &w, &error), SA_OK);
        if (!(w.last_loss < w.first_loss - 0.1))
            fail_msg("%s: from %g to %g", way[k].run, w.first_loss, w.last_loss);
    }
}

static void options_out_of_range_are_refused(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "refused"), good = o;
    o.optimizer = (sa_optimizer)7;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text(error.text, "optimizer");
    o = good;
    o.adam_epsilon = 0;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    o = good;
    o.learning_rate = NAN;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    o = good;
    o.after_epochs = 0;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_USAGE);
    expect_text(error.text, "--after");
    o = good;
    o.resume = o.overwrite = true;
    expect_status(sa_train(&o, NULL, NULL, NULL), SA_USAGE);
    assert_int_not_equal(access(path.output, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_pairs_are_learned_by_heart),
        cmocka_unit_test(the_number_of_threads_changes_no_byte),
        cmocka_unit_test(bfloat16_learns_what_32_bits_learn_and_the_number_of_threads_changes_no_byte),
        cmocka_unit_test(a_run_that_is_killed_and_resumed_ends_as_if_it_had_not_been),
        cmocka_unit_test(minibatches_by_symbols_are_the_same_after_a_kill),
        cmocka_unit_test(a_minibatch_has_no_more_symbols_than_asked),
        cmocka_unit_test(a_pair_of_two_thousand_words_is_trained_on),
        cmocka_unit_test(updates_from_several_minibatches_are_the_same_with_any_number_of_threads),
        cmocka_unit_test(the_last_update_of_an_epoch_takes_the_minibatches_that_are_left),
        cmocka_unit_test(a_kill_between_updates_of_several_minibatches_changes_nothing),
        cmocka_unit_test(words_cut_otherwise_are_the_same_after_a_kill_and_with_more_threads),
        cmocka_unit_test(the_models_of_the_best_validations_stay),
        cmocka_unit_test(subword_sampling_without_subwords_is_refused),
        cmocka_unit_test(a_run_that_is_stopped_can_go_on),
        cmocka_unit_test(a_run_stopped_at_its_limit_is_validated_when_resumed),
        cmocka_unit_test(a_resume_keeps_what_defines_the_run_and_says_so),
        cmocka_unit_test(a_resume_with_another_text_is_refused),
        cmocka_unit_test(early_stopping_ends_the_run_and_says_why),
        cmocka_unit_test(patience_is_counted_on_over_a_resume),
        cmocka_unit_test(a_folder_with_a_run_is_neither_trained_in_nor_touched),
        cmocka_unit_test(a_run_that_cannot_begin_leaves_nothing),
        cmocka_unit_test(the_log_has_what_was_said_before_it_was_opened),
        cmocka_unit_test(every_optimizer_lowers_the_loss),
        cmocka_unit_test(options_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, make_text, remove_text);
}
