#include "train/intake.h"

#include <string.h>

/* ---- what the text is -------------------------------------------------------------------------------- */

size_t intake_training_pairs(const intake *t) {
    size_t held_out = t->origin.held_out < t->pairs / 2 ? t->origin.held_out : t->pairs / 2;
    return t->pairs - held_out;
}

static void note_contents(corpus_origin *o, const pair_reader *reader) {
    for (int side = 0; side < 2 && reader->reader[side]; side++) {
        o->lines[side] = sa_reader_line(reader->reader[side]);
        o->hash[side] = reader->hash[side];
    }
}

static sa_status read_through(intake *t, pair_reader *reader, sa_error *error) {
    pair_lines lines;
    do
        SA_TRY(pair_reader_next(reader, &lines, error));
    while (lines.line[SA_SOURCE]);
    replacements replaced = pair_reader_replaced(reader);
    note_contents(&t->origin, reader);
    t->origin.replaced = replaced.n;
    memcpy(t->origin.replaced_at, replaced.first, sizeof replaced.first);
    t->pairs = reader->n;
    memcpy(t->bytes, reader->bytes, sizeof t->bytes);
    t->surveyed = true;
    return SA_OK;
}

sa_status intake_survey(intake *t, sa_error *error) {
    pair_reader reader;
    if (t->surveyed)
        return SA_OK;
    SA_TRY(pair_reader_open(&reader, &t->files, error));
    sa_status status = read_through(t, &reader, error);
    pair_reader_close(&reader);
    return status;
}

bool intake_same_contents(const uint64_t lines[2], const uint64_t hash[2], const corpus_origin *o) {
    return !memcmp(lines, o->lines, sizeof o->lines) && !memcmp(hash, o->hash, sizeof o->hash);
}

sa_status intake_check_same_text(const intake *t, sa_error *error) {
    const text_record *began = &t->r->text;
    const corpus_origin *now = &t->origin;
    if (!began->known || intake_same_contents(began->lines, began->hash, now))
        return SA_OK;
    if (!began->lines[1] != !now->lines[1])
        return sa_fail(error, SA_DATA, "%s: the run began with another training text, in %s", t->files.path[0],
                       began->lines[1] ? "two files" : "one TSV file");
    int side = began->lines[0] == now->lines[0] && began->hash[0] == now->hash[0];
    const char *name = pair_files_name(&t->files, side);
    unsigned long long lines = began->lines[side];
    if (lines != now->lines[side])
        return sa_fail(error, SA_DATA,
                       "%s: the run began with another training text: it had %llu lines, this file has %llu", name,
                       lines, (unsigned long long)now->lines[side]);
    return sa_fail(
        error, SA_DATA,
        "%s: the run began with another training text: it had as many lines, %llu, but other words in them", name,
        lines);
}

/* ---- making ids of it -------------------------------------------------------------------------------- */

/* The last pairs are the validation text, unless there is one already. */
static sa_status encode_lines(intake *t, corpus_encoder *e, pair_reader *reader, corpus_counts *counts,
                              sa_error *error) {
    size_t n = intake_training_pairs(t);
    pair_text *held_out = t->r->valid_text.n ? NULL : &t->r->valid_text;
    if (held_out)
        held_out->first = n;
    for (;;) {
        pair_lines lines;
        SA_TRY(pair_reader_next(reader, &lines, error));
        if (!lines.line[SA_SOURCE])
            break;
        if (reader->n <= n)
            SA_TRY(corpus_encoder_add(e, &lines, reader->n - 1, error));
        else if (held_out)
            SA_TRY(pair_text_add(held_out, &lines, error));
    }
    corpus_origin again = {0};
    note_contents(&again, reader);
    if (!intake_same_contents(again.lines, again.hash, &t->origin))
        return sa_fail(error, SA_DATA, "%s: the training text changed while it was read; begin again",
                       pair_files_name(&t->files, SA_SOURCE));
    return corpus_encoder_end(e, counts, error);
}

/* Into the file, or into memory when w is NULL. */
static sa_status encode(intake *t, corpus_file_writer *w, sa_error *error) {
    const run *r = t->r;
    corpus_counts counts = {0};
    corpus_encoder *e;
    pair_reader reader;
    SA_TRY(corpus_encoder_new(&e, r->model->source, r->model->target, r->options.max_length, t->threads,
                              w ? corpus_file_add : corpus_take_into_memory, w ? (void *)w : (void *)&t->r->train,
                              error));
    sa_status status = pair_reader_open(&reader, &t->files, error);
    if (status == SA_OK) {
        status = encode_lines(t, e, &reader, &counts, error);
        pair_reader_close(&reader);
    }
    corpus_encoder_free(e);
    t->origin.read = counts.read;
    t->origin.empty = counts.empty;
    t->origin.too_long = counts.too_long;
    if (status == SA_OK && counts.kept == 0)
        status = intake_fail_empty("training text", &counts, r->options.max_length, error);
    return status;
}

/* Puts the file in place, whatever comes of it, and maps it. */
static sa_status finish(intake *t, corpus_file_writer *w, sa_error *error) {
    run *r = t->r;
    strbuf bytes[2] = {{0}, {0}};
    sa_status status = intake_save_vocabularies(r, bytes, error);
    if (status == SA_OK) {
        file_chunk vocabularies[2] = {{bytes[0].data, bytes[0].length}, {bytes[1].data, bytes[1].length}};
        const int size[2] = {vocab_size(r->model->source), vocab_size(r->model->target)};
        static const pair_text none;
        status = corpus_file_finish(w, &t->origin, vocabularies, size,
                                    r->options.valid_source ? &none : &r->valid_text, error);
    } else
        corpus_file_abandon(w);
    strbuf_free(&bytes[0]);
    strbuf_free(&bytes[1]);
    corpus_file file = {0};
    if (status == SA_OK)
        status = corpus_file_open(&file, t->path, error);
    if (status == SA_OK && !file.head)
        status = sa_fail(error, SA_IO, "%s: another program removed this file", t->path);
    if (status == SA_OK)
        status = corpus_file_take(&file, &r->train, t->path, error);
    corpus_file_close(&file);
    return status;
}

static sa_status prepare(intake *t, sa_error *error) {
    run *r = t->r;
    SA_TRY(intake_survey(t, error));
    SA_TRY(intake_check_same_text(t, error));
    if (!r->valid_text.n && intake_training_pairs(t) == t->pairs)
        return sa_fail(error, SA_DATA, "no pairs to validate with: name validation files (--valid SOURCE TARGET)");
    if (!r->model->source)
        SA_TRY(intake_learn(t, error));
    r->train.vocab_size[0] = vocab_size(r->model->source);
    r->train.vocab_size[1] = vocab_size(r->model->target);
    return SA_OK;
}

/* w belongs to this function. */
static sa_status make(intake *t, corpus_file_writer *w, sa_error *error) {
    sa_status status = prepare(t, error);
    if (status == SA_OK) {
        if (w)
            corpus_file_reserve(w, intake_training_pairs(t));
        status = encode(t, w, error);
    }
    if (status == SA_OK && w)
        return finish(t, w, error);
    corpus_file_abandon(w);
    return status;
}

/* Opens the file for writing. Where another process is making it, waits, and *found says that it is there then. */
static sa_status begin_file(intake *t, corpus_file_writer **w, bool *found, sa_error *error) {
    SA_TRY(corpus_file_begin(w, t->path, false, error));
    if (*w)
        return SA_OK;
    run_message(t->r, "%s: another process is making this file; waiting for it", t->path);
    SA_TRY(corpus_file_begin(w, t->path, true, error));
    sa_status status = intake_use_file(t, found, error);
    if (*found || status != SA_OK)
        corpus_file_abandon(*w);
    return status;
}

sa_status intake_load(intake *t, corpus_counts *counts, sa_error *error) {
    bool found = false;
    corpus_file_writer *w = NULL;
    SA_TRY(intake_use_file(t, &found, error));
    if (!found && t->path[0])
        SA_TRY(begin_file(t, &w, &found, error));
    if (!found)
        SA_TRY(make(t, w, error));
    const corpus_origin *o = &t->origin;
    *counts = (corpus_counts){o->read, t->r->train.n, o->empty, o->too_long};
    if (found)
        run_message(t->r, "%s: the training text is taken from this file", t->path);
    return SA_OK;
}
