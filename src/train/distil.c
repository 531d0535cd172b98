#include "train/distil.h"

#include "base/clock.h"
#include "base/hash.h"
#include "model/model.h"
#include "text/pair_text.h"
#include "train/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, LONGEST_NAME = 64 };
/* Lines that are translated between two looks at whether to stop. */
enum { WINDOW_LINES = 2048 };
static const char state_file[] = "state.safetensors";

typedef struct distillation {
    const sa_train_options *o;
    sa_train_callback *callback;
    void *user;
    int teachers;
    size_t held; /* pairs at the end of the text that are held out for validation */
    size_t n;    /* pairs of the text, those not counted */
    double told; /* when it was last said how far the translations are */
} distillation;

static void path_of(const distillation *d, const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/%s", d->o->output, name);
}

static void teacher_folder(const distillation *d, int k, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/teacher-%d", d->o->output, k + 1);
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

/* Whether a run was begun in the folder. */
static bool begun(const char *folder) {
    char path[PATH_SIZE + LONGEST_NAME];
    snprintf(path, sizeof path, "%s/%s", folder, state_file);
    return exists(path);
}

bool distil_began(const char *output) {
    char folder[PATH_SIZE];
    int n = snprintf(folder, sizeof folder, "%s/teacher-1", output);
    return n < PATH_SIZE && begun(folder);
}

/* text NULL: nothing to say, but a chance to stop. */
static sa_status tell(const distillation *d, const char *text, sa_error *error) {
    sa_train_event event = {.kind = text ? SA_EVENT_MESSAGE : SA_EVENT_UPDATE, .text = text, .seconds_left = -1};
    if (d->callback && d->callback(&event, d->user))
        return sa_fail(error, SA_STOPPED, "what the teachers in %s learned is saved; --resume goes on from there",
                       d->o->output);
    return SA_OK;
}

/* ---- what may be asked for --------------------------------------------------------------------------- */

static sa_status check_options(const sa_train_options *o, sa_error *error) {
    SA_TRY(run_check_options(o, error));
    int rank, size;
    sa_train_ranks(&rank, &size);
    if (size > 1)
        return sa_fail(error, SA_USAGE,
                       "self-distillation trains several models, one after the other, which one "
                       "process does: start it without mpirun");
    if (o->guided_alignment || o->start_from || o->attention_from || o->adversary_of)
        return sa_fail(error, SA_USAGE, "self-distillation does not go together with %s",
                       o->guided_alignment ? "guided-alignment" : "options that name other models");
    if (model_source_shape(&o->model).length)
        return sa_fail(error, SA_USAGE, "self-distillation is for text: this model's sources are pictures");
    if (strlen(o->output) + LONGEST_NAME > PATH_SIZE)
        return sa_fail(error, SA_IO, "%.100s...: the name of the folder is too long", o->output);
    const char *const text[] = {o->train_source, o->train_target, o->valid_source, o->valid_target};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct stat s;
        if (text[i] &&
            (!strcmp(text[i], "-") || (!stat(text[i], &s) && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))))
            return sa_fail(error, SA_USAGE, "%s: self-distillation reads texts several times: put it into a file",
                           strcmp(text[i], "-") ? text[i] : "standard input");
    }
    return SA_OK;
}

/* What is left of an earlier run is refused, looked for, or set aside, as the options say: afterwards, what is
 * there belongs to this one. */
static sa_status prepare(const distillation *d, sa_error *error) {
    const sa_train_options *o = d->o;
    char path[PATH_SIZE];
    bool any = begun(o->output) || distil_began(o->output);
    if (o->resume && !any)
        return sa_fail(error, SA_IO, "%s/%s: no such file: there is no run to resume", o->output, state_file);
    if (any && !o->resume && !o->overwrite)
        return sa_fail(error, SA_IO,
                       "%s: a run is here already: use --resume to go on with it, or --overwrite to "
                       "replace it",
                       o->output);
    if (!o->overwrite)
        return SA_OK;
    path_of(d, "distilled.target", path);
    unlink(path);
    path_of(d, state_file, path);
    unlink(path);
    for (int k = SA_ENSEMBLE_MAX; k-- > 0;) {
        char name[LONGEST_NAME];
        snprintf(name, sizeof name, "teacher-%d/%s", k + 1, state_file);
        path_of(d, name, path);
        unlink(path);
    }
    return SA_OK;
}

/* ---- runs -------------------------------------------------------------------------------------------- */

/* A run that ends is not the end. */
static int pass_on(const sa_train_event *event, void *user) {
    const distillation *d = user;
    sa_train_event copy = *event;
    if (copy.kind == SA_EVENT_DONE)
        copy.kind = SA_EVENT_MESSAGE;
    return d->callback ? d->callback(&copy, d->user) : 0;
}

/* Begins the run in o->output, or goes on with it. parts: of the minutes given, which are N + 2 parts in all. */
static sa_status take_up(const distillation *d, sa_train_options *o, int parts, sa_train_callback *callback,
                         void *user, sa_error *error) {
    o->self_distillation = 0;
    o->resume = begun(o->output);
    o->overwrite = !o->resume;
    o->after_minutes = o->after_minutes * parts / (d->teachers + 2);
    return run_whole(o, callback, user, error);
}

static sa_status train_teachers(distillation *d, sa_error *error) {
    for (int k = 0; k < d->teachers; k++) {
        sa_train_options o = *d->o;
        char folder[PATH_SIZE], text[LONGEST_NAME];
        uint64_t seeds[] = {o.seed, (uint64_t)k + 1};
        teacher_folder(d, k, folder);
        o.output = folder;
        o.seed = hash_bytes(seeds, sizeof seeds);
        snprintf(text, sizeof text, "self-distillation: teacher %d of %d", k + 1, d->teachers);
        SA_TRY(tell(d, text, error));
        sa_status status = take_up(d, &o, 1, pass_on, d, error);
        if (status == SA_STOPPED)
            return sa_fail(error, status, "the run is saved in %s, at teacher %d of %d; --resume goes on with it",
                           d->o->output, k + 1, d->teachers);
        SA_TRY(status);
    }
    return SA_OK;
}

static sa_status train_student(const distillation *d, sa_error *error) {
    sa_train_options o = *d->o;
    char source[PATH_SIZE], target[PATH_SIZE];
    path_of(d, "distilled.source", source);
    path_of(d, "distilled.target", target);
    o.train_source = source;
    o.train_target = target;
    if (!o.valid_source)
        o.held_out = (int)d->held;
    return take_up(d, &o, 2, d->callback, d->user, error);
}

/* ---- the text ---------------------------------------------------------------------------------------- */

/* A file of the text that is written, a side each. */
typedef struct side_writer {
    file_writer *file;
    uint64_t at;
} side_writer;

static sa_status write_line(side_writer *w, const char *line, size_t length, sa_error *error) {
    SA_TRY(file_writer_put(w->file, w->at, line, length, error));
    SA_TRY(file_writer_put(w->file, w->at + length, "\n", 1, error));
    w->at += length + 1;
    return SA_OK;
}

/* The next pairs of the text, `most` at most; *out is empty first. */
static sa_status read_window(pair_reader *reader, size_t most, pair_text *out, sa_error *error) {
    pair_lines lines;
    *out = (pair_text){0};
    for (size_t i = 0; i < most; i++) {
        SA_TRY(pair_reader_next(reader, &lines, error));
        SA_TRY(pair_text_add(out, &lines, error));
    }
    return SA_OK;
}

static sa_status count_pairs(distillation *d, const pair_files *files, sa_error *error) {
    pair_reader reader;
    pair_lines lines;
    size_t n = 0;
    SA_TRY(pair_reader_open(&reader, files, error));
    sa_status status;
    while ((status = pair_reader_next(&reader, &lines, error)) == SA_OK && lines.line[0])
        n++;
    pair_reader_close(&reader);
    size_t most = (size_t)d->o->held_out;
    d->held = d->o->valid_source ? 0 : most < n / 2 ? most : n / 2;
    d->n = n - d->held;
    return status;
}

static sa_status tell_progress(distillation *d, size_t done, sa_error *error) {
    char text[128];
    if (clock_seconds() < d->told + 10 && done < d->n)
        return tell(d, NULL, error);
    d->told = clock_seconds();
    snprintf(text, sizeof text, "self-distillation: %zu of %zu lines translated by the teachers", done, d->n);
    return tell(d, text, error);
}

/* Writes sources and what the teachers make of them. */
static sa_status write_window(const distillation *d, const sa_model *const *models, const pair_text *window,
                              side_writer out[2], sa_error *error) {
    sa_translate_options search;
    sa_translation *made;
    sa_translate_options_init(&search);
    search.threads = d->o->threads;
    SA_TRY(sa_translate_ensemble(models, d->teachers, (const char *const *)window->source, window->n, &search,
                                 &made, error));
    sa_status status = SA_OK;
    for (size_t i = 0; i < window->n && status == SA_OK; i++) {
        const char *text = made[i].hypothesis[0].text;
        status = write_line(&out[0], window->source[i], strlen(window->source[i]), error);
        if (status == SA_OK)
            status = write_line(&out[1], text, strlen(text), error);
    }
    sa_translations_free(made, window->n);
    return status;
}

static sa_status write_translations(distillation *d, const sa_model *const *models, const pair_files *files,
                                    side_writer out[2], sa_error *error) {
    pair_reader reader;
    sa_status status = pair_reader_open(&reader, files, error);
    SA_TRY(status);
    for (size_t done = 0; done < d->n && status == SA_OK;) {
        pair_text window;
        size_t left = d->n - done;
        status = read_window(&reader, left < WINDOW_LINES ? left : WINDOW_LINES, &window, error);
        if (status == SA_OK)
            status = write_window(d, models, &window, out, error);
        done += window.n;
        if (status == SA_OK)
            status = tell_progress(d, done, error);
        pair_text_free(&window);
    }
    pair_reader_close(&reader);
    return status;
}

/* The text as it is comes last, so that the pairs held out are its last ones again. */
static sa_status write_original(const pair_files *files, side_writer out[2], sa_error *error) {
    pair_reader reader;
    pair_lines lines;
    sa_status status = pair_reader_open(&reader, files, error);
    SA_TRY(status);
    while ((status = pair_reader_next(&reader, &lines, error)) == SA_OK && lines.line[0])
        for (int side = 0; side < 2 && status == SA_OK; side++)
            status = write_line(&out[side], lines.line[side], lines.length[side], error);
    pair_reader_close(&reader);
    return status;
}

/* The target comes into being last: where it is, both are whole. */
static sa_status write_text(distillation *d, const sa_model *const *models, const pair_files *files,
                            sa_error *error) {
    static const char *const names[] = {"distilled.source", "distilled.target"};
    side_writer out[2] = {{0}};
    sa_status status = SA_OK;
    for (int side = 0; side < 2 && status == SA_OK; side++) {
        char path[PATH_SIZE];
        path_of(d, names[side], path);
        status = file_writer_open(&out[side].file, path, true, error);
    }
    if (status == SA_OK)
        status = write_translations(d, models, files, out, error);
    if (status == SA_OK)
        status = write_original(files, out, error);
    for (int side = 0; side < 2; side++)
        if (status == SA_OK)
            status = file_writer_finish(out[side].file, error);
        else
            file_writer_abandon(out[side].file);
    return status;
}

static sa_status open_teachers(const distillation *d, sa_model **models, sa_error *error) {
    sa_model_options options;
    sa_model_options_init(&options);
    options.precision = SA_INT8; /* loses nothing to speak of, and is several times as fast */
    options.threads = d->o->threads;
    for (int k = 0; k < d->teachers; k++) {
        char folder[PATH_SIZE], path[PATH_SIZE + LONGEST_NAME];
        teacher_folder(d, k, folder);
        snprintf(path, sizeof path, "%s/best.safetensors", folder);
        SA_TRY(sa_model_open_with(&models[k], path, &options, error));
    }
    return SA_OK;
}

static sa_status make_text(distillation *d, const pair_files *files, sa_error *error) {
    sa_model *models[SA_ENSEMBLE_MAX] = {NULL};
    sa_status status = open_teachers(d, models, error);
    if (status == SA_OK)
        status = write_text(d, (const sa_model *const *)models, files, error);
    for (int k = 0; k < d->teachers; k++)
        sa_model_free(models[k]);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static sa_status teach(distillation *d, sa_error *error) {
    const sa_train_options *o = d->o;
    char path[PATH_SIZE];
    pair_files files;
    SA_TRY(prepare(d, error));
    SA_TRY(pair_files_open(&files, o->train_source, o->train_target, o->strict, NULL, error));
    sa_status status = count_pairs(d, &files, error);
    path_of(d, "distilled.target", path);
    if (status == SA_OK && !exists(path)) {
        status = train_teachers(d, error);
        if (status == SA_OK)
            status = make_text(d, &files, error);
    }
    pair_files_close(&files);
    return status == SA_OK ? train_student(d, error) : status;
}

sa_status distil_train(const sa_train_options *options, sa_train_callback *callback, void *user, sa_error *error) {
    distillation d = {.o = options, .callback = callback, .user = user, .teachers = options->self_distillation};
    SA_TRY(check_options(options, error));
    bool there = exists(options->output);
    sa_status status = teach(&d, error);
    if (status != SA_OK && !there)
        rmdir(options->output); /* what was made for a run that could not begin, if nothing is in it */
    return status;
}
