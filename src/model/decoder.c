#include "model/model.h"

#include "op/dropout.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/pointwise.h"
#include "op/shape.h"

/* Parts of the state. A model that looks first carries the context it looked at, because the next update uses it;
 * one that does not attend carries its fixed context and what that gives to the gates and the candidate. */
enum { PART_S, PART_C, PART_GATES, PART_CANDIDATE };

bool model_start(const model *m, tape *t, const encoding *source, int n, const int *rows, decoder_state *out) {
    *out = (decoder_state){.n = 1};
    tensor *summary = rows ? op_gather(t, source->summary, NULL, n, rows) : source->summary;
    out->part[PART_S] = op_tanh(t, linear(t, summary, m->W_s, m->b_s)); /* s_0 = tanh(W_s h_1) */
    if (!m->preset->attends) {
        out->n = 4;
        out->part[PART_C] = summary;
        out->part[PART_GATES] = linear(t, summary, m->decoder.step.C_zr, NULL);
        out->part[PART_CANDIDATE] = linear(t, summary, m->decoder.step.C, NULL);
    }
    return !t->failed;
}

tensor *model_embed_words(const model *m, tape *t, int n, const int *ids, const regularisation *r,
                          const int *number) {
    tensor *e = embed(t, m->target_embedding, m->target_embedding_b, n, ids);
    return op_dropout(t, e, r->dropout_emb, SITE_TARGET_EMBEDDING, number);
}

bool model_words(const model *m, tape *t, int n, const int *ids, step_words *out) {
    out->e = model_embed_words(m, t, n, ids, &(regularisation){0}, NULL);
    out->x = gru_cell_input(t, &m->decoder, out->e);
    return !t->failed;
}

/* c = sum_j a_j h_j, a = softmax_j(v_a . tanh(W_a s + U_a h_j)) */
static tensor *look(const model *m, tape *t, const encoding *source, const int *rows, tensor *s, tensor **weights) {
    return attention_additive(t, linear_consumed(t, 1, &(linear_term){s, m->W_a}, NULL), &source->h, m->v_a, rows,
                              weights);
}

/* s' = f(s, y, c) */
static tensor *advance(const model *m, tape *t, tensor *s, gru_input x, tensor *c) {
    return gru_step(t, &m->decoder.step, x, c, s);
}

/* The same with a fixed context, whose products were made once. */
static tensor *advance_fixed(const model *m, tape *t, gru_input x, const decoder_state *in) {
    gru_weights step = m->decoder.step;
    step.C_zr = step.C = NULL;
    x.gates = op_add_to(t, x.gates, in->part[PART_GATES]);
    x.candidate = op_add_to(t, x.candidate, in->part[PART_CANDIDATE]);
    return gru_step(t, &step, x, NULL, in->part[PART_S]);
}

/* The first rows of what has at least n. */
static tensor *first_rows(tape *t, tensor *x, int n) {
    return !x || tensor_rows(x) == n ? x : tape_rows(t, x, 0, n);
}

bool model_step(const model *m, tape *t, const encoding *source, const int *rows, bool first, step_words words,
                const decoder_state *in, decoder_state *out, step_output *output) {
    tensor *s = in->part[PART_S], *c, *weights = NULL;
    bool look_first = m->config.order == SA_LOOK_FIRST;
    int n = words.e ? (int)tensor_rows(words.e) : 0;
    *out = (decoder_state){.n = 1};
    if (!m->preset->attends) {
        *out = *in;
        c = in->part[PART_C];
        s = first && look_first ? gru_hold(t, s) : advance_fixed(m, t, words.x, in);
    } else if (look_first) {
        s = first ? gru_hold(t, s) : advance(m, t, s, words.x, first_rows(t, in->part[PART_C], n));
        c = look(m, t, source, rows, s, &weights);
        out->n = 2;
        out->part[PART_C] = c;
    } else {
        c = look(m, t, source, rows, first_rows(t, s, n), &weights);
        s = advance(m, t, s, words.x, c);
    }
    out->part[PART_S] = s;
    *output = (step_output){s, c, words.e, weights};
    return !t->failed;
}

/* t~ = U_o s + V_o E y + C_o c + b, t = maxout(t~) (Bahdanau et al. 2015, A.2.2); with an output rank W_1 t. */
tensor *model_readout(const model *m, tape *t, tensor *s, tensor *c, tensor *e, const regularisation *r,
                      const int *number) {
    s = op_dropout(t, s, r->dropout, SITE_STATE, number);
    const linear_term terms[] = {{s, m->U_o}, {e, m->V_o}, {c, m->C_o}};
    tensor *hidden = op_maxout(t, linear_consumed(t, 3, terms, m->b_o));
    hidden = op_dropout(t, hidden, r->dropout, SITE_READOUT, number);
    return m->W_1 ? linear(t, hidden, m->W_1, NULL) : hidden;
}

tensor *model_scores(const model *m, tape *t, tensor *hidden) {
    return linear(t, hidden, m->W_out, m->b_out);
}
