/* /v1/trace: every number on the way from a source to a target, of one pair. */
#include "base/error.h"
#include "base/json_build.h"
#include "serve/request.h"
#include "serve/server.h"
#include "serve/task_job.h"

#include <softalign/trace.h>
#include <stdlib.h>

enum { NEXT_MOST = 100, WEIGHTS_MOST = 1000 };

typedef struct trace_request {
    sa_trace_options options; /* whose weights are these */
    bool gates;
    float weights[WEIGHTS_MOST];
} trace_request;

#define TRACE(name, kind, member)                                                                                  \
    { name, kind, offsetof(trace_request, member) }
static const field trace_fields[] = {TRACE("step", FIELD_INT, options.step),
                                     TRACE("next", FIELD_INT, options.next),
                                     TRACE("sensitivity", FIELD_BOOL, options.sensitivity),
                                     TRACE("symbols", FIELD_BOOL, options.symbols),
                                     TRACE("gates", FIELD_BOOL, gates),
                                     {0}};

static sa_status make_trace(const task_job *j, size_t i, char **json, sa_error *error) {
    const trace_request *r = j->options;
    sa_trace *t = NULL;
    sa_status status = sa_trace_make(&t, j->job.model->model[0], j->source[i], j->target[i], &r->options, error);
    if (status == SA_OK)
        status = sa_trace_json(t, r->gates, json, error);
    sa_trace_free(t);
    return status;
}

static bool read_weights(exchange *x, json_t *list, trace_request *r) {
    size_t n = json_array_size(list);
    if (!list || json_is_null(list))
        return true;
    if (!json_is_array(list) || n == 0 || n > WEIGHTS_MOST) {
        answer_error(x, 400, "\"weights\" must be a list of 1 to %d numbers", WEIGHTS_MOST);
        return false;
    }
    for (size_t j = 0; j < n; j++) {
        const json_t *weight = json_array_get(list, j);
        if (!json_is_number(weight)) {
            answer_error(x, 400, "\"weights\" must be a list of numbers");
            return false;
        }
        r->weights[j] = (float)json_number_value(weight);
    }
    r->options.weights = r->weights;
    r->options.n_weights = (int)n;
    return true;
}

static bool read_request(exchange *x, json_t *body, trace_request *r) {
    static const char *const names[] = {"source", "target", "model", "weights", NULL};
    const field *const tables[] = {trace_fields};
    sa_error error;
    sa_trace_options_init(&r->options);
    if (fields_known(body, tables, 1, names, &error) != SA_OK ||
        fields_read(trace_fields, body, r, &error) != SA_OK) {
        answer_failure(x, &error);
        return false;
    }
    if (r->options.next > NEXT_MOST) {
        answer_error(x, 400, "\"next\" is %d; it must be at most %d", r->options.next, NEXT_MOST);
        return false;
    }
    return read_weights(x, json_object_get(body, "weights"), r);
}

/* One pair: an answer has all that a page shows at a time. */
static bool is_single(exchange *x, const text_list *source) {
    if (source->n == 1)
        return true;
    answer_error(x, 400, "a trace is of one \"source\"; there are %zu", source->n);
    return false;
}

/* The request goes with the job. */
static void set_job(exchange *x, const hosted_model *m, const text_list *source, const text_list *target,
                    trace_request *r) {
    sa_error error;
    task_job *j;
    if (task_job_new(&j, make_trace, m, source->text, target->text, 1, r, &error) == SA_OK)
        x->job = &j->job;
    else
        answer_failure(x, &error);
}

void begin_trace(exchange *x, json_t *body) {
    text_list source = {0}, target = {0};
    const hosted_model *m;
    trace_request *r = calloc(1, sizeof *r);
    if (!r) {
        answer_error(x, 500, "%s", sa_status_text(SA_MEMORY));
        return;
    }
    if (request_object(x, body) && read_request(x, body, r) && (m = request_model(x, body)) &&
        request_texts(x, body, "source", &source) && is_single(x, &source) &&
        request_optional_texts(x, body, "target", 1, &target)) {
        set_job(x, m, &source, &target, r);
        r = NULL;
    }
    free(r);
    free(source.text);
    free(target.text);
}

json_t *answer_trace(exchange *x, sa_error *error) {
    const task_job *j = (const task_job *)(const void *)x->job;
    json_t *object = json_loads(j->json[0], 0, NULL);
    if (!object)
        sa_fail_memory(error, 0);
    return object;
}
