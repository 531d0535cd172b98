/* /v1/explain: tests of what attention explains, for pairs; a target that is missing is the model's translation. */
#include "base/error.h"
#include "base/json_build.h"
#include "serve/request.h"
#include "serve/server.h"
#include "serve/task_job.h"

#include <stdlib.h>

/* Greatest values that a request may ask for: the work grows with all of them. */
enum { PERMUTATIONS_MOST = 1000, STEPS_MOST = 1000 };

static bool is_wanted(void *user) {
    const job *j = user;
    return !atomic_load(&j->cancelled);
}

/* The model's own translation, as the symbols that it is made of. */
static sa_status translate(const task_job *j, size_t i, char **out, sa_error *error) {
    sa_translate_options o;
    sa_translation *t;
    const char *source = j->source[i];
    sa_translate_options_init(&o);
    o.threads = 1;
    o.symbols = true;
    SA_TRY(sa_translate(j->job.model->model[0], &source, 1, &o, &t, error));
    *out = t->hypothesis[0].text;
    t->hypothesis[0].text = NULL;
    sa_translations_free(t, 1);
    return SA_OK;
}

static sa_status make_explanation(const task_job *j, size_t i, char **json, sa_error *error) {
    sa_explain_options o = *(const sa_explain_options *)j->options;
    char *translation = NULL;
    sa_explanation *x = NULL;
    o.threads = 1;
    o.first_line = i;
    o.wanted = is_wanted;
    o.wanted_user = (void *)(uintptr_t)&j->job;
    if (!j->target[i]) {
        SA_TRY(translate(j, i, &translation, error));
        o.symbols = true;
    }
    const char *source = j->source[i], *target = translation ? translation : j->target[i];
    sa_status status = sa_explain(j->job.model->model[0], NULL, 0, &source, &target, 1, &o, &x, error);
    if (status == SA_OK)
        status = sa_explanation_json(x, i + 1, o.max_length, json, error);
    sa_explanations_free(x, 1);
    free(translation);
    return status;
}

static bool read_options(exchange *x, json_t *body, sa_explain_options *o) {
    static const char *const names[] = {"source", "target", "model", NULL};
    const field *const tables[] = {explain_fields};
    sa_explain_options usual;
    sa_error error;
    sa_explain_options_init(&usual);
    *o = usual;
    if (fields_known(body, tables, 1, names, &error) != SA_OK ||
        fields_read(explain_fields, body, o, &error) != SA_OK) {
        answer_failure(x, &error);
        return false;
    }
    const struct {
        const char *name;
        int value, most;
    } check[] = {{"permutations", o->permutations, PERMUTATIONS_MOST},
                 {"adversaries", o->adversaries, x->server->options->limits.adversaries},
                 {"adversary_steps", o->adversary_steps, STEPS_MOST},
                 {"max_length", o->max_length, usual.max_length}};
    for (size_t i = 0; i < sizeof check / sizeof *check; i++)
        if (check[i].value > check[i].most) {
            answer_error(x, 400, "\"%s\" is %d; it must be at most %d%s", check[i].name, check[i].value,
                         check[i].most, i == 1 ? " (--max-adversaries)" : "");
            return false;
        }
    return true;
}

/* No pair: what does not go with the model is told at once. */
static bool check_model(exchange *x, const hosted_model *m, const sa_explain_options *o) {
    sa_explanation *nothing;
    sa_error error;
    if (sa_explain(m->model[0], NULL, 0, NULL, NULL, 0, o, &nothing, &error) != SA_OK) {
        answer_failure(x, &error);
        return false;
    }
    sa_explanations_free(nothing, 0);
    return true;
}

static void set_job(exchange *x, const hosted_model *m, const text_list *source, const text_list *target,
                    const sa_explain_options *o) {
    sa_error error;
    task_job *j;
    sa_explain_options *kept = malloc(sizeof *kept);
    if (!kept) {
        answer_error(x, 500, "%s", sa_status_text(SA_MEMORY));
        return;
    }
    *kept = *o;
    if (task_job_new(&j, make_explanation, m, source->text, target->text, source->n, kept, &error) == SA_OK)
        x->job = &j->job;
    else
        answer_failure(x, &error);
}

void begin_explain(exchange *x, json_t *body) {
    sa_explain_options o;
    text_list source = {0}, target = {0};
    const hosted_model *m;
    if (request_object(x, body) && read_options(x, body, &o) && (m = request_model(x, body)) &&
        check_model(x, m, &o) && request_texts(x, body, "source", &source) &&
        request_optional_texts(x, body, "target", source.n, &target))
        set_job(x, m, &source, &target, &o);
    free(source.text);
    free(target.text);
}

json_t *answer_explain(exchange *x, sa_error *error) {
    bool ok = true;
    json_t *object = json_object();
    put(object, "explanations", task_job_list((const task_job *)(const void *)x->job), &ok);
    if (!ok)
        sa_fail_memory(error, 0);
    return finished_json(object, ok);
}
