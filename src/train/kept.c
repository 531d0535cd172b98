/* The models of the best validations (--keep), to average when training is over: update-U.safetensors each, U the
 * update that was validated. Which they are is part of the state. */
#include "train/run.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 48 };
static const char before[] = "update-", behind[] = ".safetensors";

static void name_of(int64_t update, char name[NAME_SIZE]) {
    snprintf(name, NAME_SIZE, "%s%lld%s", before, (long long)update, behind);
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
    char path[4096 + NAME_SIZE];
    snprintf(path, sizeof path, "%s/%s", r->options.output, name);
    if (unlink(path) && errno != ENOENT)
        return sa_fail(error, SA_IO, "%s: cannot be removed: %s", path, strerror(errno));
    return SA_OK;
}

sa_status run_keep_model(run *r, double value, sa_error *error) {
    int at = r->n_kept, most = r->options.keep;
    double cross_entropy = r->counters.cross_entropy;
    char name[NAME_SIZE];
    while (at > 0 && run_is_better(value, cross_entropy, r->kept[at - 1].value, r->kept[at - 1].cross_entropy))
        at--;
    if (at < most) {
        name_of(r->counters.update, name);
        SA_TRY(run_save_model(r, name, error));
        memmove(r->kept + at + 1, r->kept + at, (size_t)(r->n_kept - at) * sizeof *r->kept);
        r->kept[at] = (kept_model){r->counters.update, value, cross_entropy};
        r->n_kept++;
    }
    for (; r->n_kept > most; r->n_kept--) {
        name_of(r->kept[r->n_kept - 1].update, name);
        SA_TRY(remove_file(r, name, error));
    }
    return SA_OK;
}

sa_status run_remove_kept(const run *r, sa_error *error) {
    DIR *folder = opendir(r->options.output);
    sa_status status = SA_OK;
    for (const struct dirent *entry; folder && status == SA_OK && (entry = readdir(folder));)
        if (is_kept(entry->d_name))
            status = remove_file(r, entry->d_name, error);
    if (folder)
        closedir(folder);
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
