/* sa_trace_make: one pair, and all that is computed on the way. */
#include "decode/pair_symbols.h"
#include "decode/result.h"
#include "explain/influence.h"
#include "explain/witness.h"
#include "model/config.h"
#include "model/family.h"
#include "text/vocab_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace_job {
    const sa_model *model;
    const sa_trace_options *options;
    symbols source, target; /* ids with </s> */
    sa_trace *out;
    arena *memory; /* of all that is in *out */
    forced f;
    bool failed; /* no memory in the arena */
} trace_job;

static const regularisation none;

void sa_trace_options_init(sa_trace_options *options) {
    *options = (sa_trace_options){.step = -1, .next = 10, .sensitivity = true, .max_length = 200};
}

/* ---- what can be traced ------------------------------------------------------------------------------ */

static sa_status check_model(const sa_model *m, sa_error *error) {
    const preset *p = m->net.preset;
    if (!m->source)
        return sa_fail(error, SA_USAGE, "this model was only planned: it has no values to trace");
    if (vocab_length(m->source))
        return sa_fail(error, SA_USAGE, "a trace is of words of the source; the sources of %s are no text",
                       p->name);
    if (p->family->many_looks)
        return sa_fail(error, SA_USAGE,
                       "a trace is of models that look at most once for a word; %s looks with several heads in "
                       "several layers",
                       p->name);
    if (!m->net.W_out->value || !m->net.source_embedding->value)
        return sa_fail(
            error, SA_USAGE,
            "this model has its values in fewer bits, of which there are no gradients: open it with precision "
            "f32");
    return SA_OK;
}

static sa_status check_options(const trace_job *job, sa_error *error) {
    const sa_trace_options *o = job->options;
    if (o->max_length < 1 || o->max_length > 1000000)
        return sa_fail(error, SA_USAGE, "max-length is %d; it must be from 1 to 1000000", o->max_length);
    if (o->next < 0)
        return sa_fail(error, SA_USAGE, "next is %d; it must be at least 0", o->next);
    if (o->protect == SA_PROTECT_ON && !sa_model_protects(job->model))
        return sa_fail(error, SA_USAGE,
                       "this model cannot protect numbers, addresses and tags: it was trained without --protect");
    if (o->weights && o->step < 0)
        return sa_fail(error, SA_USAGE, "weights were given, but not for which step");
    if (o->weights && !job->model->net.preset->attends)
        return sa_fail(error, SA_USAGE, "weights were given, but %s has no attention",
                       job->model->net.preset->name);
    return SA_OK;
}

/* What can be told once the symbols are known. */
static sa_status check_pair(const trace_job *job, sa_error *error) {
    const sa_trace_options *o = job->options;
    int S = (int)job->source.ids.n, T = (int)job->target.ids.n;
    if (o->step >= T)
        return sa_fail(error, SA_USAGE,
                       "there is no step %d: the target has %d symbols, counted from 0, </s> the last", o->step, T);
    if (o->weights && o->n_weights != S)
        return sa_fail(error, SA_USAGE, "%d weights were given; the source has %d symbols, </s> the last",
                       o->n_weights, S);
    for (int j = 0; o->weights && j < S; j++)
        if (!isfinite(o->weights[j]) || o->weights[j] < 0)
            return sa_fail(error, SA_USAGE, "weight %d is %g; it must be finite and not negative", j,
                           (double)o->weights[j]);
    return SA_OK;
}

/* ---- the pair ---------------------------------------------------------------------------------------- */

/* The best translation, as text or as symbols with blanks between. */
static sa_status translate(const trace_job *job, const char *source, bool as_symbols, sa_translation **out,
                           sa_error *error) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.threads = 1;
    o.symbols = as_symbols;
    o.max_length = job->options->max_length;
    o.protect = job->options->protect;
    return sa_translate(job->model, &source, 1, &o, out, error);
}

/* Scores the pair for what it says of symbols and words. */
static sa_status describe(trace_job *job, const char *source, const char *target, bool read, sa_translation **out,
                          sa_error *error) {
    sa_translate_options o;
    sa_translate_options_init(&o);
    o.threads = 1;
    o.symbols = read;
    o.max_length = job->options->max_length;
    o.protect = job->options->protect;
    o.attention = true;
    return sa_score_pairs(&job->model, 1, &source, &target, 1, &o, out, error);
}

static sa_status encode(trace_job *job, const char *source, const char *target, bool read, sa_error *error) {
    const char *const line[2] = {source, target};
    symbols *side[2] = {&job->source, &job->target};
    SA_TRY(pair_symbols_encode(side[0], side[1], job->model, line, job->options->protect, read, error));
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "target" : "source";
        if (side[k]->ids.n > (size_t)job->options->max_length)
            return sa_fail(error, SA_DATA, "the %s has %zu symbols; a trace takes at most max-length, %d", name,
                           side[k]->ids.n, job->options->max_length);
        if (side[k]->ids.n == 0)
            return sa_fail(error, SA_DATA, "the %s is blank: there is nothing to trace", name);
        if (!id_list_push(&side[k]->ids, VOCAB_EOS))
            return sa_fail_memory(error, 0);
    }
    return SA_OK;
}

static char *keep_text(trace_job *job, const char *text, size_t n) {
    char *copy = arena_alloc(job->memory, n + 1);
    job->failed = job->failed || !copy;
    if (copy) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}

static void *keep_list(trace_job *job, size_t bytes) {
    void *list = arena_alloc(job->memory, bytes);
    job->failed = job->failed || !list;
    if (list)
        memset(list, 0, bytes);
    return list;
}

static char **keep_texts(trace_job *job, char *const *text, int n) {
    char **copy = keep_list(job, (size_t)n * sizeof *copy);
    for (int i = 0; copy && i < n; i++)
        copy[i] = keep_text(job, text[i], strlen(text[i]));
    return copy;
}

/* Words are what stands between blanks. Returns how many there are; word may be NULL. */
static int split_words(trace_job *job, const char *line, char **word) {
    int n = 0;
    for (const char *at = line, *end; *at; at = end) {
        while (vocab_is_blank(*at))
            at++;
        for (end = at; *end && !vocab_is_blank(*end);)
            end++;
        if (end > at && word)
            word[n] = keep_text(job, at, (size_t)(end - at));
        n += end > at;
    }
    return n;
}

static void keep_names(trace_job *job, const char *source, const sa_translation *t) {
    sa_trace *out = job->out;
    out->source_length = (int)job->source.ids.n;
    out->target_length = (int)job->target.ids.n;
    out->n_words = split_words(job, source, NULL);
    out->source_word = keep_list(job, (size_t)out->n_words * sizeof *out->source_word);
    if (out->source_word)
        split_words(job, source, out->source_word);
    out->word_of_symbol = keep_list(job, (size_t)out->source_length * sizeof *out->word_of_symbol);
    if (out->word_of_symbol)
        memcpy(out->word_of_symbol, t->source_word, (size_t)out->source_length * sizeof *out->word_of_symbol);
    out->source_symbol = keep_texts(job, t->source_symbol, out->source_length);
    out->target_symbol = keep_texts(job, t->hypothesis[0].symbol, out->target_length);
}

/* What was not given is translated once more: symbols alone do not tell the text, in which items of the source
 * stand. */
static sa_status keep_target(trace_job *job, const char *source, const char *given, sa_error *error) {
    sa_translation *best = NULL;
    if (!given) {
        SA_TRY(translate(job, source, false, &best, error));
        given = best->hypothesis[0].text;
    }
    job->out->target = keep_text(job, given, strlen(given));
    sa_translations_free(best, 1);
    return SA_OK;
}

/* Symbols, words and texts of both sides. */
static sa_status prepare(trace_job *job, const char *source, const char *given, sa_error *error) {
    sa_translation *best = NULL, *described = NULL;
    const char *target = given;
    bool read = job->options->symbols || !given;
    sa_status status = SA_OK;
    if (!given && (status = translate(job, source, true, &best, error)) == SA_OK)
        target = best->hypothesis[0].text;
    if (status == SA_OK)
        status = encode(job, source, target, read, error);
    if (status == SA_OK)
        status = check_pair(job, error);
    if (status == SA_OK)
        status = describe(job, source, target, read, &described, error);
    if (status == SA_OK) {
        keep_names(job, source, described);
        status = keep_target(job, source, given, error);
    }
    sa_translations_free(best, 1);
    sa_translations_free(described, 1);
    return status;
}

/* ---- the encoder ------------------------------------------------------------------------------------- */

static bool trace_encoder(trace_job *job) {
    sa_trace *out = job->out;
    const forced *f = &job->f;
    int S = out->source_length;
    source_batch batch;
    encoding h = {0};
    witness w = {.positions = S, .keeps_units = true};
    forced_rewind(f, false);
    witness_begin(&w, f->t, job->memory);
    bool ok = source_batch_make(f->t, 1, &f->source, &batch) && model_encode(f->m, f->t, &batch, &none, &h);
    witness_end(&w);
    out->unit = w.unit;
    out->n_units = w.n_units;
    const tensor *positions = h.h.values ? h.h.values : h.states, *start = f->before[0].part[0];
    if (ok && positions) {
        out->dim_annotation = tensor_cols(positions);
        out->annotations = trace_copy(job->memory, positions->data, tensor_count(positions), &job->failed);
    }
    if (ok && start) {
        out->dim_start = tensor_cols(start);
        out->start = trace_copy(job->memory, start->data, tensor_count(start), &job->failed);
    }
    job->failed = job->failed || w.failed;
    return ok;
}

/* ---- steps ------------------------------------------------------------------------------------------- */

/* The n likeliest symbols, best first. */
static sa_likely *likeliest(trace_job *job, const real *p, int n) {
    int *best = calloc((size_t)n + 1, sizeof *best), found = 0;
    sa_likely *out = keep_list(job, (size_t)n * sizeof *out);
    job->failed = job->failed || !best;
    for (int v = 0; !job->failed && v < job->f.V; v++) {
        int at = found < n ? found++ : n;
        for (; at > 0 && p[v] > p[best[at - 1]]; at--)
            best[at] = best[at - 1];
        best[at] = v;
    }
    for (int k = 0; !job->failed && k < n; k++) {
        const char *text = vocab_shown(job->model->target, best[k]);
        out[k] = (sa_likely){keep_text(job, text, strlen(text)), (double)p[best[k]]};
    }
    free(best);
    return out;
}

static void take_row(void *user, int row, real *p) {
    (void)row;
    trace_job *job = user;
    job->out->step->next = likeliest(job, p, job->out->step->n_next);
}

static bool look_elsewhere(trace_job *job, int i) {
    const forced *f = &job->f;
    forced_rewind(f, false);
    tensor *given = tape_matrix(f->t, 1, job->out->source_length);
    if (!given)
        return false;
    for (int j = 0; j < job->out->source_length; j++)
        given->data[j] = job->options->weights[j];
    step_output shown;
    tensor *hidden = forced_again(f, 1, &i, given, &shown);
    if (!hidden)
        return false;
    sa_trace_step *s = job->out->step;
    s->weights = trace_copy(job->memory, given->data, tensor_count(given), &job->failed);
    if (shown.c)
        s->context = trace_copy(job->memory, shown.c->data, tensor_count(shown.c), &job->failed);
    s->state = trace_copy(job->memory, shown.s->data, tensor_count(shown.s), &job->failed);
    s->readout = trace_copy(job->memory, hidden->data, tensor_count(hidden), &job->failed);
    s->next_original = s->next;
    return output_visit(f->m, f->t, hidden, take_row, job);
}

/* What a step showed; energies and vectors are there. */
static void keep_step(trace_job *job, sa_trace_step *s, const witness *w, const step_output *shown,
                      const tensor *hidden) {
    int S = job->out->source_length, i = job->options->step;
    s->step = i;
    s->n_units = w->n_units;
    s->unit = w->unit;
    s->dim_state = tensor_cols(shown->s);
    s->dim_readout = tensor_cols(hidden);
    s->state = trace_copy(job->memory, shown->s->data, tensor_count(shown->s), &job->failed);
    s->readout = trace_copy(job->memory, hidden->data, tensor_count(hidden), &job->failed);
    if (shown->c) {
        s->dim_context = tensor_cols(shown->c);
        s->context = trace_copy(job->memory, shown->c->data, tensor_count(shown->c), &job->failed);
    }
    if (shown->weights)
        s->weights = trace_copy(job->memory, shown->weights->data, S, &job->failed);
    if (w->looked)
        s->energy = job->out->energies + (long)i * S;
    s->n_next = job->options->next < job->f.V ? job->options->next : job->f.V;
    s->next = likeliest(job, job->f.p + (long)i * job->f.V, s->n_next);
}

/* Makes step i once more and keeps its energies, and all else of it when it was asked for. */
static bool trace_step(trace_job *job, int i) {
    sa_trace *out = job->out;
    const forced *f = &job->f;
    step_output shown;
    bool wanted = i == job->options->step;
    sa_trace_step *step = wanted ? keep_list(job, sizeof *step) : NULL;
    witness w = {.step = step,
                 .keeps_units = wanted,
                 .energies = out->energies ? out->energies + (long)i * out->source_length : NULL};
    forced_rewind(f, false);
    witness_begin(&w, f->t, job->memory);
    const tensor *hidden = forced_repeat(f, i, &shown);
    witness_end(&w);
    job->failed = job->failed || w.failed;
    if (!hidden || job->failed)
        return false;
    if (!w.looked)
        out->energies = NULL;
    if (!wanted)
        return true;
    out->step = step;
    keep_step(job, step, &w, &shown, hidden);
    return !job->failed && (!job->options->weights || look_elsewhere(job, i));
}

static bool trace_steps(trace_job *job) {
    sa_trace *out = job->out;
    const forced *f = &job->f;
    long S = out->source_length, T = out->target_length;
    out->log_p = keep_list(job, (size_t)T * sizeof *out->log_p);
    if (f->weights) {
        out->weights = trace_copy(job->memory, f->weights, T * S, &job->failed);
        out->energies = keep_list(job, (size_t)(T * S) * sizeof *out->energies);
    }
    if (job->failed)
        return false;
    for (int i = 0; i < T; i++)
        out->log_p[i] = fmin(0, log((double)f->p[(long)i * f->V + f->target.ids[i]]));
    for (int i = 0; i < T; i++)
        if (!trace_step(job, i))
            return false;
    return true;
}

/* ---- all --------------------------------------------------------------------------------------------- */

static bool trace_influence(trace_job *job) {
    sa_trace *out = job->out;
    size_t S = (size_t)out->source_length, T = (size_t)out->target_length;
    bool positions = influence_has_positions(&job->f), sensitivity = positions && job->options->sensitivity;
    out->source_gradient = keep_list(job, T * S * sizeof(float));
    out->annotation_gradient = positions ? keep_list(job, T * S * sizeof(float)) : NULL;
    out->sensitivity = sensitivity ? keep_list(job, S * S * sizeof(float)) : NULL;
    return !job->failed && influence_on_output(&job->f, out->source_gradient, out->annotation_gradient) &&
           (!sensitivity || influence_within_source(&job->f, out->sensitivity));
}

static sa_status trace_pair(trace_job *job, tape *t, sa_error *error) {
    const sentence source = {job->source.ids.id, (int)job->source.ids.n},
                   target = {job->target.ids.id, (int)job->target.ids.n};
    bool ok = forced_begin(&job->f, &job->model->net, t, source, target);
    if (ok && !job->f.finite)
        return sa_fail(error, SA_NUMERIC, "a probability is not finite: the numbers of this model are damaged");
    ok = ok && trace_encoder(job) && trace_steps(job) && trace_influence(job);
    return ok && !job->failed ? SA_OK
                              : sa_fail(error, SA_MEMORY, "not enough memory to trace a pair of %d and %d symbols",
                                        source.length, target.length);
}

static sa_status trace_all(trace_job *job, const char *source, const char *target, sa_error *error) {
    tape *t;
    SA_TRY(check_model(job->model, error));
    SA_TRY(check_options(job, error));
    SA_TRY(prepare(job, source, target, error));
    if (job->failed)
        return sa_fail_memory(error, 0);
    SA_TRY(model_borrow_tape(job->model, &t, error));
    sa_status status = trace_pair(job, t, error);
    model_return_tape(job->model, t);
    return status;
}

sa_status sa_trace_make(sa_trace **out, const sa_model *traced, const char *source, const char *target,
                        const sa_trace_options *options, sa_error *error) {
    enum { CHUNK = 1 << 18 };
    sa_trace_options defaults;
    sa_trace_options_init(&defaults);
    trace_job job = {.model = traced, .options = options ? options : &defaults, .memory = arena_new(CHUNK)};
    *out = NULL;
    if (!job.memory || !(job.out = keep_list(&job, sizeof *job.out))) {
        arena_free(job.memory);
        return sa_fail_memory(error, 0);
    }
    job.out->memory = job.memory;
    job.out->preset = traced->net.preset->name;
    job.out->decoder_order = sa_model_config_choice(&traced->net.config, "decoder-order");
    sa_status status = trace_all(&job, source, target, error);
    symbols_free(&job.source);
    symbols_free(&job.target);
    if (status == SA_OK)
        *out = job.out;
    else
        sa_trace_free(job.out);
    return status;
}

void sa_trace_free(sa_trace *trace) {
    if (trace)
        arena_free(trace->memory);
}
