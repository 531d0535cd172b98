#include "align/count_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The names are those of docs/align.md. */
typedef struct prior {
    float kappa;       /* links that the stems' guess counts as */
    float kappa_stems; /* links, for each stem of the takers' side, that the guess for stems counts as */
    float same;        /* links more for a stem that is the same on both sides */
    float kappa_none;  /* links to none, for each word */
    float none;        /* how probable none is beside a giver */
    float kappa_fertility;
} prior;
static const prior priors = {
    .kappa = 20, .kappa_stems = 0.01f, .same = 1, .kappa_none = 0.001f, .none = 0.5f, .kappa_fertility = 1};
const count_stage count_whole_model = {.gamma = 12};

/* ---- room -------------------------------------------------------------------------------------------- */

typedef struct room {
    void **at;
    size_t n, size;
} room;

enum { ROOMS = 40 };

/* What a draw is made of, for pairs of `longest` words a side. */
static int list_rooms(count_draw *w, const count_text *text, room list[ROOMS]) {
    size_t n = (size_t)w->longest, kinds = (size_t)text->stems.n;
    int k = 0;
    for (int d = 0; d < 2; d++) {
        size_t words = (size_t)text->text->vocab_size[d];
        kinds = words > kinds ? words : kinds;
        list[k++] = (room){(void **)&w->link[d], n, sizeof *w->link[d]};
        list[k++] = (room){(void **)&w->words[d].first, n, sizeof(int)};
        list[k++] = (room){(void **)&w->words[d].next, n, sizeof(int)};
        list[k++] = (room){(void **)&w->stems[d].first, n, sizeof(int)};
        list[k++] = (room){(void **)&w->stems[d].next, n, sizeof(int)};
        list[k++] = (room){(void **)&w->stem[d], n, sizeof(int)};
        list[k++] = (room){(void **)&w->share[d], n, sizeof(float)};
        list[k++] = (room){(void **)&w->word_links[d], n, sizeof(float)};
        list[k++] = (room){(void **)&w->stem_links[d], n, sizeof(float)};
        list[k++] = (room){(void **)&w->fertility[d], n * COUNT_FERTILITIES, sizeof(float)};
        list[k++] = (room){(void **)&w->none[d], n, sizeof(float)};
        list[k++] = (room){(void **)&w->lexical[d], n * n, sizeof(float)};
        list[k++] = (room){(void **)&w->counts[d], n * n, sizeof(float)};
        list[k++] = (room){(void **)&w->counts[2 + d], n * n, sizeof(float)};
    }
    list[k++] = (room){(void **)&w->uses, n, sizeof(int)};
    list[k++] = (room){(void **)&w->weight, n, sizeof(float)};
    list[k++] = (room){(void **)&w->own, n, sizeof(float)};
    list[k++] = (room){(void **)&w->leave, n + 2, sizeof(float)};
    list[k++] = (room){(void **)&w->last, kinds, sizeof(int)};
    SA_ASSERT(k <= ROOMS);
    return k;
}

sa_status count_draw_make(count_draw *w, const count_text *text, sa_error *error) {
    *w = (count_draw){.longest = text->longest};
    room list[ROOMS];
    int rooms = list_rooms(w, text, list);
    for (int k = 0; k < rooms; k++) {
        *list[k].at = calloc(list[k].n + 1, list[k].size);
        if (!*list[k].at) {
            count_draw_free(w);
            return sa_fail_memory(error, list[k].n * list[k].size);
        }
    }
    const room *last = &list[rooms - 1];
    memset(*last->at, -1, last->n * last->size);
    return SA_OK;
}

void count_draw_free(count_draw *w) {
    const corpus nothing = {0};
    const count_text text = {.text = &nothing};
    room list[ROOMS];
    int rooms = list_rooms(w, &text, list);
    for (int k = 0; k < rooms; k++)
        free(*list[k].at);
    *w = (count_draw){0};
}

double count_draw_bytes(const count_text *text) {
    count_draw w = {.longest = text->longest};
    room list[ROOMS];
    int rooms = list_rooms(&w, text, list);
    double bytes = 0;
    for (int k = 0; k < rooms; k++)
        bytes += (double)list[k].n * (double)list[k].size;
    return bytes;
}

/* ---- counts without the pair's own ------------------------------------------------------------------- */

static void find_repeats(const count_repeats *r, int *last, const int *kind, int n) {
    for (int i = 0; i < n; i++) {
        int before = last[kind[i]];
        r->next[i] = -1;
        r->first[i] = before < 0 ? i : r->first[before];
        if (before >= 0)
            r->next[before] = i;
        last[kind[i]] = i;
    }
    for (int i = 0; i < n; i++)
        last[kind[i]] = -1;
}

/* Words that are linked have stems that are, so most cells of words need no search. Memory for the next stem's
 * counts is asked for while those of this one are read. */
static void look_up_links(const count_draw *w, const count_chain *c, const count_pair *p) {
    const int S = p->length[SA_SOURCE], T = p->length[SA_TARGET];
    const int *target = p->word[SA_TARGET], *source_stem = w->stem[SA_SOURCE], *target_stem = w->stem[SA_TARGET];
    for (int s = 0; s < S; s++) {
        const count_row *words = &c->words.row[p->word[SA_SOURCE][s]], *stems = &c->stems.row[source_stem[s]];
        const count_row *next = &c->stems.row[source_stem[s + 1 < S ? s + 1 : s]];
        const size_t row = (size_t)s * (size_t)T;
        float *n[4] = {w->counts[0] + row, w->counts[1] + row, w->counts[2] + row, w->counts[3] + row};
        for (int t = 0; t < T; t++) {
            const count_cell *stem = count_find(stems, target_stem[t]);
            n[2][t] = (float)stem->count[0];
            n[3][t] = (float)stem->count[1];
            if (stem->count[0] || stem->count[1])
                count_expect(words, target[t]);
            count_expect(next, target_stem[t]);
        }
        for (int t = 0; t < T; t++) {
            bool linked = n[2][t] + n[3][t] > 0;
            const count_cell *word = linked ? count_find(words, target[t]) : &count_free_cell;
            n[0][t] = (float)word->count[0];
            n[1][t] = (float)word->count[1];
        }
    }
}

static void look_up_words(const count_draw *w, const count_chain *c, const count_pair *p, int d) {
    for (int i = 0; i < p->length[d]; i++) {
        const count_giver *giver = &c->giver[d][p->word[d][i]];
        w->word_links[d][i] = (float)giver->links;
        w->stem_links[d][i] = (float)c->stem_links[d][w->stem[d][i]];
        for (int k = 0; k < COUNT_FERTILITIES; k++)
            w->fertility[d][i * COUNT_FERTILITIES + k] = (float)giver->fertility[k];
    }
    for (int j = 0; j < p->length[1 - d]; j++)
        w->none[d][j] = (float)c->none[d][p->word[1 - d][j]];
}

/* Takes one link from the counts (S,T) of all places that repeat those two, and from the givers' links. */
static void discount(float *counts, float *links, int d, const count_repeats r[2], const int place[2], int T) {
    for (int i = r[SA_SOURCE].first[place[SA_SOURCE]]; i >= 0; i = r[SA_SOURCE].next[i])
        for (int j = r[SA_TARGET].first[place[SA_TARGET]]; j >= 0; j = r[SA_TARGET].next[j])
            counts[(size_t)i * (size_t)T + (size_t)j] -= 1;
    for (int i = r[d].first[place[d]]; i >= 0; i = r[d].next[i])
        links[i] -= 1;
}

/* Returns how many of the pair's own links are to none. */
static int discount_own(count_draw *w, const count_pair *p, int d) {
    const int takers = p->length[1 - d], givers = p->length[d];
    int none = 0;
    memset(w->uses, 0, (size_t)givers * sizeof *w->uses);
    for (int j = 0; j < takers; j++) {
        int i = w->link[d][j];
        if (i == COUNT_UNLINKED) {
            none++;
            for (int k = w->words[1 - d].first[j]; k >= 0; k = w->words[1 - d].next[k])
                w->none[d][k] -= 1;
            continue;
        }
        const int place[2] = {d == SA_SOURCE ? i : j, d == SA_SOURCE ? j : i};
        discount(w->counts[d], w->word_links[d], d, w->words, place, p->length[SA_TARGET]);
        discount(w->counts[2 + d], w->stem_links[d], d, w->stems, place, p->length[SA_TARGET]);
        w->uses[i]++;
    }
    for (int i = 0; i < givers; i++) {
        int k = w->uses[i] < COUNT_FERTILITIES ? w->uses[i] : COUNT_FERTILITIES - 1;
        for (int same = w->words[d].first[i]; same >= 0; same = w->words[d].next[same])
            w->fertility[d][same * COUNT_FERTILITIES + k] -= 1;
    }
    return none;
}

/* ---- probabilities of words -------------------------------------------------------------------------- */

/* Turns what each giver's counts are divided by into what they are multiplied by: word_links into 1 / (n(e) +
 * kappa), stem_links into kappa / (n(g_e) + ...). */
static void invert(const count_draw *w, const count_chain *c, const count_pair *p, int d) {
    const float stems = priors.kappa_stems * (float)c->text->stems.kinds[1 - d] + priors.same;
    for (int i = 0; i < p->length[d]; i++) {
        w->word_links[d][i] = 1 / (w->word_links[d][i] + priors.kappa);
        w->stem_links[d][i] = priors.kappa / (w->stem_links[d][i] + stems);
    }
}

/* p(taker | giver) of both directions, for one word of the source and each of the target. */
static void weigh_words(const count_draw *w, const count_pair *p, int s) {
    const int T = p->length[SA_TARGET];
    const size_t S = (size_t)p->length[SA_SOURCE], row = (size_t)s * (size_t)T;
    const float *n[4] = {w->counts[0] + row, w->counts[1] + row, w->counts[2] + row, w->counts[3] + row};
    const float word = w->word_links[SA_SOURCE][s], stem = w->stem_links[SA_SOURCE][s],
                share = w->share[SA_SOURCE][s];
    const float *words = w->word_links[SA_TARGET], *stems = w->stem_links[SA_TARGET], *shares = w->share[SA_TARGET];
    float *forward = w->lexical[SA_SOURCE] + s, *backward = w->lexical[SA_TARGET] + row;
    for (int t = 0; t < T; t++) {
        float least = priors.kappa_stems + (w->stem[SA_TARGET][t] == w->stem[SA_SOURCE][s] ? priors.same : 0);
        forward[(size_t)t * S] = (n[0][t] + stem * (n[2][t] + least) * shares[t]) * word;
        backward[t] = (n[1][t] + stems[t] * (n[3][t] + least) * share) * words[t];
    }
}

static void begin_side(const count_draw *w, const count_chain *c, const count_pair *p, int d) {
    const count_stems *stems = &c->text->stems;
    for (int i = 0; i < p->length[d]; i++) {
        w->stem[d][i] = stems->of[d][p->word[d][i]];
        w->share[d][i] = stems->share[d][p->word[d][i]];
    }
    find_repeats(&w->words[d], w->last, p->word[d], p->length[d]);
    find_repeats(&w->stems[d], w->last, w->stem[d], p->length[d]);
    memcpy(w->link[d], c->link + p->taken[d], (size_t)p->length[1 - d] * sizeof *w->link[d]);
}

static void weigh_unknown_words(const count_draw *w, const count_pair *p) {
    const size_t cells = (size_t)p->length[SA_SOURCE] * (size_t)p->length[SA_TARGET];
    for (int d = 0; d < 2; d++) {
        for (size_t k = 0; k < cells; k++)
            w->lexical[d][k] = 1;
        for (int j = 0; j < p->length[1 - d]; j++)
            w->none[d][j] = priors.none;
    }
}

static void weigh_none(const count_draw *w, const count_chain *c, const count_pair *p, int d, int own) {
    const float all = (float)(c->none_total[d] - own) + priors.kappa_none * (float)c->text->text->vocab_size[1 - d];
    for (int j = 0; j < p->length[1 - d]; j++)
        w->none[d][j] = priors.none * (w->none[d][j] + priors.kappa_none) / all;
}

void count_draw_begin(count_draw *w, const count_chain *c, const count_pair *p) {
    for (int d = 0; d < 2; d++)
        begin_side(w, c, p, d);
    if (w->link[SA_SOURCE][0] == COUNT_NOT_YET) {
        weigh_unknown_words(w, p);
        return;
    }
    look_up_links(w, c, p);
    for (int d = 0; d < 2; d++) {
        look_up_words(w, c, p, d);
        weigh_none(w, c, p, d, discount_own(w, p, d));
        for (int i = 0; i < p->length[d]; i++)
            for (int k = 0; k < COUNT_FERTILITIES; k++)
                w->fertility[d][i * COUNT_FERTILITIES + k] += priors.kappa_fertility * (float)c->fertility[d][k];
        invert(w, c, p, d);
    }
    for (int s = 0; s < p->length[SA_SOURCE]; s++)
        weigh_words(w, p, s);
}

/* ---- drawing ----------------------------------------------------------------------------------------- */

/* One over the weight of all jumps from each giver, and from before the first at [0], to a place in the sentence or
 * right behind it. */
static void weigh_leaving(count_draw *w, const float *jump, int givers) {
    double sum = 0;
    for (int k = 1; k <= givers + 1; k++)
        sum += (double)jump[k];
    for (int i = -1; i < givers; i++) {
        w->leave[i + 1] = (float)(1 / sum);
        /* One place to the right: what was the longest jump is too long, and a place more lies behind. */
        sum += (double)jump[-(i + 1)] - (double)jump[givers - i];
    }
}

/* How much likelier the giver is with one link more. */
static float rise(const count_draw *w, int d, int i) {
    const float *f = w->fertility[d] + i * COUNT_FERTILITIES;
    int k = w->uses[i] < COUNT_FERTILITIES - 1 ? w->uses[i] : COUNT_FERTILITIES - 2;
    return f[k + 1] / f[k];
}

static float weigh_givers(const count_draw *w, const float *lexical, const float *jump, int before, int after,
                          int givers) {
    const float *from = jump - before, *to = jump + after;
    for (int i = 0; i < givers; i++)
        w->weight[i] = lexical[i] * w->own[i] * from[i] * to[-i];
    return jump[after - before];
}

/* Model 1 of Brown et al. (1993): all places are alike. While words are hardly known none explains too much too
 * well, so it counts less. */
static float weigh_words_only(const count_draw *w, const float *lexical, int givers) {
    memcpy(w->weight, lexical, (size_t)givers * sizeof *w->weight);
    return (float)givers / 4;
}

/* One of the givers, or COUNT_UNLINKED. */
static int draw(const float *weight, int givers, float none, rng *random) {
    float sum = none;
    for (int i = 0; i < givers; i++)
        sum += weight[i];
    float left = (float)(rng_u32(random) >> 8) * 0x1p-24f * sum - none;
    if (left < 0)
        return COUNT_UNLINKED;
    int i = 0;
    while (i < givers - 1 && (left -= weight[i]) >= 0)
        i++;
    return i;
}

static void add_probabilities(const count_draw *w, const count_pair *p, int d, int j, float none, float *sum) {
    const int givers = p->length[d];
    const size_t T = (size_t)p->length[SA_TARGET], step = d == SA_SOURCE ? T : 1;
    float total = none;
    for (int i = 0; i < givers; i++)
        total += w->weight[i];
    sum += d == SA_SOURCE ? (size_t)j : (size_t)j * T;
    for (int i = 0; i < givers && total > 0; i++)
        sum[(size_t)i * step] += w->weight[i] / total;
}

static void draw_direction(count_draw *w, const count_chain *c, const count_pair *p, int d,
                           const count_stage *stage, rng *random, float *sum) {
    const int givers = p->length[d], takers = p->length[1 - d];
    int16_t *link = w->link[d];
    const int16_t *other = w->link[1 - d];
    const float *jump = c->jump[d] + c->text->longest + 1;
    weigh_leaving(w, jump, givers);
    memset(w->uses, 0, (size_t)givers * sizeof *w->uses);
    for (int j = 0; j < takers; j++)
        if (link[j] >= 0)
            w->uses[link[j]]++;
    for (int i = 0; i < givers; i++)
        w->own[i] = rise(w, d, i) * w->leave[i + 1];
    int before = -1, next = 0;
    for (int j = 0; j < takers; j++) {
        if (link[j] >= 0) {
            w->uses[link[j]]--;
            w->own[link[j]] = rise(w, d, link[j]) * w->leave[link[j] + 1];
        }
        for (next = next > j ? next : j + 1; next < takers && link[next] < 0;)
            next++;
        const float *lexical = w->lexical[d] + (size_t)j * (size_t)givers;
        float none = w->none[d][j];
        none *= stage->words_only
                    ? weigh_words_only(w, lexical, givers)
                    : weigh_givers(w, lexical, jump, before, next < takers ? link[next] : givers, givers);
        for (int i = 0; i < givers; i++)
            if (other[i] == j)
                w->weight[i] *= stage->gamma;
        if (sum)
            add_probabilities(w, p, d, j, none, sum);
        link[j] = (int16_t)draw(w->weight, givers, none, random);
        if (link[j] < 0)
            continue;
        before = link[j];
        w->uses[before]++;
        w->own[before] = rise(w, d, before) * w->leave[before + 1];
    }
}

void count_draw_links(count_draw *w, const count_chain *c, const count_pair *p, const count_stage *stage,
                      rng *random, float *const sum[2]) {
    for (int d = 0; d < 2; d++)
        draw_direction(w, c, p, d, stage, random, sum ? sum[d] : NULL);
}
