#include "text/corpus_encoder.h"

#include <stdlib.h>
#include <string.h>

/* A block is cut into slices, a task each. Long lines end it early: it is what is in memory of the text. */
enum { SLICE = 64, SLICES = 32, BLOCK = SLICE * SLICES, BLOCK_BYTES = 4 << 20, BLOCK_IDS = 8 << 20 };

typedef struct slice {
    id_list ids;        /* of all its pairs, each side ended by </s> */
    size_t n[SLICE][2]; /* symbols of each side, </s> not counted */
    sa_error error;
} slice;

struct corpus_encoder {
    const vocab *vocab[2];
    size_t max_length[2];
    size_t most_pairs; /* in a block: sources that are no text may have many ids */
    pool *threads;
    corpus_take *take;
    void *user;
    corpus_counts counts;

    strbuf text; /* the block's lines, one behind the other */
    size_t length[BLOCK][2], line[BLOCK], start[BLOCK];
    size_t n; /* pairs in the block */
    slice slice[SLICES];
};

sa_status corpus_encoder_new(corpus_encoder **out, const vocab *source, const vocab *target, int max_length,
                             pool *threads, corpus_take *take, void *user, sa_error *error) {
    SA_ASSERT(max_length > 0);
    corpus_encoder *e = *out = calloc(1, sizeof *e);
    if (!e)
        return sa_fail_memory(error, sizeof *e);
    e->vocab[0] = source;
    e->vocab[1] = target;
    e->most_pairs = BLOCK;
    for (int side = 0; side < 2; side++) {
        size_t length = (size_t)vocab_length(e->vocab[side]);
        e->max_length[side] = length ? length : (size_t)max_length;
        e->most_pairs = length > BLOCK_IDS / e->most_pairs ? BLOCK_IDS / length : e->most_pairs;
    }
    e->threads = threads;
    e->take = take;
    e->user = user;
    return SA_OK;
}

void corpus_encoder_free(corpus_encoder *e) {
    if (!e)
        return;
    for (int i = 0; i < SLICES; i++)
        id_list_free(&e->slice[i].ids);
    strbuf_free(&e->text);
    free(e);
}

static void encode_slice(void *argument, int task, int worker) {
    (void)worker;
    corpus_encoder *e = argument;
    slice *s = &e->slice[task];
    s->ids.n = 0;
    s->error.status = SA_OK;
    size_t from = (size_t)task * SLICE;
    for (size_t i = 0; i < SLICE && from + i < e->n && s->error.status == SA_OK; i++) {
        const size_t *length = e->length[from + i];
        const char *source = e->text.data + e->start[from + i];
        const char *const line[2] = {source, source + length[0]};
        vocab_encode_pair(e->vocab, line, length, &s->ids, s->n[i], &s->error);
    }
}

static sa_status judge(corpus_encoder *e, const size_t n[2], size_t line, const int *ids, sa_error *error) {
    corpus_counts *counts = &e->counts;
    counts->read++;
    if (n[0] == 0 || n[1] == 0) {
        counts->empty++;
        return SA_OK;
    }
    if (n[0] > e->max_length[0] || n[1] > e->max_length[1]) {
        counts->too_long++;
        return SA_OK;
    }
    corpus_entry entry = {.line = line, .source_length = (int)n[0] + 1, .target_length = (int)n[1] + 1};
    entry.check = corpus_entry_check(&entry, counts->kept++, ids);
    return e->take(e->user, &entry, ids, error);
}

static sa_status encode_block(corpus_encoder *e, sa_error *error) {
    if (e->text.failed)
        return sa_fail_memory(error, e->text.length);
    int tasks = (int)((e->n + SLICE - 1) / SLICE);
    pool_run(e->threads, tasks, encode_slice, e);
    for (int task = 0; task < tasks; task++) {
        const slice *s = &e->slice[task];
        if (s->error.status != SA_OK)
            return sa_fail(error, s->error.status, "%s", s->error.text);
        const int *ids = s->ids.id;
        for (size_t i = 0, at = (size_t)task * SLICE; i < SLICE && at < e->n; i++, at++) {
            SA_TRY(judge(e, s->n[i], e->line[at], ids, error));
            ids += s->n[i][0] + s->n[i][1] + 2;
        }
    }
    strbuf_clear(&e->text);
    e->n = 0;
    return SA_OK;
}

sa_status corpus_encoder_add(corpus_encoder *e, const pair_lines *lines, size_t line, sa_error *error) {
    e->start[e->n] = e->text.length;
    e->line[e->n] = line;
    for (int side = 0; side < 2; side++) {
        e->length[e->n][side] = lines->length[side];
        strbuf_append(&e->text, lines->line[side], lines->length[side]);
    }
    e->n++;
    return e->n >= e->most_pairs || e->text.length >= BLOCK_BYTES ? encode_block(e, error) : SA_OK;
}

sa_status corpus_encoder_end(corpus_encoder *e, corpus_counts *counts, sa_error *error) {
    SA_TRY(encode_block(e, error));
    *counts = e->counts;
    return SA_OK;
}

sa_status corpus_take_into_memory(void *user, const corpus_entry *e, const int *ids, sa_error *error) {
    return corpus_append(user, e, ids, error);
}

static sa_status encode_text(corpus_encoder *e, const pair_text *text, corpus_counts *counts, sa_error *error) {
    for (size_t i = 0; i < text->n; i++) {
        const char *source = text->source[i], *target = text->target[i];
        pair_lines lines = {{source, target}, {strlen(source), strlen(target)}};
        SA_TRY(corpus_encoder_add(e, &lines, text->first + i, error));
    }
    return corpus_encoder_end(e, counts, error);
}

sa_status corpus_encode(corpus *out, const pair_text *text, const vocab *source, const vocab *target,
                        int max_length, pool *threads, corpus_counts *counts, sa_error *error) {
    *out = (corpus){.vocab_size = {vocab_size(source), vocab_size(target)}};
    corpus_encoder *e;
    SA_TRY(corpus_encoder_new(&e, source, target, max_length, threads, corpus_take_into_memory, out, error));
    sa_status status = encode_text(e, text, counts, error);
    corpus_encoder_free(e);
    if (status != SA_OK)
        corpus_free(out);
    return status;
}
