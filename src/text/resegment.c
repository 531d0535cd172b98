#include "text/resegment.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct resegmenter {
    const vocab *v;
    const char **piece; /* texts; NULL: a symbol that is no subword */
    int *length;        /* bytes of each */
    int longest;        /* of them */
    int *slot;          /* ids by the hash of their texts; -1: free */
    size_t slots;       /* a power of two */
};

/* A word: its bytes; where characters, or the symbols that they were joined to, begin, and where the last ends. */
typedef struct word {
    char *text;
    int *at; /* n + 1 */
    int n;
    double
        *value; /* n + 1: of BPE the scores of joints; of unigram log of the sum over segmentations up to there */
} word;

static bool is_subword(const vocab *v, int id) {
    bool other = id <= VOCAB_UNK;
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        other = other || id == vocab_placeholder(v, (protect_kind)kind);
    return !other;
}

static size_t place_of(const resegmenter *r, const char *text, int length) {
    size_t at = hash_bytes(text, (size_t)length) & (r->slots - 1);
    while (r->slot[at] >= 0) {
        int id = r->slot[at];
        if (r->length[id] == length && !memcmp(r->piece[id], text, (size_t)length))
            break;
        at = (at + 1) & (r->slots - 1);
    }
    return at;
}

static void fill(resegmenter *r, int n) {
    for (size_t i = 0; i < r->slots; i++)
        r->slot[i] = -1;
    for (int id = 0; id < n; id++) {
        if (!is_subword(r->v, id))
            continue;
        r->piece[id] = vocab_piece(r->v, id);
        r->length[id] = (int)strlen(r->piece[id]);
        r->longest = r->length[id] > r->longest ? r->length[id] : r->longest;
        r->slot[place_of(r, r->piece[id], r->length[id])] = id;
    }
}

sa_status resegmenter_new(resegmenter **out, const vocab *v, sa_error *error) {
    SA_ASSERT(vocab_type(v) == SA_VOCAB_BPE || vocab_type(v) == SA_VOCAB_UNIGRAM);
    size_t n = (size_t)vocab_size(v), slots = 16;
    while (slots < 2 * n)
        slots *= 2;
    resegmenter *r = *out = calloc(1, sizeof *r);
    if (r)
        *r = (resegmenter){.v = v,
                           .piece = calloc(n, sizeof *r->piece),
                           .length = calloc(n, sizeof *r->length),
                           .slot = malloc(slots * sizeof *r->slot),
                           .slots = slots};
    if (r && r->piece && r->length && r->slot) {
        fill(r, (int)n);
        return SA_OK;
    }
    resegmenter_free(r);
    *out = NULL;
    return sa_fail_memory(error, slots * sizeof *r->slot);
}

void resegmenter_free(resegmenter *r) {
    if (!r)
        return;
    free(r->piece);
    free(r->length);
    free(r->slot);
    free(r);
}

/* The subword of characters or symbols from ... to - 1 of a word; -1: there is none. */
static int find(const resegmenter *r, const word *w, int from, int to) {
    int length = w->at[to] - w->at[from];
    return length > r->longest ? -1 : r->slot[place_of(r, w->text + w->at[from], length)];
}

/* ---- BPE --------------------------------------------------------------------------------------------- */

/* What joining symbols i and i + 1 scores; -infinity: they make no subword. */
static double joint(const resegmenter *r, const word *w, int i) {
    int id = i >= 0 && i + 2 <= w->n ? find(r, w, i, i + 2) : -1;
    return id < 0 ? (double)-INFINITY : vocab_score(r->v, id);
}

static void join(const resegmenter *r, word *w, int i) {
    memmove(w->at + i + 1, w->at + i + 2, (size_t)(w->n - i - 1) * sizeof *w->at);
    memmove(w->value + i, w->value + i + 1, (size_t)(w->n - i - 1) * sizeof *w->value);
    w->n--;
    w->value[i] = joint(r, w, i);
    if (i > 0)
        w->value[i - 1] = joint(r, w, i - 1);
}

static void draw_merges(const resegmenter *r, word *w, double share, rng *random) {
    for (int i = 0; i < w->n; i++)
        w->value[i] = joint(r, w, i);
    for (;;) {
        int best = 0; /* the first of the best */
        for (int i = 1; i < w->n; i++)
            best = w->value[i] > w->value[best] ? i : best;
        if (!isfinite(w->value[best]))
            return;
        if (rng_uniform(random) < share)
            w->value[best] = -HUGE_VAL;
        else
            join(r, w, best);
    }
}

/* ---- unigram ----------------------------------------------------------------------------------------- */

static double log_add(double a, double b) {
    double high = a > b ? a : b, low = a > b ? b : a;
    return isfinite(low) ? high + log1p(exp(low - high)) : high;
}

/* log of p(subword)^share of characters from ... to - 1; -infinity: there is none. */
static double weight(const resegmenter *r, const word *w, int from, int to, double share) {
    int id = find(r, w, from, to);
    return id < 0 ? (double)-INFINITY : share * vocab_score(r->v, id);
}

static bool may_begin(const resegmenter *r, const word *w, int from, int to) {
    return from >= 0 && w->at[to] - w->at[from] <= r->longest;
}

/* Sums over all segmentations forwards, then draws one backwards. */
static void draw_segments(const resegmenter *r, word *w, double share, rng *random) {
    double *sum = w->value;
    sum[0] = 0;
    for (int to = 1; to <= w->n; to++) {
        sum[to] = -HUGE_VAL;
        for (int from = to - 1; may_begin(r, w, from, to); from--)
            sum[to] = log_add(sum[to], sum[from] + weight(r, w, from, to, share));
    }
    if (!isfinite(sum[w->n]))
        return;
    int end = w->at[w->n], first = w->n; /* boundaries that are kept move to the end of at */
    for (int to = w->n; to > 0;) {
        double left = rng_uniform(random);
        int from = to - 1, chosen = from;
        for (; left >= 0 && may_begin(r, w, from, to); from--) {
            double p = exp(sum[from] + weight(r, w, from, to, share) - sum[to]);
            chosen = p > 0 ? from : chosen; /* the last that can be, where rounding leaves something over */
            left -= p;
        }
        to = chosen;
        w->at[--first] = w->at[to];
    }
    int n = w->n - first;
    memmove(w->at, w->at + first, (size_t)n * sizeof *w->at);
    w->at[n] = end;
    w->n = n;
}

/* ---- words ------------------------------------------------------------------------------------------- */

/* The characters of n subwords. */
static void spell(const resegmenter *r, const int *ids, size_t n, word *w) {
    int length = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(w->text + length, r->piece[ids[i]], (size_t)r->length[ids[i]]);
        length += r->length[ids[i]];
    }
    w->n = 0;
    for (int i = 0; i < length; w->n++) {
        uint32_t code;
        w->at[w->n] = i;
        i += (int)utf8_decode(w->text + i, (size_t)(length - i), &code);
    }
    w->at[w->n] = length;
}

static bool append(const int *ids, size_t n, id_list *out) {
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = id_list_push(out, ids[i]);
    return ok;
}

/* A word of n subwords, cut otherwise; as it was where a piece of it would be none. */
static bool cut_word(const resegmenter *r, const int *ids, size_t n, double share, rng *random, word *w,
                     id_list *out) {
    size_t start = out->n;
    spell(r, ids, n, w);
    if (vocab_type(r->v) == SA_VOCAB_BPE)
        draw_merges(r, w, share, random);
    else
        draw_segments(r, w, share, random);
    for (int i = 0; i < w->n; i++) {
        int id = find(r, w, i, i + 1);
        if (id < 0) {
            out->n = start;
            return append(ids, n, out);
        }
        if (!id_list_push(out, id))
            return false;
    }
    return true;
}

static bool begins_word(const char *piece) {
    return !strncmp(piece, VOCAB_SUBWORD_BLANK, strlen(VOCAB_SUBWORD_BLANK));
}

/* How many of n ids make up the first word; 0: the first is no subword. */
static size_t first_word(const resegmenter *r, const int *ids, size_t n) {
    size_t k = 0;
    while (k < n && r->piece[ids[k]] && (k == 0 || !begins_word(r->piece[ids[k]])))
        k++;
    return k;
}

bool resegment(const resegmenter *r, const int *ids, size_t n, double share, rng *random, id_list *out) {
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += (size_t)r->length[ids[i]];
    word w = {.text = malloc(bytes + 1),
              .at = malloc((bytes + 2) * sizeof *w.at),
              .value = malloc((bytes + 2) * sizeof *w.value)};
    bool ok = w.text && w.at && w.value;
    for (size_t i = 0; i < n && ok;) {
        size_t k = first_word(r, ids + i, n - i);
        ok = k ? cut_word(r, ids + i, k, share, random, &w, out) : id_list_push(out, ids[i]);
        i += k ? k : 1;
    }
    free(w.text);
    free(w.at);
    free(w.value);
    return ok;
}
