#include "train/intake.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sa_status intake_fail_empty(const char *what, const corpus_counts *counts, int max_length, sa_error *error) {
    return sa_fail(
        error, SA_DATA,
        "%s: no pair is left of %zu: %zu have an empty side, %zu are longer than %d symbols (--max-length)", what,
        counts->read, counts->empty, counts->too_long, max_length);
}

static void report_text(run *r, const char *what, const corpus *c, const corpus_counts *counts, int max_length,
                        size_t replaced, const char *replaced_at) {
    run_message(r, "%s: %zu pairs, %zu + %zu symbols; dropped: %zu with an empty side, %zu longer than %d symbols",
                what, c->n, c->source_symbols, c->target_symbols, counts->empty, counts->too_long, max_length);
    if (replaced)
        run_message(r, "%s: %zu invalid bytes or NULs were replaced by U+FFFD, the first at %s", what, replaced,
                    replaced_at);
}

/* The sizes asked for are upper bounds. */
static void settle_sizes(run *r) {
    const sa_train_options *o = &r->options;
    int sizes[2] = {vocab_size(r->model->source), vocab_size(r->model->target)};
    int asked[2] = {o->model.vocab_source, o->joint_vocab ? o->model.vocab_source : o->model.vocab_target};
    for (int k = 0; k < 2; k++)
        if (sizes[k] < asked[k])
            run_message(r, "%s vocabulary: %d symbols; the text holds no more (%d were allowed)",
                        k ? "target" : "source", sizes[k], asked[k]);
    r->options.model.vocab_source = sizes[0];
    r->options.model.vocab_target = sizes[1];
}

/* Another validation text can leave other pairs for training. */
static sa_status check_same_pairs(run *r, sa_error *error) {
    text_record *began = &r->text;
    uint64_t pairs = r->train.n, symbols = r->train.source_symbols + r->train.target_symbols;
    if (began->known && (began->pairs != pairs || began->symbols != symbols))
        return sa_fail(
            error, SA_DATA,
            "%s: the run began with another training text: %llu pairs of %llu symbols, now %llu of %llu; "
            "validation files or none must be given as they were then",
            r->options.train_source, (unsigned long long)began->pairs, (unsigned long long)began->symbols,
            (unsigned long long)pairs, (unsigned long long)symbols);
    began->pairs = pairs;
    began->symbols = symbols;
    return SA_OK;
}

/* For what is needed only while texts are read. */
static const char *scratch_folder(const sa_train_options *o) {
    const char *usual = getenv("TMPDIR");
    if (o->tmp_dir || o->output)
        return o->tmp_dir ? o->tmp_dir : o->output;
    return usual && *usual ? usual : "/tmp";
}

/* The links that guide attention; a run that is resumed needs those that it began with. */
static sa_status load_links(run *r, const pair_files *files, sa_error *error) {
    const char *path = r->options.guided_alignment;
    const text_record *began = &r->text;
    link_table_free(&r->links);
    if (!path)
        return began->known && began->links
                   ? sa_fail(error, SA_USAGE, "the run began with --guided-alignment: give it the same links again")
                   : SA_OK;
    const vocab *const side[2] = {r->model->source, r->model->target};
    SA_TRY(link_table_read(&r->links, path, files, &r->train, side, error));
    if (began->known && began->links != r->links.hash)
        return sa_fail(error, SA_DATA, "%s: the run began %s", path,
                       began->links ? "with other links" : "without --guided-alignment");
    r->text.links = r->links.hash;
    run_message(r, "guided alignment: %zu links of symbols", r->links.n);
    return SA_OK;
}

static sa_status load_training_text(run *r, pool *threads, sa_error *error) {
    const sa_train_options *o = &r->options;
    intake t = {.r = r, .threads = threads};
    corpus_counts counts;
    bool learn = !r->model->source;
    t.origin.recipe = intake_recipe(o);
    t.origin.held_out = o->valid_source ? 0 : (uint64_t)o->held_out;
    t.origin.max_length = (uint64_t)o->max_length;
    SA_TRY(intake_name_file(&t, error));
    SA_TRY(pair_files_open(&t.files, o->train_source, o->train_target, o->strict, scratch_folder(o), error));
    memcpy(t.origin.stamp, t.files.stamp, sizeof t.origin.stamp);
    sa_status status = intake_load(&t, &counts, error);
    if (status == SA_OK)
        status = load_links(r, &t.files, error);
    pair_files_close(&t.files);
    SA_TRY(status);
    if (learn)
        settle_sizes(r);
    SA_TRY(check_same_pairs(r, error));
    memcpy(r->text.lines, t.origin.lines, sizeof r->text.lines);
    memcpy(r->text.hash, t.origin.hash, sizeof r->text.hash);
    r->text.known = true;
    if (!o->valid_source)
        run_message(r, "no validation text given: the last %zu pairs are held out for it", r->valid_text.n);
    report_text(r, "training text", &r->train, &counts, o->max_length, t.origin.replaced, t.origin.replaced_at);
    return SA_OK;
}

static sa_status encode_validation_text(run *r, pool *threads, const replacements *replaced, sa_error *error) {
    static const char what[] = "validation text";
    corpus_counts counts;
    int max_length = 10 * r->options.max_length; /* long sentences too are part of what a user will see */
    SA_TRY(corpus_encode(&r->valid, &r->valid_text, r->model->source, r->model->target, max_length, threads,
                         &counts, error));
    report_text(r, what, &r->valid, &counts, max_length, replaced->n, replaced->first);
    return counts.kept ? SA_OK : intake_fail_empty(what, &counts, max_length, error);
}

static sa_status load(run *r, pool *threads, sa_error *error) {
    const sa_train_options *o = &r->options;
    replacements replaced = {0}; /* of held out pairs, they were reported with the rest */
    if (o->valid_source)
        SA_TRY(pair_text_read(&r->valid_text, o->valid_source, o->valid_target, o->strict, &replaced, error));
    SA_TRY(load_training_text(r, threads, error));
    return encode_validation_text(r, threads, &replaced, error);
}

static sa_status with_threads(run *r, sa_status (*work)(run *, pool *, sa_error *), sa_error *error) {
    pool *threads;
    SA_TRY(pool_new(&threads, r->options.threads > 0 ? r->options.threads : thread_cores(), NULL, error));
    sa_status status = work(r, threads, error);
    pool_free(threads);
    return status;
}

sa_status run_load_data(run *r, sa_error *error) {
    return with_threads(r, load, error);
}

sa_status run_load_training_text_again(run *r, sa_error *error) {
    unlink(r->train.path);
    corpus_free(&r->train);
    return with_threads(r, load_training_text, error);
}
