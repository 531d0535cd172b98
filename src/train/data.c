#include "train/run.h"

#include <stdlib.h>
#include <string.h>

typedef struct side_reader {
    const pair_text *text;
    size_t at; /* lines of the sides to read: all of source, then all of target when both */
    bool source, target, protect;
    strbuf line[2]; /* the pair of the last line, when items are protected */
} side_reader;

/* A side of pair i as a model sees it. NULL without memory. */
static const char *side_of(side_reader *r, size_t i, int side) {
    const char *const line[2] = {r->text->source[i], r->text->target[i]};
    if (!r->protect)
        return line[side];
    strbuf_clear(&r->line[0]);
    strbuf_clear(&r->line[1]);
    bool ok = protect_pair(r->line, line, (const size_t[]){strlen(line[0]), strlen(line[1])}, false);
    return !ok ? NULL : r->line[side].data ? r->line[side].data : "";
}

static const char *next_line(void *user, size_t *length) {
    side_reader *r = user;
    size_t sides = (size_t)r->source + (size_t)r->target;
    if (r->at >= sides * r->text->n)
        return NULL;
    bool first = r->source && r->at < r->text->n;
    const char *line = side_of(r, r->at++ % r->text->n, !first);
    *length = line ? strlen(line) : 0;
    return line;
}

/* Without source: of the target side alone. */
static sa_status learn_vocabulary(run *r, const pair_text *text, bool source, vocab **out, sa_error *error) {
    const sa_train_options *o = &r->options;
    int size = source ? o->model.vocab_source : o->model.vocab_target;
    vocab_options v = {o->vocab_type, size, o->normalization, o->protect};
    side_reader lines = {
        .text = text, .source = source, .target = !source || o->joint_vocab, .protect = o->protect};
    sa_status status = vocab_train(out, &v, next_line, &lines, error);
    bool failed = lines.line[0].failed || lines.line[1].failed;
    strbuf_free(&lines.line[0]);
    strbuf_free(&lines.line[1]);
    if (status == SA_OK && failed) { /* the lines ended early */
        vocab_free(*out);
        *out = NULL;
    }
    return failed ? sa_fail_memory(error, 0) : status;
}

static sa_status learn_vocabularies(run *r, const pair_text *text, sa_error *error) {
    const sa_train_options *o = &r->options;
    SA_TRY(learn_vocabulary(r, text, true, &r->model->source, error));
    if (o->joint_vocab)
        r->model->target = r->model->source;
    else
        SA_TRY(learn_vocabulary(r, text, false, &r->model->target, error));
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
