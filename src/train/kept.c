/* The models of the best validations (--keep), to average when training is over: update-U.safetensors each, U the
 * update that was validated. Which they are is part of the state. */
#include "train/run.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char before[] = "update-", behind[] = ".safetensors";

static void name_of(int64_t update, char name[RUN_KEPT_NAME_SIZE]) {
    snprintf(name, RUN_KEPT_NAME_SIZE, "%s%lld%s", before, (long long)update, behind);
}

static bool is_kept(const char *name) {
    size_t prefix = strlen(before), digits = 0;
    bool ours = !strncmp(name, before, prefix);
    if (ours)
        digits = strspn(name + prefix, "0123456789");
    return digits > 0 && !strcmp(name + prefix + digits, behind);
}

/* A file that is gone already is fine: an update that a resume makes again removes it again. */
static sa_status remove_file(const run *r, const char *name, sa_error *error) {
    char path[4096 + RUN_KEPT_NAME_SIZE];
    snprintf(path, sizeof path, "%s/%s", r->options.output, name);
    if (unlink(path) && errno != ENOENT)
        return sa_fail(error, SA_IO, "%s: cannot be removed: %s", path, strerror(errno));
    return SA_OK;
}

void run_keep(run *r, double value) {
    int at = r->n_kept, most = r->options.keep;
    double cross_entropy = r->counters.cross_entropy;
    while (at > 0 && run_is_better(value, cross_entropy, r->kept[at - 1].value, r->kept[at - 1].cross_entropy))
        at--;
    if (at < most) {
        memmove(r->kept + at + 1, r->kept + at, (size_t)(r->n_kept - at) * sizeof *r->kept);
        r->kept[at] = (kept_model){r->counters.update, value, cross_entropy};
        r->n_kept++;
    }
    if (r->n_kept > most)
        r->n_kept = most;
}

bool run_kept_name(const run *r, char name[RUN_KEPT_NAME_SIZE]) {
    for (int i = 0; i < r->n_kept; i++)
        if (r->kept[i].update == r->counters.update) {
            name_of(r->counters.update, name);
            return true;
        }
    return false;
}

static bool is_listed(const run *r, const char *name) {
    char listed[RUN_KEPT_NAME_SIZE];
    for (int i = 0; i < r->n_kept; i++) {
        name_of(r->kept[i].update, listed);
        if (!strcmp(name, listed))
            return true;
    }
    return false;
}

sa_status run_remove_kept(const run *r, sa_error *error) {
    sa_status status = SA_OK;
    if (r->folder)
        rewinddir(r->folder);
    for (const struct dirent *entry; r->folder && status == SA_OK && (entry = readdir(r->folder));)
        if (is_kept(entry->d_name) && !is_listed(r, entry->d_name))
            status = remove_file(r, entry->d_name, error);
    return status;
}

char *run_kept_json(const run *r) {
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int i = 0; i < r->n_kept && ok; i++)
        ok = !json_array_append_new(list, json_pack("[I, f, f]", (json_int_t)r->kept[i].update, r->kept[i].value,
                                                    r->kept[i].cross_entropy));
    char *text = ok ? json_dumps(list, JSON_COMPACT) : NULL;
    json_decref(list);
    return text;
}

bool run_kept_parse(run *r, const char *json) {
    json_t *list = json_loads(json, 0, NULL);
    size_t n = json_array_size(list);
    bool ok = json_is_array(list) && n <= KEEP_MOST;
    for (size_t i = 0; ok && i < n; i++) {
        json_int_t update;
        kept_model *k = &r->kept[i];
        ok =
            !json_unpack(json_array_get(list, i), "[I, F, F]", &update, &k->value, &k->cross_entropy) && update > 0;
        k->update = update;
    }
    r->n_kept = ok ? (int)n : 0;
    json_decref(list);
    return ok;
}
