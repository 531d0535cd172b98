#include "align/count_aligner.h"

#include "align/count_draw.h"
#include "base/memory.h"
#include "base/thread.h"

#include <stdlib.h>

const count_options count_defaults = {.seed = 1, .threads = 1, .chains = 0, .sweeps = 3};

/* Words find each other wherever they are, then each direction finds its order: what early sweeps get wrong ("the
 * house" linked to "maison la") would stay, were both directions to agree on it. */
static const struct {
    int sweeps;
    count_stage stage;
} early[] = {{3, {.words_only = true, .gamma = 1}}, {2, {.gamma = 1}}};

enum {
    ROUNDS_BEFORE = 2, /* of drawing a pair's links again, whose probabilities do not count */
    ROUNDS = 8
};

struct count_aligner {
    count_options options;
    count_text text;
    count_chain *chain; /* options.chains */
    count_draw *draw;   /* one for each thread */
    pool *workers;
};

/* ---- learning ---------------------------------------------------------------------------------------- */

typedef struct chain_work {
    count_aligner *aligner;
    sa_status *status; /* by chain */
    sa_error *error;
} chain_work;

/* number: of the sweep, which its random numbers belong to. */
static sa_status sweep(count_aligner *a, count_chain *c, count_draw *w, int number, const count_stage *stage,
                       sa_error *error) {
    const corpus *text = a->text.text;
    for (size_t i = 0; i < text->n; i++) {
        count_pair p;
        if (!count_pair_at(text, i, &p))
            continue;
        rng random = rng_at(a->options.seed, (uint64_t)number, i, (uint64_t)c->number);
        count_draw_begin(w, c, &p);
        count_draw_links(w, c, &p, stage, &random, NULL);
        SA_TRY(count_chain_relink(c, &p, w->link, error));
    }
    count_chain_refresh(c);
    return SA_OK;
}

static void learn_chain(void *argument, int number, int worker) {
    chain_work *work = argument;
    count_aligner *a = work->aligner;
    count_chain *c = &a->chain[number];
    sa_error *error = &work->error[number];
    sa_status status = count_chain_make(c, &a->text, a->options.seed, number, error);
    int k = 0;
    for (size_t stage = 0; stage < sizeof early / sizeof *early; stage++)
        for (int i = 0; i < early[stage].sweeps && status == SA_OK; i++)
            status = sweep(a, c, &a->draw[worker], k++, &early[stage].stage, error);
    for (int i = 0; i < a->options.sweeps && status == SA_OK; i++)
        status = sweep(a, c, &a->draw[worker], k++, &count_whole_model, error);
    work->status[number] = status;
}

static sa_status learn_chains(count_aligner *a, sa_error *error) {
    size_t n = (size_t)a->options.chains;
    chain_work work = {.aligner = a, .status = calloc(n, sizeof(sa_status)), .error = calloc(n, sizeof(sa_error))};
    sa_status status = work.status && work.error ? SA_OK : sa_fail_memory(error, n * sizeof(sa_error));
    if (status == SA_OK)
        pool_run(a->workers, a->options.chains, learn_chain, &work);
    for (size_t k = 0; k < n && status == SA_OK; k++)
        if (work.status[k] != SA_OK)
            status = sa_fail(error, work.status[k], "%s", work.error[k].text);
    free(work.status);
    free(work.error);
    return status;
}

static int longest_of(const corpus *text) {
    int longest = 0;
    for (size_t i = 0; i < text->n; i++) {
        count_pair p;
        if (count_pair_at(text, i, &p))
            for (int d = 0; d < 2; d++)
                longest = p.length[d] > longest ? p.length[d] : longest;
    }
    return longest;
}

/* Small texts are soon done, and have more to gain. */
static int chains_for(const corpus *text, const count_options *o) {
    const size_t words = text->source_symbols + text->target_symbols, affordable = 16000000 / (words + 1);
    return o->chains ? o->chains : affordable > 16 ? 16 : affordable < 4 ? 4 : (int)affordable;
}

double count_aligner_bytes(const corpus *text, const count_options *o) {
    const count_text known = {.text = text, .longest = longest_of(text)};
    return chains_for(text, o) * count_chain_bytes(&known) + o->threads * count_draw_bytes(&known);
}

static sa_status check(const corpus *text, const count_options *o, sa_error *error) {
    if (o->threads < 1 || o->sweeps < 1)
        return sa_fail(error, SA_USAGE, "%s must be 1 or more", o->threads < 1 ? "threads" : "sweeps");
    if (o->chains < 0)
        return sa_fail(error, SA_USAGE, "chains must be 0 or more");
    double needed = count_aligner_bytes(text, o);
    memory_room left = memory_pages_left("");
    if (needed > left.bytes)
        return sa_fail(
            error, SA_MEMORY,
            "counting links of %zu pairs may take %.0f MB, and %s leaves %.0f MB; use less text, or fewer "
            "chains",
            text->n, needed * 1e-6, left.limit, left.bytes * 1e-6);
    return SA_OK;
}

static sa_status make(count_aligner *a, const corpus *text, const vocab *const side[2], sa_error *error) {
    const count_options *o = &a->options;
    a->text = (count_text){.text = text, .longest = longest_of(text)};
    SA_TRY(count_stems_make(&a->text.stems, text, side, error));
    a->chain = calloc((size_t)o->chains, sizeof *a->chain);
    a->draw = calloc((size_t)o->threads, sizeof *a->draw);
    if (!a->chain || !a->draw)
        return sa_fail_memory(error, (size_t)o->chains * sizeof *a->chain);
    for (int k = 0; k < o->threads; k++)
        SA_TRY(count_draw_make(&a->draw[k], &a->text, error));
    SA_TRY(pool_new(&a->workers, o->threads, NULL, error));
    return learn_chains(a, error);
}

sa_status count_aligner_learn(count_aligner **out, const corpus *text, const vocab *const side[2],
                              const count_options *options, sa_error *error) {
    *out = NULL;
    SA_TRY(check(text, options, error));
    count_aligner *a = calloc(1, sizeof *a);
    if (!a)
        return sa_fail_memory(error, sizeof *a);
    a->options = *options;
    a->options.chains = chains_for(text, options);
    sa_status status = make(a, text, side, error);
    if (status == SA_OK)
        *out = a;
    else
        count_aligner_free(a);
    return status;
}

void count_aligner_free(count_aligner *a) {
    if (!a)
        return;
    pool_free(a->workers);
    for (int k = 0; a->chain && k < a->options.chains; k++)
        count_chain_free(&a->chain[k]);
    for (int k = 0; a->draw && k < a->options.threads; k++)
        count_draw_free(&a->draw[k]);
    free(a->chain);
    free(a->draw);
    count_stems_free(&a->text.stems);
    free(a);
}

/* ---- translations of words --------------------------------------------------------------------------- */

typedef struct translation {
    int word;
    uint32_t count;
} translation;

static int by_word(const void *a, const void *b) {
    const translation *x = a, *y = b;
    return (x->word > y->word) - (x->word < y->word);
}

static int by_count(const void *a, const void *b) {
    const translation *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : by_word(a, b);
}

/* A chain's words that come from x; list: room for as many as there may be. Returns their number. */
static size_t list_translations(const count_chain *c, int x, translation *list) {
    size_t n = 0;
    if (x == VOCAB_EOS) {
        for (int word = 0; word < c->text->text->vocab_size[SA_TARGET]; word++)
            if (c->none[SA_SOURCE][word])
                list[n++] = (translation){word, c->none[SA_SOURCE][word]};
        return n;
    }
    const count_row *r = &c->words.row[x];
    for (size_t i = 0; i <= r->mask; i++)
        if (r->cell[i].count[SA_SOURCE])
            list[n++] = (translation){r->cell[i].target, r->cell[i].count[SA_SOURCE]};
    return n;
}

/* Sorts the list and adds up what is listed of a word by several chains. Returns how many words are left. */
static size_t merge_translations(translation *list, size_t n) {
    size_t words = 0;
    qsort(list, n, sizeof *list, by_word);
    for (size_t i = 0; i < n; i++)
        if (words > 0 && list[words - 1].word == list[i].word)
            list[words - 1].count += list[i].count;
        else
            list[words++] = list[i];
    qsort(list, words, sizeof *list, by_count);
    return words;
}

sa_status count_aligner_translations(const count_aligner *a, int x, int k, float least, int *y, int *n,
                                     sa_error *error) {
    size_t room = 1, words = 0;
    double all = 0;
    for (int c = 0; c < a->options.chains; c++)
        room += x == VOCAB_EOS ? (size_t)a->text.text->vocab_size[SA_TARGET] : a->chain[c].words.row[x].used;
    translation *list = malloc(room * sizeof *list);
    if (!list)
        return sa_fail_memory(error, room * sizeof *list);
    for (int c = 0; c < a->options.chains; c++)
        words += list_translations(&a->chain[c], x, list + words);
    words = merge_translations(list, words);
    for (size_t i = 0; i < words; i++)
        all += list[i].count;
    for (*n = 0; *n < k && (size_t)*n < words && list[*n].count >= (double)least * all; ++*n)
        y[*n] = list[*n].word;
    free(list);
    return SA_OK;
}

/* ---- aligning ---------------------------------------------------------------------------------------- */

/* Adds a chain's probabilities of the pair's links. */
static void add_chain(const count_aligner *a, const count_chain *c, count_draw *w, const count_pair *p, size_t i,
                      float *const sum[2]) {
    rng random = rng_at(a->options.seed, UINT64_MAX, i, (uint64_t)c->number);
    count_draw_begin(w, c, p);
    for (int round = 0; round < ROUNDS_BEFORE + ROUNDS; round++)
        count_draw_links(w, c, p, &count_whole_model, &random, round < ROUNDS_BEFORE ? NULL : sum);
}

typedef struct align_work {
    count_aligner *aligner;
    size_t first;
    count_links *out;
} align_work;

static void align_pair(void *argument, int number, int worker) {
    const align_work *work = argument;
    count_aligner *a = work->aligner;
    count_links *out = &work->out[number];
    size_t i = work->first + (size_t)number;
    count_pair p;
    if (!out->probability[0])
        return;
    count_pair_at(a->text.text, i, &p);
    for (int k = 0; k < a->options.chains; k++)
        add_chain(a, &a->chain[k], &a->draw[worker], &p, i, out->probability);
    const float scale = 1.0f / (float)(ROUNDS * a->options.chains);
    size_t cells = (size_t)p.length[SA_SOURCE] * (size_t)p.length[SA_TARGET];
    for (int d = 0; d < 2; d++)
        for (size_t k = 0; k < cells; k++)
            out->probability[d][k] *= scale;
}

sa_status count_aligner_align(count_aligner *a, size_t first, size_t n, count_links *out, sa_error *error) {
    SA_ASSERT(n <= a->text.text->n && first <= a->text.text->n - n && n <= INT32_MAX);
    for (size_t i = 0; i < n; i++)
        out[i] = (count_links){0};
    for (size_t i = 0; i < n; i++) {
        count_pair p;
        bool linked = count_pair_at(a->text.text, first + i, &p);
        size_t cells = (size_t)p.length[SA_SOURCE] * (size_t)p.length[SA_TARGET];
        for (int d = 0; d < 2; d++) {
            out[i].length[d] = p.length[d];
            out[i].probability[d] = linked ? calloc(cells, sizeof(float)) : NULL;
            if (linked && !out[i].probability[d])
                return sa_fail_memory(error, cells * sizeof(float));
        }
    }
    align_work work = {.aligner = a, .first = first, .out = out};
    pool_run(a->workers, (int)n, align_pair, &work);
    return SA_OK;
}

void count_links_free(count_links *links, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 2; d++) {
            free(links[i].probability[d]);
            links[i].probability[d] = NULL;
        }
}

void count_links_best(const count_links *links, int direction, int *best) {
    const int givers = links->length[direction], takers = links->length[1 - direction];
    const float *probability = links->probability[direction];
    for (int j = 0; j < takers; j++) {
        float none = 1, most = 0;
        best[j] = -1;
        for (int i = 0; i < givers && probability; i++) {
            size_t s = (size_t)(direction == SA_SOURCE ? i : j), t = (size_t)(direction == SA_SOURCE ? j : i);
            float here = probability[s * (size_t)links->length[SA_TARGET] + t];
            none -= here;
            if (here > most) {
                most = here;
                best[j] = i;
            }
        }
        if (none > most)
            best[j] = -1;
    }
}
