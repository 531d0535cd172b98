#include "base/hash.h"
#include "base/permutation.h"
#include "train/intake.h"

#include <malloc.h>
#include <string.h>

/* Bytes of text that SentencePiece learns a vocabulary from, some 450,000 sentences; of a longer text a sample.
 * More text makes it no better, and would take more memory than training does. Words are counted in the whole text.
 */
enum { SAMPLE_BYTES = 32 << 20 };

uint64_t intake_recipe(const sa_train_options *o) {
    char text[256];
    source_shape source = model_source_shape(&o->model);
    snprintf(text, sizeof text, "%d %d %d %d %d %d %d %d %d %s", (int)source.type, source.count, source.width,
             SAMPLE_BYTES, (int)o->vocab_type, o->model.vocab_source, o->model.vocab_target, o->joint_vocab,
             o->protect, o->normalization ? o->normalization : "identity");
    return hash_string(text);
}

/* How many of n pairs are learnt from. */
static size_t sample_size(const intake *t, size_t n) {
    const sa_train_options *o = &t->r->options;
    size_t larger = t->bytes[0] > t->bytes[1] ? t->bytes[0] : t->bytes[1];
    size_t bytes = o->joint_vocab ? t->bytes[0] + t->bytes[1] : larger;
    if (o->vocab_type == SA_VOCAB_WORD || bytes <= SAMPLE_BYTES)
        return n;
    size_t wanted = (size_t)((double)n * SAMPLE_BYTES / (double)bytes);
    run_message(t->r, "vocabularies are learnt from %zu pairs of %zu, drawn at random", wanted, n);
    return wanted;
}

/* Gives a pair to the learners of both sides as a model will see it. room: for what is protected. */
static sa_status learn_pair(vocab_learner *const learner[2], const pair_lines *lines, bool protect, strbuf room[2],
                            sa_error *error) {
    strbuf_clear(&room[0]);
    strbuf_clear(&room[1]);
    if (protect && !protect_pair(room, lines->line, lines->length, false))
        return sa_fail_memory(error, lines->length[0] + lines->length[1]);
    for (int side = 0; side < 2; side++)
        SA_TRY(vocab_learner_add(learner[side], protect ? room[side].data : lines->line[side],
                                 protect ? room[side].length : lines->length[side], error));
    return SA_OK;
}

/* Gives the lines to the learners of both sides. Any set of pairs of the sample's size is as likely as another. */
static sa_status read_sample(const intake *t, pair_reader *reader, vocab_learner *const learner[2], strbuf room[2],
                             sa_error *error) {
    size_t n = intake_training_pairs(t), wanted = sample_size(t, n);
    permutation order = permutation_at(0, 0, 0, n); /* no seed: all runs on a text can share its vocabularies */
    for (size_t i = 0; i < n; i++) {
        pair_lines lines;
        SA_TRY(pair_reader_next(reader, &lines, error));
        if (!lines.line[SA_SOURCE])
            break; /* the text became shorter, which is noticed later */
        if (permutation_of(&order, i) < wanted)
            SA_TRY(learn_pair(learner, &lines, t->r->options.protect, room, error));
    }
    return SA_OK;
}

static sa_status learn(intake *t, vocab_learner *learner[2], sa_error *error) {
    run *r = t->r;
    const sa_train_options *o = &r->options;
    vocab_options v = {.type = o->vocab_type,
                       .size = o->model.vocab_source,
                       .normalization = o->normalization,
                       .protect = o->protect};
    source_shape source = model_source_shape(&o->model);
    vocab_options no_text = {.type = source.type, .size = v.size, .count = source.count, .width = source.width};
    SA_TRY(vocab_learner_new(&learner[0], source.length ? &no_text : &v, error));
    v.size = o->model.vocab_target;
    if (!o->joint_vocab)
        SA_TRY(vocab_learner_new(&learner[1], &v, error));
    vocab_learner *const of_side[2] = {learner[0], o->joint_vocab ? learner[0] : learner[1]};
    pair_reader reader;
    SA_TRY(pair_reader_open(&reader, &t->files, error));
    strbuf room[2] = {{0}, {0}};
    sa_status status = read_sample(t, &reader, of_side, room, error);
    pair_reader_close(&reader);
    strbuf_free(&room[0]);
    strbuf_free(&room[1]);
    SA_TRY(status);
    SA_TRY(vocab_learner_end(learner[0], &r->model->source, error));
    if (learner[1])
        return vocab_learner_end(learner[1], &r->model->target, error);
    r->model->target = r->model->source;
    return SA_OK;
}

sa_status intake_learn(intake *t, sa_error *error) {
    vocab_learner *learner[2] = {NULL, NULL};
    sa_status status = learn(t, learner, error);
    vocab_learner_free(learner[0]);
    vocab_learner_free(learner[1]);
#ifdef __GLIBC__
    malloc_trim(0); /* learning takes far more memory than training will, in pieces that free() keeps */
#endif
    return status;
}

sa_status intake_save_vocabularies(const run *r, strbuf bytes[2], sa_error *error) {
    SA_TRY(vocab_save(r->model->source, &bytes[0], error));
    return r->model->target == r->model->source ? SA_OK : vocab_save(r->model->target, &bytes[1], error);
}

sa_status intake_load_vocabularies(run *r, const file_chunk bytes[2], sa_error *error) {
    sa_vocab_type type = r->options.vocab_type;
    source_shape source = model_source_shape(&r->options.model);
    SA_TRY(vocab_load(&r->model->source, source.length ? source.type : type, bytes[0].data, bytes[0].size, error));
    if (bytes[1].size)
        return vocab_load(&r->model->target, type, bytes[1].data, bytes[1].size, error);
    r->model->target = r->model->source;
    return SA_OK;
}

void intake_drop_vocabularies(run *r) {
    if (r->model->target != r->model->source)
        vocab_free(r->model->target);
    vocab_free(r->model->source);
    r->model->source = r->model->target = NULL;
}
