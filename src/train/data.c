#include "train/run.h"

#include <stdlib.h>
#include <string.h>

static sa_status add_lines(vocab_learner *l, char *const *lines, size_t n, sa_error *error) {
    for (size_t i = 0; i < n; i++)
        SA_TRY(vocab_learner_add(l, lines[i], strlen(lines[i]), error));
    return SA_OK;
}

/* Learns from n lines of one side, and of another when there is one. */
static sa_status learn_one(vocab **out, const vocab_options *options, char *const *lines, char *const *more,
                           size_t n, sa_error *error) {
    vocab_learner *l;
    SA_TRY(vocab_learner_new(&l, options, error));
    sa_status status = add_lines(l, lines, n, error);
    if (status == SA_OK && more)
        status = add_lines(l, more, n, error);
    if (status == SA_OK)
        status = vocab_learner_end(l, out, error);
    vocab_learner_free(l);
    return status;
}

static sa_status learn_vocabularies(run *r, const pair_text *text, sa_error *error) {
    const sa_train_options *o = &r->options;
    vocab_options v = {o->vocab_type, o->model.vocab_source, o->spm_normalization};
    char *const *more = o->joint_vocab ? text->target : NULL;
    SA_TRY(learn_one(&r->model->source, &v, text->source, more, text->n, error));
    if (o->joint_vocab)
        r->model->target = r->model->source;
    else {
        v.size = o->model.vocab_target;
        SA_TRY(learn_one(&r->model->target, &v, text->target, NULL, text->n, error));
    }
    int sizes[2] = {vocab_size(r->model->source), vocab_size(r->model->target)};
    int asked[2] = {o->model.vocab_source, o->joint_vocab ? o->model.vocab_source : o->model.vocab_target};
    for (int k = 0; k < 2; k++)
        if (sizes[k] < asked[k])
            run_message(r, "%s vocabulary: %d symbols; the text holds no more (%d were allowed)",
                        k ? "target" : "source", sizes[k], asked[k]);
    r->options.model.vocab_source = sizes[0];
    r->options.model.vocab_target = sizes[1];
    return SA_OK;
}

static sa_status encode(run *r, const char *what, const pair_text *text, int max_length, corpus *out,
                        sa_error *error) {
    corpus_counts counts;
    SA_TRY(corpus_encode(out, text, r->model->source, r->model->target, max_length, &counts, error));
    run_message(r, "%s: %zu pairs, %zu + %zu symbols; dropped: %zu with an empty side, %zu longer than %d symbols",
                what, counts.kept, out->source_symbols, out->target_symbols, counts.empty, counts.too_long,
                max_length);
    if (text->replaced)
        run_message(r, "%s: %zu invalid bytes or NULs were replaced by U+FFFD, the first at %s", what,
                    text->replaced, text->replaced_at);
    if (counts.kept == 0)
        return sa_fail(
            error, SA_DATA,
            "%s: no pair is left of %zu: %zu have an empty side, %zu are longer than %d symbols (--max-length)",
            what, counts.read, counts.empty, counts.too_long, max_length);
    return SA_OK;
}

sa_status run_load_data(run *r, sa_error *error) {
    const sa_train_options *o = &r->options;
    pair_text train;
    SA_TRY(pair_text_read(&train, o->train_source, o->train_target, o->strict, error));
    sa_status status;
    if (o->valid_source)
        status = pair_text_read(&r->valid_text, o->valid_source, o->valid_target, o->strict, error);
    else {
        status = pair_text_hold_out(&train, (size_t)o->held_out, &r->valid_text, error);
        if (status == SA_OK)
            run_message(r, "no validation text given: the last %zu pairs are held out for it", r->valid_text.n);
    }
    if (status == SA_OK && r->valid_text.n == 0)
        status =
            sa_fail(error, SA_DATA, "no pairs to validate with: name validation files (--valid SOURCE TARGET)");
    if (status == SA_OK && !r->model->source)
        status = learn_vocabularies(r, &train, error);
    if (status == SA_OK)
        status = encode(r, "training text", &train, o->max_length, &r->train, error);
    if (status == SA_OK) /* validation keeps long sentences: they are part of what a user will see */
        status = encode(r, "validation text", &r->valid_text, 10 * o->max_length, &r->valid, error);
    pair_text_free(&train);
    return status;
}
