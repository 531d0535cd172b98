/* sa_explain: pairs in, what is known of each target symbol out. */
#include "decode/ensemble.h"
#include "decode/line_batches.h"
#include "decode/pair_symbols.h"
#include "decode/result.h"
#include "explain/alternative.h"
#include "explain/distance.h"
#include "explain/importance.h"
#include "explain/kendall.h"
#include "model/family.h"

#include <math.h>
#include <softalign/explanation.h>
#include <stdlib.h>

typedef struct explain_job {
    const sa_model *const *model; /* the one that is explained, then the others */
    int n_models;
    const sa_explain_options *options;
    symbols *source, *target; /* ids with </s>; none in pairs that are left out */
    size_t *length;           /* of each pair's source */
    sa_explanation *out;
} explain_job;

const sa_importance sa_tau_pair[SA_TAU_PAIRS][2] = {
    {SA_IMPORTANCE_ATTENTION, SA_IMPORTANCE_GRADIENT}, {SA_IMPORTANCE_ATTENTION, SA_IMPORTANCE_LEAVE_ONE_OUT},
    {SA_IMPORTANCE_ATTENTION, SA_IMPORTANCE_CARRIED},  {SA_IMPORTANCE_GRADIENT, SA_IMPORTANCE_LEAVE_ONE_OUT},
    {SA_IMPORTANCE_CARRIED, SA_IMPORTANCE_GRADIENT},   {SA_IMPORTANCE_CARRIED, SA_IMPORTANCE_LEAVE_ONE_OUT},
};

const char *sa_importance_name(sa_importance importance) {
    static const char *const names[SA_IMPORTANCES] = {[SA_IMPORTANCE_ATTENTION] = "attention",
                                                      [SA_IMPORTANCE_GRADIENT] = "gradient",
                                                      [SA_IMPORTANCE_LEAVE_ONE_OUT] = "leave-one-out",
                                                      [SA_IMPORTANCE_CARRIED] = "carried"};
    return names[importance];
}

/* ---- options and models ------------------------------------------------------------------------------ */

void sa_explain_options_init(sa_explain_options *options) {
    *options = (sa_explain_options){
        .permutations = 100, .adversary_steps = 500, .epsilon = 0.05, .seed = 1, .max_length = 200};
}

static sa_status check_options(const sa_explain_options *o, sa_error *error) {
    const struct {
        const char *name;
        double value, least, most;
    } range[] = {{"permutations", o->permutations, 0, 100000},    {"adversaries", o->adversaries, 0, 256},
                 {"adversary-steps", o->adversary_steps, 0, 1e6}, {"epsilon", o->epsilon, 0, 1},
                 {"max-length", o->max_length, 1, 1e6},           {"threads", o->threads, 0, 1e6}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (!(range[i].value >= range[i].least && range[i].value <= range[i].most))
            return sa_fail(error, SA_USAGE, "%s is %g; it must be from %g to %g", range[i].name, range[i].value,
                           range[i].least, range[i].most);
    return SA_OK;
}

static sa_status check_models(const explain_job *job, sa_error *error) {
    ensemble together;
    SA_TRY(ensemble_make(&together, job->model, job->n_models, error));
    for (int m = 0; m < job->n_models; m++) {
        const preset *p = job->model[m]->net.preset;
        if (!p->attends)
            return sa_fail(
                error, SA_USAGE,
                "there is nothing to explain: model %d, %s, has no attention: its decoder sees one vector "
                "of the whole sentence",
                m + 1, p->name);
        if (vocab_length(job->model[m]->source))
            return sa_fail(error, SA_USAGE,
                           "these tests are of words of the source, and model %d, %s, has sources that are no text",
                           m + 1, p->name);
        if (!job->model[m]->net.W_out->value || !job->model[m]->net.source_embedding->value)
            return sa_fail(error, SA_USAGE,
                           "model %d has its values in fewer bits, of which there are no gradients: open it with "
                           "precision f32",
                           m + 1);
        if (p->family->many_looks)
            return sa_fail(
                error, SA_USAGE,
                "these tests are of models that look once for a word; model %d, %s, looks with several heads "
                "in several layers",
                m + 1, p->name);
    }
    if (job->options->protect == SA_PROTECT_ON && !sa_model_protects(together.owner))
        return sa_fail(error, SA_USAGE,
                       "this model cannot protect numbers, addresses and tags: it was trained without --protect");
    return SA_OK;
}

/* ---- one pair ---------------------------------------------------------------------------------------- */

static bool allocate(sa_explanation *x, const explain_job *job, size_t line) {
    const sa_explain_options *o = job->options;
    const id_list *source = &job->source[line].ids, *target = &job->target[line].ids;
    size_t S = source->n, T = target->n;
    x->source_length = (int)S;
    x->target_length = (int)T;
    x->others = job->n_models - 1;
    x->source_symbol = result_symbols(job->model[0]->source, source->id, (int)S, NULL);
    x->target_symbol = result_symbols(job->model[0]->target, target->id, (int)T, NULL);
    x->log_p = calloc(T, sizeof *x->log_p);
    x->largest = calloc(T, sizeof *x->largest);
    x->tau = calloc(T * SA_TAU_PAIRS, sizeof *x->tau);
    bool ok = x->source_symbol && x->target_symbol && x->log_p && x->largest && x->tau;
    for (int k = 0; k < SA_IMPORTANCES; k++)
        ok = (x->importance[k] = calloc(T * S, sizeof(float))) && ok;
    if (o->permutations > 0)
        ok = (x->permuted = calloc(T, sizeof *x->permuted)) && ok;
    if (o->adversaries > 0) {
        x->adversary_jsd = calloc(T, sizeof *x->adversary_jsd);
        x->adversary_tvd = calloc(T, sizeof *x->adversary_tvd);
        x->adversary = calloc(T * S, sizeof *x->adversary);
        ok = ok && x->adversary_jsd && x->adversary_tvd && x->adversary;
    }
    if (x->others > 0) {
        x->other_jsd = calloc((size_t)x->others * T, sizeof *x->other_jsd);
        x->other_tvd = calloc((size_t)x->others * T, sizeof *x->other_tvd);
        ok = ok && x->other_jsd && x->other_tvd;
    }
    return ok;
}

/* What follows from the pass and the measures: log p, the largest weight, correlations. */
static void correlate(const forced *f, sa_explanation *x) {
    int S = x->source_length;
    for (int i = 0; i < x->target_length; i++) {
        x->log_p[i] = fmin(0, log((double)f->p[(long)i * f->V + f->target.ids[i]]));
        for (int j = 0; j < S - 1; j++)
            x->largest[i] = fmax(x->largest[i], (double)f->weights[(long)i * S + j]);
        for (int k = 0; k < SA_TAU_PAIRS; k++)
            x->tau[i * SA_TAU_PAIRS + k] = kendall_tau(x->importance[sa_tau_pair[k][0]] + (long)i * S,
                                                       x->importance[sa_tau_pair[k][1]] + (long)i * S, S - 1);
    }
}

static bool measure(const explain_job *job, size_t line, const forced *f, sa_explanation *x) {
    const sa_explain_options *o = job->options;
    importance_attention(f, x->importance[SA_IMPORTANCE_ATTENTION]);
    importance_carried(f, x->importance[SA_IMPORTANCE_CARRIED]);
    if (!importance_gradient(f, x->importance[SA_IMPORTANCE_GRADIENT]) ||
        !importance_leave_one_out(f, x->importance[SA_IMPORTANCE_LEAVE_ONE_OUT]))
        return false;
    correlate(f, x);
    alternative_options how = {o->permutations, o->adversaries,       o->adversary_steps, o->epsilon,
                               o->seed,         o->first_line + line, o->wanted,          o->wanted_user};
    alternative_result found = {x->permuted, x->adversary_jsd, x->adversary_tvd, x->adversary};
    return alternative_find(f, &how, &found);
}

/* The same pair by another model. */
static void compare(const forced *f, const forced *other, int k, sa_explanation *x) {
    long S = x->source_length, T = x->target_length;
    for (long i = 0; i < T; i++) {
        x->other_jsd[k * T + i] = distance_js(other->weights + i * S, f->weights + i * S, (int)S);
        x->other_tvd[k * T + i] = distance_tv(other->p + i * f->V, f->p + i * f->V, f->V);
    }
}

static sa_status run_forced(forced *f, const explain_job *job, int which, tape *t, size_t line, sa_error *error) {
    const id_list *source = &job->source[line].ids, *target = &job->target[line].ids;
    if (!forced_begin(f, &job->model[which]->net, t, (sentence){source->id, (int)source->n},
                      (sentence){target->id, (int)target->n}))
        return sa_fail_memory(error, 0);
    return f->finite
               ? SA_OK
               : sa_fail(error, SA_NUMERIC, "a probability is not finite: the numbers of this model are damaged");
}

static sa_status compare_others(const explain_job *job, size_t line, const forced *f, sa_error *error) {
    sa_status status = SA_OK;
    for (int m = 1; m < job->n_models && status == SA_OK; m++) {
        tape *t;
        forced other;
        SA_TRY(model_borrow_tape(job->model[m], &t, error));
        status = run_forced(&other, job, m, t, line, error);
        if (status == SA_OK)
            compare(f, &other, m - 1, &job->out[line]);
        model_return_tape(job->model[m], t);
    }
    return status;
}

static sa_status explain_pair(void *argument, const size_t *lines, int n, sa_error *error) {
    const explain_job *job = argument;
    const sa_explain_options *o = job->options;
    size_t line = *lines;
    sa_explanation *x = &job->out[line];
    tape *t;
    forced f;
    SA_ASSERT(n == 1);
    if (!allocate(x, job, line))
        return sa_fail_memory(error, 0);
    SA_TRY(model_borrow_tape(job->model[0], &t, error));
    sa_status status = run_forced(&f, job, 0, t, line, error);
    if (status == SA_OK)
        status = compare_others(job, line, &f, error);
    if (status == SA_OK && !measure(job, line, &f, x))
        status = o->wanted && !o->wanted(o->wanted_user)
                     ? sa_fail(error, SA_STOPPED, "nobody wants the explanation any more")
                     : sa_fail(error, SA_MEMORY, "not enough memory to explain a pair of %d and %d symbols",
                               x->source_length, x->target_length);
    model_return_tape(job->model[0], t);
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------- */

/* Ids of both sides; length 0 where the pair is to be left out. */
static sa_status prepare(explain_job *job, const char *source, const char *target, size_t i, sa_error *error) {
    const sa_explain_options *o = job->options;
    const char *const line[2] = {source, target};
    symbols *side[2] = {&job->source[i], &job->target[i]};
    SA_TRY(pair_symbols_encode(side[0], side[1], job->model[0], line, o->protect, o->symbols, error));
    size_t n[2] = {side[0]->ids.n, side[1]->ids.n}, most = (size_t)o->max_length;
    job->out[i].too_long = n[0] > most || n[1] > most;
    if (n[0] == 0 || n[1] == 0 || job->out[i].too_long)
        return SA_OK;
    for (int k = 0; k < 2; k++)
        if (!id_list_push(&side[k]->ids, VOCAB_EOS))
            return sa_fail_memory(error, 0);
    job->length[i] = side[0]->ids.n;
    return SA_OK;
}

static sa_status explain_all(explain_job *job, const char *const *sources, const char *const *targets, size_t n,
                             sa_error *error) {
    SA_TRY(check_options(job->options, error));
    SA_TRY(check_models(job, error));
    job->out = calloc(n + 1, sizeof *job->out);
    job->source = calloc(n + 1, sizeof *job->source);
    job->target = calloc(n + 1, sizeof *job->target);
    job->length = calloc(n + 1, sizeof *job->length);
    if (!job->out || !job->source || !job->target || !job->length)
        return sa_fail_memory(error, 0);
    for (size_t i = 0; i < n; i++)
        SA_TRY(prepare(job, sources[i], targets[i], i, error));
    return batch_run(job->length, n, 1, job->options->threads, explain_pair, job, error);
}

sa_status sa_explain(const sa_model *explained, const sa_model *const *others, int n_others,
                     const char *const *sources, const char *const *targets, size_t n,
                     const sa_explain_options *options, sa_explanation **out, sa_error *error) {
    sa_explain_options defaults;
    sa_explain_options_init(&defaults);
    const sa_model *models[SA_ENSEMBLE_MAX] = {explained};
    *out = NULL;
    if (n_others < 0 || n_others >= SA_ENSEMBLE_MAX)
        return sa_fail(error, SA_USAGE, "%d models to compare with; there can be %d", n_others,
                       SA_ENSEMBLE_MAX - 1);
    for (int m = 0; m < n_others; m++)
        models[m + 1] = others[m];
    explain_job job = {.model = models, .n_models = 1 + n_others, .options = options ? options : &defaults};
    sa_status status = explain_all(&job, sources, targets, n, error);
    symbols_free_all(job.source, n);
    symbols_free_all(job.target, n);
    free(job.length);
    if (status == SA_OK)
        *out = job.out;
    else
        sa_explanations_free(job.out, n);
    return status;
}

void sa_explanations_free(sa_explanation *explanations, size_t n) {
    for (size_t i = 0; explanations && i < n; i++) {
        sa_explanation *x = &explanations[i];
        result_symbols_free(x->source_symbol, x->source_length);
        result_symbols_free(x->target_symbol, x->target_length);
        for (int k = 0; k < SA_IMPORTANCES; k++)
            free(x->importance[k]);
        free(x->log_p);
        free(x->largest);
        free(x->tau);
        free(x->permuted);
        free(x->adversary_jsd);
        free(x->adversary_tvd);
        free(x->adversary);
        free(x->other_jsd);
        free(x->other_tvd);
    }
    free(explanations);
}
