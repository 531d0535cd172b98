/* Show, attend and tell (Xu et al. 2015): a picture is described place by place, and a long short-term memory that
 * looks at the places says what it sees. docs/equations.md. Features are learnt with the rest: three convolutions
 * of 3 x 3 in steps of 2 make a description of each square of 8 x 8 pixels and its surroundings. */
#include "model/family.h"

#include "base/rng.h"
#include "layer/lstm_cell.h"
#include "op/attention_hard.h"
#include "op/dropout.h"
#include "op/grid.h"
#include "op/linear.h"
#include "op/pointwise.h"
#include "op/shape.h"

#include <stdio.h>

enum { CONVOLUTIONS = 3, CELL = 1 << CONVOLUTIONS, TAPS = 9, COLOURS = 3 };
enum { PART_H, PART_C, PARTS }; /* of the decoder's state, and what it begins with */

typedef struct caption {
    param *K[CONVOLUTIONS], *k[CONVOLUTIONS];
    param *W_a, *U_a, *b_a, *v_a;
    param *W_0[PARTS], *b_0[PARTS];
    param *w_beta, *b_beta;
    lstm_cell cell;
    param *L_h, *L_z;
} caption;

/* Most numbers of a source. */
enum { NUMBERS_MOST = 1 << 24 };

static source_shape source_of(const sa_model_config *c) {
    int side = c->picture_side, across = side / CELL, L = c->features, D = c->dim_feature;
    if (L > 0)
        return (source_shape){SA_VOCAB_FEATURES, L, D, L <= NUMBERS_MOST / D ? L * D + 1 : 0, L};
    return (source_shape){SA_VOCAB_PICTURE, side, COLOURS, side * side + 1, across * across};
}

static uint64_t idle(const sa_model_config *c) {
    return c->features > 0 ? CONFIG_BIT(PICTURE_SIDE) : 0;
}

static sa_status check(const sa_model_config *c, sa_error *error) {
    if (c->features > 0)
        return c->features <= NUMBERS_MOST / c->dim_feature
                   ? SA_OK
                   : sa_fail(error, SA_USAGE, "%d features of %d numbers; at most %d numbers are read in all",
                             c->features, c->dim_feature, NUMBERS_MOST);
    if (c->picture_side % CELL)
        return sa_fail(error, SA_USAGE, "picture-side is %d; it must be a multiple of %d", c->picture_side, CELL);
    return c->dim_feature % 4 == 0
               ? SA_OK
               : sa_fail(error, SA_USAGE, "dim-feature is %d; it must be a multiple of 4", c->dim_feature);
}

/* D/4, D/2 and D channels. */
static void declare_encoder(caption *p, const weight_scope *scope, int D) {
    for (int i = 0, in = COLOURS; i < CONVOLUTIONS; i++) {
        int out = D >> (CONVOLUTIONS - 1 - i);
        char prefix[24];
        snprintf(prefix, sizeof prefix, "encoder.%d", i + 1);
        p->K[i] = weight_declare(scope, prefix, "K", WEIGHT_MATRIX, 1, out, TAPS * in, USE_PRODUCT);
        p->k[i] = weight_declare(scope, prefix, "b", WEIGHT_BIAS, 1, out, 0, USE_PRODUCT);
        in = out;
    }
}

static void declare(model *m, const weight_scope *scope) {
    caption *p = m->own;
    const sa_model_config *c = &m->config;
    int D = c->dim_feature, n = c->dim_rnn, A = c->dim_att;
    static const char *const first[PARTS][2] = {{"W_h", "b_h"}, {"W_c", "b_c"}};
    if (c->features == 0)
        declare_encoder(p, scope, D);
    for (int k = 0; k < PARTS; k++) {
        p->W_0[k] = weight_declare(scope, "start", first[k][0], WEIGHT_MATRIX, 1, n, D, USE_PRODUCT);
        p->b_0[k] = weight_declare(scope, "start", first[k][1], WEIGHT_BIAS, 1, n, 0, USE_PRODUCT);
    }
    p->W_a = weight_declare(scope, "attention", "W_a", WEIGHT_ALIGNMENT, 1, A, n, USE_STEP);
    p->U_a = weight_declare(scope, "attention", "U_a", WEIGHT_ALIGNMENT, 1, A, D, USE_PRODUCT);
    p->b_a = weight_declare(scope, "attention", "b_a", WEIGHT_BIAS, 1, A, 0, USE_PRODUCT);
    p->v_a = weight_declare(scope, "attention", "v_a", WEIGHT_ALIGNMENT_VECTOR, 1, A, 0, USE_PRODUCT);
    p->w_beta = weight_declare(scope, "attention", "w_beta", WEIGHT_MATRIX, 1, 1, n, USE_STEP);
    p->b_beta = weight_declare(scope, "attention", "b_beta", WEIGHT_BIAS, 1, 1, 0, USE_PRODUCT);
    model_declare_target(m, scope, false);
    lstm_cell_declare(&p->cell, scope, "decoder", c->dim_emb, D, n, SA_CELL_LSTM, true);
    p->L_h = weight_declare(scope, "readout", "L_h", WEIGHT_MATRIX, 1, c->dim_emb, n, USE_PRODUCT);
    p->L_z = weight_declare(scope, "readout", "L_z", WEIGHT_MATRIX, 1, c->dim_emb, D, USE_PRODUCT);
    model_declare_output(m, scope);
}

/* ---- encoder ----------------------------------------------------------------------------------------- */

/* How far each picture is moved; NULL: none is. */
static const int *draw_shifts(tape *t, const source_batch *source, int most) {
    int B = source->steps.B;
    int *shift = most > 0 && t->recording ? tape_bytes(t, 2 * (size_t)B * sizeof *shift) : NULL;
    for (int i = 0; shift && i < B; i++) {
        uint64_t number = (uint64_t)(t->first_sentence + source->number[i]);
        rng random = rng_at(t->seed, t->update, number, SITE_SOURCE_EMBEDDING);
        for (int k = 0; k < 2; k++)
            shift[2 * i + k] = (int)rng_below(&random, 2 * (uint64_t)most + 1) - most;
    }
    return shift;
}

/* Of each source, where its places begin, how many they are, and of each place the sentence. */
static annotations lay_out(tape *t, const source_batch *source, int places, int **number) {
    int B = source->steps.B;
    int *at = tape_bytes(t, (size_t)B * sizeof *at), *lengths = tape_bytes(t, (size_t)B * sizeof *lengths);
    *number = tape_bytes(t, (size_t)B * (size_t)places * sizeof **number);
    for (int i = 0; !t->failed && i < B; i++) {
        at[i] = i * places;
        lengths[i] = places;
        for (int k = 0; k < places; k++)
            (*number)[i * places + k] = source->number[i];
    }
    return (annotations){.at = at, .lengths = lengths, .longest = places};
}

/* a (B L, D), source by source. */
static tensor *describe(const model *m, tape *t, const source_batch *source, const regularisation *r) {
    const caption *p = m->own;
    int B = source->steps.B, side = m->config.picture_side;
    if (m->config.features > 0)
        return op_numbers(t, B, m->config.features, m->config.dim_feature, source->ids);
    tensor *a = op_pixels(t, B, side, source->ids, draw_shifts(t, source, r->picture_shift));
    for (int i = 0; i < CONVOLUTIONS; i++, side /= 2)
        a = op_relu(t, linear(t, op_windows(t, a, B, side), p->K[i], p->k[i]));
    return a;
}

static void encode(const model *m, tape *t, const source_batch *source, tensor *no_words, const regularisation *r,
                   encoding *out) {
    (void)no_words;
    const caption *p = m->own;
    int L = source_of(&m->config).positions, *number;
    tensor *a = describe(m, t, source, r);
    annotations places = lay_out(t, source, L, &number);
    if (!a || t->failed)
        return;
    tensor *mean = op_mean(t, a, source->steps.B, places.at, places.lengths);
    for (int k = 0; k < PARTS; k++) /* c_0 = tanh(f_c(mean a)), h_0 = tanh(f_h(mean a)) */
        out->part[k] = op_tanh(t, linear(t, mean, p->W_0[k], p->b_0[k]));
    places.values = op_dropout(t, a, r->dropout, SITE_ANNOTATIONS, number);
    places.keys = linear(t, places.values, p->U_a, p->b_a);
    out->h = places;
}

/* ---- decoder ----------------------------------------------------------------------------------------- */

static void start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    (void)m;
    out->n = PARTS;
    for (int k = 0; k < PARTS; k++)
        out->part[k] = rows ? op_gather(t, source->part[k], NULL, n, rows) : source->part[k];
}

/* alpha = softmax(v_a . tanh(W_a h + U_a a + b_a)), z = beta sum_j alpha_j a_j, or beta a_s with s drawn by alpha
 * or its largest; beta = sigmoid(w_beta . h + b_beta). hard: what is drawn by; NULL: nothing. */
static tensor *look(const caption *p, tape *t, const encoding *source, const int *rows, tensor *h,
                    const hard_form *hard, tensor **weights) {
    const attention_form form = {.score = &score_additive, .v_a = p->v_a};
    *weights = NULL;
    if (!h)
        return tape_fail(t);
    tensor *query = linear_consumed(t, 1, &(linear_term){h, p->W_a}, NULL);
    tensor *z = attention(t, &form, query, &source->h, rows, weights);
    if (hard)
        z = attention_hard(t, hard, z, *weights, &source->h, rows);
    return op_gate(t, z, linear_consumed(t, 1, &(linear_term){h, p->w_beta}, p->b_beta));
}

static hard_form hard_form_of(const tape *t, const step_words *words, const hard_learning *l) {
    return (hard_form){.draws = t->recording && l->reward > 0,
                       .expected = (double)l->expected,
                       .reward = (double)l->reward,
                       .entropy = (double)l->entropy,
                       .baseline = l->baseline,
                       .scale = words->nll_scale,
                       .nll = words->nll,
                       .site = SITE_DECODER};
}

static void make_steps(const model *m, tape *t, const encoding *source, const step_words *words,
                       const regularisation *r, const decoder_state *in, decoder_state *out, step_output *output) {
    const caption *p = m->own;
    const steps *over = &words->steps;
    size_t list = (size_t)over->T * sizeof(tensor *);
    tensor **h = tape_bytes(t, list), **z = tape_bytes(t, list), **weights = tape_bytes(t, list);
    tensor *gates = lstm_cell_input(t, &p->cell, words->e, NULL);
    lstm_state state = {in->part[PART_H], in->part[PART_C]};
    hard_form hard = hard_form_of(t, words, &r->hard);
    if (t->failed)
        return;
    tape_loop_begin(t, over, false);
    for (int i = 0; i < over->T && !t->failed; i++) {
        int j = tape_loop_next(t);
        hard.step = in->length + j;
        hard.number = words->number ? words->number + over->at[j] : NULL;
        z[j] = look(p, t, source, words->source, first_rows(t, state.h, over->n[j]),
                    m->config.hard_attention ? &hard : NULL, &weights[j]);
        state = lstm_step(t, &p->cell.step, tape_step(t, gates, over, j), z[j], state);
        h[j] = state.h;
    }
    tape_loop_end(t);
    if (t->failed)
        return;
    out->n = PARTS;
    out->part[PART_H] = state.h;
    out->part[PART_C] = state.c;
    *output = (step_output){.s = tape_joined(t, over, h),
                            .c = tape_joined(t, over, z),
                            .e = words->e,
                            .weights = tape_joined(t, over, weights)};
}

/* tanh(L_h h + E y + L_z z), with dropout before and after. */
static tensor *readout(const model *m, tape *t, const step_output *shown, const regularisation *r,
                       const int *number) {
    const caption *p = m->own;
    tensor *h = op_dropout(t, shown->s, r->dropout, SITE_STATE, number);
    const linear_term terms[] = {{h, p->L_h}, {shown->c, p->L_z}};
    tensor *hidden = op_tanh(t, linear_sum(t, shown->e, NULL, 2, terms));
    return op_dropout(t, hidden, r->dropout, SITE_READOUT, number);
}

static int width(const sa_model_config *c) {
    return c->dim_emb;
}

const family family_caption = {
    .own = sizeof(caption),
    .idle = idle,
    .source = source_of,
    .check = check,
    .declare = declare,
    .encode = encode,
    .start = start,
    .steps = make_steps,
    .readout = readout,
    .width = width,
    .width_option = "dim-emb",
};
