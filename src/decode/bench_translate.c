/* sa_bench_translate: the speed of translation beside that of the products it is made of. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"
#include "decode/line_batches.h"
#include "decode/search.h"
#include "math/gemm_team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    const sa_bench_translate_options *options;
    sa_translate_options search;
    sa_model *model;
    sa_shortlist *shortlist; /* NULL: none */
    ensemble models;
    char **line; /* n */
    size_t n;
    id_list *ids;         /* of each line, </s> last */
    size_t *length;       /* of ids */
    _Atomic long symbols; /* of translations */
} bench;

/* ---- text -------------------------------------------------------------------------------------------- */

static sa_status read_lines(bench *b, sa_reader *reader, sa_error *error) {
    size_t capacity = 0;
    for (;;) {
        char *line;
        size_t length;
        SA_TRY(sa_reader_next(reader, &line, &length, error));
        if (!line)
            return SA_OK;
        if (strspn(line, " \t") == length)
            continue;
        if (b->n == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            char **more = realloc(b->line, capacity * sizeof *more);
            if (!more)
                return sa_fail_memory(error, capacity * sizeof *more);
            b->line = more;
        }
        if (!(b->line[b->n] = strdup(line)))
            return sa_fail_memory(error, length);
        b->n++;
    }
}

/* Keeps some lines, evenly chosen. */
static void thin_out(bench *b) {
    size_t wanted = (size_t)b->options->sentences, stride = b->n / wanted > 1 ? b->n / wanted : 1, kept = 0;
    for (size_t i = 0; i < b->n; i++)
        if (i % stride == 0 && kept < wanted) {
            char *line = b->line[i];
            b->line[i] = b->line[kept];
            b->line[kept++] = line;
        }
    for (size_t i = kept; i < b->n; i++)
        free(b->line[i]);
    b->n = kept;
}

static sa_status read_text(bench *b, sa_error *error) {
    sa_reader *reader;
    SA_TRY(sa_reader_open(&reader, b->options->source, false, error));
    sa_status status = read_lines(b, reader, error);
    sa_reader_free(reader);
    SA_TRY(status);
    if (b->n == 0)
        return sa_fail(error, SA_DATA, "%s: no sentences to translate", b->options->source);
    thin_out(b);
    b->ids = calloc(b->n, sizeof *b->ids);
    b->length = calloc(b->n, sizeof *b->length);
    return b->ids && b->length ? SA_OK : sa_fail_memory(error, b->n * sizeof *b->ids);
}

/* A model of random weights knows no words: each stands for some symbol. */
static bool hash_words(const char *line, int size, id_list *ids) {
    static const char blank[] = " \t";
    for (line += strspn(line, blank); *line; line += strspn(line, blank)) {
        size_t n = strcspn(line, blank);
        if (!id_list_push(ids, 2 + (int)(hash_bytes(line, n) % (uint64_t)(size - 2))))
            return false;
        line += n;
    }
    return true;
}

static sa_status encode_text(bench *b, sa_error *error) {
    const vocab *source = b->model->source;
    for (size_t i = 0; i < b->n; i++) {
        id_list *ids = &b->ids[i];
        if (b->options->model)
            SA_TRY(vocab_encode(source, b->line[i], strlen(b->line[i]), ids, error));
        else if (!hash_words(b->line[i], vocab_size(source), ids))
            return sa_fail_memory(error, 0);
        if (!id_list_push(ids, VOCAB_EOS))
            return sa_fail_memory(error, 0);
        b->length[i] = ids->n;
    }
    return SA_OK;
}

/* ---- models ------------------------------------------------------------------------------------------ */

/* A vocabulary of that size, of numbers. */
static sa_status make_vocab(vocab **out, int size, sa_error *error) {
    vocab_learner *learner;
    strbuf line = {0};
    for (int i = 2; i < size; i++)
        strbuf_printf(&line, "%d ", i);
    if (line.failed)
        return sa_fail_memory(error, 0);
    sa_status status = vocab_learner_new(&learner, &(vocab_options){.type = SA_VOCAB_WORD, .size = size}, error);
    if (status == SA_OK)
        status = vocab_learner_add(learner, line.data, line.length, error);
    if (status == SA_OK)
        status = vocab_learner_end(learner, out, error);
    vocab_learner_free(learner);
    strbuf_free(&line);
    return status;
}

static sa_status draw_model(sa_model **out, const sa_bench_translate_options *o, sa_error *error) {
    SA_TRY(model_file_new(out, error));
    sa_model *m = *out;
    SA_TRY(model_declare(&m->net, &o->config, error));
    SA_TRY(make_vocab(&m->source, o->config.vocab_source, error));
    SA_TRY(make_vocab(&m->target, o->config.vocab_target, error));
    SA_TRY(params_allocate(&m->net.params, false, error));
    return params_initialise(&m->net.params, 1, error);
}

static sa_status open_model(bench *b, sa_error *error) {
    const sa_bench_translate_options *o = b->options;
    const sa_model_options options = {o->precision, o->threads};
    if (o->model)
        SA_TRY(sa_model_open_with(&b->model, o->model, &options, error));
    else
        SA_TRY(model_prepare(b->model, &options, error));
    if (o->shortlist)
        SA_TRY(sa_shortlist_open(&b->shortlist, o->shortlist, b->model, error));
    b->search.shortlist = b->shortlist;
    const sa_model *models[] = {b->model};
    return ensemble_make(&b->models, models, 1, error);
}

/* ---- measurement ------------------------------------------------------------------------------------- */

/* Random weights know no end: translations get the lengths that French has of English. All their symbols count. */
static int forced_length(const bench *b, int source_length) {
    return b->options->model ? 0 : (int)lround(1.08 * source_length);
}

static sa_status translate_batch(void *argument, const size_t *lines, int n, sa_error *error) {
    bench *b = argument;
    source_sentence *sentences = calloc((size_t)n, sizeof *sentences);
    hypotheses *found = calloc((size_t)n, sizeof *found);
    tape *t = NULL;
    sa_status status = sentences && found ? model_borrow_tape(b->model, &t, error) : sa_fail_memory(error, 0);
    for (int i = 0; i < n && status == SA_OK; i++) {
        int length = (int)b->length[lines[i]];
        sentences[i] = (source_sentence){
            .ids = b->ids[lines[i]].id, .length = length, .forced_length = forced_length(b, length)};
    }
    if (status == SA_OK) {
        status = search_translate(&b->models, b->model->target, t, sentences, n, &b->search, found, error);
        model_return_tape(b->model, t);
    }
    for (int i = 0; i < n && status == SA_OK; i++)
        b->symbols += found[i].at[0].length - (b->options->model ? 1 : 0);
    for (int i = 0; found && i < n; i++)
        hypotheses_free(&found[i]);
    free(found);
    free(sentences);
    return status;
}

static sa_status translate_all(bench *b, double *seconds, sa_error *error) {
    double start = clock_seconds();
    b->symbols = 0;
    SA_TRY(batch_run(b->length, b->n, b->options->mini_batch, b->options->threads, translate_batch, b, error));
    *seconds = clock_seconds() - start;
    return SA_OK;
}

/* What the products of the workspaces' engines amount to, and take by themselves. */
static sa_status replay(bench *b, int threads, double *operations, double *seconds, sa_error *error) {
    pool *team;
    int n = b->model->n_spare;
    gemm **engines = calloc((size_t)n + 1, sizeof *engines);
    if (!engines)
        return sa_fail_memory(error, (size_t)n * sizeof *engines);
    for (int i = 0; i < n; i++)
        engines[i] = b->model->spare[i]->gemm;
    sa_status status = pool_new(&team, threads, gemm_work_alone, error);
    if (status == SA_OK)
        status = gemm_replay_team(engines, n, team, operations, seconds, error);
    pool_free(team);
    free(engines);
    return status;
}

static sa_status measure(bench *b, sa_translate_bench *out, sa_error *error) {
    int passes = b->options->passes, threads = b->options->threads;
    double seconds, best = HUGE_VAL, operations, alone;
    SA_TRY(translate_all(b, &seconds, error));
    for (int i = 0; i < b->model->n_spare; i++)
        gemm_forget_uses(b->model->spare[i]->gemm);
    for (int pass = 0; pass < passes; pass++) {
        SA_TRY(translate_all(b, &seconds, error));
        best = fmin(best, seconds);
    }
    out->peak_megabytes = memory_peak() / (1 << 20);
    SA_TRY(replay(b, threads > 0 ? threads : thread_cores(), &operations, &alone, error));
    out->parameters = (double)params_learned(&b->model->net.params);
    out->sentences_per_second = (double)b->n / best;
    out->words_per_second = (double)b->symbols / best;
    out->gflops_done = operations / passes / best / 1e9;
    out->gflops_products = operations / alone / 1e9;
    out->share = out->gflops_done / out->gflops_products;
    return SA_OK;
}

/* From opening the model until one sentence is translated, with nothing compiled yet. */
static sa_status measure_first(bench *b, double *seconds, sa_error *error) {
    if (!b->options->model)
        SA_TRY(draw_model(&b->model, b->options, error));
    gemm_forget_compiled();
    double start = clock_seconds();
    SA_TRY(open_model(b, error));
    SA_TRY(encode_text(b, error));
    gemm_work_alone();
    SA_TRY(translate_batch(b, (size_t[]){b->n / 2}, 1, error));
    *seconds = clock_seconds() - start;
    return SA_OK;
}

static sa_status check(const sa_bench_translate_options *o, sa_error *error) {
    if (!o->source)
        return sa_fail(error, SA_USAGE, "no text to translate");
    if (o->sentences < 1 || o->passes < 1 || o->mini_batch < 1 || o->beam_size < 1 || o->beam_size > 1000)
        return sa_fail(error, SA_USAGE,
                       "sentences, passes, minibatch and beam (at most 1000) must be at least 1 each");
    if (!o->model && o->shortlist)
        return sa_fail(error, SA_USAGE, "a shortlist is for a model's vocabularies: it needs a model file");
    if (!o->model && (o->config.vocab_source < 3 || o->config.vocab_target < 3))
        return sa_fail(error, SA_USAGE, "vocabularies have 3 symbols at least");
    return SA_OK;
}

sa_status sa_bench_translate(const sa_bench_translate_options *options, sa_translate_bench *out, sa_error *error) {
    SA_TRY(check(options, error));
    bench b = {.options = options};
    *out = (sa_translate_bench){0};
    sa_translate_options_init(&b.search);
    b.search.beam_size = options->beam_size;
    memory_forget_peak();
    sa_status status = read_text(&b, error);
    if (status == SA_OK)
        status = measure_first(&b, &out->first_seconds, error);
    if (status == SA_OK)
        status = measure(&b, out, error);
    for (size_t i = 0; i < b.n; i++) {
        free(b.line[i]);
        if (b.ids)
            id_list_free(&b.ids[i]);
    }
    free(b.line);
    free(b.ids);
    free(b.length);
    sa_shortlist_free(b.shortlist);
    sa_model_free(b.model);
    return status;
}
