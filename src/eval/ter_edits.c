#include "eval/ter_edits.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { MAX_SHIFT_SIZE = 10, MAX_SHIFT_DISTANCE = 50, MAX_SHIFTS_TRIED = 1000, BEAM_WIDTH = 25 };
enum { INFINITE = 1 << 30 }; /* outside the beam */

/* Distances of the first i words of the hypothesis to the first j of the reference, first <= j < end; cost[j -
 * first], and the cells before and behind are there and infinite. */
typedef struct row {
    size_t first, end;
    int32_t *cost;
} row;

/* `length` words from start on go before word `target`. */
typedef struct shift {
    size_t start, length, target;
    int32_t gain;
} shift;

typedef struct search {
    const size_t *reference;
    size_t n_reference, n_words;
    double ratio; /* of the reference's length to the hypothesis's: the slope of the diagonal */
    size_t beam;
    size_t *words, *shifted;       /* the hypothesis so far; with the shift that is tried */
    row *row, spare[2];            /* of words; two for those of shifted */
    ptrdiff_t *align;              /* where each word of the reference stands in words, or the one before it */
    bool *wrong, *reference_wrong; /* words that the edits change, add or remove */
    int tried;
    shift best;
} search;

/* ---- edit distance ----------------------------------------------------------------------------------- */

static void limit_row(const search *s, size_t i, row *r) {
    size_t diagonal = (size_t)floor((double)i * s->ratio);
    r->first = diagonal > s->beam ? diagonal - s->beam : 0;
    r->end = s->n_reference + 1;
    if (i > 0 && i < s->n_words && diagonal + s->beam < r->end)
        r->end = diagonal + s->beam;
}

/* Fills a row whose limits are set from the one above and the word between them; returns its least cost. */
static int32_t fill_row(const search *s, const row *above, size_t word, row *out) {
    size_t n = out->end - out->first, offset = out->first - above->first, j = 0;
    size_t reached = above->end + 1 - out->first; /* cells that have one above or above and before */
    SA_ASSERT(out->first <= above->end);          /* that is how wide the beam is */
    const int32_t *up = above->cost + offset;
    int32_t *cost = out->cost, least = INFINITE;
    cost[-1] = cost[n] = INFINITE;
    if (out->first == 0) {
        cost[0] = least = up[0] + 1;
        j = 1;
    }
    for (; j < n && j < reached; j++) {
        int32_t best = up[j - 1] + (word != s->reference[out->first + j - 1]);
        best = up[j] + 1 < best ? up[j] + 1 : best;
        best = cost[j - 1] + 1 < best ? cost[j - 1] + 1 : best;
        cost[j] = best < INFINITE ? best : INFINITE;
        least = best < least ? best : least;
    }
    for (; j < n; j++)
        cost[j] = cost[j - 1] < INFINITE ? cost[j - 1] + 1 : INFINITE;
    return least;
}

static int32_t distance(const search *s) {
    const row *last = &s->row[s->n_words];
    return last->cost[s->n_reference - last->first];
}

static int32_t cost_at(const search *s, size_t i, size_t j) {
    const row *r = &s->row[i];
    return j >= r->first && j < r->end ? r->cost[j - r->first] : INFINITE;
}

/* Fills the rows of words, and from the edits of the least cost align, wrong and reference_wrong. Of several edits,
 * no edit or a substitution comes first, then a deletion. */
static void compare(search *s) {
    for (size_t i = 1; i <= s->n_words; i++)
        fill_row(s, &s->row[i - 1], s->words[i - 1], &s->row[i]);
    size_t i = s->n_words, j = s->n_reference;
    while (i > 0 || j > 0) {
        int32_t cost = cost_at(s, i, j);
        bool differ = i == 0 || j == 0 || s->words[i - 1] != s->reference[j - 1];
        if (i > 0 && j > 0 && cost == cost_at(s, i - 1, j - 1) + differ) {
            s->align[--j] = (ptrdiff_t)--i;
            s->wrong[i] = s->reference_wrong[j] = differ;
        } else if (i > 0 && cost == cost_at(s, i - 1, j) + 1) {
            s->wrong[--i] = true;
        } else {
            s->align[--j] = (ptrdiff_t)i - 1;
            s->reference_wrong[j] = true;
        }
    }
}

/* ---- shifts ------------------------------------------------------------------------------------------ */

/* Writes the words with the shift applied. Only words *from ... *end - 1 may differ from what they were. */
static void apply_shift(const search *s, const shift *t, size_t *out, size_t *from, size_t *end) {
    size_t behind = t->start + t->length, gap; /* words that the phrase jumps over */
    memcpy(out, s->words, s->n_words * sizeof *out);
    if (t->target < t->start) {
        gap = t->start - t->target;
        memcpy(out + t->target, s->words + t->start, t->length * sizeof *out);
        memcpy(out + t->target + t->length, s->words + t->target, gap * sizeof *out);
        *from = t->target;
        *end = behind;
        return;
    }
    /* A goal inside the phrase moves it on by so many words. */
    size_t goal = t->target > behind ? t->target : t->target + t->length;
    goal = goal < s->n_words ? goal : s->n_words;
    gap = goal - behind;
    memcpy(out + t->start, s->words + behind, gap * sizeof *out);
    memcpy(out + t->start + gap, s->words + t->start, t->length * sizeof *out);
    *from = t->start;
    *end = goal;
}

/* The distance after a shift, or at least `most` + 1 where it is above `most`. Rows before the words that changed
 * are those of words, and so are all the others from one on that comes out the same. */
static int32_t distance_after(search *s, const shift *t, int32_t most) {
    size_t from, end;
    apply_shift(s, t, s->shifted, &from, &end);
    const row *above = &s->row[from];
    for (size_t i = from + 1; i <= s->n_words; i++) {
        row *out = &s->spare[i % 2];
        const row *before = &s->row[i];
        out->first = before->first;
        out->end = before->end;
        int32_t least = fill_row(s, above, s->shifted[i - 1], out);
        if (least > most)
            return least;
        if (i >= end && !memcmp(out->cost, before->cost, (out->end - out->first) * sizeof *out->cost))
            return distance(s);
        above = out;
    }
    return above->cost[s->n_reference - above->first];
}

/* Of two shifts that gain the same, the longer, then the earlier phrase, then the earlier goal. */
static bool is_better(const shift *a, const shift *b) {
    if (a->gain != b->gain)
        return a->gain > b->gain;
    if (a->length != b->length)
        return a->length > b->length;
    return a->start != b->start ? a->start < b->start : a->target < b->target;
}

/* Tries the phrase of the hypothesis, which the reference has at `at`, behind the word before it there and behind
 * each of its own words. */
static void try_phrase(search *s, size_t start, size_t at, size_t length) {
    int32_t before = distance(s);
    shift t = {.start = start, .length = length};
    for (size_t i = 0; i <= length; i++) {
        size_t target = at + i == 0 ? 0 : (size_t)(s->align[at + i - 1] + 1);
        if (i > 0 && target == t.target)
            continue;
        t.target = target;
        s->tried++;
        t.gain = before - distance_after(s, &t, before - (s->best.gain > 1 ? s->best.gain : 1));
        if (t.gain > 0 && is_better(&t, &s->best))
            s->best = t;
    }
}

static bool any(const bool *wrong, size_t n) {
    return memchr(wrong, true, n) != NULL;
}

/* Leaves the best shift in s->best; its gain is 0 when none lowers the distance. */
static void find_shift(search *s) {
    s->best = (shift){0};
    for (size_t start = 0; start < s->n_words; start++) {
        size_t at = start > MAX_SHIFT_DISTANCE ? start - MAX_SHIFT_DISTANCE : 0;
        for (; at < s->n_reference && at <= start + MAX_SHIFT_DISTANCE; at++) {
            ptrdiff_t aligned = s->align[at];
            for (size_t n = 1; n <= MAX_SHIFT_SIZE && start + n <= s->n_words && at + n <= s->n_reference &&
                               s->words[start + n - 1] == s->reference[at + n - 1];
                 n++) {
                bool inside = aligned >= (ptrdiff_t)start && aligned < (ptrdiff_t)(start + n);
                if (inside || !any(s->wrong + start, n) || !any(s->reference_wrong + at, n))
                    continue;
                try_phrase(s, start, at, n);
                if (s->tried >= MAX_SHIFTS_TRIED)
                    return;
            }
        }
    }
}

/* ---- a sentence -------------------------------------------------------------------------------------- */

static void *take(arena *memory, size_t n, size_t size) {
    return n <= SIZE_MAX / size ? arena_alloc(memory, n * size) : NULL;
}

static bool take_row(arena *memory, row *r) {
    size_t n = r->end - r->first;
    int32_t *cell = take(memory, n + 2, sizeof *cell);
    if (!cell)
        return false;
    r->cost = cell + 1;
    r->cost[-1] = r->cost[n] = INFINITE;
    return true;
}

static bool take_memory(search *s, arena *memory) {
    size_t n = s->n_words, m = s->n_reference;
    s->words = take(memory, n, sizeof *s->words);
    s->shifted = take(memory, n, sizeof *s->shifted);
    s->wrong = take(memory, n, sizeof *s->wrong);
    s->align = take(memory, m, sizeof *s->align);
    s->reference_wrong = take(memory, m, sizeof *s->reference_wrong);
    s->row = take(memory, n + 1, sizeof *s->row);
    if (!s->words || !s->shifted || !s->wrong || !s->align || !s->reference_wrong || !s->row)
        return false;
    for (size_t i = 0; i <= n; i++) {
        limit_row(s, i, &s->row[i]);
        if (!take_row(memory, &s->row[i]))
            return false;
    }
    s->spare[0] = s->spare[1] = (row){.first = 0, .end = m + 1}; /* room for any row */
    return take_row(memory, &s->spare[0]) && take_row(memory, &s->spare[1]);
}

int64_t ter_edits(arena *memory, const size_t *words, size_t n_words, const size_t *reference, size_t n_reference) {
    if (n_words == 0 || n_reference == 0)
        return (int64_t)(n_words + n_reference);
    arena_reset(memory);
    search s = {.reference = reference,
                .n_reference = n_reference,
                .n_words = n_words,
                .ratio = (double)n_reference / (double)n_words};
    /* Where one word of the hypothesis stands for very many of the reference, neighbouring rows must still meet. */
    s.beam = s.ratio / 2 > BEAM_WIDTH ? (size_t)ceil(s.ratio / 2 + BEAM_WIDTH) : BEAM_WIDTH;
    if (!take_memory(&s, memory))
        return -1;
    memcpy(s.words, words, n_words * sizeof *words);
    for (size_t j = 0; j <= n_reference; j++)
        s.row[0].cost[j] = (int32_t)j;

    int64_t shifts = 0;
    for (;;) {
        compare(&s);
        find_shift(&s);
        if (s.tried >= MAX_SHIFTS_TRIED || s.best.gain == 0)
            return shifts + distance(&s);
        size_t from, end;
        apply_shift(&s, &s.best, s.shifted, &from, &end);
        memcpy(s.words, s.shifted, n_words * sizeof *words);
        shifts++;
    }
}
