/* What training does with numbers that are not finite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"

/* Keeps a copy of the newest best model. */
typedef struct keeper {
    char *best;
    size_t n;
} keeper;

static int keep_best(const sa_train_event *event, void *user) {
    keeper *k = user;
    if (event->kind == SA_EVENT_VALIDATION && event->improved) {
        free(k->best);
        k->best = read_run_file("nan", "best.safetensors", &k->n);
    }
    return 0;
}

static void a_number_that_is_not_finite_ends_the_run_and_spares_the_best_model(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = toy_options(&path, folder, "nan");
    o.optimizer = SA_SGD;
    o.learning_rate = 1e6f;
    o.warmup = 1000000; /* the rate is the number of the update: the first ones do no harm */
    o.clip_norm = 0;
    o.after_epochs = 0;
    o.after_updates = 5000;
    o.valid_freq = 1;
    keeper k = {0};
    expect_status(sa_train(&o, keep_best, &k, &error), SA_NUMERIC);
    expect_text(error.text, "not finite");
    expect_text(error.text, "--clip-norm");
    assert_non_null(k.best);
    size_t n;
    char *best = read_run_file("nan", "best.safetensors", &n);
    assert_int_equal(n, k.n);
    assert_memory_equal(best, k.best, n);
    free(best);
    free(k.best);
    assert_true(toy_bleu(strcat(path.output, "/best.safetensors")) >= 0);
}

/* A run whose parameters are soon not finite. */
static sa_train_options hopeless(toy_paths *path, const char *text, const char *run) {
    sa_train_options o = toy_options(path, text, run);
    o.optimizer = SA_SGD;
    o.learning_rate = 1e9f;
    o.warmup = 0;
    o.clip_norm = 0;
    o.after_epochs = 0;
    o.after_updates = 100;
    o.valid_freq = 100;
    return o;
}

/* How many numbers stand behind the next `start` in *text, which moves behind them. */
static int count_numbers(const char **text, const char *start) {
    int n = 0;
    const char *at = strstr(*text, start);
    assert_non_null(at);
    for (at += strlen(start); *at == ' '; n++)
        at += 1 + strspn(at + 1, "0123456789");
    *text = at;
    return n;
}

static void an_update_that_is_skipped_names_the_lines_of_all_its_minibatches(void **state) {
    (void)state;
    toy_paths path;
    sa_train_options o = hopeless(&path, folder, "skipped");
    o.optimizer_delay = 2;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_NUMERIC);
    const char *at = w.messages;
    int lines = 0;
    for (int i = 0; i < 3; i++) /* an epoch: updates of 40, 40 and 20 pairs */
        lines += count_numbers(&at, "skipped: its loss or gradient is not finite; lines of the training text:");
    assert_int_equal(lines, 100);
}

static void lines_of_a_skipped_update_go_on_in_further_messages(void **state) {
    (void)state;
    toy_paths path;
    char many[200];
    snprintf(many, sizeof many, "%s/many", folder);
    assert_int_equal(mkdir(many, 0777), 0);
    assert_true(toy_write(many, 300));
    sa_train_options o = hopeless(&path, many, "skipped");
    o.mini_batch = 300;
    watch w = {0};
    expect_status(sa_train(&o, look, &w, &error), SA_NUMERIC);
    const char *at = w.messages;
    int lines = count_numbers(&at, "lines of the training text:");
    assert_true(lines > 100);
    assert_int_equal(lines + count_numbers(&at, "skipped, further lines:"), 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_is_not_finite_ends_the_run_and_spares_the_best_model),
        cmocka_unit_test(an_update_that_is_skipped_names_the_lines_of_all_its_minibatches),
        cmocka_unit_test(lines_of_a_skipped_update_go_on_in_further_messages),
    };
    return cmocka_run_group_tests(tests, make_text, remove_text);
}
