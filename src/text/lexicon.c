#include "text/lexicon.h"

#include <stdlib.h>
#include <string.h>

/* A pair of symbols that occur together. */
typedef struct couple {
    int x, y; /* x -1: a free place */
    float t, count;
} couple;

struct lexicon {
    couple *table; /* open addressing */
    size_t n, capacity;
    const couple **best; /* n: by x, then from the highest t to the lowest */
    size_t *start;       /* of each x in best; vocab_size + 1 */
    double *total;       /* of each x: sum of counts */
    int vocab_size;      /* of the source */
};

static size_t hash_couple(int x, int y) {
    uint64_t h = ((uint64_t)(uint32_t)x << 32 | (uint32_t)y) * 0x9E3779B97F4A7C15u;
    return (size_t)(h ^ h >> 32);
}

/* The couple, or the free place where it belongs. */
static couple *place_of(couple *table, size_t capacity, int x, int y) {
    size_t i = hash_couple(x, y) & (capacity - 1);
    while (table[i].x >= 0 && (table[i].x != x || table[i].y != y))
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

static couple *make_table(size_t capacity) {
    couple *table = capacity > SIZE_MAX / sizeof *table ? NULL : malloc(capacity * sizeof *table);
    for (size_t i = 0; table && i < capacity; i++)
        table[i].x = -1;
    return table;
}

static sa_status grow(lexicon *l, sa_error *error) {
    size_t capacity = l->capacity ? 2 * l->capacity : 1 << 16;
    couple *table = make_table(capacity);
    if (!table)
        return sa_fail_memory(error, capacity * sizeof *table);
    for (size_t i = 0; i < l->capacity; i++)
        if (l->table[i].x >= 0)
            *place_of(table, capacity, l->table[i].x, l->table[i].y) = l->table[i];
    free(l->table);
    l->table = table;
    l->capacity = capacity;
    return SA_OK;
}

static sa_status add_pair(lexicon *l, const pair *p, sa_error *error) {
    for (int j = 0; j + 1 < p->target_length; j++)
        for (int i = 0; i < p->source_length; i++) {
            if (2 * l->n >= l->capacity)
                SA_TRY(grow(l, error));
            couple *c = place_of(l->table, l->capacity, p->source[i], p->target[j]);
            if (c->x < 0) {
                *c = (couple){p->source[i], p->target[j], 1, 0};
                l->n++;
            }
        }
    return SA_OK;
}

/* Where each symbol of the target of a pair comes from, as far as t knows. */
static void expect(lexicon *l, const pair *p) {
    for (int j = 0; j + 1 < p->target_length; j++) {
        double sum = 0;
        for (int i = 0; i < p->source_length; i++)
            sum += (double)place_of(l->table, l->capacity, p->source[i], p->target[j])->t;
        for (int i = 0; i < p->source_length && sum > 0; i++) {
            couple *c = place_of(l->table, l->capacity, p->source[i], p->target[j]);
            c->count += (float)((double)c->t / sum);
        }
    }
}

static void maximise(lexicon *l) {
    memset(l->total, 0, (size_t)l->vocab_size * sizeof *l->total);
    for (size_t i = 0; i < l->capacity; i++)
        if (l->table[i].x >= 0)
            l->total[l->table[i].x] += (double)l->table[i].count;
    for (size_t i = 0; i < l->capacity; i++) {
        couple *c = &l->table[i];
        if (c->x < 0)
            continue;
        c->t = l->total[c->x] > 0 ? (float)((double)c->count / l->total[c->x]) : 0;
        c->count = 0;
    }
}

static int compare_couples(const void *a, const void *b) {
    const couple *x = *(const couple *const *)a, *y = *(const couple *const *)b;
    if (x->x != y->x)
        return x->x < y->x ? -1 : 1;
    if (x->t != y->t)
        return x->t > y->t ? -1 : 1;
    return (x->y > y->y) - (x->y < y->y);
}

static sa_status order(lexicon *l, sa_error *error) {
    l->best = calloc(l->n + 1, sizeof *l->best);
    l->start = calloc((size_t)l->vocab_size + 1, sizeof *l->start);
    if (!l->best || !l->start)
        return sa_fail_memory(error, l->n * sizeof *l->best);
    size_t n = 0;
    for (size_t i = 0; i < l->capacity; i++)
        if (l->table[i].x >= 0) {
            l->best[n++] = &l->table[i];
            l->start[l->table[i].x + 1]++;
        }
    for (int x = 0; x < l->vocab_size; x++)
        l->start[x + 1] += l->start[x];
    qsort(l->best, n, sizeof *l->best, compare_couples);
    return SA_OK;
}

static sa_status learn(lexicon *l, const corpus *c, int iterations, sa_error *error) {
    l->total = calloc((size_t)l->vocab_size, sizeof *l->total);
    if (!l->total)
        return sa_fail_memory(error, (size_t)l->vocab_size * sizeof *l->total);
    SA_TRY(grow(l, error));
    for (size_t i = 0; i < c->n; i++) {
        pair p = corpus_pair(c, i);
        SA_TRY(add_pair(l, &p, error));
    }
    for (int k = 0; k < iterations; k++) {
        for (size_t i = 0; i < c->n; i++) {
            pair p = corpus_pair(c, i);
            expect(l, &p);
        }
        maximise(l);
    }
    return order(l, error);
}

sa_status lexicon_learn(lexicon **out, const corpus *c, int iterations, sa_error *error) {
    lexicon *l = calloc(1, sizeof *l);
    *out = NULL;
    if (!l)
        return sa_fail_memory(error, sizeof *l);
    l->vocab_size = c->vocab_size[SA_SOURCE];
    sa_status status = learn(l, c, iterations, error);
    if (status == SA_OK)
        *out = l;
    else
        lexicon_free(l);
    return status;
}

int lexicon_best(const lexicon *l, int x, int k, float least, int *y) {
    int n = 0;
    for (size_t i = l->start[x]; i < l->start[x + 1] && n < k && l->best[i]->t >= least; i++)
        y[n++] = l->best[i]->y;
    return n;
}

float lexicon_probability(const lexicon *l, int x, int y) {
    const couple *c = place_of(l->table, l->capacity, x, y);
    return c->x < 0 ? 0 : c->t;
}

void lexicon_free(lexicon *l) {
    if (!l)
        return;
    free(l->table);
    free(l->best);
    free(l->start);
    free(l->total);
    free(l);
}
