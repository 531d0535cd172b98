/* What happens to a training when memory runs out: the Nth allocation of the library fails, for every N. As
 * test_oom.c, which has all else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exhaust.h"

static const char *const distilled[] = {"distilled.source", "distilled.target"};
enum { N_DISTILLED = sizeof distilled / sizeof *distilled };

/* Whatever of the run is there must be whole, and nothing else be there. */
static void check_files(bool finished) {
    for (int i = 0; i < N_RUN_FILES; i++) {
        bool exists = run_file_exists("tried", run_files[i]);
        assert_true(exists || !finished || i >= N_ALWAYS_THERE);
        if (exists && i < N_WRITTEN_WHOLE)
            st_close(open_run_file("tried", run_files[i]));
    }
    for (int i = 0; i < N_DISTILLED; i++) {
        char path[512];
        unlink(run_path(path, "tried", distilled[i]));
    }
    remove_run("tried/teacher-1");
    remove_run("tried");
}

/* Trains in ./tried, which is a copy of another run when there is one to begin with. */
static sa_status train_from(const char *other, const way *w) {
    bool counted = armed;
    armed = false;
    if (other)
        copy_run(other, "tried");
    armed = counted;
    sa_status status = train_so("tried", *w);
    armed = false;
    sa_error kept = error;
    if (other)
        assert_true(run_file_exists("tried", "state.safetensors"));
    if (status == SA_OK && w->vocab == SA_VOCAB_WORD && !w->opposes && !w->teachers)
        expect_same_run("model", "tried");
    check_files(status == SA_OK);
    error = kept;
    armed = counted;
    return status;
}

static sa_status train_adversary(void) {
    return train_from(NULL, &(way){.seed = 2, .threads = 1, .opposes = true});
}

static sa_status train(void) {
    return train_from(NULL, &(way){.seed = 1, .threads = 1});
}

static sa_status train_subwords(void) {
    return train_from(NULL, &(way){.seed = 1, .threads = 1, .vocab = SA_VOCAB_BPE});
}

static sa_status train_with_two_threads(void) {
    return train_from(NULL, &(way){.seed = 1, .threads = 2});
}

static sa_status train_taught(void) {
    return train_from(NULL, &(way){.seed = 1, .threads = 1, .teachers = 1});
}

static sa_status resume(void) {
    return train_from("half", &(way){.seed = 1, .threads = 1, .resume = true});
}

static sa_status overwrite(void) {
    return train_from("other", &(way){.seed = 1, .threads = 1, .overwrite = true});
}

/* ---- the tests --------------------------------------------------------------------------------------- */

static void training(void **state) {
    (void)state;
    exhaust(train, false, 2);
    exhaust(train, true, 0);
}

/* Two other models are closed with their tapes: that which opening leaves is the failure which does not matter. */
static void training_an_adversary(void **state) {
    (void)state;
    exhaust(train_adversary, false, 6);
}

static void training_with_subwords(void **state) {
    (void)state;
    exhaust(train_subwords, false, 2);
}

static void training_with_two_threads(void **state) {
    (void)state;
    exhaust(train_with_two_threads, false,
            8); /* each gives a tape back at each validation, at a place that varies */
}

/* Two runs with two validations each, a model that is opened, and a translation. */
static void training_with_a_teacher(void **state) {
    (void)state;
    exhaust(train_taught, false, 6);
}

static void going_on_with_a_run(void **state) {
    (void)state;
    exhaust(resume, false, 1);
}

static void replacing_a_run(void **state) {
    (void)state;
    exhaust(overwrite, false, 2);
}

static int make_runs(void **state) {
    (void)state;
    bool ok = make_small_model() && train_so("other", (way){.seed = 2, .threads = 1}) == SA_OK &&
              train_so("half", (way){.seed = 1, .threads = 1, .stop_at = 1}) == SA_STOPPED;
    return ok ? 0 : -1;
}

static int remove_runs(void **state) {
    (void)state;
    return toy_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training),
        cmocka_unit_test(training_an_adversary),
        cmocka_unit_test(training_with_subwords),
        cmocka_unit_test(training_with_two_threads),
        cmocka_unit_test(training_with_a_teacher),
        cmocka_unit_test(going_on_with_a_run),
        cmocka_unit_test(replacing_a_run),
    };
    return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
