/* GNMT (Wu et al. 2016): deep stacks of long short-term memories with residual connections. The encoder's lowest
 * layer reads in both directions. The decoder looks with what its lowest layer showed at the step before, and every
 * layer reads the context. docs/equations.md. */
#include "model/lstm_parts.h"

#include "op/dropout.h"
#include "op/linear.h"
#include "op/shape.h"

#include <stdio.h>

typedef struct gnmt {
    lstm_cell forward, backward;
    lstm_stack encoder, decoder; /* of the encoder without its lowest layer */
    param *W_a, *U_a, *v_a;
    coverage_unit coverage;
} gnmt;

static sa_status check(const sa_model_config *c, sa_error *error) {
    if (c->residual_from == 0 || c->residual_from > 2)
        return SA_OK;
    return sa_fail(error, SA_USAGE,
                   "residual-from is %d; it must be 0 (nowhere) or at least 3: the layers below are not as wide as "
                   "their input",
                   c->residual_from);
}

/* Width of what the encoder's layer l, counted from 1, gives to the next. */
static int encoder_width(const sa_model_config *c, int l) {
    return l == 0 ? c->dim_emb : l == 1 ? 2 * c->dim_rnn : c->dim_rnn;
}

static void declare(model *m, const weight_scope *scope) {
    gnmt *p = m->own;
    const sa_model_config *c = &m->config;
    int n = c->dim_rnn, L = c->layers, D = encoder_width(c, L);
    char prefix[40];
    p->encoder = p->decoder = (lstm_stack){.n = L, .residual_from = c->residual_from};
    model_declare_source(m, scope, false);
    lstm_cell_declare(&p->forward, scope, "encoder.1.forward", c->dim_emb, 0, n, c->cell, false);
    lstm_cell_declare(&p->backward, scope, "encoder.1.backward", c->dim_emb, 0, n, c->cell, false);
    for (int i = 1; i < L; i++) {
        snprintf(prefix, sizeof prefix, "encoder.%d", i + 1);
        lstm_cell_declare(&p->encoder.cell[i], scope, prefix, encoder_width(c, i), 0, n, c->cell, false);
    }
    p->W_a = weight_declare(scope, "attention", "W_a", WEIGHT_ALIGNMENT, 1, c->dim_att, n, USE_STEP);
    p->U_a = weight_declare(scope, "attention", "U_a", WEIGHT_ALIGNMENT, 1, c->dim_att, D, USE_PRODUCT);
    p->v_a = weight_declare(scope, "attention", "v_a", WEIGHT_ALIGNMENT_VECTOR, 1, c->dim_att, 0, USE_PRODUCT);
    coverage_declare(&p->coverage, scope, c, c->dim_att, D, n);
    model_declare_target(m, scope, false);
    for (int i = 0; i < L; i++) {
        snprintf(prefix, sizeof prefix, "decoder.%d", i + 1);
        lstm_cell_declare(&p->decoder.cell[i], scope, prefix, i ? n : c->dim_emb, D, n, c->cell, i == 0);
    }
    model_declare_output(m, scope);
}

/* ---- encoder ----------------------------------------------------------------------------------------- */

static lstm_run run_cell(tape *t, const lstm_cell *cell, tensor *x, const steps *s, bool reversed) {
    return lstm_cell_run(t, cell, lstm_cell_input(t, cell, x, NULL), s, reversed, (lstm_state){0});
}

/* The lowest layer, [forward state; backward state] of every position, step by step; the decoder's lowest begins
 * with the backward state at the first word. */
static tensor *read_both_ways(const gnmt *p, tape *t, const source_batch *source, tensor *x, encoding *out) {
    const steps *s = &source->steps;
    lstm_run forward = run_cell(t, &p->forward, x, s, false), backward = run_cell(t, &p->backward, x, s, true);
    if (t->failed)
        return NULL;
    lstm_end_put(t, source, &backward, true, out, 0);
    return op_join(t, forward.all, backward.all);
}

static void encode(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out) {
    const gnmt *p = m->own;
    const steps *s = &source->steps;
    const stack_dropout dropout = {r->dropout, SITE_ENCODER, batch_row_numbers(t, s, source->number)};
    lstm_run run[LSTM_LAYERS_MAX];
    const stack_input in = {.x = read_both_ways(p, t, source, x, out), .over = s};
    tensor *top = lstm_stack_run(t, &p->encoder, 1, &in, dropout, run);
    source_order order = source_order_make(t, source);
    if (t->failed)
        return;
    for (int i = 1; i < p->encoder.n; i++)
        lstm_end_put(t, source, &run[i], false, out, i);
    tensor *h = op_gather(t, top, NULL, s->at[s->T], order.row);
    h = op_dropout(t, h, r->dropout, SITE_ANNOTATIONS, order.number);
    out->h = (annotations){h, linear(t, h, p->U_a, NULL), order.at, source->lengths, s->T};
    out->coverage = coverage_of_source(t, &p->coverage, h);
}

/* ---- decoder ----------------------------------------------------------------------------------------- */

static void start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    const gnmt *p = m->own;
    lstm_hand_over(m, t, source, n, rows, out);
    if (p->coverage.kind)
        out->part[out->n++] = coverage_start(t, &p->coverage, n, &source->h);
}

/* c_i = sum_j a_j h_j, a = softmax_j(v_a . tanh(W_a m_{i-1} + U_a h_j)); *covered changes. */
static tensor *look(const gnmt *p, tape *t, const encoding *source, const int *rows, tensor *h, tensor **covered,
                    tensor **weights) {
    const attention_form form = {.score = &score_additive, .v_a = p->v_a};
    tensor *q = linear_consumed(t, 1, &(linear_term){h, p->W_a}, NULL);
    return coverage_attention(t, &p->coverage, form, q, h, &source->h, &source->coverage, rows, covered, weights);
}

/* The lowest layer and the looks; all rows of what it showed, and of contexts and weights. *state and *covered
 * change. */
static tensor *run_lowest(const gnmt *p, tape *t, const encoding *source, const step_words *words,
                          lstm_state *state, tensor **covered, tensor **contexts, tensor **weights) {
    const steps *over = &words->steps;
    const lstm_cell *cell = &p->decoder.cell[0];
    size_t list = (size_t)over->T * sizeof(tensor *);
    tensor **h = tape_bytes(t, list), **c = tape_bytes(t, list), **a = tape_bytes(t, list);
    tensor *gates = lstm_cell_input(t, cell, words->e, NULL);
    if (t->failed)
        return NULL;
    tape_loop_begin(t, over, false);
    for (int i = 0; i < over->T; i++) {
        int j = tape_loop_next(t);
        c[j] = look(p, t, source, words->source, first_rows(t, state->h, over->n[j]), covered, &a[j]);
        *state = lstm_step(t, &cell->step, tape_step(t, gates, over, j), c[j], *state);
        h[j] = state->h;
    }
    tape_loop_end(t);
    if (t->failed)
        return NULL;
    *contexts = tape_joined(t, over, c);
    *weights = tape_joined(t, over, a);
    return tape_joined(t, over, h);
}

static void make_steps(const model *m, tape *t, const encoding *source, const step_words *words,
                       const regularisation *r, const decoder_state *in, decoder_state *out, step_output *output) {
    const gnmt *p = m->own;
    int layers = p->decoder.n, last = words->steps.T - 1;
    lstm_state state[LSTM_LAYERS_MAX];
    lstm_run run[LSTM_LAYERS_MAX];
    lstm_states_get(in, layers, state);
    tensor *covered = p->coverage.kind ? in->part[in->n - 1] : NULL;
    stack_input stack = {.over = &words->steps, .before = state};
    stack.x = run_lowest(p, t, source, words, &state[0], &covered, &stack.context, &output->weights);
    const stack_dropout dropout = {r->dropout, SITE_DECODER, words->number};
    output->s = lstm_stack_run(t, &p->decoder, 1, &stack, dropout, run);
    if (!output->s)
        return;
    for (int i = 1; i < layers; i++)
        state[i] = (lstm_state){run[i].h[last], run[i].c[last]};
    lstm_states_put(out, layers, state);
    if (covered)
        out->part[out->n++] = covered;
}

const family family_gnmt = {
    .own = sizeof(gnmt),
    .check = check,
    .declare = declare,
    .encode = encode,
    .start = start,
    .steps = make_steps,
    .readout = lstm_readout,
    .width = lstm_width,
    .width_option = "dim-rnn",
};
