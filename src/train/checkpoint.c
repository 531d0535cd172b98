/* The files of a run. state.safetensors alone is what a resume needs, so that one rename makes it true. */
#include "base/file.h"
#include "train/run.h"
#include "train/run_options.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void path_of(const run *r, const char *name, char path[4096]) {
    snprintf(path, 4096, "%s/%s", r->options.output, name);
}

static const char *const run_files[] = {"state.safetensors", "last.safetensors", "best.safetensors",
                                        "metrics.jsonl", "train.log"};
enum { N_RUN_FILES = sizeof run_files / sizeof *run_files };

sa_status run_prepare_folder(run *r, sa_error *error) {
    char path[4096];
    path_of(r, run_files[0], path);
    bool exists = access(path, F_OK) == 0;
    if (r->options.resume)
        return exists ? SA_OK : sa_fail(error, SA_IO, "%s: no such file: there is no run to resume", path);
    for (int i = 0; i < N_RUN_FILES && !r->options.overwrite; i++) {
        path_of(r, run_files[i], path);
        if (access(path, F_OK) == 0)
            return sa_fail(error, SA_IO,
                           "%s: a run is here already: use --resume to go on with it, or --overwrite to "
                           "replace it",
                           r->options.output);
    }
    r->made_folder = access(r->options.output, F_OK) != 0;
    SA_TRY(file_make_folder(r->options.output, error));
    if (access(r->options.output, W_OK))
        return sa_fail(error, SA_IO, "%s: cannot write in this folder: %s", r->options.output, strerror(errno));
    return SA_OK;
}

sa_status run_clear_folder(const run *r, sa_error *error) {
    char path[4096];
    for (int i = 0; i < N_RUN_FILES; i++) {
        path_of(r, run_files[i], path);
        if (unlink(path) && errno != ENOENT)
            return sa_fail(error, SA_IO, "%s: cannot replace: %s", path, strerror(errno));
    }
    return SA_OK;
}

/* What a model file says of its training; no times or threads, so that equal runs give equal files. */
static char *training_summary(const run *r) {
    const run_counters *c = &r->counters;
    json_t *object =
        json_pack("{s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:o}", "updates", (json_int_t)c->update, "epochs",
                  run_epochs(r), "valid_cross_entropy", c->cross_entropy, "valid_bleu", c->bleu, "pairs",
                  (json_int_t)r->train.n, "source_symbols", (json_int_t)r->train.source_symbols, "target_symbols",
                  (json_int_t)r->train.target_symbols, "options", run_options_object(&r->options));
    char *text = object ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

sa_status run_save_model(run *r, const char *name, sa_error *error) {
    char path[4096];
    path_of(r, name, path);
    char *summary = training_summary(r);
    sa_status status = summary ? model_file_save(r->model, summary, path, error) : sa_fail_memory(error, 0);
    free(summary);
    return status;
}

static char *counters_json(const run_counters *c) {
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:f, s:b, s:f, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:f, s:I, s:I, s:I}", "update",
                  (json_int_t)c->update, "epoch", (json_int_t)c->epoch, "position", (json_int_t)c->position,
                  "seconds", c->seconds, "has_best", c->has_best, "best", c->best, "best_update",
                  (json_int_t)c->best_update, "stalled", (json_int_t)c->stalled, "cross_entropy", c->cross_entropy,
                  "bleu", c->bleu, "validated", (json_int_t)c->validated, "pairs", (json_int_t)c->pairs, "symbols",
                  (json_int_t)c->symbols, "shown_loss", c->shown_loss, "shown_words", (json_int_t)c->shown_words,
                  "shown_ends", (json_int_t)c->shown_ends, "rate_cuts", (json_int_t)c->rate_cuts);
    char *text = object ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

static bool counters_parse(run_counters *c, const char *json) {
    json_t *object = json_loads(json, 0, NULL);
    json_int_t update, epochs, position, best_update, stalled;
    json_int_t validated = -1, pairs = 0, symbols = 0, words = 0, ends = 0, cuts = 0; /* optional */
    int has_best;
    bool ok = object &&
              !json_unpack(object,
                           "{s:I, s:I, s:I, s:F, s:b, s:F, s:I, s:I, s:F, s:F, s?I, s?I, s?I, s?F, s?I, s?I, s?I}",
                           "update", &update, "epoch", &epochs, "position", &position, "seconds", &c->seconds,
                           "has_best", &has_best, "best", &c->best, "best_update", &best_update, "stalled",
                           &stalled, "cross_entropy", &c->cross_entropy, "bleu", &c->bleu, "validated", &validated,
                           "pairs", &pairs, "symbols", &symbols, "shown_loss", &c->shown_loss, "shown_words",
                           &words, "shown_ends", &ends, "rate_cuts", &cuts);
    if (ok) {
        c->update = update;
        c->epoch = epochs;
        c->position = position;
        c->has_best = has_best;
        c->best_update = best_update;
        c->stalled = stalled;
        c->validated = validated < 0 ? update : validated;
        c->pairs = pairs;
        c->symbols = symbols;
        c->shown_words = words;
        c->shown_ends = ends;
        c->rate_cuts = cuts;
        ok = update >= 0 && epochs >= 0 && position >= 0 && cuts >= 0 && c->seconds >= 0;
    }
    json_decref(object);
    return ok;
}

/* Arrays beside the parameters: name, memory. */
typedef struct extra {
    const char *name;
    real *data;
} extra;

static int list_extras(const run *r, extra out[OPTIMIZER_SLOTS_MAX + 1]) {
    static const char *const slot_name[OPTIMIZER_SLOTS_MAX] = {"optimizer.0", "optimizer.1"};
    int n = 0;
    for (int k = 0; k < r->updater.optimizer->slots; k++)
        out[n++] = (extra){slot_name[k], r->updater.slot[k]};
    if (r->updater.average)
        out[n++] = (extra){"average", r->updater.average};
    return n;
}

sa_status run_save_state(run *r, sa_error *error) {
    char path[4096];
    path_of(r, "state.safetensors", path);
    model_file_parts parts;
    json_t *object = run_options_object(&r->options);
    char *options = object ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    char *counters = counters_json(&r->counters);
    sa_status status = model_file_parts_make(&parts, r->model, error);
    if (status == SA_OK && (!options || !counters))
        status = sa_fail_memory(error, 0);
    if (status == SA_OK) {
        extra extras[OPTIMIZER_SLOTS_MAX + 1];
        int64_t count = r->model->net.params.count;
        int n = list_extras(r, extras);
        for (int i = 0; i < n; i++)
            parts.tensor[parts.n++] =
                (st_tensor){extras[i].name, ST_F32, 1, {count}, extras[i].data, (size_t)count * sizeof(real)};
        parts.entry[parts.n_entries++] = (st_entry){"run.options", options};
        parts.entry[parts.n_entries++] = (st_entry){"run.counters", counters};
        status = st_write(path, parts.tensor, parts.n, parts.entry, parts.n_entries, error);
    }
    model_file_parts_free(&parts);
    free(options);
    free(counters);
    return status;
}

sa_status run_open_state(run *r, st_file **file, sa_error *error) {
    char path[4096];
    path_of(r, "state.safetensors", path);
    SA_TRY(st_open(file, path, error));
    SA_TRY(model_file_read(r->model, *file, error));
    const char *options = st_metadata(*file, "run.options"), *counters = st_metadata(*file, "run.counters");
    if (!options || !counters)
        return sa_fail(error, SA_FORMAT, "%s: a model, but not the state of a run", path);
    r->options.model = r->model->net.config; /* sizes learned from the text are in it; the run decides */
    SA_TRY(run_restore_options(r, options, path, error));
    if (!counters_parse(&r->counters, counters))
        return sa_fail(error, SA_FORMAT, "%s: the counters of the run are damaged", path);
    return SA_OK;
}

sa_status run_load_state(run *r, const st_file *file, sa_error *error) {
    const params *p = &r->model->net.params;
    for (int i = 0; i < p->n; i++) {
        const st_tensor *found;
        SA_TRY(model_file_find(file, p->at[i], &found, error));
        memcpy(p->at[i]->value, found->data, found->bytes);
    }
    extra extras[OPTIMIZER_SLOTS_MAX + 1];
    int n = list_extras(r, extras);
    for (int i = 0; i < n; i++) {
        const st_tensor *found = st_find(file, extras[i].name);
        if (!found || found->dtype != ST_F32 || found->bytes != (size_t)p->count * sizeof(real))
            return sa_fail(error, SA_FORMAT, "%s: %s is missing or has another size", st_path(file),
                           extras[i].name);
        memcpy(extras[i].data, found->data, found->bytes);
    }
    return SA_OK;
}
