#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forms.h"
#include "pairs.h"
#include "runs.h"
#include "train/forecast.h"
#include "train/pass_cost.h"

#include <malloc.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = true }; /* takes memory of its own, and addresses by the terabyte */
#else
enum { SANITIZED = false };
#endif

enum { MOST_PAIRS = 64, LONGEST = 3 * 200 + 1 };

/* Pairs of all the same length. */
typedef struct text {
    size_t order[MOST_PAIRS];
    corpus c;
} text;

static void fill(text *x, int n, int S, int T) {
    static const int words[LONGEST]; /* all </s> */
    corpus_free(&x->c);
    for (int i = 0; i < n; i++) {
        append_pair(&x->c, 2000, words, S, words, T);
        x->order[i] = (size_t)i;
    }
}

static sa_train_options preset_options(const char *name) {
    sa_train_options o;
    sa_train_options_init(&o, name, NULL);
    o.model.vocab_source = o.model.vocab_target = 2000;
    return o;
}

static double bytes_of_pass(const sa_train_options *o, bool recording, int B, int S, int T) {
    text x = {0};
    model net;
    tape *t;
    pass_result result;
    regularisation r = regularisation_of(o, 0);
    fill(&x, B, S, T);
    expect_status(model_declare(&net, &o->model, &error), SA_OK);
    expect_status(params_allocate(&net.params, false, &error), SA_OK);
    expect_status(tape_new(&t, net.params.n, 16 << 20, &error), SA_OK);
    tape_reset(t, recording);
    assert_true(batch_pass(&net, t, &x.c, x.order, B, &r, 1, &result));
    if (recording)
        tape_backward(t);
    assert_false(t->failed);
    double bytes = (double)arena_peak(t->arena);
    tape_free(t);
    model_clear(&net);
    corpus_free(&x.c);
    return bytes;
}

static void expect_near(const char *what, double told, double taken, double most, double least) {
    if (!(told < taken * most && told > taken * least))
        fail_msg("%s: %.0f bytes were told, %.0f taken", what, told, taken);
}

static void small_passes_tell_what_large_ones_take(void **state) {
    (void)state;
    static const form_widths widths = {
        /* not what alignment likes */
        .vocab_source = 2000, .vocab_target = 2000, .emb = 37,   .rnn = 50, .dec = 50, .att = 50,
        .maxout = 37,         .rank = 37,           .model = 42, .ffn = 53};
    for (int i = 0; i < MODEL_FORMS + PICTURE_FORMS; i++)
        for (int kind = 0; kind < 2; kind++) {
            const model_form *form = i < MODEL_FORMS ? &model_forms[i] : &picture_forms[i - MODEL_FORMS];
            sa_train_options o = preset_options(form->preset);
            o.model = form_config(form, &widths);
            int pixels = model_source_shape(&o.model).length;
            o.dropout = o.dropout_emb = kind ? 0.2f : 0;
            char name[160];
            form_name(form, name, sizeof name);
            pass_cost cost;
            regularisation r = regularisation_of(&o, 0);
            expect_status(pass_cost_measure(&cost, &o.model, &r, &error), SA_OK);
            for (int recording = 0; recording < 2; recording++) {
                expect_near(name, pass_cost_of(&cost, recording, 33, 21, 27),
                            bytes_of_pass(&o, recording, 33, pixels ? pixels : 21, 27), 1.05, 0.95);
                expect_near(name, pass_cost_of(&cost, recording, 5, 1, 1),
                            bytes_of_pass(&o, recording, 5, pixels ? pixels : 1, 1), 1.1, 0.9);
            }
        }
}

static double kilobytes_of(const char *key) {
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            kilobytes = strtod(line + strlen(key), NULL);
    if (file)
        fclose(file);
    return kilobytes;
}

/* Trains on one minibatch and measures another, with the paper's sizes but for the vocabulary. Translation, which
 * would take the rest, needs a real text. */
static void compare_with_memory(const char *name) {
    text train = {0}, valid = {0};
    sa_train_options o = preset_options(name);
    model net;
    updater u;
    update_result result;
    forecast f;
    double nll;
    long words;
    fill(&train, 24, 12, 10);
    fill(&valid, 12, 18, 10);
    o.mini_batch = 24;
    expect_status(model_declare(&net, &o.model, &error), SA_OK);
    forecast_input in = {&o, &net, &train.c, &valid.c, 2, 1, NULL};
    expect_status(forecast_make(&f, &in, &error), SA_OK);
    malloc_trim(0); /* nothing that was freed is there to be used again */
    double before = kilobytes_of("VmRSS:");
    expect_status(params_allocate(&net.params, true, &error), SA_OK);
    expect_status(updater_init(&u, &o, &(ranks){.size = 1}, &net, 2, &f.plan, &error), SA_OK);
    expect_status(updater_run(&u, &train.c, train.order, (size_t[]){0, 24}, 1, 1, 0.1, &result, &error), SA_OK);
    double shards = 0, tapes = 0;
    for (int i = 0; i < o.shards; i++)
        shards += (double)arena_peak(u.tapes[i]->arena);
    pass_cost cost;
    expect_status(pass_cost_measure(&cost, &o.model, &(regularisation){0}, &error), SA_OK);
    shards += o.shards * pass_scratch_of(&cost, true, o.precision, 24.0 / o.shards, 10);
    expect_near(name, f.part[FORECAST_PASSES], shards, 1.02, 0.98);
    expect_status(updater_measure(&u, &valid.c, &nll, &words, &error), SA_OK);
    for (int i = 0; i < u.n_tapes; i++)
        tapes += (double)arena_capacity(u.tapes[i]->arena);
    expect_near(name, (double)f.plan.arena, tapes / u.n_tapes, 1.1, 0.9);
    double told = 0, taken = (kilobytes_of("VmRSS:") - before) * 1024;
    for (int i = 0; i < FORECAST_VALIDATION; i++)
        told += f.part[i];
    print_message("%s: %.0f MB told, %.0f MB taken\n", name, told / 1e6, taken / 1e6);
    if (!SANITIZED)
        expect_near(name, told, taken, 1.1,
                    0.8); /* the system gives huge pages, larger than asked, as it pleases */
    updater_clear(&u);
    model_clear(&net);
    corpus_free(&train.c);
    corpus_free(&valid.c);
}

static void a_forecast_comes_near_what_is_taken(void **state) {
    (void)state;
    compare_with_memory("rnnsearch");
    compare_with_memory("rnnencdec");
}

static void packs_of_bf16_take_half_a_pack(void **state) {
    (void)state;
    text x = {0};
    model net;
    forecast f[2];
    sa_train_options o = preset_options("small");
    fill(&x, 4, 5, 5);
    expect_status(model_declare(&net, &o.model, &error), SA_OK);
    forecast_input in = {&o, &net, &x.c, &x.c, 1, 1, NULL};
    expect_status(forecast_make(&f[0], &in, &error), SA_OK);
    o.precision = SA_BF16;
    expect_status(forecast_make(&f[1], &in, &error), SA_OK);
    /* what is not used step by step has no backward pack in float: less than twice as much */
    assert_true(f[0].part[FORECAST_PACKS] < 2 * f[1].part[FORECAST_PACKS] && f[1].part[FORECAST_PACKS] > 0);
    model_clear(&net);
    corpus_free(&x.c);
}

/* What a child says that may take so many megabytes more of addresses. */
static sa_status train_within(const sa_train_options *o, double megabytes, watch *w) {
    int ends[2], status;
    struct {
        sa_status status;
        sa_error error;
        watch w;
    } said = {.status = SA_OK};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {(rlim_t)(kilobytes_of("VmSize:") * 1024 + megabytes * 1e6), RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limit);
        said.status = sa_train(o, look, &said.w, &said.error);
        ssize_t written = write(ends[1], &said, sizeof said);
        _exit(written != sizeof said);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &said, sizeof said), sizeof said);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    error = said.error;
    *w = said.w;
    return said.status;
}

static void too_little_memory_is_said_before_anything_is_written(void **state) {
    (void)state;
    toy_paths path;
    watch w;
    sa_train_options o = toy_options(&path, folder, "small");
    o.model.dim_rnn = 1000000;
    expect_status(sa_train(&o, NULL, NULL, &error), SA_MEMORY);
    expect_text(error.text, "TB");
    expect_text(error.text, "--dim-rnn");
    assert_int_not_equal(access(path.output, F_OK), 0);
    if (SANITIZED)
        return;
    o.model.dim_rnn = 500;
    expect_status(train_within(&o, 500, &w), SA_MEMORY);
    expect_text(error.text, "ulimit -v");
    expect_text(error.text, "--mini-batch");
    assert_int_not_equal(access(path.output, F_OK), 0);
}

/* Few compiled products are kept then, and made anew. */
static void a_run_short_of_addresses_gives_the_same_bits(void **state) {
    (void)state;
    if (SANITIZED)
        skip();
    toy_paths path;
    watch w = {0};
    sa_train_options o = forty_updates(&path, "roomy");
    expect_status(sa_train(&o, look, &w, &error), SA_OK);
    expect_text(w.messages, "memory: at most ");
    o = forty_updates(&path, "short");
    expect_status(train_within(&o, 1400, &w), SA_OK);
    expect_same_run("roomy", "short");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_passes_tell_what_large_ones_take),
        cmocka_unit_test(a_forecast_comes_near_what_is_taken),
        cmocka_unit_test(packs_of_bf16_take_half_a_pack),
        cmocka_unit_test(too_little_memory_is_said_before_anything_is_written),
        cmocka_unit_test(a_run_short_of_addresses_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, make_text, remove_text);
}
