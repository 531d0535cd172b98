/* A small random model with a pair that was forced through it, for tests of what explains. */
#ifndef FORCED_PAIR_H
#define FORCED_PAIR_H

#include "forms.h"

#include "base/rng.h"
#include "explain/forced.h"
#include "model/family.h"

#include <math.h>

enum { S = 5, T = 4 };
static const int source_ids[S] = {3, 7, 5, 2, 0}, target_ids[T] = {4, 6, 4, 0};

typedef struct fixture {
    model net;
    tape *t;
    forced f;
} fixture;

/* Few enough numbers to differentiate all of them by differences. */
enum { FEW_SYMBOLS = 9, FEW_WIDEST = 6 };
static const form_widths few_widths = {.vocab_source = FEW_SYMBOLS,
                                       .vocab_target = FEW_SYMBOLS,
                                       .emb = 5,
                                       .rnn = 4,
                                       .dec = 6,
                                       .att = 3,
                                       .maxout = 4,
                                       .rank = 3,
                                       .model = FEW_WIDEST,
                                       .ffn = 4};

/* Parameters within +-scale. False for a form that cannot be explained, and, unless `blind`, for one without
 * attention; then nothing is to be ended. */
static inline bool begin_with(fixture *x, const model_form *form, const form_widths *widths, double scale,
                              bool blind) {
    sa_error e;
    rng random = rng_at(5, 0, 0, 0);
    sa_model_config config = form_config(form, widths);
    *x = (fixture){0};
    if (model_declare(&x->net, &config, &e) != SA_OK)
        fail_msg("%s", e.text);
    if ((!x->net.preset->attends && !blind) || x->net.preset->family->many_looks) {
        model_clear(&x->net);
        return false;
    }
    params *p = &x->net.params;
    assert_int_equal(params_allocate(p, false, &e), SA_OK);
    for (int i = 0; i < p->n; i++)
        for (long k = 0; k < param_count(p->at[i]); k++)
            p->at[i]->value[k] = (real)(scale * (2 * rng_uniform(&random) - 1));
    assert_int_equal(tape_new(&x->t, p->n, 1 << 16, &e), SA_OK);
    assert_true(forced_begin(&x->f, &x->net, x->t, (sentence){source_ids, S}, (sentence){target_ids, T}));
    return true;
}

/* For output_visit: log p of the pair's target words, of each row one. */
static inline void read_forced_log(void *user, int row, real *p) {
    double *log_p = user;
    log_p[row] = log((double)p[target_ids[row]]);
}

static inline void end(fixture *x) {
    tape_free(x->t);
    model_clear(&x->net);
}

#endif
