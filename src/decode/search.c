#include "decode/search.h"

#include "decode/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A word of a hypothesis; hypotheses share their beginnings. */
typedef struct node {
    const struct node *parent;
    int word, depth;
    double score;
    const real *attention; /* over the source; NULL: not kept */
} node;

typedef struct beam {
    int live, width;  /* hypotheses still growing; how many may */
    const node **tip; /* of the live ones; NULL at the start */
    int max_length;
    const node **finished;
    int n_finished;
} beam;

/* A candidate extension of a live hypothesis. */
typedef struct candidate {
    double score;
    int parent, word; /* parent: among the sentence's live ones */
} candidate;

typedef struct search {
    const model *m;
    tape *t;
    const search_options *options;
    const sentence *sentences;
    int n;
    encoding source;
    const int *source_row; /* of each sentence, in the encoding */
    arena *nodes;
    beam *beams;
    int rows, rows_max; /* live hypotheses of all sentences, in order of sentence */
    int *row_source, *row_word, *row_parent;
    decoder_state state;
    real *kept[STATE_PARTS_MAX], *spare[STATE_PARTS_MAX]; /* the state, outside the arena, and room to gather it */
    candidate *candidates;
    const node **chosen; /* one sentence's next tips */
    scored *best;
    real *scratch;
} search;

void hypotheses_free(hypotheses *h) {
    for (int i = 0; i < h->n; i++) {
        free(h->at[i].ids);
        free(h->at[i].attention);
    }
    free(h->at);
    *h = (hypotheses){0};
}

static int max_length(const search_options *options, int source_length) {
    return (int)fmin((double)options->max_length_factor * (source_length - 1), 1e6) + 10;
}

/* The state starts with a row per sentence, in the caller's order. */
static bool encode(search *s) {
    source_batch batch;
    if (!source_batch_make(s->t, s->n, s->sentences, &batch) ||
        !model_encode(s->m, s->t, &batch, &(regularisation){0}, &s->source))
        return false;
    s->source_row = batch.row;
    memcpy(s->row_source, batch.row, (size_t)s->n * sizeof *s->row_source);
    return model_start(s->m, s->t, &s->source, s->n, s->source_row, &s->state);
}

static bool allocate(search *s) {
    int K = s->options->beam_size;
    s->rows_max = s->n * K;
    s->nodes = arena_new(1 << 18);
    s->beams = calloc((size_t)s->n, sizeof *s->beams);
    s->row_source = calloc((size_t)s->rows_max, sizeof(int));
    s->row_word = calloc((size_t)s->rows_max, sizeof(int));
    s->row_parent = calloc((size_t)s->rows_max, sizeof(int));
    s->chosen = calloc((size_t)K, sizeof *s->chosen);
    s->candidates = calloc((size_t)K * (size_t)K, sizeof *s->candidates);
    s->best = calloc((size_t)K, sizeof *s->best);
    s->scratch = calloc((size_t)s->m->config.vocab_target, sizeof *s->scratch);
    if (!s->nodes || !s->beams || !s->row_source || !s->row_word || !s->row_parent || !s->candidates || !s->best ||
        !s->scratch || !s->chosen)
        return false;
    for (int i = 0; i < s->n; i++) {
        beam *b = &s->beams[i];
        *b = (beam){.live = 1, .width = K, .max_length = max_length(s->options, s->sentences[i].length)};
        b->tip = calloc((size_t)K, sizeof *b->tip);
        b->finished = calloc((size_t)K, sizeof *b->finished);
        if (!b->tip || !b->finished)
            return false;
        s->row_word[i] = -1;
    }
    s->rows = s->n;
    return true;
}

static void release(search *s) {
    for (int i = 0; s->beams && i < s->n; i++) {
        free(s->beams[i].tip);
        free(s->beams[i].finished);
    }
    for (int k = 0; k < STATE_PARTS_MAX; k++) {
        free(s->kept[k]);
        free(s->spare[k]);
    }
    arena_free(s->nodes);
    free(s->beams);
    free(s->row_source);
    free(s->row_word);
    free(s->row_parent);
    free(s->candidates);
    free(s->chosen);
    free(s->best);
    free(s->scratch);
}

/* Better first; ties to the earlier hypothesis, then the smaller word, so that the order is total. */
static int compare_candidates(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->parent != y->parent)
        return x->parent - y->parent;
    return x->word - y->word;
}

/* The extensions of a sentence's live hypotheses whose scores start at row `row`. */
static int collect_candidates(search *s, const beam *b, const tensor *scores, int row) {
    int V = tensor_cols(scores), n = 0,
        last = b->tip[0] ? b->tip[0]->depth + 1 >= b->max_length : b->max_length <= 1;
    for (int k = 0; k < b->live; k++) {
        const real *x = scores->data + (long)(row + k) * V;
        double before = b->tip[k] ? b->tip[k]->score : 0, total = log_sum_exp(x, V, s->scratch);
        if (last) {
            s->candidates[n++] = (candidate){before + ((double)x[0] - total), k, 0};
            continue;
        }
        int found = top_of(x, V, b->width, s->best);
        for (int i = 0; i < found; i++)
            s->candidates[n++] = (candidate){before + (s->best[i].score - total), k, s->best[i].index};
    }
    qsort(s->candidates, (size_t)n, sizeof *s->candidates, compare_candidates);
    return n < b->width ? n : b->width;
}

static const node *grow(search *s, const beam *b, const candidate *c, const real *attention, int length) {
    node *made = arena_alloc(s->nodes, sizeof *made);
    real *kept = attention ? arena_alloc(s->nodes, (size_t)length * sizeof *kept) : NULL;
    if (!made || (attention && !kept))
        return NULL;
    if (kept)
        memcpy(kept, attention, (size_t)length * sizeof *kept);
    const node *parent = b->tip[c->parent];
    *made = (node){parent, c->word, parent ? parent->depth + 1 : 1, c->score, kept};
    return made;
}

/* Chooses the next hypotheses of sentence i, whose scores start at row; appends its rows from *next on. */
static bool extend_beam(search *s, int i, const tensor *scores, const tensor *weights, int row, int *next) {
    beam *b = &s->beams[i];
    int chosen = collect_candidates(s, b, scores, row), live = 0, length = s->sentences[i].length;
    for (int k = 0; k < chosen; k++) {
        const candidate *c = &s->candidates[k];
        const real *attention = NULL;
        if (weights && s->options->attention)
            attention = weights->data + (long)(row + c->parent) * tensor_cols(weights);
        const node *made = grow(s, b, c, attention, length);
        if (!made)
            return false;
        if (c->word == 0) {
            b->finished[b->n_finished++] = made;
            continue;
        }
        s->row_source[*next] = s->source_row[i];
        s->row_word[*next] = c->word;
        s->row_parent[*next] = row + c->parent;
        (*next)++;
        s->chosen[live++] = made;
    }
    memcpy(b->tip, s->chosen, (size_t)live * sizeof *b->tip);
    b->width -= chosen - live;
    b->live = live;
    return true;
}

/* Gathers the parents' states into memory that outlives the step. */
static bool keep_state(search *s, const decoder_state *from, int rows) {
    for (int k = 0; k < from->n; k++) {
        int cols = tensor_cols(from->part[k]);
        size_t bytes = (size_t)s->rows_max * (size_t)cols * sizeof(real);
        if (!s->kept[k] && !(s->kept[k] = malloc(bytes)))
            return false;
        if (!s->spare[k] && !(s->spare[k] = malloc(bytes)))
            return false;
        for (int i = 0; i < rows; i++)
            memcpy(s->spare[k] + (long)i * cols, from->part[k]->data + (long)s->row_parent[i] * cols,
                   (size_t)cols * sizeof(real));
        real *swap = s->kept[k];
        s->kept[k] = s->spare[k];
        s->spare[k] = swap;
    }
    s->state.length = from->length;
    s->state.n = from->n;
    return true;
}

static bool step(search *s, arena_mark mark) {
    const model *m = s->m;
    tape *t = s->t;
    step_words words;
    decoder_state next;
    step_output out;
    if (!model_words(m, t, s->rows, s->row_word, &words) ||
        !model_step(m, t, &s->source, s->row_source, words, &s->state, &next, &out))
        return false;
    tensor *hidden = model_readout(m, t, &out, &(regularisation){0}, NULL);
    tensor *scores = model_scores(m, t, hidden);
    if (!scores)
        return false;
    int row = 0, rows = 0;
    for (int i = 0; i < s->n; i++) {
        int live = s->beams[i].live;
        if (live && !extend_beam(s, i, scores, out.weights, row, &rows))
            return false;
        row += live;
    }
    int width[STATE_PARTS_MAX];
    for (int k = 0; k < next.n; k++)
        width[k] = tensor_cols(next.part[k]);
    if (!keep_state(s, &next, rows))
        return false;
    arena_release(t->arena, mark);
    s->rows = rows;
    for (int k = 0; k < s->state.n && rows > 0; k++)
        s->state.part[k] = tape_wrap(t, rows, width[k], s->kept[k]);
    return !t->failed;
}

static bool write_hypothesis(const search *s, const node *end, int source_length, hypothesis *out) {
    *out = (hypothesis){.length = end->depth, .score = end->score};
    out->normalized = end->score / pow(end->depth, (double)s->options->normalize);
    out->ids = malloc((size_t)end->depth * sizeof *out->ids);
    if (!out->ids)
        return false;
    if (end->attention) {
        out->attention = malloc((size_t)end->depth * (size_t)source_length * sizeof *out->attention);
        if (!out->attention)
            return false;
    }
    for (const node *at = end; at; at = at->parent) {
        out->ids[at->depth - 1] = at->word;
        for (int j = 0; out->attention && j < source_length; j++)
            out->attention[(long)(at->depth - 1) * source_length + j] = (float)at->attention[j];
    }
    return true;
}

static int compare_hypotheses(const void *a, const void *b) {
    const hypothesis *x = a, *y = b;
    return x->normalized == y->normalized ? 0 : x->normalized > y->normalized ? -1 : 1;
}

static bool write_results(const search *s, hypotheses *out) {
    for (int i = 0; i < s->n; i++) {
        const beam *b = &s->beams[i];
        out[i].at = calloc((size_t)b->n_finished, sizeof *out[i].at);
        if (!out[i].at)
            return false;
        for (int k = 0; k < b->n_finished; k++) {
            out[i].n = k + 1;
            if (!write_hypothesis(s, b->finished[k], s->sentences[i].length, &out[i].at[k]))
                return false;
        }
        qsort(out[i].at, (size_t)out[i].n, sizeof *out[i].at, compare_hypotheses);
    }
    return true;
}

sa_status search_translate(const model *m, tape *t, const sentence *sentences, int n, const search_options *options,
                           hypotheses *out, sa_error *error) {
    search s = {.m = m, .t = t, .options = options, .sentences = sentences, .n = n};
    memset(out, 0, (size_t)n * sizeof *out);
    tape_reset(t, false);
    bool ok = allocate(&s) && encode(&s);
    arena_mark mark = arena_get_mark(t->arena);
    while (ok && s.rows > 0)
        ok = step(&s, mark);
    ok = ok && write_results(&s, out);
    release(&s);
    bool finite = true;
    for (int i = 0; ok && i < n; i++)
        for (int k = 0; k < out[i].n; k++)
            finite = finite && isfinite(out[i].at[k].score);
    if (ok && finite)
        return SA_OK;
    for (int i = 0; i < n; i++)
        hypotheses_free(&out[i]);
    if (ok)
        return sa_fail(error, SA_NUMERIC, "a score is not finite: the numbers of this model are damaged");
    return sa_fail(error, SA_MEMORY,
                   "not enough memory to translate %d sentences together: use a smaller mini-batch "
                   "or beam",
                   n);
}
