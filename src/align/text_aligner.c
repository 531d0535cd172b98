/* sa_align_text: the words of a parallel text aligned by what the text itself says. */
#include "align/count_aligner.h"
#include "base/thread.h"
#include "text/corpus_encoder.h"
#include "text/links.h"

#include <stdlib.h>

enum {
    WORDS_MOST = INT32_MAX, /* of a vocabulary: all of the text */
    BLOCK = 1024            /* pairs aligned at a time */
};

typedef struct text_aligner {
    const sa_align_text_options *options;
    pair_files files;
    size_t pairs; /* of lines */
    vocab *side[2];
    corpus text;
    pool *threads;
    sa_align_text_callback *take;
    void *user;
} text_aligner;

void sa_align_text_options_init(sa_align_text_options *options) {
    *options = (sa_align_text_options){.seed = count_defaults.seed,
                                       .chains = count_defaults.chains,
                                       .sweeps = count_defaults.sweeps,
                                       .symmetrization = SA_AVERAGE};
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static sa_status read_words(text_aligner *a, vocab_learner *const learner[2], pair_reader *reader,
                            sa_error *error) {
    for (;;) {
        pair_lines lines;
        SA_TRY(pair_reader_next(reader, &lines, error));
        if (!lines.line[SA_SOURCE])
            break;
        for (int side = 0; side < 2; side++)
            SA_TRY(vocab_learner_add(learner[side], lines.line[side], lines.length[side], error));
    }
    a->pairs = reader->n;
    for (int side = 0; side < 2; side++)
        SA_TRY(vocab_learner_end(learner[side], &a->side[side], error));
    return SA_OK;
}

static sa_status learn_words(text_aligner *a, sa_error *error) {
    const vocab_options all = {.type = SA_VOCAB_WORD, .size = WORDS_MOST};
    vocab_learner *learner[2] = {NULL, NULL};
    pair_reader reader;
    sa_status status = vocab_learner_new(&learner[0], &all, error);
    if (status == SA_OK)
        status = vocab_learner_new(&learner[1], &all, error);
    if (status == SA_OK)
        status = pair_reader_open(&reader, &a->files, error);
    if (status == SA_OK) {
        status = read_words(a, learner, &reader, error);
        pair_reader_close(&reader);
    }
    vocab_learner_free(learner[0]);
    vocab_learner_free(learner[1]);
    return status;
}

static sa_status read_pairs(text_aligner *a, corpus_encoder *e, pair_reader *reader, sa_error *error) {
    corpus_counts counts;
    for (;;) {
        pair_lines lines;
        SA_TRY(pair_reader_next(reader, &lines, error));
        if (!lines.line[SA_SOURCE])
            break;
        SA_TRY(corpus_encoder_add(e, &lines, reader->n - 1, error));
    }
    if (reader->n != a->pairs)
        return sa_fail(error, SA_DATA, "%s: the text changed while it was read; begin again",
                       pair_files_name(&a->files, SA_SOURCE));
    return corpus_encoder_end(e, &counts, error);
}

/* Pairs with an empty side, or too long for the aligner, are not in the corpus. */
static sa_status encode(text_aligner *a, sa_error *error) {
    corpus_encoder *e;
    pair_reader reader;
    a->text = (corpus){.vocab_size = {vocab_size(a->side[0]), vocab_size(a->side[1])}};
    SA_TRY(corpus_encoder_new(&e, a->side[0], a->side[1], COUNT_LONGEST, a->threads, corpus_take_into_memory,
                              &a->text, error));
    sa_status status = pair_reader_open(&reader, &a->files, error);
    if (status == SA_OK) {
        status = read_pairs(a, e, &reader, error);
        pair_reader_close(&reader);
    }
    corpus_encoder_free(e);
    return status;
}

/* ---- aligning ---------------------------------------------------------------------------------------- */

/* The hard links of one direction with their probabilities. */
static sa_status take_links(const count_links *from, int direction, sa_links *out, sa_error *error) {
    int S = from->length[0], T = from->length[1], words = direction == 0 ? T : S;
    size_t capacity = 0;
    *out = (sa_links){0};
    int *best = malloc(((size_t)words + 1) * sizeof *best);
    bool ok = best != NULL;
    if (ok)
        count_links_best(from, direction, best);
    for (int i = 0; i < words && ok; i++) {
        if (best[i] < 0)
            continue;
        int s = direction == 0 ? best[i] : i, t = direction == 0 ? i : best[i];
        float weight = from->probability[direction][(size_t)s * (size_t)T + (size_t)t];
        ok = links_push(out, &capacity, (sa_link){s, t, weight, false});
    }
    free(best);
    links_sort(out);
    return ok ? SA_OK : sa_fail_memory(error, 0);
}

/* The links whose mean probability is above 1/2; a word's best one is not always among them, nor the only one. */
static sa_status take_likely(const count_links *from, sa_links *out, sa_error *error) {
    int S = from->length[0], T = from->length[1];
    size_t capacity = 0;
    *out = (sa_links){0};
    for (int s = 0; s < S; s++)
        for (int t = 0; t < T; t++) {
            size_t at = (size_t)s * (size_t)T + (size_t)t;
            float mean = (from->probability[0][at] + from->probability[1][at]) / 2;
            if (mean > 0.5f && !links_push(out, &capacity, (sa_link){s, t, mean, false}))
                return sa_fail_memory(error, 0);
        }
    return SA_OK;
}

typedef struct pair_links {
    sa_links together, direction[2];
} pair_links;

static sa_status make_links(const text_aligner *a, const count_links *from, pair_links *out, sa_error *error) {
    for (int d = 0; d < 2; d++)
        SA_TRY(take_links(from, d, &out->direction[d], error));
    sa_symmetrization how = a->options->symmetrization;
    return how == SA_AVERAGE
               ? take_likely(from, &out->together, error)
               : sa_links_symmetrize(&out->together, &out->direction[0], &out->direction[1], how, error);
}

/* Hands over a pair's links; NULL: it has none. */
static sa_status hand_over(text_aligner *a, size_t line, const count_links *from, sa_error *error) {
    pair_links links = {0};
    sa_status status = from && from->probability[0] ? make_links(a, from, &links, error) : SA_OK;
    if (status == SA_OK && a->take(line, &links.together, &links.direction[0], &links.direction[1], a->user))
        status = sa_fail(error, SA_STOPPED, "stopped on request");
    sa_links_free(&links.together);
    sa_links_free(&links.direction[0]);
    sa_links_free(&links.direction[1]);
    return status;
}

static sa_status align_pairs(text_aligner *a, count_aligner *aligner, sa_error *error) {
    count_links *links = calloc(BLOCK, sizeof *links);
    sa_status status = links ? SA_OK : sa_fail_memory(error, BLOCK * sizeof *links);
    size_t line = 0;
    for (size_t first = 0, n; first < a->text.n && status == SA_OK; first += n) {
        n = a->text.n - first < BLOCK ? a->text.n - first : BLOCK;
        status = count_aligner_align(aligner, first, n, links, error);
        for (size_t i = 0; i < n && status == SA_OK; i++) {
            while (status == SA_OK && line < a->text.entry[first + i].line)
                status = hand_over(a, line++, NULL, error);
            if (status == SA_OK)
                status = hand_over(a, line++, &links[i], error);
        }
        count_links_free(links, n);
    }
    while (line < a->pairs && status == SA_OK)
        status = hand_over(a, line++, NULL, error);
    free(links);
    return status;
}

static sa_status align(text_aligner *a, sa_error *error) {
    count_aligner *aligner = NULL;
    const sa_align_text_options *o = a->options;
    const count_options counting = {
        .seed = o->seed, .threads = pool_threads(a->threads), .chains = o->chains, .sweeps = o->sweeps};
    SA_TRY(learn_words(a, error));
    SA_TRY(encode(a, error));
    if (a->text.n == 0)
        return sa_fail(error, SA_DATA, "%s: no pair has words on both sides, %d a side at most",
                       pair_files_name(&a->files, SA_SOURCE), COUNT_LONGEST);
    SA_TRY(
        count_aligner_learn(&aligner, &a->text, (const vocab *const[2]){a->side[0], a->side[1]}, &counting, error));
    sa_status status = align_pairs(a, aligner, error);
    count_aligner_free(aligner);
    return status;
}

sa_status sa_align_text(const sa_align_text_options *options, sa_align_text_callback *take, void *user,
                        sa_error *error) {
    text_aligner a = {.options = options, .take = take, .user = user};
    const char *usual = getenv("TMPDIR");
    SA_TRY(pair_files_open(&a.files, options->source, options->target, options->strict,
                           usual && *usual ? usual : "/tmp", error));
    sa_status status = pool_new(&a.threads, options->threads > 0 ? options->threads : thread_cores(), NULL, error);
    if (status == SA_OK)
        status = align(&a, error);
    pool_free(a.threads);
    corpus_free(&a.text);
    vocab_free(a.side[0]);
    vocab_free(a.side[1]);
    pair_files_close(&a.files);
    return status;
}
