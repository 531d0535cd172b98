#include "explain/copies.h"

#include "op/shape.h"

static const regularisation none;

bool copies_pass(const forced *f, int n, const sentence *source, const sentence *target, copies *out) {
    tape *t = f->t;
    step_words words;
    decoder_state state, end;
    step_output shown;
    out->n = n;
    if (!source_batch_make(t, n, source, &out->source) ||
        !target_batch_make(t, n, target, &out->source, &out->target) ||
        !model_encode(f->m, t, &out->source, &none, &out->h) ||
        !model_target_words(f->m, t, &out->target, &none, &words) ||
        !model_start(f->m, t, &out->h, n, out->target.source, &state) ||
        !model_steps(f->m, t, &out->h, &words, &none, &state, &end, &shown))
        return false;
    out->hidden = model_readout(f->m, t, &shown, &none, words.number);
    return !t->failed;
}

typedef struct gradient_visit {
    const forced *f;
    const copies *c;
    int first; /* target word of copy 0 */
} gradient_visit;

/* d log p(y) / d scores */
static void differentiate_log(void *user, int row, real *p) {
    const gradient_visit *v = user;
    int y = v->f->target.ids[v->first + v->c->target.number[row]];
    for (int k = 0; k < v->f->V; k++)
        p[k] = -p[k];
    p[y] += 1;
}

/* The last step of each copy, in the order of rows of the first step. */
static tensor *last_steps(tape *t, const copies *c) {
    int *row = tape_bytes(t, (size_t)c->n * sizeof *row);
    for (int r = 0; row && r < c->n; r++)
        row[r] = c->target.steps.at[c->target.lengths[r] - 1] + r;
    return row ? op_gather(t, c->hidden, NULL, c->n, row) : NULL;
}

bool copies_differentiate(const forced *f, int first, const attention_control *control, copies *out) {
    sentence source[COPIES], target[COPIES];
    int left = f->target.length - first, n = left < COPIES ? left : COPIES;
    gradient_visit visit = {f, out, first};
    for (int k = 0; k < n; k++) {
        source[k] = f->source;
        target[k] = (sentence){f->target.ids, first + k + 1};
    }
    forced_rewind(f, true);
    f->t->attention = control;
    bool ok = copies_pass(f, n, source, target, out);
    f->t->attention = NULL;
    if (!ok || !output_visit(f->m, f->t, last_steps(f->t, out), differentiate_log, &visit))
        return false;
    tape_backward(f->t);
    return !f->t->failed;
}
