/* RNNsearch (Bahdanau, Cho and Bengio 2015) and the encoder-decoder without attention that it is compared with (Cho
 * et al. 2014, as run in the former): gated units, additive attention, maxout readout. The hybrid has the same
 * decoder, on the encoder of a Transformer (Chen et al. 2018). docs/equations.md. */
#include "model/transformer_parts.h"

#include "layer/gru_stack.h"
#include "op/dropout.h"
#include "op/linear.h"
#include "op/norm.h"
#include "op/pointwise.h"
#include "op/shape.h"

typedef struct rnnsearch {
    gru_stack encoder;
    gru_cell forward; /* in its place: of the encoder-decoder */
    gru_transition deep_forward;
    param *W_h, *b_h;                /* the same: word_encoder */
    transformer_encoder transformer; /* the same: of the hybrid */
    param *W_s, *g_s, *b_s;
    param *W_a, *U_a, *v_a;
    param *g_W, *g_U, *b_a; /* of normalised attention */
    coverage_unit coverage;
    gru_cell decoder, second; /* second: of the conditional unit, reads the context */
    gru_transition deep_decoder;
    param *U_o, *V_o, *C_o, *g_o, *b_o;
} rnnsearch;

/* Of the encoding: what the first state is made of; without attention also the context, the same for every step. */
enum { SUMMARY };
/* Of the state. A model that looks first carries the context it looked at, because the next update uses it; one
 * that does not attend carries its fixed context and what that gives to the gates and the candidate. */
enum { PART_S, PART_C, PART_GATES, PART_CANDIDATE, PART_COVERAGE = PART_GATES };

static bool is_conditional(const sa_model_config *c) {
    return c->order == SA_CONDITIONAL;
}

/* Whether the decoder, attention and readout are normalised too. */
static bool normalises_all(const sa_model_config *c) {
    return c->layer_norm == SA_NORM_ALL;
}

/* Annotations of words by themselves are to say nothing of the rest of the source by way of the first state. */
static bool starts_from_mean(const sa_model_config *c) {
    return c->decoder_start == SA_START_MEAN && !c->word_encoder;
}

static int decoder_transitions(const sa_model_config *c) {
    return c->order == SA_LOOK_FIRST ? 0 : c->decoder_transition;
}

static uint64_t idle(const sa_model_config *c) {
    uint64_t bits =
        c->word_encoder ? CONFIG_BIT(DECODER_START) | CONFIG_BIT(ENCODER_TRANSITION) | CONFIG_BIT(LAYERS) : 0;
    return bits | (c->order == SA_LOOK_FIRST ? CONFIG_BIT(DECODER_TRANSITION) : 0);
}

static bool is_hybrid(const model *m) {
    return m->preset->family == &family_hybrid;
}

/* D: width of what a decoder step sees. */
static int annotation_width(const model *m) {
    const sa_model_config *c = &m->config;
    return is_hybrid(m) ? c->dim_emb : m->preset->attends ? 2 * c->dim_rnn : c->dim_rnn;
}

static sa_status check(const sa_model_config *c, sa_error *error) {
    if (is_conditional(c) && !preset_find(c->preset)->attends)
        return sa_fail(error, SA_USAGE, "decoder-order conditional looks between two updates: %s does not look",
                       c->preset);
    if (c->layer_norm != SA_NORM_NONE && c->reset != SA_RESET_AFTER)
        return sa_fail(error, SA_USAGE, "layer-norm needs reset after: what is normalised is the product with U");
    if (c->layer_norm == SA_NORM_ENCODER && c->word_encoder)
        return sa_fail(error, SA_USAGE,
                       "layer-norm encoder normalises nothing of a word-encoder: say --layer-norm none");
    return SA_OK;
}

static sa_status check_hybrid(const sa_model_config *c, sa_error *error) {
    if (c->layer_norm == SA_NORM_ENCODER)
        return sa_fail(error, SA_USAGE,
                       "layer-norm encoder says nothing of a hybrid, whose encoder is always normalised");
    SA_TRY(transformer_check(c, error));
    return check(c, error);
}

static void declare_encoder(const model *m, rnnsearch *p, const weight_scope *scope) {
    const sa_model_config *c = &m->config;
    const gru_form form = {
        .input = c->dim_emb, .width = c->dim_rnn, .reset = c->reset, .normalised = c->layer_norm != SA_NORM_NONE};
    if (is_hybrid(m)) {
        transformer_encoder_declare(&p->transformer, scope, c);
    } else if (c->word_encoder) {
        p->W_h =
            weight_declare(scope, "encoder.word", "W_h", WEIGHT_MATRIX, 1, 2 * c->dim_rnn, c->dim_emb, USE_PRODUCT);
        p->b_h = weight_declare(scope, "encoder.word", "b", WEIGHT_BIAS, 1, 2 * c->dim_rnn, 0, USE_PRODUCT);
    } else if (m->preset->attends) {
        gru_stack_declare(&p->encoder, scope, "encoder", c->layers, c->encoder_transition, form);
    } else {
        gru_cell_declare(&p->forward, scope, "encoder.forward", form);
        gru_transition_declare(&p->deep_forward, scope, "encoder.forward.deep", c->encoder_transition, form);
    }
}

/* The gain of a normalisation, or NULL. */
static param *declare_gain(const weight_scope *scope, const sa_model_config *c, const char *prefix,
                           const char *name, int d) {
    return normalises_all(c) ? weight_declare(scope, prefix, name, WEIGHT_GAIN, 1, d, 0, USE_PRODUCT) : NULL;
}

static void declare_attention(rnnsearch *p, const weight_scope *scope, const sa_model_config *c, int D) {
    int A = c->dim_att;
    p->W_a = weight_declare(scope, "attention", "W_a", WEIGHT_ALIGNMENT, 1, A, c->dim_dec, USE_STEP);
    p->U_a = weight_declare(scope, "attention", "U_a", WEIGHT_ALIGNMENT, 1, A, D, USE_PRODUCT);
    p->v_a = weight_declare(scope, "attention", "v_a", WEIGHT_ALIGNMENT_VECTOR, 1, A, 0, USE_PRODUCT);
    p->g_W = declare_gain(scope, c, "attention", "g_W", A);
    p->g_U = declare_gain(scope, c, "attention", "g_U", A);
    if (normalises_all(c))
        p->b_a = weight_declare(scope, "attention", "b", WEIGHT_BIAS, 1, A, 0, USE_PRODUCT);
    coverage_declare(&p->coverage, scope, c, A, D, c->dim_dec);
}

static void declare_decoder(rnnsearch *p, const weight_scope *scope, const sa_model_config *c, int D) {
    gru_form form = {.input = c->dim_emb,
                     .context = is_conditional(c) ? 0 : D,
                     .width = c->dim_dec,
                     .reset = c->reset,
                     .normalised = normalises_all(c)};
    gru_cell_declare(&p->decoder, scope, "decoder.gru", form);
    if (is_conditional(c))
        gru_cell_declare(&p->second, scope, "decoder.gru2",
                         (gru_form){.input = D,
                                    .width = form.width,
                                    .reset = form.reset,
                                    .normalised = form.normalised,
                                    .gate_bias = true,
                                    .looped = true});
    gru_transition_declare(&p->deep_decoder, scope, "decoder.deep", decoder_transitions(c), form);
}

static void declare(model *m, const weight_scope *scope) {
    rnnsearch *p = m->own;
    const sa_model_config *c = &m->config;
    bool attends = m->preset->attends;
    int D = annotation_width(m), l2 = 2 * c->dim_maxout;
    int summary = starts_from_mean(c) ? D : c->dim_rnn;
    model_declare_source(m, scope, !is_hybrid(m));
    declare_encoder(m, p, scope);
    p->W_s = weight_declare(scope, "decoder.initial", "W_s", WEIGHT_MATRIX, 1, c->dim_dec, summary, USE_PRODUCT);
    p->g_s = declare_gain(scope, c, "decoder.initial", "g", c->dim_dec);
    p->b_s = weight_declare(scope, "decoder.initial", "b", WEIGHT_BIAS, 1, c->dim_dec, 0, USE_PRODUCT);
    if (attends)
        declare_attention(p, scope, c, D);
    model_declare_target(m, scope, true);
    declare_decoder(p, scope, c, D);
    p->U_o = weight_declare(scope, "readout", "U_o", WEIGHT_MATRIX, 1, l2, c->dim_dec, USE_PRODUCT);
    p->V_o = weight_declare(scope, "readout", "V_o", WEIGHT_MATRIX, 1, l2, c->dim_emb, USE_PRODUCT);
    p->C_o = weight_declare(scope, "readout", "C_o", WEIGHT_MATRIX, 1, l2, D, USE_PRODUCT);
    p->g_o = declare_gain(scope, c, "readout", "g", l2);
    p->b_o = weight_declare(scope, "readout", "b", WEIGHT_BIAS, 1, l2, 0, USE_PRODUCT);
    model_declare_output(m, scope);
}

/* ---- encoder ----------------------------------------------------------------------------------------- */

/* Annotations h, source after source, with dropout, and what all looks need of them. Returns the dropped ones. */
static tensor *lay_out(const rnnsearch *p, tape *t, const source_batch *source, source_order order, tensor *h,
                       const regularisation *r, encoding *out) {
    h = op_dropout(t, h, r->dropout, SITE_ANNOTATIONS, order.number);
    tensor *keys = p->g_U ? op_norm(t, linear_consumed(t, 1, &(linear_term){h, p->U_a}, NULL), p->g_U, p->b_a)
                          : linear(t, h, p->U_a, NULL);
    out->h = (annotations){h, keys, order.at, source->lengths, source->steps.T};
    out->coverage = coverage_of_source(t, &p->coverage, h);
    return h;
}

/* Annotations h_j = [forward state; backward state] (A.2.1), of the highest layer with its residual; the summary is
 * the backward state at the first word, or the mean of all. */
static void annotate(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                     encoding *out) {
    const rnnsearch *p = m->own;
    const steps *s = &source->steps;
    const gru_stack_dropout between = {r->dropout, SITE_ENCODER, batch_row_numbers(t, s, source->number)};
    source_order order = source_order_make(t, source);
    if (t->failed)
        return;
    tensor *h = gru_stack_run(t, &p->encoder, x, s, between, order.row, &out->part[SUMMARY]);
    h = lay_out(p, t, source, order, h, r, out);
    if (starts_from_mean(&m->config))
        out->part[SUMMARY] = op_mean(t, h, s->B, order.at, source->lengths);
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
    lay_out(p, t, source, order, h, r, out);
    out->part[SUMMARY] = op_zeros(t, s->B, m->config.dim_rnn);
}

/* Those of a Transformer's encoder, whose mean is the summary. */
static void encode_hybrid(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                          encoding *out) {
    const rnnsearch *p = m->own;
    source_order order = source_order_make(t, source);
    tensor *h = transformer_encode(m, t, &p->transformer, source, x, order, r);
    h = lay_out(p, t, source, order, h, r, out);
    out->part[SUMMARY] = op_mean(t, h, source->steps.B, order.at, source->lengths);
}

/* The encoder-decoder keeps the last state alone: c = h_T. */
static void summarise(const model *m, tape *t, const source_batch *source, tensor *x, const regularisation *r,
                      encoding *out) {
    const rnnsearch *p = m->own;
    const steps *s = &source->steps;
    tensor **forward = gru_cell_run(t, &p->forward, &p->deep_forward, x, s, false);
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

/* s_0 = tanh(W_s h_1 + b), or tanh(g N(W_s h_1) + b) */
static tensor *first_state(tape *t, const rnnsearch *p, tensor *summary) {
    const linear_term term = {summary, p->W_s};
    return op_tanh(t, p->g_s ? op_norm(t, linear_consumed(t, 1, &term, NULL), p->g_s, p->b_s)
                             : linear_sum(t, NULL, p->b_s, 1, &term));
}

static void start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    const rnnsearch *p = m->own;
    tensor *summary = source->part[SUMMARY];
    if (rows)
        summary = op_gather(t, summary, NULL, n, rows);
    out->n = 1;
    out->part[PART_S] = first_state(t, p, summary);
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
    if (p->g_W)
        q = op_norm_consumed(t, q, p->g_W, NULL);
    return coverage_attention(t, &p->coverage, form, q, s, &source->h, &source->coverage, rows,
                              &state->part[PART_COVERAGE], weights);
}

/* s' = f(s, y, c) */
static tensor *advance(const rnnsearch *p, tape *t, tensor *s, gru_input x, tensor *c) {
    return gru_transition_run(t, &p->deep_decoder, gru_step(t, &p->decoder.step, x, c, s));
}

/* The same with a fixed context, whose products were made once. */
static tensor *advance_fixed(const rnnsearch *p, tape *t, gru_input x, const decoder_state *in) {
    gru_weights step = p->decoder.step;
    step.C_zr = step.C = NULL;
    x.gates = op_add_to(t, x.gates, in->part[PART_GATES]);
    x.candidate = op_add_to(t, x.candidate, in->part[PART_CANDIDATE]);
    return gru_transition_run(t, &p->deep_decoder, gru_step(t, &step, x, NULL, in->part[PART_S]));
}

/* The second half of a conditional step: from the state that looked, and what it saw. */
static tensor *complete(const rnnsearch *p, tape *t, tensor *s, tensor *c) {
    tensor *made = gru_step(t, &p->second.step, gru_cell_input(t, &p->second, c), NULL, s);
    return gru_transition_run(t, &p->deep_decoder, made);
}

/* One step of n rows, in the order of work that the configuration names:
 *   look-first:   [if not held: s = f(s, y_{i-1}, c)]   c = look(s)   shows (s, c)
 *   update-first: c = look(s)   s = f(s, y_{i-1}, c)   shows (s, c)
 *   conditional:  s = f(s, y_{i-1})   c = look(s)   s = f_2(s, c)   shows (s, c)
 * held: no word was written yet, so that look-first has nothing to update with; x is not read then. Only s, c and
 * coverage of *state change. */
static void step(const model *m, tape *t, const encoding *source, const int *rows, int n, bool held, gru_input x,
                 decoder_state *state, tensor **weights) {
    const rnnsearch *p = m->own;
    tensor **s = &state->part[PART_S], **c = &state->part[PART_C];
    if (!m->preset->attends) {
        *s = held ? gru_hold(t, &p->decoder.step, *s) : advance_fixed(p, t, x, state);
    } else if (m->config.order == SA_LOOK_FIRST) {
        *s = held ? gru_hold(t, &p->decoder.step, *s) : advance(p, t, *s, x, first_rows(t, *c, n));
        *c = look(p, t, source, rows, *s, state, weights);
    } else if (m->config.order == SA_UPDATE_FIRST) {
        *c = look(p, t, source, rows, first_rows(t, *s, n), state, weights);
        *s = advance(p, t, *s, x, *c);
    } else {
        *s = gru_step(t, &p->decoder.step, x, NULL, *s);
        *c = look(p, t, source, rows, *s, state, weights);
        *s = complete(p, t, *s, *c);
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
    tensor *sum = linear_consumed(t, 3, terms, p->g_o ? NULL : p->b_o);
    tensor *hidden = op_maxout(t, p->g_o ? op_norm_consumed(t, sum, p->g_o, p->b_o) : sum);
    return op_dropout(t, hidden, r->dropout, SITE_READOUT, number);
}

static int width(const sa_model_config *c) {
    return c->dim_maxout;
}

const family family_rnnsearch = {
    .own = sizeof(rnnsearch),
    .idle = idle,
    .check = check,
    .declare = declare,
    .encode = encode,
    .start = start,
    .steps = make_steps,
    .readout = readout,
    .width = width,
    .width_option = "dim-maxout",
};

const family family_hybrid = {
    .own = sizeof(rnnsearch),
    .idle = idle,
    .check = check_hybrid,
    .declare = declare,
    .encode = encode_hybrid,
    .start = start,
    .steps = make_steps,
    .readout = readout,
    .width = width,
    .width_option = "dim-maxout",
};
