/* Luong, Pham and Manning 2015: stacks of long short-term memories as in seq2seq.c, and a look at the source by the
 * highest state of the decoder, after it has read the word before: state, weights, context, attentional vector.
 * What the attentional vector says goes into the next step (input feeding). docs/equations.md. */
#include "model/lstm_parts.h"

#include "op/dropout.h"
#include "op/linear.h"
#include "op/pointwise.h"
#include "op/shape.h"

typedef struct luong {
    lstm_stack encoder, decoder;
    param *W_a, *U_a, *v_a; /* those that the score reads */
    param *W_p, *v_p;       /* local-p */
    coverage_unit coverage;
    param *U_c, *C_c; /* W_c = [C_c, U_c] */
} luong;

static uint64_t idle(const sa_model_config *c) {
    return (c->attention == SA_ATTEND_GLOBAL ? CONFIG_BIT(ATTENTION_WINDOW) : 0) |
           (c->score != SA_SCORE_CONCAT ? CONFIG_BIT(DIM_ATT) : 0) |
           (c->score != SA_SCORE_LOCATION ? CONFIG_BIT(MAX_LOCATION) : 0);
}

static sa_status check(const sa_model_config *c, sa_error *error) {
    if (c->score != SA_SCORE_LOCATION || c->coverage == SA_COVERAGE_NONE)
        return SA_OK;
    return sa_fail(error, SA_USAGE, "coverage goes with scores that read the source; location reads none of it");
}

static void declare_attention(luong *p, const weight_scope *scope, const sa_model_config *c) {
    int n = c->dim_rnn;
    bool concat = c->score == SA_SCORE_CONCAT, location = c->score == SA_SCORE_LOCATION;
    if (c->score != SA_SCORE_DOT)
        p->W_a = weight_declare(scope, "attention", "W_a", WEIGHT_MATRIX, 1,
                                concat     ? c->dim_att
                                : location ? c->max_location
                                           : n,
                                n, c->score == SA_SCORE_GENERAL ? USE_PRODUCT : USE_STEP);
    if (concat) {
        p->U_a = weight_declare(scope, "attention", "U_a", WEIGHT_MATRIX, 1, c->dim_att, n, USE_PRODUCT);
        p->v_a = weight_declare(scope, "attention", "v_a", WEIGHT_ALIGNMENT_VECTOR, 1, c->dim_att, 0, USE_PRODUCT);
    }
    if (c->attention == SA_ATTEND_LOCAL_P) {
        p->W_p = weight_declare(scope, "attention", "W_p", WEIGHT_MATRIX, 1, n, n, USE_STEP);
        p->v_p = weight_declare(scope, "attention", "v_p", WEIGHT_MATRIX, 1, 1, n, USE_STEP);
    }
    coverage_declare(&p->coverage, scope, c, concat ? c->dim_att : n, n, n);
}

static void declare(model *m, const weight_scope *scope) {
    luong *p = m->own;
    const sa_model_config *c = &m->config;
    model_declare_source(m, scope, false);
    lstm_stack_declare(&p->encoder, scope, "encoder", c, 0, false);
    declare_attention(p, scope, c);
    model_declare_target(m, scope, false);
    lstm_stack_declare(&p->decoder, scope, "decoder", c, c->input_feeding ? c->dim_rnn : 0, true);
    p->C_c = weight_declare(scope, "readout", "C_c", WEIGHT_MATRIX, 1, c->dim_rnn, c->dim_rnn, USE_STEP);
    p->U_c = weight_declare(scope, "readout", "U_c", WEIGHT_MATRIX, 1, c->dim_rnn, c->dim_rnn, USE_STEP);
    model_declare_output(m, scope);
}

/* What energies are made of, from the annotations. */
static tensor *keys(const model *m, tape *t, tensor *h) {
    const luong *p = m->own;
    switch (m->config.score) {
    case SA_SCORE_DOT:
        return h;
    case SA_SCORE_GENERAL:
        return linear(t, h, p->W_a, NULL);
    case SA_SCORE_CONCAT:
        return linear(t, h, p->U_a, NULL);
    default:
        return NULL;
    }
}

static void encode(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out) {
    const luong *p = m->own;
    source_order order = source_order_make(t, source);
    tensor *top = lstm_encode(m, t, &p->encoder, source, x, r, out);
    if (!top || t->failed)
        return;
    tensor *h = op_gather(t, top, NULL, source->steps.at[source->steps.T], order.row);
    h = op_dropout(t, h, r->dropout, SITE_ANNOTATIONS, order.number);
    out->h = (annotations){h, keys(m, t, h), order.at, source->lengths, source->steps.T};
    out->coverage = coverage_of_source(t, &p->coverage, h);
}

/* The states of the layers; the attentional vector of the step before, at first zeros; and coverage. */
static void start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    const luong *p = m->own;
    lstm_hand_over(m, t, source, n, rows, out);
    if (m->config.input_feeding)
        out->part[out->n++] = op_zeros(t, n, m->config.dim_rnn);
    if (p->coverage.kind)
        out->part[out->n++] = coverage_start(t, &p->coverage, n, &source->h);
}

/* What a state gives to energies: itself, or W_a h. */
static tensor *query(const model *m, tape *t, tensor *h) {
    const luong *p = m->own;
    bool itself = m->config.score == SA_SCORE_DOT || m->config.score == SA_SCORE_GENERAL;
    return itself ? h : linear_consumed(t, 1, &(linear_term){h, p->W_a}, NULL);
}

/* The position in the source that has the number of the step. */
static const int *number_of_step(tape *t, int n, int step) {
    int *out = tape_bytes(t, (size_t)n * sizeof *out);
    for (int i = 0; out && i < n; i++)
        out[i] = step;
    return out;
}

static tensor *look(const model *m, tape *t, const encoding *source, const int *rows, int step, tensor *h,
                    tensor **covered, tensor **weights) {
    static const attention_score *const scores[] = {[SA_SCORE_DOT] = &score_dot,
                                                    [SA_SCORE_GENERAL] = &score_dot,
                                                    [SA_SCORE_CONCAT] = &score_additive,
                                                    [SA_SCORE_LOCATION] = &score_location};
    const luong *p = m->own;
    if (!h)
        return NULL;
    attention_form form = {.score = scores[m->config.score], .v_a = p->v_a};
    if (m->config.attention != SA_ATTEND_GLOBAL)
        form.window = m->config.attention_window;
    if (m->config.attention == SA_ATTEND_LOCAL_M)
        form.centre = number_of_step(t, (int)tensor_rows(h), step);
    if (m->config.attention == SA_ATTEND_LOCAL_P) /* p = S sigmoid(v_p . tanh(W_p h)) */
        form.place = linear_consumed(t, 1, &(linear_term){op_tanh(t, linear(t, h, p->W_p, NULL)), p->v_p}, NULL);
    return coverage_attention(t, &p->coverage, form, query(m, t, h), h, &source->h, &source->coverage, rows,
                              covered, weights);
}

static void make_steps(const model *m, tape *t, const encoding *source, const step_words *words,
                       const regularisation *r, const decoder_state *in, decoder_state *out, step_output *output) {
    const luong *p = m->own;
    const steps *over = &words->steps;
    int layers = m->config.layers;
    bool feeds = m->config.input_feeding;
    tensor *covered = p->coverage.kind ? in->part[in->n - 1] : NULL;
    tensor **said = tape_bytes(t, (size_t)over->T * sizeof *said), *fed = feeds ? in->part[2 * layers] : NULL;
    tensor **weights = tape_bytes(t, (size_t)over->T * sizeof *weights);
    tensor *gates = lstm_cell_input(t, &p->decoder.cell[0], words->e, NULL);
    stack_masks masks =
        lstm_stack_draw(t, &p->decoder, over->B, (stack_dropout){r->dropout, SITE_DECODER, words->number});
    lstm_state state[LSTM_LAYERS_MAX];
    lstm_states_get(in, layers, state);
    if (t->failed)
        return;
    tape_loop_begin(t, over, false);
    for (int i = 0; i < over->T && !t->failed; i++) {
        int j = tape_loop_next(t);
        tensor *context = feeds ? first_rows(t, fed, over->n[j]) : NULL;
        tensor *h = lstm_stack_step(t, &p->decoder, tape_step(t, gates, over, j), context, &masks, state);
        tensor *c = look(m, t, source, words->source, in->length + j, h, &covered, &weights[j]);
        const linear_term terms[] = {{c, p->C_c}, {h, p->U_c}}; /* h~ = tanh(W_c [c; h]) */
        fed = said[j] = op_tanh(t, linear_sum(t, NULL, NULL, 2, terms));
    }
    tape_loop_end(t);
    if (t->failed)
        return;
    lstm_states_put(out, layers, state);
    if (feeds)
        out->part[out->n++] = fed;
    if (covered)
        out->part[out->n++] = covered;
    *output = (step_output){.s = tape_joined(t, over, said), .weights = tape_joined(t, over, weights)};
}

const family family_luong = {
    .own = sizeof(luong),
    .idle = idle,
    .check = check,
    .declare = declare,
    .encode = encode,
    .start = start,
    .steps = make_steps,
    .readout = lstm_readout,
    .width = lstm_width,
    .width_option = "dim-rnn",
};
