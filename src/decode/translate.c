/* sa_translate: lines to pieces, batches of similar length, threads, and back to lines in order. */
#include "decode/dictionary.h"
#include "decode/line_batches.h"
#include "decode/pieces.h"
#include "decode/result.h"
#include "decode/search.h"
#include "decode/symbols.h"
#include "decode/translate_options.h"

#include <stdlib.h>
#include <string.h>

typedef struct translation_job {
    const ensemble *models;
    const sa_translate_options *options;
    piece_list pieces;
    size_t *length;       /* of each piece's ids */
    sa_translation *part; /* of each piece */
} translation_job;

/* ---- text -------------------------------------------------------------------------------------------- */

/* The source position that word i looked at most, </s> left out. */
static size_t most_attended(const hypothesis *h, int i, int source_length) {
    const float *a = h->attention + (size_t)i * (size_t)source_length;
    int best = 0;
    for (int j = 1; j < source_length - 1; j++)
        best = a[j] > a[best] ? j : best;
    return (size_t)best;
}

/* What stands in the place of <unk>. A subword's blank stays before its translation. */
static const char *replacement(const sa_dictionary *d, const char *source) {
    bool blank = source[0] == ' ';
    const char *found = d ? dictionary_find(d, source + blank) : NULL;
    return found ? found + !blank : source;
}

/* texts[i]: what is written for <unk> at i, NULL for what the vocabulary says. */
static void choose_texts(const translation_job *job, const source_piece *piece, const hypothesis *h,
                         const char **texts) {
    for (int i = 0; i < h->length - 1; i++) {
        texts[i] = NULL;
        if (h->ids[i] != VOCAB_UNK)
            continue;
        if (i < piece->start.n)
            texts[i] = piece->start.symbols.text[i];
        else if (job->options->replace_unk)
            texts[i] = replacement(job->options->dictionary,
                                   piece->source.text[most_attended(h, i, (int)piece->source.ids.n)]);
    }
}

static sa_status write_symbols(const vocab *v, const hypothesis *h, char **out, sa_error *error) {
    strbuf text = {0};
    for (int i = 0; i < h->length - 1; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? " " : "", vocab_piece(v, h->ids[i]));
    *out = strbuf_take(&text);
    return *out ? SA_OK : sa_fail_memory(error, 0);
}

static sa_status decode(const vocab *target, const written *w, char **out, sa_error *error) {
    strbuf text = {0};
    sa_status status = vocab_decode(target, w->ids, w->n, w->text, &text, error);
    if (status == SA_OK && !(*out = strbuf_take(&text)))
        return sa_fail_memory(error, 0);
    strbuf_free(&text);
    return status;
}

/* The words with what stands for <unk> and for items. */
static sa_status write_words(const translation_job *job, const source_piece *piece, const hypothesis *h, written *w,
                             sa_error *error) {
    const char **texts = calloc((size_t)h->length, sizeof *texts);
    if (!texts)
        return sa_fail_memory(error, 0);
    choose_texts(job, piece, h, texts);
    sa_status status = restore_items(w, job->models->owner->target, h, (int)piece->source.ids.n, texts,
                                     piece->items, piece->n_items, error);
    free(texts);
    return status;
}

static sa_status write_hypothesis(const translation_job *job, const source_piece *piece, hypothesis *from,
                                  sa_hypothesis *out, sa_error *error) {
    const vocab *target = job->models->owner->target;
    written w;
    char *text = NULL;
    SA_TRY(write_words(job, piece, from, &w, error));
    bool raw = job->options->symbols;
    sa_status status = raw ? write_symbols(target, from, &text, error) : decode(target, &w, &text, error);
    for (int i = 0; raw && i < from->length - 1; i++)
        w.word[i] = i;
    if (status == SA_OK)
        status = result_hypothesis(out, job->models, job->options, from, text, raw ? NULL : w.shown, w.word, error);
    out->items_added = raw ? 0 : w.added;
    written_free(&w);
    return status;
}

static sa_status write_piece(const translation_job *job, size_t i, hypotheses *found, sa_error *error) {
    sa_translation *out = &job->part[i];
    const source_piece *piece = &job->pieces.at[i];
    const char **shown = calloc(piece->source.ids.n, sizeof *shown);
    out->hypothesis = calloc((size_t)found->n, sizeof *out->hypothesis);
    if (!out->hypothesis || !shown) {
        free(shown);
        return sa_fail_memory(error, 0);
    }
    piece_show_items(piece, shown);
    sa_status status = result_source(out, job->models, job->options, &piece->source, shown, error);
    free(shown);
    for (int k = 0; k < found->n && status == SA_OK; k++) {
        out->n = k + 1;
        status = write_hypothesis(job, piece, &found->at[k], &out->hypothesis[k], error);
    }
    return status;
}

/* ---- batches ----------------------------------------------------------------------------------------- */

/* Samples of the first piece are those of the line; the others' are drawn by numbers that no line has. */
static source_sentence sentence_of(const translation_job *job, size_t i) {
    const source_piece *x = &job->pieces.at[i];
    return (source_sentence){.ids = x->source.ids.id,
                             .length = (int)x->source.ids.n,
                             .number = (job->options->first_line + x->line) | (uint64_t)x->number << 40,
                             .line = x->line,
                             .piece = x->number,
                             .items = x->kinds,
                             .prefix = x->start.symbols.ids.id,
                             .n_prefix = x->start.n,
                             .open = x->start.open};
}

static sa_status translate_batch(void *argument, const size_t *pieces, int n, sa_error *error) {
    const translation_job *job = argument;
    const sa_model *owner = job->models->owner;
    source_sentence *sentences = calloc((size_t)n, sizeof *sentences);
    hypotheses *found = calloc((size_t)n, sizeof *found);
    tape *t = NULL;
    sa_status status = sentences && found ? model_borrow_tape(owner, &t, error) : sa_fail_memory(error, 0);
    if (status == SA_OK) {
        for (int i = 0; i < n; i++)
            sentences[i] = sentence_of(job, pieces[i]);
        status = search_translate(job->models, owner->target, t, sentences, n, job->options, found, error);
        model_return_tape(owner, t);
    }
    for (int i = 0; status == SA_OK && i < n; i++)
        status = write_piece(job, pieces[i], &found[i], error);
    for (int i = 0; found && i < n; i++)
        hypotheses_free(&found[i]);
    free(found);
    free(sentences);
    return status;
}

/* Scores of a step are rows x V numbers of each model. Where a wide beam or many samples make them more than 64
 * million, fewer sentences go together, which changes no result. */
static int batch_size(const translation_job *job) {
    const sa_translate_options *o = job->options;
    double rows = o->sample ? o->n_best : o->beam_size, V = vocab_size(job->models->owner->target);
    double most = 64e6 / (rows * V * job->models->n);
    return most >= o->mini_batch ? o->mini_batch : most > 1 ? (int)most : 1;
}

/* Cuts and encodes line i; what its translation must begin with goes to its first piece. */
static sa_status prepare_line(translation_job *job, const char *text, size_t i, bool *too_long, sa_error *error) {
    const sa_translate_options *o = job->options;
    const sa_model *owner = job->models->owner;
    bool protect = o->protect != SA_PROTECT_OFF && sa_model_protects(owner);
    size_t first = job->pieces.n;
    SA_TRY(pieces_add(&job->pieces, owner->source, o, protect, i, text, too_long, error));
    const char *prefix = o->prefix && job->pieces.n > first ? o->prefix[i] : NULL;
    return prefix ? forced_start_read(&job->pieces.at[first].start, owner->target, prefix, error) : SA_OK;
}

static sa_status prepare(translation_job *job, const char *const *lines, size_t n, sa_translation *out,
                         sa_error *error) {
    for (size_t i = 0; i < n; i++)
        SA_TRY(prepare_line(job, lines[i], i, &out[i].too_long, error));
    job->length = calloc(job->pieces.n + 1, sizeof *job->length);
    job->part = calloc(job->pieces.n + 1, sizeof *job->part);
    if (!job->length || !job->part)
        return sa_fail_memory(error, job->pieces.n * sizeof *job->part);
    for (size_t i = 0; i < job->pieces.n; i++)
        job->length[i] = job->pieces.at[i].source.ids.n;
    return SA_OK;
}

/* The parts of each line together; a line that has none is empty. */
static sa_status join(translation_job *job, size_t n, sa_translation *out, sa_error *error) {
    const piece_list *p = &job->pieces;
    for (size_t i = 0, from = 0; i < n; i++) {
        size_t end = from;
        while (end < p->n && p->at[end].line == i)
            end++;
        if (end == from)
            SA_TRY(result_empty(&out[i], error));
        else
            SA_TRY(pieces_join(&out[i], p->at + from, job->part + from, end - from, error));
        from = end;
    }
    return SA_OK;
}

static sa_status translate_lines(translation_job *job, const char *const *lines, size_t n, sa_translation *out,
                                 sa_error *error) {
    const sa_translate_options *o = job->options;
    SA_TRY(prepare(job, lines, n, out, error));
    SA_TRY(batch_run(job->length, job->pieces.n, batch_size(job), o->threads, translate_batch, job, error));
    return join(job, n, out, error);
}

sa_status sa_translate_ensemble(const sa_model *const *models, int n_models, const char *const *lines, size_t n,
                                const sa_translate_options *options, sa_translation **out, sa_error *error) {
    sa_translate_options defaults;
    sa_translate_options_init(&defaults);
    ensemble together;
    translation_job job = {.models = &together, .options = options ? options : &defaults};
    *out = NULL;
    SA_TRY(ensemble_make(&together, models, n_models, error));
    SA_TRY(translate_options_check(job.options, &together, error));
    sa_translation *made = calloc(n + 1, sizeof *made);
    sa_status status = made ? translate_lines(&job, lines, n, made, error) : sa_fail_memory(error, 0);
    sa_translations_free(job.part, job.part ? job.pieces.n : 0);
    free(job.length);
    pieces_free(&job.pieces);
    if (status == SA_OK)
        *out = made;
    else
        sa_translations_free(made, n);
    return status;
}

sa_status sa_translate(const sa_model *m, const char *const *lines, size_t n, const sa_translate_options *options,
                       sa_translation **out, sa_error *error) {
    return sa_translate_ensemble(&m, 1, lines, n, options, out, error);
}
