/* What the tests of memory that runs out share: trying an operation at every allocation, and a small model to try
 * it with. The test includes cmocka.h before. */
#ifndef EXHAUST_H
#define EXHAUST_H

#include "../unit/run_files.h"
#include "failing_allocation.h"

static sa_error error;

/* Every failure must be reported, but for `most_tolerated`, which may not matter to the result. */
static void exhaust(sa_status (*operation)(void), bool after, int most_tolerated) {
    int tolerated = 0;
    all_after = after;
    for (fail_at = 1;; fail_at++) {
        made = 0;
        n_live = 0;
        error = (sa_error){SA_OK, ""};
        armed = true;
        sa_status status = operation();
        armed = false;
        if (n_live != 0)
            fail_msg("allocation %ld failed: %d blocks were not freed", fail_at, n_live);
        if (made < fail_at) {
            assert_int_equal(status, SA_OK);
            break;
        }
        if (status == SA_OK)
            tolerated++;
        else if (status != SA_MEMORY || error.status != SA_MEMORY || !error.text[0])
            fail_msg("allocation %ld failed: %s: %s", fail_at, sa_status_text(status), error.text);
    }
    print_message("%ld allocations, %d of which were not needed\n", made, tolerated);
    assert_true(made > 0);
    if (tolerated > most_tolerated)
        fail_msg("%d failures went unreported", tolerated);
}

enum { FEW = 4 }; /* pairs of the training text */
static char model_path[512];

typedef struct way {
    bool resume, overwrite;
    int stop_at, threads; /* stop_at: update; 0: never */
    uint64_t seed;
    sa_vocab_type vocab;
    bool opposes; /* the model, from whose parameters it starts */
    int teachers;
} way;

static int stop(const sa_train_event *event, void *user) {
    const way *w = user;
    return w->stop_at && event->update == w->stop_at;
}

/* Two updates, each of two pairs and with a validation. */
static sa_status train_so(const char *run, way w) {
    toy_paths path;
    bool counted = armed;
    armed = false;
    sa_train_options o = toy_options(&path, folder, run);
    armed = counted;
    o.model.dim_emb = o.model.dim_maxout = o.model.dim_att = 4;
    o.model.dim_rnn = o.model.dim_dec = 4;
    o.dropout = o.dropout_emb = o.dropout_src = o.dropout_trg = o.label_smoothing = 0.1f;
    o.average = 0.9f;
    o.mini_batch = 2;
    o.after_epochs = 0;
    o.after_updates = 2;
    o.valid_freq = 1;
    o.progress_freq = 1;
    o.vocab_type = w.vocab;
    if (w.vocab == SA_VOCAB_BPE) {
        o.protect = true;
        o.normalization = "nfc";
        o.subword_sampling = 0.2f;
    }
    o.threads = w.threads;
    o.resume = w.resume;
    o.overwrite = w.overwrite;
    o.seed = w.seed;
    o.self_distillation = w.teachers;
    if (w.opposes) {
        o.adversary_of = o.start_from = model_path;
        o.adversary_lambda = 1;
    }
    return sa_train(&o, stop, &w, &error);
}

/* The folder, its text, and the model of it that is in model_path. */
static bool make_small_model(void) {
    bool ok =
        toy_folder(folder) && toy_write(folder, FEW) && train_so("model", (way){.seed = 1, .threads = 1}) == SA_OK;
    run_path(model_path, "model", "best.safetensors");
    return ok;
}

#endif
