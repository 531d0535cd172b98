#include "train/teacher.h"

#include "decode/ensemble.h"
#include "model/family.h"
#include "op/divergence.h"
#include "train/update.h"

#include <stdlib.h>
#include <string.h>

static sa_status check(const sa_model *m, const char *path, const sa_model *pupil, sa_error *error) {
    SA_TRY(ensemble_compare(m, pupil, error));
    if (!m->net.preset->attends || m->net.preset->family->many_looks ||
        m->net.config.attention_weights == SA_WEIGHTS_GIVEN)
        return sa_fail(error, SA_USAGE,
                       "%s: this %s model has no weights of attention of its own, one row for a word", path,
                       m->net.config.preset);
    if (!m->net.W_out->value)
        return sa_fail(error, SA_USAGE, "%s has its values in fewer bits: name the model that it was made of",
                       path);
    if (!pupil->net.preset->attends || pupil->net.preset->family->many_looks)
        return sa_fail(error, SA_USAGE, "a %s model has no attention that could learn from another's",
                       pupil->net.config.preset);
    return SA_OK;
}

sa_status teacher_open(teacher *w, const sa_train_options *o, const sa_model *pupil, int threads, sa_error *error) {
    const char *path = o->attention_from ? o->attention_from : o->adversary_of;
    *w = (teacher){.lambda = o->adversary_of ? (double)o->adversary_lambda : 0};
    if (!path && pupil->net.config.attention_weights == SA_WEIGHTS_GIVEN)
        return sa_fail(
            error, SA_USAGE,
            "this model looks where another one does: say which with --attention-from, also to --resume");
    if (!path && o->adversary_lambda > 0)
        return sa_fail(error, SA_USAGE, "this run is an adversary: say of which model with --adversary-of");
    if (!path)
        return SA_OK;
    SA_TRY(sa_model_open_with(&w->model, path, &(sa_model_options){SA_AS_STORED, threads}, error));
    SA_TRY(check(w->model, path, pupil, error));
    w->tapes = calloc((size_t)threads, sizeof *w->tapes);
    if (!w->tapes)
        return sa_fail_memory(error, 0);
    w->n_tapes = threads;
    for (int i = 0; i < threads; i++)
        SA_TRY(tape_new(&w->tapes[i], w->model->net.params.n, 1 << 20, error));
    return SA_OK;
}

void teacher_close(teacher *w) {
    for (int i = 0; w->tapes && i < w->n_tapes; i++)
        tape_free(w->tapes[i]);
    free(w->tapes);
    sa_model_free(w->model);
    *w = (teacher){0};
}

/* What the teacher says: its hidden layer and weights. */
static bool ask(const teacher *w, tape *t, const corpus *c, const size_t *pairs, int n, tensor **hidden,
                tensor **weights) {
    source_batch source;
    target_batch target;
    tape_reset(t, false);
    return batch_arrange(t, c, pairs, n, &source, &target) &&
           model_forward(&w->model->net, t, &source, &target, &(regularisation){0}, hidden, weights);
}

/* The pupil against the teacher. */
static bool oppose(const teacher *w, const model *pupil, tape *t, tape *other, const source_batch *source,
                   const target_batch *target, const regularisation *r, double scale, tensor *said,
                   const tensor *looked, pass_result *result) {
    const model *m = &w->model->net;
    tensor *hidden;
    double tvd = 0, kl = 0;
    if (!model_forward(pupil, t, source, target, r, &hidden, &result->weights))
        return false;
    op_kl(t, result->weights, looked, -w->lambda * scale, &kl);
    if (!op_tvd(t, (output_rows){hidden, pupil->W_out, pupil->b_out}, other,
                (output_rows){said, m->W_out, m->b_out}, scale, &tvd))
        return false;
    result->words += target->steps.at[target->steps.T];
    result->sums.loss += tvd - w->lambda * kl;
    result->sums.nll += tvd - w->lambda * kl;
    return true;
}

bool teacher_pass(const teacher *w, int worker, const model *pupil, tape *t, const corpus *c, const size_t *pairs,
                  int n, const regularisation *r, double scale, pass_result *result) {
    source_batch source;
    target_batch target;
    tensor *said, *looked;
    tape *other = w->tapes[worker];
    *result = (pass_result){0};
    if (!ask(w, other, c, pairs, n, &said, &looked)) {
        tape_fail(t);
        return false;
    }
    if (!batch_arrange(t, c, pairs, n, &source, &target))
        return false;
    if (w->lambda > 0 && t->recording)
        return oppose(w, pupil, t, other, &source, &target, r, scale, said, looked, result);
    const attention_control control = {.given = looked};
    t->attention = w->lambda > 0 ? NULL : &control;
    bool ok = model_pass(pupil, t, &source, &target, r, scale, result);
    t->attention = NULL;
    return ok;
}

static bool same_shape(const param *a, const param *b) {
    return a && a->rank == b->rank && a->dim[0] == b->dim[0] && (a->rank == 1 || a->dim[1] == b->dim[1]);
}

sa_status teacher_hand_over(sa_model *beginner, const char *path, sa_error *error) {
    sa_model *m;
    SA_TRY(sa_model_open_with(&m, path, &(sa_model_options){SA_AS_STORED, 1}, error));
    sa_status status = ensemble_compare(m, beginner, error);
    params *to = &beginner->net.params;
    for (int i = 0; i < to->n && status == SA_OK; i++) {
        const param *from = params_find(&m->net.params, to->at[i]->name);
        if (same_shape(from, to->at[i]) && from->value)
            memcpy(to->at[i]->value, from->value, (size_t)param_count(from) * sizeof(real));
        else
            status = sa_fail(error, SA_USAGE,
                             "%s has no %s of this model's shape: it must be a model of the same options", path,
                             to->at[i]->name);
    }
    sa_model_free(m);
    return status;
}
