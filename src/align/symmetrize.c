/* Two alignments of a pair, one from each direction, made one (Och and Ney 2003; Koehn, Och and Marcu 2003). */
#include "base/error.h"
#include "text/links.h"

#include <stdlib.h>

typedef struct symmetrizer {
    sa_links all;          /* of both, in order */
    bool *in;              /* which of them the result has so far */
    bool *source, *target; /* words that it links */
} symmetrizer;

static void take(symmetrizer *s, const sa_link *link) {
    s->in[link - s->all.link] = true;
    s->source[link->source] = s->target[link->target] = true;
}

static bool has_neighbour(const symmetrizer *s, const sa_link *link) {
    static const int step[][2] = {{0, 1}, {1, 0}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        const sa_link *next = links_find(&s->all, link->source + step[k][0], link->target + step[k][1]);
        if (next && s->in[next - s->all.link])
            return true;
    }
    return false;
}

/* Links next to those taken, diagonally too, that link a word without any, as long as there are some. */
static void grow_diagonally(symmetrizer *s) {
    bool grown = true;
    while (grown) {
        grown = false;
        for (size_t i = 0; i < s->all.n; i++) {
            const sa_link *link = &s->all.link[i];
            if (s->in[i] || (s->source[link->source] && s->target[link->target]) || !has_neighbour(s, link))
                continue;
            take(s, link);
            grown = true;
        }
    }
}

/* Links of one direction that link a word which has none yet; `both`: two such words. */
static void finish(symmetrizer *s, const sa_links *direction, bool both) {
    for (size_t i = 0; i < direction->n; i++) {
        const sa_link *link = &direction->link[i];
        bool source = !s->source[link->source], target = !s->target[link->target];
        if (both ? source && target : source || target)
            take(s, links_find(&s->all, link->source, link->target));
    }
}

static void choose(symmetrizer *s, const sa_links *forward, const sa_links *reverse, sa_symmetrization how) {
    for (size_t i = 0; i < s->all.n; i++) {
        const sa_link *link = &s->all.link[i];
        if (how == SA_UNION ||
            (links_find(forward, link->source, link->target) && links_find(reverse, link->source, link->target)))
            take(s, link);
    }
    if (how >= SA_GROW_DIAG)
        grow_diagonally(s);
    if (how >= SA_GROW_DIAG_FINAL) {
        finish(s, forward, how == SA_GROW_DIAG_FINAL_AND);
        finish(s, reverse, how == SA_GROW_DIAG_FINAL_AND);
    }
}

/* The links of both; what only one has weighs half. */
static bool unite(symmetrizer *s, const sa_links *forward, const sa_links *reverse) {
    size_t capacity = 0;
    bool ok = true;
    for (size_t i = 0; i < forward->n + reverse->n && ok; i++)
        ok = links_push(&s->all, &capacity, i < forward->n ? forward->link[i] : reverse->link[i - forward->n]);
    links_sort(&s->all);
    for (size_t i = 0; i < s->all.n && ok; i++) {
        sa_link *link = &s->all.link[i];
        const sa_link *a = links_find(forward, link->source, link->target);
        const sa_link *b = links_find(reverse, link->source, link->target);
        link->weight = ((a ? a->weight : 0) + (b ? b->weight : 0)) / 2;
    }
    return ok;
}

sa_status sa_links_symmetrize(sa_links *out, const sa_links *forward, const sa_links *reverse,
                              sa_symmetrization how, sa_error *error) {
    symmetrizer s = {0};
    *out = (sa_links){0};
    bool ok = unite(&s, forward, reverse);
    int sources, targets;
    links_extent(&s.all, &sources, &targets);
    s.in = calloc(s.all.n + 1, sizeof *s.in);
    s.source = calloc((size_t)sources + 1, sizeof *s.source);
    s.target = calloc((size_t)targets + 1, sizeof *s.target);
    ok = ok && s.in && s.source && s.target;
    if (ok) {
        choose(&s, forward, reverse, how);
        for (size_t i = 0; i < s.all.n; i++)
            if (s.in[i])
                s.all.link[out->n++] = s.all.link[i];
        out->link = s.all.link;
    } else {
        free(s.all.link);
    }
    free(s.in);
    free(s.source);
    free(s.target);
    return ok ? SA_OK : sa_fail_memory(error, 0);
}
