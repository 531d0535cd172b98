#include "decode/constraint.h"

#include <math.h>
#include <string.h>

/* Symbols that a translation may always have after what it is forced to begin with. */
enum { ROOM = 10 };

static int depth_of(const node *tip) {
    return tip ? tip->depth : 0;
}

static int open_length(const source_sentence *source) {
    return source->open ? (int)strlen(source->open) : 0;
}

int constraint_max_length(const sa_translate_options *options, const source_sentence *source, int positions) {
    if (source->forced_length > 0)
        return source->forced_length;
    int length = (int)fmin((double)options->max_length_factor * (positions - 1), 1e6) + ROOM;
    int forced = source->n_prefix + open_length(source);
    if (forced > 0 && length < forced + ROOM)
        length = forced + ROOM;
    return length > options->min_length ? length : options->min_length + 1;
}

int constraint_forced(const source_sentence *source, const node *tip, int max_length) {
    int depth = depth_of(tip);
    if (depth < source->n_prefix)
        return source->prefix[depth];
    return depth + 1 >= max_length ? VOCAB_EOS : -1;
}

/* What is left to write of the sentence's open word; "" when nothing is. */
static const char *still_open(const source_sentence *source, const node *tip) {
    return source->open ? source->open + (tip ? tip->opened : 0) : "";
}

int constraint_opened(const constraints *c, const source_sentence *source, const node *tip, int word) {
    int opened = tip ? tip->opened : 0, most = open_length(source);
    if (opened == most || depth_of(tip) < source->n_prefix)
        return opened;
    opened += (int)strlen(vocab_piece(c->target, word));
    return opened < most ? opened : most;
}

/* Leaves the pieces that begin with what is open, or that it begins with. A blank at the end may be the end. */
static void keep_open_word(const constraints *c, const char *open, score_row *row) {
    size_t length = strlen(open);
    for (int id = 0; id < row->n; id++) {
        const char *piece = vocab_piece(c->target, id);
        size_t n = strlen(piece), common = n < length ? n : length;
        bool fits = id > VOCAB_UNK && memcmp(piece, open, common) == 0;
        if (!fits && !(id == VOCAB_EOS && strcmp(open, VOCAB_SUBWORD_BLANK) == 0))
            row->x[id] = -INFINITY;
    }
    score_row_measure(row);
}

/* A word is out when it would end an n-gram that is there already. */
static void forbid_repetition(const constraints *c, const node *tip, score_row *row) {
    int n = c->options->no_repeat_ngram, depth = depth_of(tip);
    if (n == 0 || depth < n)
        return;
    for (const node *at = tip; at; at = at->parent)
        c->words[at->depth - 1] = at->word;
    const int *last = c->words + depth - (n - 1);
    for (int i = 0; i + n <= depth; i++)
        if (memcmp(c->words + i, last, (size_t)(n - 1) * sizeof *last) == 0)
            score_row_forbid(row, c->words[i + n - 1]);
}

/* A symbol for a protected item is out once there are as many of its kind as the source has. */
static void forbid_items(const constraints *c, const source_sentence *source, const node *tip, score_row *row) {
    for (int kind = 0; kind < PROTECT_KINDS; kind++) {
        int id = vocab_placeholder(c->target, (protect_kind)kind), left = source->items ? source->items[kind] : 0;
        for (const node *at = left > 0 ? tip : NULL; at && left > 0; at = at->parent)
            left -= at->word == id;
        if (id >= 0 && left == 0)
            score_row_forbid(row, id);
    }
}

void constraint_apply(const constraints *c, const source_sentence *source, const node *tip, score_row *row) {
    const char *open = still_open(source, tip);
    if (*open) {
        keep_open_word(c, open, row);
        return;
    }
    if (c->options->forbid_unk)
        score_row_forbid(row, VOCAB_UNK);
    if (depth_of(tip) < c->options->min_length || depth_of(tip) + 1 < source->forced_length)
        score_row_forbid(row, VOCAB_EOS);
    forbid_repetition(c, tip, row);
    forbid_items(c, source, tip, row);
}
