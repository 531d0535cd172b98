#include "align/count_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool count_pair_at(const corpus *c, size_t i, count_pair *out) {
    pair p = corpus_pair(c, i);
    size_t first = (size_t)(p.source - c->ids), second = (size_t)(p.target - c->ids);
    *out = (count_pair){.word = {p.source, p.target},
                        .length = {p.source_length - 1, p.target_length - 1},
                        .taken = {[SA_SOURCE] = second, [SA_TARGET] = first}};
    return out->length[0] > 0 && out->length[1] > 0 && out->length[0] <= COUNT_LONGEST &&
           out->length[1] <= COUNT_LONGEST;
}

static sa_status take(void **out, size_t n, size_t size, sa_error *error) {
    *out = calloc(n + 1, size);
    return *out ? SA_OK : sa_fail_memory(error, n * size);
}

static sa_status make(count_chain *c, sa_error *error) {
    const corpus *text = c->text->text;
    SA_TRY(take((void **)&c->link, text->n_ids, sizeof *c->link, error));
    for (size_t i = 0; i < text->n_ids; i++)
        c->link[i] = COUNT_NOT_YET;
    SA_TRY(count_table_make(&c->words, (size_t)text->vocab_size[SA_SOURCE], error));
    SA_TRY(count_table_make(&c->stems, (size_t)c->text->stems.n, error));
    for (int d = 0; d < 2; d++) {
        SA_TRY(take((void **)&c->giver[d], (size_t)text->vocab_size[d], sizeof *c->giver[d], error));
        SA_TRY(take((void **)&c->stem_links[d], (size_t)c->text->stems.n, sizeof *c->stem_links[d], error));
        SA_TRY(take((void **)&c->none[d], (size_t)text->vocab_size[1 - d], sizeof *c->none[d], error));
        SA_TRY(take((void **)&c->jump[d], 2 * (size_t)c->text->longest + 3, sizeof *c->jump[d], error));
    }
    count_chain_refresh(c);
    return SA_OK;
}

sa_status count_chain_make(count_chain *c, const count_text *text, uint64_t seed, int number, sa_error *error) {
    *c = (count_chain){.text = text, .seed = seed, .number = number};
    sa_status status = make(c, error);
    if (status != SA_OK)
        count_chain_free(c);
    return status;
}

void count_chain_free(count_chain *c) {
    free(c->link);
    count_table_free(&c->words);
    count_table_free(&c->stems);
    for (int d = 0; d < 2; d++) {
        free(c->giver[d]);
        free(c->stem_links[d]);
        free(c->none[d]);
        free(c->jump[d]);
    }
    *c = (count_chain){0};
}

double count_chain_bytes(const count_text *text) {
    const corpus *c = text->text;
    double symbols = (double)c->vocab_size[0] + (double)c->vocab_size[1];
    double links = (double)c->source_symbols + (double)c->target_symbols;
    double rows = (double)c->vocab_size[SA_SOURCE] + symbols; /* of words, and at most of stems */
    return (double)c->n_ids * sizeof(int16_t) + 2 * count_table_bytes(links) + rows * sizeof(count_row) +
           symbols * (sizeof(count_giver) + 3 * sizeof(uint32_t));
}

/* ---- counting ---------------------------------------------------------------------------------------- */

/* One link more or less; giver and taker are words, COUNT_UNLINKED for none. */
static sa_status count_link(count_chain *c, int d, int giver, int taker, int by, sa_error *error) {
    if (giver == COUNT_UNLINKED) {
        c->none[d][taker] += (uint32_t)by;
        c->none_total[d] += by;
        return SA_OK;
    }
    int giver_stem = c->text->stems.of[d][giver], taker_stem = c->text->stems.of[1 - d][taker];
    c->giver[d][giver].links += (uint32_t)by;
    c->stem_links[d][giver_stem] += (uint32_t)by;
    bool forward = d == SA_SOURCE;
    SA_TRY(count_table_add(&c->words, forward ? giver : taker, forward ? taker : giver, d, by, error));
    return count_table_add(&c->stems, forward ? giver_stem : taker_stem, forward ? taker_stem : giver_stem, d, by,
                           error);
}

static int fertility_of(int links) {
    return links < COUNT_FERTILITIES ? links : COUNT_FERTILITIES - 1;
}

static void count_fertilities(count_chain *c, const count_pair *p, int d, const int16_t *link, int by) {
    int links[COUNT_LONGEST];
    memset(links, 0, (size_t)p->length[d] * sizeof *links);
    for (int j = 0; j < p->length[1 - d]; j++)
        if (link[j] >= 0)
            links[link[j]]++;
    for (int i = 0; i < p->length[d]; i++)
        c->giver[d][p->word[d][i]].fertility[fertility_of(links[i])] += (uint32_t)by;
}

static void count_jump(count_chain *c, int d, int by) {
    int k = by < -COUNT_JUMPS ? -COUNT_JUMPS : by > COUNT_JUMPS ? COUNT_JUMPS : by;
    c->jumped[d][k + COUNT_JUMPS]++;
}

/* From before the sentence, by every linked word, to behind it. */
static void count_jumps(count_chain *c, const count_pair *p, int d, const int16_t *link) {
    int at = -1;
    for (int j = 0; j < p->length[1 - d]; j++)
        if (link[j] >= 0) {
            count_jump(c, d, link[j] - at);
            at = link[j];
        }
    count_jump(c, d, p->length[d] - at);
}

static int word_at(const count_pair *p, int d, int16_t link) {
    return link < 0 ? COUNT_UNLINKED : p->word[d][link];
}

sa_status count_chain_relink(count_chain *c, const count_pair *p, int16_t *const link[2], sa_error *error) {
    for (int d = 0; d < 2; d++) {
        int16_t *kept = c->link + p->taken[d];
        const int takers = p->length[1 - d];
        bool counted = kept[0] != COUNT_NOT_YET;
        if (counted)
            count_fertilities(c, p, d, kept, -1);
        count_fertilities(c, p, d, link[d], 1);
        count_jumps(c, p, d, link[d]);
        for (int j = 0; j < takers; j++) {
            int taker = p->word[1 - d][j];
            if (counted && kept[j] == link[d][j])
                continue;
            if (counted)
                SA_TRY(count_link(c, d, word_at(p, d, kept[j]), taker, -1, error));
            SA_TRY(count_link(c, d, word_at(p, d, link[d][j]), taker, 1, error));
            kept[j] = link[d][j];
        }
    }
    return SA_OK;
}

/* ---- between sweeps ---------------------------------------------------------------------------------- */

static void share_fertilities(count_chain *c, int d) {
    double *share = c->fertility[d], sum = 0;
    for (int k = 0; k < COUNT_FERTILITIES; k++)
        share[k] = 0.5;
    for (int w = 0; w < c->text->text->vocab_size[d]; w++)
        for (int k = 0; k < COUNT_FERTILITIES; k++)
            share[k] += c->giver[d][w].fertility[k];
    for (int k = 0; k < COUNT_FERTILITIES; k++)
        sum += share[k];
    for (int k = 0; k < COUNT_FERTILITIES; k++)
        share[k] /= sum;
}

static void weigh_jumps(count_chain *c, int d) {
    double total = 0;
    for (int k = 0; k <= 2 * COUNT_JUMPS; k++)
        total += (double)c->jumped[d][k] + 0.5;
    int most = c->text->longest + 1;
    for (int k = -most; k <= most; k++) {
        int known = k < -COUNT_JUMPS ? -COUNT_JUMPS : k > COUNT_JUMPS ? COUNT_JUMPS : k;
        c->jump[d][k + most] = (float)(((double)c->jumped[d][known + COUNT_JUMPS] + 0.5) / total);
    }
    memset(c->jumped[d], 0, sizeof c->jumped[d]);
}

void count_chain_refresh(count_chain *c) {
    for (int d = 0; d < 2; d++) {
        share_fertilities(c, d);
        weigh_jumps(c, d);
    }
}
