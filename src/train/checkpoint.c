/* The files of a run. state.safetensors alone is what a resume needs, so that one rename makes it true. */
#include "base/file.h"
#include "train/run.h"
#include "train/run_options.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, LONGEST_NAME = 48 };

static void path_of(const run *r, const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/%s", r->options.output, name);
}

/* The first is the state; the first N_WRITTEN_WHOLE are written by file_write_whole. */
static const char *const run_files[] = {"state.safetensors", "last.safetensors", "best.safetensors",
                                        "metrics.jsonl", "train.log"};
enum { N_RUN_FILES = sizeof run_files / sizeof *run_files, N_WRITTEN_WHOLE = 3 };

static bool run_file_exists(const run *r, int i) {
    char path[PATH_SIZE];
    struct stat status;
    path_of(r, run_files[i], path);
    return lstat(path, &status) == 0;
}

static sa_status look_for_run(const run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    bool whole = run_file_exists(r, 0), any = whole;
    for (int i = 1; i < N_RUN_FILES; i++)
        any = any || run_file_exists(r, i);
    if (o->resume && !whole)
        return sa_fail(error, SA_IO, "%s/%s: no such file: there is no run to resume", o->output, run_files[0]);
    if (any && !o->resume && !o->overwrite)
        return sa_fail(error, SA_IO, "%s: a run is here already: use %s--overwrite to replace it", o->output,
                       whole ? "--resume to go on with it, or " : "");
    return SA_OK;
}

/* Two processes that train in one folder would take each other's files for their own. The lock ends with the
 * process, however that ends; where folders cannot be locked or read, there is none. */
static sa_status lock_folder(run *r, sa_error *error) {
    r->folder = opendir(r->options.output);
    if (!r->folder && errno == ENOMEM)
        return sa_fail_memory(error, 0);
    if (r->folder && flock(dirfd(r->folder), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return sa_fail(error, SA_IO, "%s: another process is training in this folder", r->options.output);
    return SA_OK;
}

sa_status run_prepare_folder(run *r, sa_error *error) {
    char path[PATH_SIZE];
    const char *output = r->options.output;
    if (strlen(output) + LONGEST_NAME > PATH_SIZE)
        return sa_fail(error, SA_IO, "%.100s...: the name of the folder is too long", output);
    SA_TRY(look_for_run(r, error));
    r->made_folder = access(output, F_OK) != 0;
    SA_TRY(file_make_folder(output, error));
    SA_TRY(lock_folder(r, error));
    for (int i = 0; i < N_WRITTEN_WHOLE; i++) {
        path_of(r, run_files[i], path);
        SA_TRY(file_try_write(path, error));
    }
    return SA_OK;
}

void run_remove_folder(const run *r) {
    char path[PATH_SIZE];
    path_of(r, RUN_CORPUS_FILE, path);
    unlink(path);
    rmdir(r->options.output);
}

sa_status run_replace_run(run *r, sa_error *error) {
    char path[PATH_SIZE];
    SA_TRY(run_save_state(r, error));
    SA_TRY(run_remove_kept(r, error));
    for (int i = 1; i < N_RUN_FILES; i++) {
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
                  (json_int_t)r->train.target_symbols, "options", run_options_object(&r->options, false));
    char *text = object ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

sa_status run_save_model(run *r, const char *name, sa_error *error) {
    char path[PATH_SIZE];
    path_of(r, name, path);
    char *summary = training_summary(r);
    sa_status status = summary ? model_file_save(r->model, summary, path, error) : sa_fail_memory(error, 0);
    free(summary);
    return status;
}

sa_status run_has_model(const run *r, const char *name, bool *has, sa_error *error) {
    char path[PATH_SIZE];
    st_file *file = NULL;
    *has = false;
    path_of(r, name, path);
    sa_status status = st_open(&file, path, error);
    const char *summary = status == SA_OK ? st_metadata(file, "training") : NULL;
    json_error_t fault;
    json_t *object = summary ? json_loads(summary, 0, &fault) : NULL;
    if (summary && !object && json_error_code(&fault) == json_error_out_of_memory)
        status = sa_fail_memory(error, 0);
    *has = json_integer_value(json_object_get(object, "updates")) == r->counters.update;
    json_decref(object);
    st_close(file);
    return status == SA_MEMORY ? status : SA_OK;
}

/* The counters as they are kept in a state. One that is missing, as an older version had none, stays 0. */
typedef enum counter_type { COUNT, NUMBER, TRUTH } counter_type;
typedef struct counter {
    const char *name;
    counter_type type;
    size_t offset;
    bool required;
} counter;

/* clang-format off */
#define COUNTER(type, name, required) {#name, type, offsetof(run_counters, name), required}
static const counter counters[] = {
    COUNTER(COUNT, update, true),
    COUNTER(COUNT, epoch, true),
    COUNTER(COUNT, position, true),
    COUNTER(NUMBER, seconds, true),
    COUNTER(TRUTH, has_best, true),
    COUNTER(NUMBER, best, true),
    COUNTER(NUMBER, best_cross_entropy, false),
    COUNTER(COUNT, best_update, true),
    COUNTER(COUNT, stalled, true),
    COUNTER(COUNT, rate_cuts, false),
    COUNTER(NUMBER, cross_entropy, true),
    COUNTER(NUMBER, bleu, true),
    COUNTER(COUNT, validated, false),
    COUNTER(COUNT, skipped, false),
    COUNTER(COUNT, ranks, false),
    COUNTER(NUMBER, baseline, false),
    COUNTER(NUMBER, shown_loss, false),
    COUNTER(COUNT, shown_words, false),
    COUNTER(COUNT, shown_ends, false),
};
/* clang-format on */
enum { N_COUNTERS = sizeof counters / sizeof *counters };

static char *counters_json(const run_counters *c) {
    json_t *object = json_object();
    bool ok = object != NULL;
    for (int i = 0; i < N_COUNTERS; i++) {
        const char *at = (const char *)c + counters[i].offset;
        json_t *value = counters[i].type == COUNT    ? json_integer(*(const int64_t *)at)
                        : counters[i].type == NUMBER ? json_real(*(const double *)at)
                                                     : json_boolean(*(const bool *)at);
        ok = !json_object_set_new(object, counters[i].name, value) && ok;
    }
    char *text = ok ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

/* No counter is negative, but for `best`, a number. */
static bool counter_parse(run_counters *c, const counter *what, const json_t *value) {
    char *at = (char *)c + what->offset;
    if (!value)
        return !what->required;
    switch (what->type) {
    case COUNT:
        *(int64_t *)at = json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case NUMBER:
        *(double *)at = json_number_value(value);
        return json_is_number(value);
    default:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    }
}

static bool counters_parse(run_counters *c, const char *json) {
    json_t *object = json_loads(json, 0, NULL);
    bool ok = object != NULL;
    for (int i = 0; i < N_COUNTERS && ok; i++)
        ok = counter_parse(c, &counters[i], json_object_get(object, counters[i].name));
    json_decref(object);
    return ok && c->seconds >= 0;
}

/* Whole numbers of 64 bits, which JSON does not hold. */
static json_t *hexadecimal(uint64_t value) {
    char digits[17];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)value);
    return json_string(digits);
}

static bool parse_hexadecimal(uint64_t *out, const json_t *value) {
    const char *digits = json_string_value(value);
    *out = digits ? strtoull(digits, NULL, 16) : 0;
    return digits && strspn(digits, "0123456789abcdef") == 16 && !digits[16];
}

/* One file or two. */
static char *text_json(const text_record *t) {
    json_t *files = json_array();
    int failed = 0;
    for (int side = 0; side < 2 && (side == 0 || t->lines[1]); side++)
        failed |= json_array_append_new(files, json_pack("{s:I, s:o}", "lines", (json_int_t)t->lines[side], "hash",
                                                         hexadecimal(t->hash[side])));
    json_t *object =
        json_pack("{s:o, s:I, s:I, s:o, s:o}", "files", files, "pairs", (json_int_t)t->pairs, "symbols",
                  (json_int_t)t->symbols, "key", hexadecimal(t->key), "links", hexadecimal(t->links));
    char *text = object && !failed ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

static bool text_parse(text_record *t, const char *json) {
    json_t *object = json_loads(json, 0, NULL), *files = NULL, *key = NULL, *links = NULL;
    json_int_t pairs = 0, symbols = 0;
    bool ok = object &&
              !json_unpack(object, "{s:o, s:I, s:I, s:o, s?o}", "files", &files, "pairs", &pairs, "symbols",
                           &symbols, "key", &key, "links", &links) &&
              (!links || parse_hexadecimal(&t->links, links)) && json_array_size(files) >= 1 &&
              json_array_size(files) <= 2 && parse_hexadecimal(&t->key, key);
    for (size_t side = 0; ok && side < json_array_size(files); side++) {
        const json_t *file = json_array_get(files, side);
        t->lines[side] = (uint64_t)json_integer_value(json_object_get(file, "lines"));
        ok = parse_hexadecimal(&t->hash[side], json_object_get(file, "hash"));
    }
    t->pairs = (uint64_t)pairs;
    t->symbols = (uint64_t)symbols;
    t->known = ok;
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
    char path[PATH_SIZE];
    path_of(r, "state.safetensors", path);
    model_file_parts parts;
    json_t *object = run_options_object(&r->options, true);
    char *options = object ? json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(object);
    char *numbers = counters_json(&r->counters), *text = text_json(&r->text);
    char *kept = r->n_kept ? run_kept_json(r) : NULL;
    sa_status status = model_file_parts_make(&parts, r->model, error);
    if (status == SA_OK && (!options || !numbers || !text || (r->n_kept && !kept)))
        status = sa_fail_memory(error, 0);
    if (status == SA_OK) {
        extra extras[OPTIMIZER_SLOTS_MAX + 1];
        int64_t count = r->model->net.params.count;
        int n = list_extras(r, extras);
        for (int i = 0; i < n; i++)
            parts.tensor[parts.n++] =
                (st_tensor){extras[i].name, ST_F32, 1, {count}, extras[i].data, (size_t)count * sizeof(real)};
        parts.entry[parts.n_entries++] = (st_entry){"run.options", options};
        parts.entry[parts.n_entries++] = (st_entry){"run.counters", numbers};
        parts.entry[parts.n_entries++] = (st_entry){"run.text", text};
        if (kept)
            parts.entry[parts.n_entries++] = (st_entry){"run.kept", kept};
        status = st_write(path, parts.tensor, parts.n, parts.entry, parts.n_entries, error);
    }
    model_file_parts_free(&parts);
    free(options);
    free(numbers);
    free(text);
    free(kept);
    return status;
}

sa_status run_open_state(run *r, st_file **file, sa_error *error) {
    char path[PATH_SIZE];
    path_of(r, "state.safetensors", path);
    SA_TRY(st_open(file, path, error));
    SA_TRY(model_file_read(r->model, *file, error));
    const char *options = st_metadata(*file, "run.options"), *numbers = st_metadata(*file, "run.counters"),
               *text = st_metadata(*file, "run.text"), *kept = st_metadata(*file, "run.kept");
    if (!options || !numbers || !text)
        return sa_fail(error, SA_FORMAT, "%s: a model, but not the state of a run", path);
    run_restore_model(r, &r->model->net.config);
    SA_TRY(run_restore_options(r, options, path, error));
    if (!counters_parse(&r->counters, numbers) || !text_parse(&r->text, text) || (kept && !run_kept_parse(r, kept)))
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
    r->updater.baseline = r->counters.baseline;
    return SA_OK;
}
