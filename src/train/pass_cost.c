#include "train/pass_cost.h"

#include "train/update.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sizes tried. Small, because each costs time; four sentences at least, because allocations are rounded up to
 * ARENA_ALIGN; two steps at least, because a decoder's first is not part of its loop. */
enum { PROBE_SYMBOLS = 4, PROBE_MOST = 8 };
static const int small[3] = {4, 2, 2}, large[3] = {8, 4, 4};

static int side(int corner, int axis) {
    return corner >> axis & 1 ? large[axis] : small[axis];
}

/* end_marks: symbols 0, enough for any of them. */
static bool probe(const model *net, tape *t, bool recording, int corner, const regularisation *r,
                  const int *end_marks, double *bytes) {
    corpus_entry entries[PROBE_MOST];
    size_t order[PROBE_MOST];
    int B = side(corner, 0), fixed = model_source_shape(&net->config).length;
    for (int i = 0; i < B; i++) {
        entries[i] =
            (corpus_entry){.source_length = fixed ? fixed : side(corner, 1), .target_length = side(corner, 2)};
        order[i] = (size_t)i;
    }
    corpus c = {.n = (size_t)B, .entry = entries, .ids = end_marks};
    pass_result result = {0};
    tape_reset(t, recording);
    bool ok = batch_pass(net, t, &c, NULL, order, B, recording ? r : &(regularisation){0}, 1, &result);
    if (ok && recording)
        tape_backward(t);
    *bytes = (double)arena_peak(t->arena);
    return ok && !t->failed;
}

sa_status pass_cost_measure(pass_cost *out, const sa_model_config *config, const regularisation *r,
                            sa_error *error) {
    sa_model_config tiny = *config;
    tiny.vocab_source = tiny.vocab_target = PROBE_SYMBOLS;
    model net;
    tape *t = NULL;
    int fixed = model_source_shape(config).length;
    SA_TRY(model_declare(&net, &tiny, error));
    sa_status status = params_allocate(&net.params, false, error);
    if (status == SA_OK)
        status = tape_new(&t, net.params.n, 16 << 20, error);
    gemm_work_alone();
    int *end_marks = calloc((size_t)fixed + PROBE_MOST, sizeof *end_marks);
    bool ok = status == SA_OK && end_marks;
    for (int k = 0; ok && k < 2 * PASS_COST_CORNERS; k++)
        ok = probe(&net, t, k >= PASS_COST_CORNERS, k % PASS_COST_CORNERS, r, end_marks,
                   &out->bytes[k / PASS_COST_CORNERS][k % PASS_COST_CORNERS]);
    if (status == SA_OK && !ok)
        status = sa_fail_memory(error, 0);
    if (ok) {
        out->symbols = config->vocab_target;
        out->vocabulary = (double)(net.W_out->dim[1] + 1) * (double)sizeof(real);
    }
    free(end_marks);
    tape_free(t);
    model_clear(&net);
    return status;
}

double pass_cost_of(const pass_cost *c, bool recording, double B, double S, double T) {
    const double at[3] = {B, S, T};
    double sum = 0;
    for (int corner = 0; corner < PASS_COST_CORNERS; corner++) {
        double weight = 1;
        for (int axis = 0; axis < 3; axis++) {
            double large_share = (at[axis] - small[axis]) / (large[axis] - small[axis]);
            weight *= corner >> axis & 1 ? large_share : 1 - large_share;
        }
        sum += weight * c->bytes[recording][corner];
    }
    return sum + (recording ? (c->symbols - PROBE_SYMBOLS) * c->vocabulary : 0);
}

double pass_scratch_of(const pass_cost *c, bool recording, sa_precision precision, double B, double T) {
    double scores = fmin(B * T, XENT_CHUNK_ROWS) * c->symbols * (double)sizeof(real);
    return recording && precision == SA_BF16 ? 1.5 * scores : scores;
}
