#include "decode/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_texts(char **text, int n) {
    for (int i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

static char **symbol_texts(const vocab *v, const int *ids, int n, const char *const *shown) {
    char **text = calloc((size_t)n, sizeof *text);
    for (int i = 0; text && i < n; i++)
        if (!(text[i] = strdup(shown && shown[i] ? shown[i] : vocab_shown(v, ids[i])))) {
            free_texts(text, i);
            return NULL;
        }
    return text;
}

/* Places of a square, row by row: "1.1" is on the upper left; others by number. */
static char **place_texts(int n) {
    char **text = calloc((size_t)n, sizeof *text);
    int across = (int)(sqrt((double)n) + 0.5);
    for (int i = 0; text && i < n; i++)
        if ((across * across == n ? asprintf(&text[i], "%d.%d", i / across + 1, i % across + 1)
                                  : asprintf(&text[i], "%d", i + 1)) < 0) {
            free_texts(text, i);
            return NULL;
        }
    return text;
}

sa_status result_empty(sa_translation *out, sa_error *error) {
    out->hypothesis = calloc(1, sizeof *out->hypothesis);
    if (!out->hypothesis)
        return sa_fail_memory(error, 0);
    out->n = 1;
    out->hypothesis->text = strdup("");
    return out->hypothesis->text ? SA_OK : sa_fail_memory(error, 0);
}

sa_status result_end(sa_translation *out, id_list *ids, int max_length, sa_error *error) {
    if (ids->n > (size_t)max_length) {
        ids->n = (size_t)max_length;
        out->too_long = true;
    }
    return id_list_push(ids, VOCAB_EOS) ? SA_OK : sa_fail_memory(error, 0);
}

sa_status result_source(sa_translation *out, const ensemble *models, const sa_translate_options *o,
                        const id_list *source, const char *const *shown, sa_error *error) {
    const sa_model *owner = models->owner;
    out->source_length = model_positions(&owner->net.config, (int)source->n);
    if (o->attention)
        out->source_symbol = vocab_length(owner->source)
                                 ? place_texts(out->source_length)
                                 : symbol_texts(owner->source, source->id, (int)source->n, shown);
    return out->source_symbol || !o->attention ? SA_OK : sa_fail_memory(error, 0);
}

sa_status result_hypothesis(sa_hypothesis *out, const ensemble *models, const sa_translate_options *o,
                            hypothesis *from, char *text, const char *const *shown, sa_error *error) {
    *out =
        (sa_hypothesis){.text = text, .score = from->score, .normalized = from->normalized, .length = from->length};
    if (o->attention) {
        out->attention = from->attention;
        from->attention = NULL;
    }
    if (o->word_scores) {
        out->word_score = from->word_score;
        from->word_score = NULL;
    }
    bool symbols = o->attention || o->word_scores;
    if (symbols)
        out->symbol = symbol_texts(models->owner->target, from->ids, from->length, shown);
    return text && (out->symbol || !symbols) ? SA_OK : sa_fail_memory(error, 0);
}

void sa_translations_free(sa_translation *translations, size_t n) {
    for (size_t i = 0; translations && i < n; i++) {
        sa_translation *t = &translations[i];
        for (int k = 0; t->hypothesis && k < t->n; k++) {
            sa_hypothesis *h = &t->hypothesis[k];
            free(h->text);
            free(h->attention);
            free(h->word_score);
            free_texts(h->symbol, h->length);
        }
        free(t->hypothesis);
        free_texts(t->source_symbol, t->source_length);
    }
    free(translations);
}
