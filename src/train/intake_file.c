#include "base/hash.h"
#include "train/intake.h"

#include <stdlib.h>
#include <string.h>

static uint64_t more_of_path(uint64_t hash, const char *path) {
    char *whole = path ? realpath(path, NULL) : NULL;
    const char *name = whole ? whole : path ? path : "";
    hash = hash_more(hash, name, strlen(name) + 1);
    free(whole);
    return hash;
}

/* In its own folder a run has one such file. In a folder that runs share, the name follows from what the file was
 * made of when the run began. */
sa_status intake_name_file(intake *t, sa_error *error) {
    const sa_train_options *o = &t->r->options;
    text_record *text = &t->r->text;
    if (!o->output)
        return SA_OK;
    if (!text->known) {
        const uint64_t asked[] = {t->origin.recipe, t->origin.held_out, t->origin.max_length};
        text->key = more_of_path(more_of_path(hash_bytes(asked, sizeof asked), o->train_source), o->train_target);
    }
    int n = o->tmp_dir ? snprintf(t->path, sizeof t->path, "%s/softalign-%016llx.corpus", o->tmp_dir,
                                  (unsigned long long)text->key)
                       : snprintf(t->path, sizeof t->path, "%s/%s", o->output, RUN_CORPUS_FILE);
    return n < (int)sizeof t->path ? SA_OK : sa_fail(error, SA_IO, "%.200s...: the path is too long", t->path);
}

/* Why an open file is not what this run needs, or NULL; text and vocabularies are not looked at. */
static const char *find_difference(const intake *t, const corpus_origin *made) {
    const corpus_origin *wanted = &t->origin;
    if (made->max_length != wanted->max_length)
        return "it was made with another --max-length";
    if (made->held_out != wanted->held_out)
        return "it was made with other pairs held out for validation";
    if (!t->r->model->source && made->recipe != wanted->recipe)
        return "it was made for other vocabularies";
    return t->files.strict && made->replaced ? "it was made without --strict" : NULL;
}

/* Of a run that has its vocabularies. */
static sa_status compare_vocabularies(const run *r, const corpus_file *f, const char **why, sa_error *error) {
    strbuf bytes[2] = {{0}, {0}};
    sa_status status = intake_save_vocabularies(r, bytes, error);
    for (int side = 0; side < 2 && status == SA_OK; side++) {
        file_chunk made = corpus_file_vocab(f, side);
        if (made.size != bytes[side].length || (made.size && memcmp(made.data, bytes[side].data, made.size)))
            *why = "it was made with other vocabularies";
    }
    strbuf_free(&bytes[0]);
    strbuf_free(&bytes[1]);
    return status;
}

/* A text is known by its files' times and sizes, or else by its contents. */
static sa_status compare_texts(intake *t, const corpus_origin *made, const char **why, sa_error *error) {
    static const file_stamp none;
    bool same = true;
    for (int side = 0; side < 2; side++) {
        const file_stamp *now = &t->files.stamp[side];
        bool comparable = !t->files.path[side] || !file_stamp_equal(now, &none);
        same = same && comparable && file_stamp_equal(now, &made->stamp[side]);
    }
    if (same) {
        memcpy(t->origin.lines, made->lines, sizeof made->lines);
        memcpy(t->origin.hash, made->hash, sizeof made->hash);
    } else {
        SA_TRY(intake_survey(t, error));
        if (!intake_same_contents(made->lines, made->hash, &t->origin))
            *why = "it was made of another text";
    }
    return intake_check_same_text(t, error);
}

static sa_status compare(intake *t, const corpus_file *f, const char **why, sa_error *error) {
    *why = find_difference(t, corpus_file_origin(f));
    if (!*why && t->r->model->source)
        SA_TRY(compare_vocabularies(t->r, f, why, error));
    return *why ? SA_OK : compare_texts(t, corpus_file_origin(f), why, error);
}

static sa_status take_parts(intake *t, corpus_file *f, sa_error *error) {
    run *r = t->r;
    t->origin = *corpus_file_origin(f);
    if (!r->model->source) {
        file_chunk bytes[2] = {corpus_file_vocab(f, SA_SOURCE), corpus_file_vocab(f, SA_TARGET)};
        SA_TRY(intake_load_vocabularies(r, bytes, error));
    }
    if (!r->valid_text.n)
        SA_TRY(corpus_file_held_out(f, &r->valid_text, error));
    SA_TRY(corpus_file_take(f, &r->train, t->path, error));
    const int *size = r->train.vocab_size;
    if (size[0] != vocab_size(r->model->source) || size[1] != vocab_size(r->model->target) || r->train.n == 0)
        return sa_fail(error, SA_FORMAT, "%s: it is damaged", t->path);
    return SA_OK;
}

/* All of it or nothing. */
static sa_status take_file(intake *t, corpus_file *f, sa_error *error) {
    run *r = t->r;
    bool had_vocabularies = r->model->source, had_text = r->valid_text.n;
    corpus_origin asked = t->origin;
    sa_status status = take_parts(t, f, error);
    if (status == SA_OK)
        return SA_OK;
    t->origin = asked;
    corpus_free(&r->train);
    if (!had_text)
        pair_text_free(&r->valid_text);
    if (!had_vocabularies)
        intake_drop_vocabularies(r);
    return status;
}

sa_status intake_use_file(intake *t, bool *found, sa_error *error) {
    corpus_file file = {0};
    const char *why = NULL;
    sa_error fault;
    *found = false;
    sa_status status = t->path[0] ? corpus_file_open(&file, t->path, &fault) : SA_OK;
    if (status == SA_OK && !file.head)
        return SA_OK;
    if (status == SA_OK)
        status = compare(t, &file, &why, &fault);
    if (status == SA_OK && !why) {
        status = take_file(t, &file, &fault);
        *found = status == SA_OK;
    }
    corpus_file_close(&file);
    if (why)
        run_message(t->r, "%s: %s; it is made anew", t->path, why);
    if (status == SA_FORMAT) /* of this file only; texts have other faults */
        run_message(t->r, "%s; it is made anew", fault.text);
    return status == SA_OK || status == SA_FORMAT ? SA_OK : sa_fail(error, status, "%s", fault.text);
}
