#include "model/model.h"

#include "model/site.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/linear.h"
#include "op/pointwise.h"

/* Parts of the state. A model that looks first carries the context it looked at, because the next update uses it;
 * one that does not attend carries its fixed context and C c. */
enum { PART_S, PART_C, PART_PROJECTED_C };

bool model_start(const model *m, tape *t, const encoding *source, decoder_state *out) {
    *out = (decoder_state){.n = 1};
    out->part[PART_S] = op_tanh(t, linear(t, source->summary, m->W_s, m->b_s)); /* s_0 = tanh(W_s h_1) */
    if (!m->preset->attends) {
        out->n = 3;
        out->part[PART_C] = source->summary;
        out->part[PART_PROJECTED_C] = linear(t, source->summary, m->decoder.step.C, NULL);
    }
    return !t->failed;
}

bool model_words(const model *m, tape *t, const int *ids, int T, int B, const regularisation *r, word_block *out) {
    out->e = embed(t, m->target_embedding, m->target_embedding_b, ids, T, B);
    out->e = op_dropout(t, out->e, r->dropout_emb, SITE_TARGET_EMBEDDING, site_rows(t, B, T, SITE_TIME_MAJOR));
    out->x = linear(t, out->e, m->decoder.W, NULL);
    return !t->failed;
}

step_words model_words_at(tape *t, const word_block *words, int i) {
    return (step_words){tape_slice(t, words->e, i), tape_slice(t, words->x, i)};
}

/* c = sum_j a_j h_j, a = softmax_j(v_a . tanh(W_a s + U_a h_j)) */
static tensor *look(const model *m, tape *t, const encoding *source, const int *rows, tensor *s, tensor **weights) {
    return attention_additive(t, linear(t, s, m->W_a, NULL), &source->h, m->v_a, rows, weights);
}

/* s' = f(s, y, c) */
static tensor *advance(const model *m, tape *t, tensor *s, step_words words, tensor *c) {
    return gru_step(t, &m->decoder.step, words.x, c, s, NULL);
}

/* The same with a fixed context, whose product C c was made once. */
static tensor *advance_fixed(const model *m, tape *t, tensor *s, step_words words, tensor *projected_c) {
    gru_weights step = m->decoder.step;
    step.C = NULL;
    return gru_step(t, &step, op_add(t, words.x, projected_c), NULL, s, NULL);
}

bool model_step(const model *m, tape *t, const encoding *source, const int *rows, bool first, step_words words,
                const decoder_state *in, decoder_state *out, step_output *output) {
    tensor *s = in->part[PART_S], *c, *weights = NULL;
    *out = (decoder_state){.n = 1};
    if (!m->preset->attends) {
        c = in->part[PART_C];
        if (!first || m->config.order == SA_UPDATE_FIRST)
            s = advance_fixed(m, t, s, words, in->part[PART_PROJECTED_C]);
        out->n = 3;
        out->part[PART_C] = c;
        out->part[PART_PROJECTED_C] = in->part[PART_PROJECTED_C];
    } else if (m->config.order == SA_LOOK_FIRST) {
        if (!first)
            s = advance(m, t, s, words, in->part[PART_C]);
        c = look(m, t, source, rows, s, &weights);
        out->n = 2;
        out->part[PART_C] = c;
    } else {
        c = look(m, t, source, rows, s, &weights);
        s = advance(m, t, s, words, c);
    }
    out->part[PART_S] = s;
    *output = (step_output){s, c, words.e, weights};
    return !t->failed;
}

/* t~ = U_o s + V_o E y + C_o c + b, t = maxout(t~) (Bahdanau et al. 2015, A.2.2); with an output rank W_1 t. */
tensor *model_readout(const model *m, tape *t, tensor *s, tensor *c, tensor *e, const regularisation *r,
                      const int *sentence) {
    s = op_dropout(t, s, r->dropout, SITE_STATE, sentence);
    const linear_term terms[] = {{s, m->U_o}, {e, m->V_o}, {c, m->C_o}};
    tensor *hidden = op_maxout(t, linear_sum(t, NULL, m->b_o, 3, terms));
    hidden = op_dropout(t, hidden, r->dropout, SITE_READOUT, sentence);
    return m->W_1 ? linear(t, hidden, m->W_1, NULL) : hidden;
}

tensor *model_scores(const model *m, tape *t, tensor *hidden) {
    return linear(t, hidden, m->W_out, m->b_out);
}
