/* One run on several ranks. */
#include "base/hash.h"
#include "train/run_options.h"

#include <stdlib.h>
#include <string.h>

sa_status run_accept_ranks(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    const char *const text[] = {o->train_source, o->train_target, o->valid_source, o->valid_target};
    int size = r->ranks.size;
    int64_t before = r->counters.ranks > 0 ? r->counters.ranks : 1; /* an older version had no others */
    if (o->resume && before != size)
        run_message(
            r,
            "resume: the run had %lld process%s, and now has %d: the result may differ in the last digits from "
            "that without the change",
            (long long)before, before > 1 ? "es" : "", size);
    r->counters.ranks = size;
    if (o->shards < size)
        return sa_fail(error, SA_USAGE, "%d processes cannot share %d shard%s of a minibatch: %s", size, o->shards,
                       o->shards > 1 ? "s" : "",
                       o->resume ? "the run began with that number of --shards; start fewer processes"
                                 : "say --shards with the number of processes or a multiple of it");
    for (size_t i = 0; i < sizeof text / sizeof *text && size > 1; i++)
        if (text[i] && !strcmp(text[i], "-"))
            return sa_fail(
                error, SA_USAGE,
                "standard input cannot be read by %d processes: put the text into a file for all of them", size);
    return SA_OK;
}

/* Of what has to be the same on all ranks, which includes when they meet for a validation; 0 without memory. */
static uint64_t fingerprint(const run *r) {
    json_t *object = run_options_object(&r->options, false);
    char *options = object ? json_dumps(object, JSON_SORT_KEYS) : NULL;
    json_decref(object);
    if (!options)
        return 0;
    const run_counters *c = &r->counters;
    uint64_t part[] = {hash_string(options),
                       (uint64_t)r->options.valid_freq,
                       (uint64_t)c->update,
                       (uint64_t)c->epoch,
                       (uint64_t)c->position,
                       r->text.hash[0],
                       r->text.hash[1],
                       r->text.pairs,
                       r->text.symbols,
                       r->text.links,
                       (uint64_t)r->model->net.params.count};
    free(options);
    return hash_bytes(part, sizeof part);
}

sa_status run_compare_ranks(run *r, sa_error *error) {
    const ranks *group = &r->ranks;
    if (group->size <= 1)
        return SA_OK;
    uint64_t mine = fingerprint(r), leader = mine;
    ranks_broadcast(group, 0, &leader, sizeof leader);
    sa_status status = SA_OK;
    if (mine == 0)
        status = sa_fail_memory(error, 0);
    else if (mine != leader)
        status = sa_fail(error, SA_DATA,
                         "the training text, the options or the state of the run are not those of rank 0: all "
                         "processes need the same arguments and the same files");
    SA_TRY(ranks_agree(group, status, NULL, 0, error));
    /* They were drawn with logarithms and cosines, whose last bits are a processor's own. */
    ranks_broadcast(group, 0, r->model->net.params.values, r->model->net.params.count * (long)sizeof(real));
    return SA_OK;
}
