/* RNNsearch (Bahdanau, Cho and Bengio 2015) and the encoder-decoder without attention that it is compared with (Cho
 * et al. 2014, as run in the former): gated units, additive attention, maxout readout. docs/equations.md. */
#include "model/family.h"

#include "layer/gru_cell.h"
#include "op/dropout.h"
#include "op/linear.h"
#include "op/pointwise.h"
#include "op/shape.h"

typedef struct rnnsearch {
    gru_cell forward, backward;
    param *W_h, *b_h; /* in place of both: word_encoder */
    param *W_s, *b_s;
    param *W_a, *U_a, *v_a;
    coverage_unit coverage;
    gru_cell decoder;
    param *U_o, *V_o, *C_o, *b_o;
} rnnsearch;

/* Of the encoding: what the first state is made of; without attention also the context, the same for every step. */
enum { SUMMARY };
/* Of the state. A model that looks first carries the context it looked at, because the next update uses it; one
 * that does not attend carries its fixed context and what that gives to the gates and the candidate. */
enum { PART_S, PART_C, PART_GATES, PART_CANDIDATE, PART_COVERAGE = PART_GATES };

static void declare_encoder(const model *m, rnnsearch *p, const weight_scope *scope) {
    const sa_model_config *c = &m->config;
    if (c->word_encoder) {
        p->W_h =
            weight_declare(scope, "encoder.word", "W_h", WEIGHT_MATRIX, 1, 2 * c->dim_rnn, c->dim_emb, USE_PRODUCT);
        p->b_h = weight_declare(scope, "encoder.word", "b", WEIGHT_BIAS, 1, 2 * c->dim_rnn, 0, USE_PRODUCT);
        return;
    }
    gru_cell_declare(&p->forward, scope, "encoder.forward", c->dim_emb, 0, c->dim_rnn, c->reset);
    if (m->preset->attends)
        gru_cell_declare(&p->backward, scope, "encoder.backward", c->dim_emb, 0, c->dim_rnn, c->reset);
}

static void declare(model *m, const weight_scope *scope) {
    rnnsearch *p = m->own;
    const sa_model_config *c = &m->config;
    bool attends = m->preset->attends;
    int D = attends ? 2 * c->dim_rnn : c->dim_rnn, l2 = 2 * c->dim_maxout;
    model_declare_source(m, scope, true);
    declare_encoder(m, p, scope);
    p->W_s = weight_declare(scope, "decoder.initial", "W_s", WEIGHT_MATRIX, 1, c->dim_dec, c->dim_rnn, USE_PRODUCT);
    p->b_s = weight_declare(scope, "decoder.initial", "b", WEIGHT_BIAS, 1, c->dim_dec, 0, USE_PRODUCT);
    if (attends) {
        p->W_a = weight_declare(scope, "attention", "W_a", WEIGHT_ALIGNMENT, 1, c->dim_att, c->dim_dec, USE_STEP);
        p->U_a = weight_declare(scope, "attention", "U_a", WEIGHT_ALIGNMENT, 1, c->dim_att, D, USE_PRODUCT);
        p->v_a = weight_declare(scope, "attention", "v_a", WEIGHT_ALIGNMENT_VECTOR, 1, c->dim_att, 0, USE_PRODUCT);
        coverage_declare(&p->coverage, scope, c, c->dim_att, D, c->dim_dec);
    }
    model_declare_target(m, scope, true);
    gru_cell_declare(&p->decoder, scope, "decoder.gru", c->dim_emb, D, c->dim_dec, c->reset);
    p->U_o = weight_declare(scope, "readout", "U_o", WEIGHT_MATRIX, 1, l2, c->dim_dec, USE_PRODUCT);
    p->V_o = weight_declare(scope, "readout", "V_o", WEIGHT_MATRIX, 1, l2, c->dim_emb, USE_PRODUCT);
    p->C_o = weight_declare(scope, "readout", "C_o", WEIGHT_MATRIX, 1, l2, D, USE_PRODUCT);
    p->b_o = weight_declare(scope, "readout", "b", WEIGHT_BIAS, 1, l2, 0, USE_PRODUCT);
    model_declare_output(m, scope);
}

/* ---- encoder ----------------------------------------------------------------------------------------- */

/* Annotations h_j = [forward state; backward state] (A.2.1); the summary is the backward state at the first word.
 */
static void annotate(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                     encoding *out) {
    const rnnsearch *p = m->own;
    const steps *s = &source->steps;
    tensor **forward = gru_cell_run(t, &p->forward, x, s, false);
    tensor **backward = gru_cell_run(t, &p->backward, x, s, true);
    source_order order = source_order_make(t, source);
    if (!forward || !backward || t->failed)
        return;
    tensor *h = op_gather(t, tape_joined(t, s, forward), tape_joined(t, s, backward), s->at[s->T], order.row);
    h = op_dropout(t, h, r->dropout, SITE_ANNOTATIONS, order.number);
    out->h = (annotations){h, linear(t, h, p->U_a, NULL), order.at, source->lengths, s->T};
    out->coverage = coverage_of_source(t, &p->coverage, h);
    out->part[SUMMARY] = backward[0];
}

/* Annotations of words by themselves, h_j = tanh(W_h x_j + b), as wide as the others; the summary says nothing, so
 * that all that is known of the source comes through attention. */
static void annotate_words(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                           encoding *out) {
    const rnnsearch *p = m->own;
    const steps *s = &source->steps;
    source_order order = source_order_make(t, source);
    if (t->failed)
        return;
    tensor *h = op_tanh(t, linear(t, op_gather(t, x, NULL, s->at[s->T], order.row), p->W_h, p->b_h));
    h = op_dropout(t, h, r->dropout, SITE_ANNOTATIONS, order.number);
    out->h = (annotations){h, linear(t, h, p->U_a, NULL), order.at, source->lengths, s->T};
    out->coverage = coverage_of_source(t, &p->coverage, h);
    out->part[SUMMARY] = op_zeros(t, s->B, m->config.dim_rnn);
}

/* The encoder-decoder keeps the last state alone: c = h_T. */
static void summarise(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                      encoding *out) {
    const rnnsearch *p = m->own;
    const steps *s = &source->steps;
    tensor **forward = gru_cell_run(t, &p->forward, x, s, false);
    int *last = source_last_rows(t, source);
    if (!forward || !last)
        return;
    out->states = tape_joined(t, s, forward);
    tensor *c = op_gather(t, out->states, NULL, s->B, last);
    out->part[SUMMARY] = op_dropout(t, c, r->dropout, SITE_ANNOTATIONS, source->number);
}

static void encode(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                   encoding *out) {
    if (m->config.word_encoder)
        annotate_words(m, t, source, x, r, out);
    else if (m->preset->attends)
        annotate(m, t, source, x, r, out);
    else
        summarise(m, t, source, x, r, out);
}

/* ---- decoder ----------------------------------------------------------------------------------------- */

static void start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    const rnnsearch *p = m->own;
    tensor *summary = source->part[SUMMARY];
    if (rows)
        summary = op_gather(t, summary, NULL, n, rows);
    out->n = 1;
    out->part[PART_S] = op_tanh(t, linear(t, summary, p->W_s, p->b_s)); /* s_0 = tanh(W_s h_1) */
    if (p->coverage.kind) {
        out->n = PART_COVERAGE + 1; /* a context comes with the first look */
        out->part[PART_COVERAGE] = coverage_start(t, &p->coverage, n, &source->h);
    }
    if (!m->preset->attends) {
        out->n = 4;
        out->part[PART_C] = summary;
        out->part[PART_GATES] = linear(t, summary, p->decoder.step.C_zr, NULL);
        out->part[PART_CANDIDATE] = linear(t, summary, p->decoder.step.C, NULL);
    }
}

/* c = sum_j a_j h_j, a = softmax_j(v_a . tanh(W_a s + U_a h_j)); the state's coverage changes. */
static tensor *look(const rnnsearch *p, tape *t, const encoding *source, const int *rows, tensor *s,
                    decoder_state *state, tensor **weights) {
    const attention_form form = {.score = &score_additive, .v_a = p->v_a};
    tensor *q = linear_consumed(t, 1, &(linear_term){s, p->W_a}, NULL);
    return coverage_attention(t, &p->coverage, form, q, s, &source->h, &source->coverage, rows,
                              &state->part[PART_COVERAGE], weights);
}

/* s' = f(s, y, c) */
static tensor *advance(const rnnsearch *p, tape *t, tensor *s, gru_input x, tensor *c) {
    return gru_step(t, &p->decoder.step, x, c, s);
}

/* The same with a fixed context, whose products were made once. */
static tensor *advance_fixed(const rnnsearch *p, tape *t, gru_input x, const decoder_state *in) {
    gru_weights step = p->decoder.step;
    step.C_zr = step.C = NULL;
    x.gates = op_add_to(t, x.gates, in->part[PART_GATES]);
    x.candidate = op_add_to(t, x.candidate, in->part[PART_CANDIDATE]);
    return gru_step(t, &step, x, NULL, in->part[PART_S]);
}

/* One step of n rows, in the order of work that the configuration names:
 *   look-first:   [if not held: s = f(s, y_{i-1}, c)]   c = look(s)   shows (s, c)
 *   update-first: c = look(s)   s = f(s, y_{i-1}, c)   shows (s, c)
 * held: no word was written yet, so that look-first has nothing to update with; x is not read then. Only s, c and
 * coverage of *state change. */
static void step(const model *m, tape *t, const encoding *source, const int *rows, int n, bool held, gru_input x,
                 decoder_state *state, tensor **weights) {
    const rnnsearch *p = m->own;
    tensor **s = &state->part[PART_S], **c = &state->part[PART_C];
    if (!m->preset->attends) {
        *s = held ? gru_hold(t, *s) : advance_fixed(p, t, x, state);
    } else if (m->config.order == SA_LOOK_FIRST) {
        *s = held ? gru_hold(t, *s) : advance(p, t, *s, x, first_rows(t, *c, n));
        *c = look(p, t, source, rows, *s, state, weights);
    } else {
        *c = look(p, t, source, rows, first_rows(t, *s, n), state, weights);
        *s = advance(p, t, *s, x, *c);
    }
}

/* Each sentence's fixed context, again for every step. */
static tensor *repeat(tape *t, const steps *s, tensor *c) {
    int *row = tape_bytes(t, (size_t)s->at[s->T] * sizeof *row);
    for (int j = 0; row && j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            row[s->at[j] + i] = i;
    return op_gather(t, c, NULL, s->at[s->T], row);
}

static gru_input input_at(tape *t, gru_input all, const steps *s, int j, int from) {
    return (gru_input){tape_rows(t, all.gates, s->at[j] - from, s->n[j]),
                       tape_rows(t, all.candidate, s->at[j] - from, s->n[j])};
}

static void make_steps(const model *m, tape *t, const encoding *source, const step_words *words,
                       const regularisation *r, const decoder_state *in, decoder_state *out, step_output *output) {
    (void)r;
    const rnnsearch *p = m->own;
    const steps *over = &words->steps;
    bool attends = m->preset->attends, holds = m->config.order == SA_LOOK_FIRST && in->length == 0;
    int from = holds ? over->at[1] : 0; /* the rows before update nothing */
    size_t list = (size_t)over->T * sizeof(tensor *);
    tensor **s = tape_bytes(t, list), **c = tape_bytes(t, list), **weights = tape_bytes(t, list);
    gru_input x = gru_cell_input(t, &p->decoder, tape_rows(t, words->e, from, over->at[over->T] - from));
    if (t->failed)
        return;
    decoder_state state = *in;
    tape_loop_begin(t, over, false);
    for (int i = 0; i < over->T && !t->failed; i++) {
        int j = tape_loop_next(t);
        bool held = j == 0 && holds;
        step(m, t, source, words->source, over->n[j], held, held ? (gru_input){0} : input_at(t, x, over, j, from),
             &state, &weights[j]);
        s[j] = state.part[PART_S];
        c[j] = state.part[PART_C];
    }
    tape_loop_end(t);
    if (t->failed)
        return;
    out->n = attends && !p->coverage.kind ? (m->config.order == SA_LOOK_FIRST ? 2 : 1) : in->n;
    for (int k = 0; k < out->n; k++)
        out->part[k] = state.part[k];
    *output = (step_output){.s = tape_joined(t, over, s), .e = words->e};
    output->c = attends ? tape_joined(t, over, c) : repeat(t, over, state.part[PART_C]);
    output->weights = attends ? tape_joined(t, over, weights) : NULL;
}

/* t~ = U_o s + V_o E y + C_o c + b, t = maxout(t~) (A.2.2). */
static tensor *readout(const model *m, tape *t, const step_output *shown, const regularisation *r,
                       const int *number) {
    const rnnsearch *p = m->own;
    tensor *s = op_dropout(t, shown->s, r->dropout, SITE_STATE, number);
    const linear_term terms[] = {{s, p->U_o}, {shown->e, p->V_o}, {shown->c, p->C_o}};
    tensor *hidden = op_maxout(t, linear_consumed(t, 3, terms, p->b_o));
    return op_dropout(t, hidden, r->dropout, SITE_READOUT, number);
}

static int width(const sa_model_config *c) {
    return c->dim_maxout;
}

const family family_rnnsearch = {
    .own = sizeof(rnnsearch),
    .declare = declare,
    .encode = encode,
    .start = start,
    .steps = make_steps,
    .readout = readout,
    .width = width,
    .width_option = "dim-maxout",
};
