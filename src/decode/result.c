#include "decode/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void result_symbols_free(char **text, int n) {
    for (int i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

char **result_symbols(const vocab *v, const int *ids, int n, const char *const *shown) {
    char **text = calloc((size_t)n, sizeof *text);
    for (int i = 0; text && i < n; i++)
        if (!(text[i] = strdup(shown && shown[i] ? shown[i] : vocab_shown(v, ids[i])))) {
            result_symbols_free(text, i);
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
            result_symbols_free(text, i);
            return NULL;
        }
    return text;
}

/* Of n symbols, the last of which is </s>. */
static int *copy_words(const int *word, int n) {
    int *copy = calloc((size_t)n, sizeof *copy);
    if (copy) {
        memcpy(copy, word, (size_t)(n - 1) * sizeof *copy);
        copy[n - 1] = -1;
    }
    return copy;
}

static int *no_words(int n) {
    int *none = calloc((size_t)n, sizeof *none);
    for (int i = 0; none && i < n; i++)
        none[i] = -1;
    return none;
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
                        const symbols *source, const char *const *shown, sa_error *error) {
    const sa_model *owner = models->owner;
    bool is_text = vocab_length(owner->source) == 0;
    int n = out->source_length = model_positions(&owner->net.config, (int)source->ids.n);
    if (!o->attention)
        return SA_OK;
    out->source_symbol = is_text ? result_symbols(owner->source, source->ids.id, n, shown) : place_texts(n);
    out->source_word = is_text ? copy_words(source->word, n) : no_words(n);
    return out->source_symbol && out->source_word ? SA_OK : sa_fail_memory(error, 0);
}

sa_status result_hypothesis(sa_hypothesis *out, const ensemble *models, const sa_translate_options *o,
                            hypothesis *from, char *text, const char *const *shown, const int *word,
                            sa_error *error) {
    *out =
        (sa_hypothesis){.text = text, .score = from->score, .normalized = from->normalized, .length = from->length};
    if (o->attention) {
        out->word = copy_words(word, from->length);
        out->attention = from->attention;
        from->attention = NULL;
    }
    if (o->word_scores) {
        out->word_score = from->word_score;
        from->word_score = NULL;
    }
    bool shows = o->attention || o->word_scores;
    if (shows)
        out->symbol = result_symbols(models->owner->target, from->ids, from->length, shown);
    return text && (out->symbol || !shows) && (out->word || !o->attention) ? SA_OK : sa_fail_memory(error, 0);
}

void sa_translations_free(sa_translation *translations, size_t n) {
    for (size_t i = 0; translations && i < n; i++) {
        sa_translation *t = &translations[i];
        for (int k = 0; t->hypothesis && k < t->n; k++) {
            sa_hypothesis *h = &t->hypothesis[k];
            free(h->text);
            free(h->attention);
            free(h->word);
            free(h->word_score);
            result_symbols_free(h->symbol, h->length);
        }
        free(t->hypothesis);
        result_symbols_free(t->source_symbol, t->source_length);
        free(t->source_word);
    }
    free(translations);
}
