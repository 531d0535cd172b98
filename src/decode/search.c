#include "decode/search.h"

#include "decode/beam.h"
#include "decode/glimpse.h"
#include "decode/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    const sa_translate_options *options;
    const source_sentence *sentences;
    const sa_model_config *source; /* what sources are, which is the same for all models */
    int n, width;                  /* sentences; hypotheses of each at most */
    stepper stepper;
    chooser chooser;
    arena *nodes;
    beam *beams;
    int rows; /* live hypotheses of all sentences, in order of sentence */
    int *row_source, *row_word, *row_parent;
    const node **chosen; /* one sentence's next tips */
    double *attended;    /* one source sentence: sums of attention */
    bool keep_attention;
} search;

void hypotheses_free(hypotheses *h) {
    for (int i = 0; i < h->n; i++) {
        free(h->at[i].ids);
        free(h->at[i].word_score);
        free(h->at[i].attention);
    }
    free(h->at);
    *h = (hypotheses){0};
}

static bool allocate_chooser(search *s, const vocab *target, int longest) {
    const sa_translate_options *o = s->options;
    chooser *c = &s->chooser;
    int V = vocab_size(target), best = o->top_k < V ? o->top_k : V;
    size_t K = (size_t)s->width;
    c->constraints = (constraints){o, target, calloc((size_t)longest, sizeof(int))};
    c->candidates = calloc(K, sizeof *c->candidates);
    c->best = calloc(best > s->width ? (size_t)best : K, sizeof *c->best);
    c->weight = o->sample ? malloc((size_t)V * sizeof *c->weight) : NULL;
    c->cumulative = o->sample ? malloc((size_t)score_blocks(V) * sizeof *c->cumulative) : NULL;
    return c->constraints.words && c->candidates && c->best && (!o->sample || (c->weight && c->cumulative));
}

static bool allocate(search *s, const vocab *target) {
    size_t K = (size_t)s->width, rows = (size_t)s->n * K;
    int longest = 0, longest_source = 0;
    s->nodes = arena_new(1 << 18);
    s->beams = calloc((size_t)s->n, sizeof *s->beams);
    s->row_source = calloc(rows, sizeof(int));
    s->row_word = calloc(rows, sizeof(int));
    s->row_parent = calloc(rows, sizeof(int));
    s->chosen = calloc(K, sizeof *s->chosen);
    if (!s->nodes || !s->beams || !s->row_source || !s->row_word || !s->row_parent || !s->chosen)
        return false;
    for (int i = 0; i < s->n; i++) {
        beam *b = &s->beams[i];
        *b = (beam){.sentence = &s->sentences[i], .live = 1, .places = s->width};
        b->positions = model_positions(s->source, b->sentence->length);
        b->max_length = constraint_max_length(s->options, b->sentence, b->positions);
        longest = b->max_length > longest ? b->max_length : longest;
        longest_source = b->positions > longest_source ? b->positions : longest_source;
        b->tip = calloc(K, sizeof *b->tip);
        b->done = calloc((size_t)s->options->n_best, sizeof *b->done);
        if (!b->tip || !b->done)
            return false;
        s->row_source[i] = i;
        s->row_word[i] = -1;
    }
    s->rows = s->n;
    s->attended = calloc((size_t)longest_source, sizeof *s->attended);
    return s->attended && allocate_chooser(s, target, longest);
}

static void release(search *s) {
    for (int i = 0; s->beams && i < s->n; i++) {
        free(s->beams[i].tip);
        free(s->beams[i].done);
    }
    stepper_end(&s->stepper);
    arena_free(s->nodes);
    free(s->beams);
    free(s->row_source);
    free(s->row_word);
    free(s->row_parent);
    free(s->chosen);
    free(s->attended);
    free(s->chooser.constraints.words);
    free(s->chooser.candidates);
    free(s->chooser.best);
    free(s->chooser.weight);
    free(s->chooser.cumulative);
}

/* The candidate as a word of a hypothesis, its attention copied out of the step. NULL without memory. */
static const node *grow(search *s, const beam *b, const candidate *c, int row) {
    node *made = arena_alloc(s->nodes, sizeof *made);
    if (!made)
        return NULL;
    const node *parent = b->tip[c->parent];
    *made = (node){.parent = parent,
                   .word = c->word,
                   .depth = parent ? parent->depth + 1 : 1,
                   .sample = c->sample,
                   .opened = constraint_opened(&s->chooser.constraints, b->sentence, parent, c->word),
                   .score = c->score};
    const tensor *weights = s->stepper.weights;
    if (!s->keep_attention || !weights)
        return made;
    size_t bytes = (size_t)b->positions * sizeof(real);
    real *kept = arena_alloc(s->nodes, bytes);
    if (!kept)
        return NULL;
    memcpy(kept, weights->data + (long)(row + c->parent) * tensor_cols(weights), bytes);
    made->attention = kept;
    return made;
}

static double coverage_of(search *s, const node *end, int source_length) {
    if (s->options->coverage_penalty == 0 || !end->attention)
        return 0;
    memset(s->attended, 0, (size_t)source_length * sizeof *s->attended);
    for (const node *at = end; at; at = at->parent)
        for (int j = 0; j < source_length; j++)
            s->attended[j] += (double)at->attention[j];
    return ranking_coverage(s->attended, source_length);
}

/* Keeps the best n_best; of equal ones the earlier. Samples have places of their own. */
static void finish(search *s, beam *b, const node *end) {
    double coverage = coverage_of(s, end, b->positions);
    finished new = {end, ranking_score(s->options, end->score, end->depth, coverage)};
    if (s->options->sample) {
        b->done[end->sample] = new;
        b->n_done++;
        return;
    }
    int most = s->options->n_best;
    if (b->n_done == most && !(new.score > b->done[most - 1].score))
        return;
    int at = b->n_done < most ? b->n_done++ : most - 1;
    for (; at > 0 && b->done[at - 1].score < new.score; at--)
        b->done[at] = b->done[at - 1];
    b->done[at] = new;
}

/* Whether one of the first `live` tips can still become one of the n_best. The first has the highest sum. */
static bool can_win(const search *s, const beam *b, int live) {
    int n = s->options->n_best;
    return live > 0 &&
           (b->n_done < n || b->tip[0]->score > ranking_needed(s->options, b->done[n - 1].score, b->max_length));
}

/* What has been written is all that there will be. */
static void cut_short(search *s, beam *b) {
    for (int k = 0; k < b->live; k++)
        finish(s, b, b->tip[k]);
    b->live = 0;
}

/* Shows the sentence to whoever watches; one that nobody wants any more ends here. */
static bool show(search *s, beam *b) {
    bool wanted = true;
    if (b->live == 0 || !s->options->watch)
        return true;
    if (glimpse_show(s->options, s->chooser.constraints.target, b, &wanted, NULL) != SA_OK)
        return false;
    if (!wanted)
        cut_short(s, b);
    return true;
}

/* Continues the hypotheses of sentence i, whose first row is `row`; appends its rows from *next on. */
static bool extend(search *s, int i, int row, int *next) {
    beam *b = &s->beams[i];
    chooser *c = &s->chooser;
    int live = 0, ended = 0, found = s->options->sample ? beam_sample_next(c, b, row) : beam_search_next(c, b, row);
    if (c->broken)
        return false;
    for (int k = 0; k < found; k++) {
        const candidate *x = &c->candidates[k];
        const node *made = grow(s, b, x, row);
        if (!made)
            return false;
        if (x->word == VOCAB_EOS) {
            finish(s, b, made);
            ended++;
            continue;
        }
        s->row_source[*next] = i;
        s->row_word[*next] = x->word;
        s->row_parent[*next] = row + x->parent;
        (*next)++;
        s->chosen[live++] = made;
    }
    memcpy(b->tip, s->chosen, (size_t)live * sizeof *b->tip);
    b->live = s->options->sample || can_win(s, b, live) ? live : 0;
    b->places -= s->options->sample ? 0 : ended;
    if (!show(s, b))
        return false;
    *next -= live - b->live;
    return true;
}

static bool step(search *s) {
    if (!stepper_step(&s->stepper, s->row_source, s->row_word, s->rows))
        return false;
    int row = 0, rows = 0;
    for (int i = 0; i < s->n; i++) {
        int live = s->beams[i].live;
        if (live && !extend(s, i, row, &rows))
            return false;
        row += live;
    }
    s->rows = rows;
    return stepper_keep(&s->stepper, s->row_parent, rows);
}

static bool write_hypothesis(const finished *from, int source_length, hypothesis *out) {
    const node *end = from->end;
    size_t length = (size_t)end->depth;
    *out = (hypothesis){.length = end->depth, .score = end->score, .normalized = from->score};
    out->ids = malloc(length * sizeof *out->ids);
    out->word_score = malloc(length * sizeof *out->word_score);
    out->attention = end->attention ? malloc(length * (size_t)source_length * sizeof *out->attention) : NULL;
    if (!out->ids || !out->word_score || (end->attention && !out->attention))
        return false;
    for (const node *at = end; at; at = at->parent) {
        int i = at->depth - 1;
        out->ids[i] = at->word;
        out->word_score[i] = at->score - (at->parent ? at->parent->score : 0);
        for (int j = 0; out->attention && j < source_length; j++)
            out->attention[(long)i * source_length + j] = (float)at->attention[j];
    }
    return true;
}

static bool write_results(const search *s, hypotheses *out) {
    for (int i = 0; i < s->n; i++) {
        const beam *b = &s->beams[i];
        out[i].at = calloc((size_t)b->n_done, sizeof *out[i].at);
        if (!out[i].at)
            return false;
        for (int k = 0; k < b->n_done; k++) {
            out[i].n = k + 1;
            if (!write_hypothesis(&b->done[k], b->positions, &out[i].at[k]))
                return false;
        }
    }
    return true;
}

/* A word that had to come may have had no probability at all. */
static bool scores_are_finite(const search *s) {
    bool finite = true;
    for (int i = 0; i < s->n; i++) {
        finite = finite && s->beams[i].n_done > 0;
        for (int k = 0; k < s->beams[i].n_done; k++)
            finite = finite && isfinite(s->beams[i].done[k].score);
    }
    return finite;
}

sa_status search_translate(const ensemble *models, const vocab *target, tape *t, const source_sentence *sentences,
                           int n, const sa_translate_options *options, hypotheses *out, sa_error *error) {
    search s = {.options = options, .sentences = sentences, .source = &models->model[0]->config, .n = n};
    s.keep_attention =
        options->attention || options->replace_unk || options->coverage_penalty > 0 || vocab_protects(target);
    s.chooser.options = options;
    s.chooser.scores = &s.stepper.scores;
    s.width = options->sample ? options->n_best : options->beam_size;
    memset(out, 0, (size_t)n * sizeof *out);
    bool ok = allocate(&s, target) &&
              stepper_begin(&s.stepper, models, t, options->shortlist, target, sentences, n, n * s.width);
    while (ok && s.rows > 0)
        ok = step(&s);
    bool finite = t->failed || (!s.chooser.broken && (!ok || scores_are_finite(&s)));
    ok = ok && finite && write_results(&s, out);
    release(&s);
    if (ok)
        return SA_OK;
    for (int i = 0; i < n; i++)
        hypotheses_free(&out[i]);
    if (!finite)
        return sa_fail(error, SA_NUMERIC, "a score is not finite: the numbers of this model are damaged");
    return sa_fail(error, SA_MEMORY,
                   "not enough memory to translate %d sentences together: use a smaller mini-batch "
                   "or beam",
                   n);
}
