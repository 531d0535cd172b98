/* sa_shortlist_learn: a shortlist from parallel text. */
#include "decode/shortlist.h"

#include "align/count_aligner.h"
#include "math/gemm.h"
#include "model/model_file.h"
#include "text/corpus_encoder.h"

#include <stdlib.h>
#include <string.h>

enum { CHAINS = 2 };

typedef struct learning {
    const sa_shortlist_options *options;
    const vocab *source, *target;
    corpus text;
    count_aligner *aligner;
    int *start, *word, *frequent; /* as in sa_shortlist */
    int n_frequent;
} learning;

void sa_shortlist_options_init(sa_shortlist_options *options) {
    *options = (sa_shortlist_options){.frequent = 100, .best = 20, .pairs = 200000, .max_length = 100};
}

static sa_status check(const sa_shortlist_options *o, const sa_model *m, sa_error *error) {
    if (!m->source)
        return sa_fail(error, SA_USAGE, "this model was planned, not opened: it has no vocabularies");
    if (vocab_length(m->source))
        return sa_fail(error, SA_USAGE, "sources of this model have no words for a shortlist to go by");
    if (!o->train_source)
        return sa_fail(error, SA_USAGE, "no text to learn from: give two files, or one TSV file");
    if (o->frequent < 0 || o->frequent > 1000000 || o->best < 1 || o->best > 1000000 || o->pairs < 1 ||
        o->max_length < 1 || o->threads < 0)
        return sa_fail(error, SA_USAGE,
                       "a shortlist needs pairs, at least one word for each of the source, and lengths from 1");
    return SA_OK;
}

static int threads_of(const sa_shortlist_options *o) {
    return o->threads > 0 ? o->threads : thread_cores();
}

/* ---- text -------------------------------------------------------------------------------------------- */

static sa_status encode_pairs(learning *l, pair_reader *reader, corpus_encoder *encoder, sa_error *error) {
    pair_lines lines;
    for (int64_t i = 0; i < l->options->pairs; i++) {
        SA_TRY(pair_reader_next(reader, &lines, error));
        if (!lines.line[SA_SOURCE])
            break;
        SA_TRY(corpus_encoder_add(encoder, &lines, (size_t)i, error));
    }
    corpus_counts counts;
    SA_TRY(corpus_encoder_end(encoder, &counts, error));
    if (l->text.n == 0)
        return sa_fail(
            error, SA_DATA, "%s: no pair is left of %zu: %zu have an empty side, %zu are longer than %d symbols",
            l->options->train_source, counts.read, counts.empty, counts.too_long, l->options->max_length);
    return SA_OK;
}

static sa_status read_pairs(learning *l, const pair_files *files, pool *threads, sa_error *error) {
    pair_reader reader;
    corpus_encoder *encoder;
    SA_TRY(corpus_encoder_new(&encoder, l->source, l->target, l->options->max_length, threads,
                              corpus_take_into_memory, &l->text, error));
    sa_status status = pair_reader_open(&reader, files, error);
    if (status == SA_OK) {
        status = encode_pairs(l, &reader, encoder, error);
        pair_reader_close(&reader);
    }
    corpus_encoder_free(encoder);
    l->text.vocab_size[SA_SOURCE] = vocab_size(l->source);
    l->text.vocab_size[SA_TARGET] = vocab_size(l->target);
    return status;
}

static sa_status read_text(learning *l, sa_error *error) {
    const sa_shortlist_options *o = l->options;
    pair_files files;
    pool *threads;
    SA_TRY(pool_new(&threads, threads_of(o), NULL, error));
    sa_status status = pair_files_open(&files, o->train_source, o->train_target, o->strict, NULL, error);
    if (status == SA_OK) {
        status = read_pairs(l, &files, threads, error);
        pair_files_close(&files);
    }
    pool_free(threads);
    return status;
}

/* ---- words ------------------------------------------------------------------------------------------- */

typedef struct word_count {
    int word;
    long count;
} word_count;

static int compare_counts(const void *a, const void *b) {
    const word_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

/* The most frequent words of the target. */
static sa_status find_frequent(learning *l, sa_error *error) {
    size_t V = (size_t)vocab_size(l->target);
    word_count *count = calloc(V, sizeof *count);
    int wanted = l->options->frequent < (int)V ? l->options->frequent : (int)V;
    l->frequent = calloc((size_t)wanted + 1, sizeof *l->frequent);
    if (!count || !l->frequent) {
        free(count);
        return sa_fail_memory(error, V * sizeof *count);
    }
    for (size_t i = 0; i < V; i++)
        count[i].word = (int)i;
    for (size_t i = 0; i < l->text.n; i++) {
        pair p = corpus_pair(&l->text, i);
        for (int j = 0; j + 1 < p.target_length; j++) /* not </s>, which every sentence has anyway */
            count[p.target[j]].count++;
    }
    qsort(count, V, sizeof *count, compare_counts);
    while (l->n_frequent < wanted && count[l->n_frequent].count > 0) {
        l->frequent[l->n_frequent] = count[l->n_frequent].word;
        l->n_frequent++;
    }
    free(count);
    return SA_OK;
}

/* The best words for each source symbol. */
static sa_status find_best(learning *l, sa_error *error) {
    static const float least = 1e-4f; /* what is less likely is there by chance */
    int Vs = vocab_size(l->source), Vt = vocab_size(l->target),
        best = l->options->best < Vt ? l->options->best : Vt;
    count_options counting = count_defaults;
    counting.threads = threads_of(l->options);
    counting.chains = CHAINS;
    SA_TRY(count_aligner_learn(&l->aligner, &l->text, (const vocab *const[2]){l->source, l->target}, &counting,
                               error));
    l->start = calloc((size_t)Vs + 1, sizeof *l->start);
    if (!l->start || (int64_t)Vs * best > INT32_MAX)
        return sa_fail_memory(error, (size_t)Vs * sizeof *l->start);
    size_t capacity = 0;
    for (int x = 0; x < Vs; x++) {
        size_t n = (size_t)l->start[x];
        if (n + (size_t)best > capacity) {
            capacity = 2 * capacity + (size_t)best;
            int *more = realloc(l->word, capacity * sizeof *more);
            if (!more)
                return sa_fail_memory(error, capacity * sizeof *more);
            l->word = more;
        }
        int found;
        SA_TRY(count_aligner_translations(l->aligner, x, best, least, l->word + n, &found, error));
        l->start[x + 1] = l->start[x] + found;
    }
    return SA_OK;
}

/* ---- what it is worth -------------------------------------------------------------------------------- */

/* How many words the lists of the pairs' sources have, and how many words of their targets are among them. */
static sa_status measure(const learning *l, sa_shortlist_result *out, sa_error *error) {
    size_t *mark = calloc((size_t)vocab_size(l->target), sizeof *mark);
    double listed = 0, found = 0, all = 0;
    if (!mark)
        return sa_fail_memory(error, 0);
    for (size_t i = 0; i < l->text.n; i++) {
        pair p = corpus_pair(&l->text, i);
        for (int k = -1; k < p.source_length; k++) { /* -1: the frequent words */
            const int *word = k < 0 ? l->frequent : l->word + l->start[p.source[k]];
            int n = k < 0 ? l->n_frequent : l->start[p.source[k] + 1] - l->start[p.source[k]];
            for (int j = 0; j < n; j++) {
                listed += mark[word[j]] != i + 1;
                mark[word[j]] = i + 1;
            }
        }
        for (int j = 0; j + 1 < p.target_length; j++)
            found += mark[p.target[j]] == i + 1 || p.target[j] == VOCAB_UNK;
        all += p.target_length - 1;
    }
    free(mark);
    *out = (sa_shortlist_result){(int64_t)l->text.n, all > 0 ? found / all : 1, listed / (double)l->text.n};
    return SA_OK;
}

static sa_status save(const learning *l, const char *path, sa_error *error) {
    char vocabularies[40];
    int64_t starts = vocab_size(l->source) + 1, words = l->start[starts - 1], frequent = l->n_frequent;
    SA_TRY(shortlist_vocabularies(l->source, l->target, vocabularies, error));
    const st_tensor list[] = {
        {SHORTLIST_START, ST_I32, 1, {starts}, l->start, (size_t)starts * sizeof(int)},
        {SHORTLIST_WORD, ST_I32, 1, {words}, l->word, (size_t)words * sizeof(int)},
        {SHORTLIST_FREQUENT, ST_I32, 1, {frequent}, l->frequent, (size_t)frequent * sizeof(int)},
    };
    const st_entry entry[] = {{"format", SHORTLIST_FORMAT}, {"vocabularies", vocabularies}};
    return st_write(path, list, 3, entry, 2, error);
}

sa_status sa_shortlist_learn(const sa_model *m, const sa_shortlist_options *options, const char *output,
                             sa_shortlist_result *result, sa_error *error) {
    sa_shortlist_result ignored;
    SA_TRY(check(options, m, error));
    learning l = {.options = options, .source = m->source, .target = m->target};
    sa_status status = read_text(&l, error);
    if (status == SA_OK)
        status = find_frequent(&l, error);
    if (status == SA_OK)
        status = find_best(&l, error);
    if (status == SA_OK)
        status = measure(&l, result ? result : &ignored, error);
    if (status == SA_OK)
        status = save(&l, output, error);
    count_aligner_free(l.aligner);
    corpus_free(&l.text);
    free(l.start);
    free(l.word);
    free(l.frequent);
    return status;
}
