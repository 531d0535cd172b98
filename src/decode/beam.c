#include "decode/beam.h"

#include "base/rng.h"
#include "math/vecmath.h"

#include <math.h>
#include <string.h>

/* Rounding of scores as real; an upper bound is enough where exact ones decide afterwards. */
static const double SLACK = 1e-3;

/* Gives the row of live hypothesis k, with log p of </s> and, in *word, the only one that may follow, or -1: what
 * the row leaves may. */
static bool open_row(chooser *c, const beam *b, int row, int k, score_row *out, double *end, int *word) {
    if (!row_scores_get(c->scores, row + k, out)) {
        c->broken = true;
        return false;
    }
    *end = row_scores_log_prob(c->scores, VOCAB_EOS);
    *word = constraint_forced(b->sentence, b->tip[k], b->max_length);
    if (*word < 0)
        constraint_apply(&c->constraints, b->sentence, b->tip[k], out);
    if (*word < 0 && !score_row_allows_any(out))
        *word = VOCAB_EOS;
    return true;
}

static double score_of(const node *tip) {
    return tip ? tip->score : 0;
}

/* ---- beam search ------------------------------------------------------------------------------------- */

/* The sum that a candidate must exceed. */
static double least_sum(const chooser *c, const beam *b, int found) {
    return found == b->places ? c->candidates[found - 1].score : -HUGE_VAL;
}

/* Puts it behind those that are as good: the order is by score, then hypothesis, then word. Returns how many places
 * are taken. */
static int add_candidate(chooser *c, const beam *b, int found, candidate new) {
    if (!(new.score > least_sum(c, b, found)))
        return found;
    int at = found < b->places ? found++ : found - 1;
    for (; at > 0 && c->candidates[at - 1].score < new.score; at--)
        c->candidates[at] = c->candidates[at - 1];
    c->candidates[at] = new;
    return found;
}

int beam_search_next(chooser *c, const beam *b, int row) {
    int found = 0;
    for (int k = 0; k < b->live; k++) {
        score_row x;
        int word;
        double end, before = score_of(b->tip[k]);
        if (!open_row(c, b, row, k, &x, &end, &word))
            return 0;
        if (word >= 0) {
            double log_p = word == VOCAB_EOS ? end : row_scores_log_prob(c->scores, word);
            found = add_candidate(c, b, found, (candidate){before + log_p, k, word, 0});
            continue;
        }
        double floor = least_sum(c, b, found) - before + x.log_sum - SLACK;
        int n = score_row_top(&x, b->places, floor, c->best);
        for (int i = 0; i < n; i++) {
            word = c->best[i].index;
            found =
                add_candidate(c, b, found, (candidate){before + row_scores_log_prob(c->scores, word), k, word, 0});
        }
    }
    return found;
}

/* ---- sampling ---------------------------------------------------------------------------------------- */

/* Fills c->weight with what p^(1/temperature) is proportional to, of the words in c->best or else of all, and
 * c->cumulative with its sums up to the end of each block. Returns how many words there are. */
static int weigh(chooser *c, const score_row *x) {
    const sa_translate_options *o = c->options;
    int k = o->top_k < x->n ? o->top_k : x->n, n = k > 0 ? score_row_top(x, k, -HUGE_VAL, c->best) : x->n;
    real largest = vec_max(x->block, score_blocks(x->n)), scale = 1 / (real)o->temperature;
    for (int i = 0; i < n; i++)
        c->weight[i] = ((k > 0 ? (real)c->best[i].score : x->x[i]) - largest) * scale;
    vec_exp_shift(c->weight, c->weight, 0, n);
    double sum = 0;
    for (int b = 0; b < score_blocks(n); b++) {
        int start = b * SCORE_BLOCK, end = start + SCORE_BLOCK < n ? start + SCORE_BLOCK : n;
        c->cumulative[b] = sum += (double)vec_sum(c->weight + start, end - start);
    }
    return n;
}

/* The word whose part of all weights u lies in; never one of weight 0. */
static int pick(const chooser *c, int n, double u) {
    int b = 0, last = score_blocks(n) - 1, picked = -1;
    double wanted = u * c->cumulative[last];
    while (b < last && c->cumulative[b] <= wanted)
        b++;
    while (b > 0 && c->cumulative[b] == c->cumulative[b - 1]) /* rounding of u near 1 */
        b--;
    double sum = b > 0 ? c->cumulative[b - 1] : 0;
    for (int i = b * SCORE_BLOCK; i < n && i < (b + 1) * SCORE_BLOCK; i++) {
        sum += (double)c->weight[i];
        if (c->weight[i] > 0)
            picked = i;
        if (picked == i && sum > wanted)
            break;
    }
    return picked;
}

static int draw(const chooser *c, const beam *b, int n, int sample, int depth) {
    rng random = rng_at(c->options->seed, b->sentence->number, (uint64_t)sample, (uint64_t)depth);
    int at = pick(c, n, rng_uniform(&random));
    return c->options->top_k > 0 ? c->best[at].index : at;
}

/* At the start one row serves all samples. */
int beam_sample_next(chooser *c, const beam *b, int row) {
    bool start = !b->tip[0];
    for (int k = 0; k < b->live; k++) {
        score_row x;
        int word;
        double end;
        if (!open_row(c, b, row, k, &x, &end, &word))
            return 0;
        int n = word < 0 ? weigh(c, &x) : 0;
        for (int i = start ? 0 : k; i < (start ? b->places : k + 1); i++) {
            int sample = start ? i : b->tip[k]->sample, depth = start ? 0 : b->tip[k]->depth;
            int drawn = word < 0 ? draw(c, b, n, sample, depth) : word;
            double log_p = drawn == VOCAB_EOS ? end : row_scores_log_prob(c->scores, drawn);
            c->candidates[i] = (candidate){score_of(b->tip[k]) + log_p, k, drawn, sample};
        }
    }
    return start ? b->places : b->live;
}
