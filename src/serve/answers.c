#include "serve/answers.h"

#include "base/error.h"
#include "serve/json_build.h"

static json_t *links_json(const sa_links *links, bool *ok) {
    json_t *list = json_array();
    for (size_t i = 0; i < links->n; i++) {
        const sa_link *l = &links->link[i];
        json_t *one = json_array();
        append(one, json_integer(l->source), ok);
        append(one, json_integer(l->target), ok);
        append(one, rounded((double)l->weight, 5), ok);
        append(list, one, ok);
    }
    return list;
}

/* Puts what alignment there is of a hypothesis into its object: words of both sides, weights, links. A line of many
 * pieces has none. */
static bool put_alignment(json_t *object, const search_job *j, size_t i, int k, const char *target_words,
                          const char *weights, bool *ok, sa_error *error) {
    const sa_translation *t = &j->result[i];
    sa_alignment a = {0};
    if (t->pieces > 1 && !t->hypothesis[k].attention) {
        put(object, weights, json_null(), ok);
        return true;
    }
    if (sa_alignment_make(&a, t, k, j->text[i], &j->links, error) != SA_OK)
        return false;
    put(object, "source_words", strings_json(a.source, a.source_length, ok), ok);
    put(object, target_words, strings_json(a.target, a.target_length, ok), ok);
    put(object, weights, matrix_json(a.weights, a.target_length, a.source_length, ok), ok);
    put(object, "links", links_json(&a.links, ok), ok);
    sa_alignment_free(&a);
    return true;
}

static void put_scores(json_t *object, const search_job *j, const sa_hypothesis *h, bool *ok) {
    put(object, "score", rounded(h->score, 6), ok);
    put(object, "normalized_score", rounded(h->normalized, 6), ok);
    if (!j->options.word_scores)
        return;
    json_t *scores = json_array();
    for (int i = 0; h->word_score && i < h->length; i++)
        append(scores, rounded(h->word_score[i], 6), ok);
    put(object, "symbols", strings_json(h->symbol, h->symbol ? h->length : 0, ok), ok);
    put(object, "symbol_scores", scores, ok);
}

static json_t *translation_json(const search_job *j, size_t i, bool *ok, sa_error *error) {
    const sa_translation *t = &j->result[i];
    json_t *object = json_object(), *list = json_array();
    put(object, "pieces", json_integer(t->pieces), ok);
    put(object, "too_long", json_boolean(t->too_long), ok);
    for (int k = 0; k < t->n; k++) {
        const sa_hypothesis *h = &t->hypothesis[k];
        json_t *one = json_object();
        put(one, "text", json_string(h->text), ok);
        put_scores(one, j, h, ok);
        if (h->items_added > 0)
            put(one, "items_added", json_integer(h->items_added), ok);
        if (j->options.attention)
            *ok = put_alignment(one, j, i, k, "words", "alignment", ok, error) && *ok;
        append(list, one, ok);
    }
    put(object, "hypotheses", list, ok);
    return object;
}

static json_t *score_json(const search_job *j, size_t i, bool *ok, sa_error *error) {
    (void)error;
    json_t *object = json_object();
    put(object, "too_long", json_boolean(j->result[i].too_long), ok);
    put_scores(object, j, &j->result[i].hypothesis[0], ok);
    return object;
}

static json_t *alignment_json(const search_job *j, size_t i, bool *ok, sa_error *error) {
    json_t *object = json_object();
    put(object, "too_long", json_boolean(j->result[i].too_long), ok);
    *ok = put_alignment(object, j, i, 0, "target_words", "weights", ok, error) && *ok;
    return object;
}

static json_t *list_all(const search_job *j, const char *name,
                        json_t *(*one)(const search_job *j, size_t i, bool *ok, sa_error *error), sa_error *error) {
    bool ok = true;
    json_t *object = json_object(), *list = json_array();
    sa_fail_memory(error, 0); /* unless something else is found */
    for (size_t i = 0; i < j->job.n && ok; i++)
        append(list, one(j, i, &ok, error), &ok);
    put(object, name, list, &ok);
    return finished_json(object, ok);
}

json_t *answer_translations(const search_job *j, sa_error *error) {
    return list_all(j, "translations", translation_json, error);
}

json_t *answer_scores(const search_job *j, sa_error *error) {
    return list_all(j, "scores", score_json, error);
}

json_t *answer_alignments(const search_job *j, sa_error *error) {
    return list_all(j, "alignments", alignment_json, error);
}
