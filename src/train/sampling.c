#include "train/sampling.h"

#include "text/corpus_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pairs are drawn in blocks of slices, a task each. */
enum { SLICE = 64, SLICES = 32, BLOCK = SLICE * SLICES };

enum { STREAM_SOURCE = 1001, STREAM_TARGET }; /* of random numbers, of an epoch's pair */

static bool is_subwords(const vocab *v) {
    return vocab_type(v) == SA_VOCAB_BPE || vocab_type(v) == SA_VOCAB_UNIGRAM;
}

sa_status sampling_open(sampling *s, const vocab *source, const vocab *target, sa_error *error) {
    const vocab *const side[2] = {source, target};
    *s = (sampling){0};
    for (int k = 0; k < 2; k++)
        if (is_subwords(side[k]))
            SA_TRY(resegmenter_new(&s->side[k], side[k], error));
    return SA_OK;
}

void sampling_close(sampling *s) {
    resegmenter_free(s->side[0]);
    resegmenter_free(s->side[1]);
    corpus_free(&s->text);
    *s = (sampling){0};
}

typedef struct block {
    const sampling *s;
    const corpus *plain;
    const sampling_draw *draw;
    size_t pair[BLOCK], n;
    corpus_entry entry[BLOCK]; /* without place and check */
    id_list ids[SLICES];
    bool ok[SLICES];
} block;

/* Appends n ids and </s>; false without memory. */
static bool copy(const int *ids, int n, id_list *out) {
    bool ok = true;
    for (int i = 0; i <= n && ok; i++)
        ok = id_list_push(out, ids[i]);
    return ok;
}

/* Appends a side of a pair, given with </s>; *length: its symbols then. */
static bool draw_side(const block *b, size_t number, int k, const int *ids, int n, id_list *out, int *length) {
    size_t start = out->n;
    rng random = rng_at(b->draw->seed, (uint64_t)b->draw->epoch, number, STREAM_SOURCE + (uint64_t)k);
    bool ok = !b->s->side[k] || resegment(b->s->side[k], ids, (size_t)n - 1, b->draw->share, &random, out);
    bool fits = b->s->side[k] && out->n - start <= (size_t)b->draw->max_length;
    if (!fits)
        out->n = start;
    ok = ok && (fits ? id_list_push(out, VOCAB_EOS) : copy(ids, n - 1, out));
    *length = (int)(out->n - start);
    return ok;
}

static void draw_slice(void *argument, int task, int worker) {
    (void)worker;
    block *b = argument;
    id_list *out = &b->ids[task];
    bool ok = true;
    out->n = 0;
    for (size_t i = (size_t)task * SLICE; i < (size_t)(task + 1) * SLICE && i < b->n && ok; i++) {
        pair p = corpus_pair(b->plain, b->pair[i]);
        int length[2] = {0};
        ok = draw_side(b, b->pair[i], 0, p.source, p.source_length, out, &length[0]) &&
             draw_side(b, b->pair[i], 1, p.target, p.target_length, out, &length[1]);
        b->entry[i] = (corpus_entry){.line = p.line, .source_length = length[0], .target_length = length[1]};
    }
    b->ok[task] = ok;
}

static sa_status write_block(block *b, corpus_file_writer *w, sa_error *error) {
    for (size_t task = 0; task * SLICE < b->n; task++) {
        const int *ids = b->ids[task].id;
        if (!b->ok[task])
            return sa_fail_memory(error, b->ids[task].n * sizeof *ids);
        for (size_t i = task * SLICE; i < (task + 1) * SLICE && i < b->n; i++) {
            corpus_entry *e = &b->entry[i];
            e->check = corpus_entry_check(e, b->pair[i], ids);
            SA_TRY(corpus_file_add(w, e, ids, error));
            ids += e->source_length + e->target_length;
        }
    }
    return SA_OK;
}

static sa_status write_pairs(block *b, corpus_file_writer *w, pool *threads, sa_error *error) {
    for (size_t first = 0; first < b->plain->n; first += b->n) {
        b->n = b->plain->n - first < BLOCK ? b->plain->n - first : BLOCK;
        for (size_t i = 0; i < b->n; i++)
            b->pair[i] = first + i;
        corpus_expect(b->plain, b->pair, b->n);
        SA_TRY(corpus_check(b->plain, b->pair, b->n, error));
        pool_run(threads, (int)((b->n + SLICE - 1) / SLICE), draw_slice, b);
        SA_TRY(write_block(b, w, error));
    }
    return SA_OK;
}

static sa_status fill(block *b, corpus_file_writer *w, pool *threads, sa_error *error) {
    static const corpus_origin nowhere;
    static const pair_text none;
    corpus_file_reserve(w, b->plain->n);
    sa_status status = write_pairs(b, w, threads, error);
    if (status == SA_OK)
        return corpus_file_finish(w, &nowhere, (file_chunk[2]){{0}, {0}}, b->plain->vocab_size, &none, error);
    corpus_file_abandon(w);
    return status;
}

sa_status sampling_make(sampling *s, const corpus *plain, const sampling_draw *draw, pool *threads,
                        const char *path, sa_error *error) {
    corpus_file_writer *w;
    corpus_file file = {0};
    corpus_free(&s->text);
    SA_TRY(corpus_file_begin(&w, path, true, error));
    block *b = calloc(1, sizeof *b);
    if (!b) {
        corpus_file_abandon(w);
        return sa_fail_memory(error, sizeof *b);
    }
    b->s = s;
    b->plain = plain;
    b->draw = draw;
    sa_status status = fill(b, w, threads, error);
    for (int i = 0; i < SLICES; i++)
        id_list_free(&b->ids[i]);
    free(b);
    if (status == SA_OK)
        status = corpus_file_open(&file, path, error);
    if (status == SA_OK && !file.head)
        status = sa_fail(error, SA_IO, "%s: another program removed this file", path);
    if (status == SA_OK)
        status = corpus_file_take(&file, &s->text, path, error);
    corpus_file_close(&file);
    unlink(path);
    return status;
}
