/* From the attention between a model's symbols to weights and links between words. */
#include "base/error.h"
#include "text/links.h"
#include "text/words.h"

#include <stdlib.h>
#include <string.h>

#define END "</s>"

/* What rows and columns of the attention stand for. */
typedef struct symbol_row {
    int n;
    const int *word;
    char *const *text;
} symbol_row;

typedef struct maker {
    symbol_row source, target;
    const float *attention;
    const sa_alignment_options *options;
    sa_alignment *out;
} maker;

static bool is_end(const symbol_row *r, int i) {
    return r->word[i] < 0 && !strcmp(r->text[i], END);
}

/* The row or column of the result that symbol i belongs to, of n. */
static int place_of(const maker *m, const symbol_row *r, int i, int n) {
    if (m->options->subwords)
        return i;
    return r->word[i] < 0 || r->word[i] >= n ? n - 1 : r->word[i];
}

/* The step whose weights belong to symbol i. Steps of a text that was translated in pieces go round in each. */
static int step_of(const maker *m, int i) {
    if (!m->options->shift)
        return i;
    if (!is_end(&m->target, i))
        return i + 1;
    while (i > 0 && !is_end(&m->target, i - 1))
        i--;
    return i;
}

/* ---- words ------------------------------------------------------------------------------------------- */

static char **copy_texts(const symbol_row *r) {
    char **text = calloc((size_t)r->n + 1, sizeof *text);
    bool ok = text != NULL;
    for (int i = 0; ok && i < r->n; i++)
        ok = (text[i] = strdup(r->text[i])) != NULL;
    return text;
}

/* The words of a line, and </s>. */
static char **cut_words(const char *line, int *n) {
    word_counter count = {0};
    words_take(&count, line, strlen(line));
    *n = count.n + 1;
    char **word = calloc((size_t)*n + 1, sizeof *word);
    static const char blanks[] = " \t\r\n";
    for (int i = 0; word && i < count.n; i++) {
        line += strspn(line, blanks);
        size_t length = strcspn(line, blanks);
        word[i] = strndup(line, length);
        line += length;
    }
    if (word)
        word[*n - 1] = strdup(END);
    return word;
}

static bool is_whole(char *const *text, int n) {
    for (int i = 0; text && i < n; i++)
        if (!text[i])
            return false;
    return text != NULL;
}

static bool name_words(maker *m, const char *source, const char *target) {
    sa_alignment *a = m->out;
    if (m->options->subwords && m->target.n > 0) {
        a->source_length = m->source.n;
        a->target_length = m->target.n;
        a->source = copy_texts(&m->source);
        a->target = copy_texts(&m->target);
    } else {
        a->source = cut_words(source, &a->source_length);
        a->target = cut_words(target, &a->target_length);
    }
    return is_whole(a->source, a->source_length) && is_whole(a->target, a->target_length);
}

/* ---- weights and links ------------------------------------------------------------------------------- */

static void add_rows(const maker *m) {
    const sa_alignment *a = m->out;
    for (int i = 0; i < m->target.n; i++) {
        float *row = a->weights + (size_t)place_of(m, &m->target, i, a->target_length) * (size_t)a->source_length;
        const float *from = m->attention + (size_t)step_of(m, i) * (size_t)m->source.n;
        for (int j = 0; j < m->source.n; j++)
            row[place_of(m, &m->source, j, a->source_length)] += from[j];
    }
}

/* The mean of the rows that were added: each sums to 1, but for attention that is not normalised (local-p). */
static void normalise(const sa_alignment *a) {
    for (int i = 0; i < a->target_length; i++) {
        float *row = a->weights + (size_t)i * (size_t)a->source_length;
        double sum = 0;
        for (int j = 0; j < a->source_length; j++)
            sum += (double)row[j];
        for (int j = 0; sum > 0 && j < a->source_length; j++)
            row[j] = (float)((double)row[j] / sum);
    }
}

/* Whether a row or column may have links: not </s>. */
static bool links_symbol(const maker *m, const symbol_row *r, int i, int n) {
    return m->options->subwords && r->n > 0 ? !is_end(r, i) : i < n - 1;
}

static bool link_row(const maker *m, int i, size_t *capacity) {
    sa_alignment *a = m->out;
    const float *row = a->weights + (size_t)i * (size_t)a->source_length;
    float threshold = m->options->threshold;
    int most = 0;
    for (int j = 1; j < a->source_length; j++)
        most = row[j] > row[most] ? j : most;
    for (int j = 0; j < a->source_length; j++) {
        bool wanted = threshold > 0 ? row[j] >= threshold : j == most && row[j] > 0;
        if (wanted && links_symbol(m, &m->source, j, a->source_length) &&
            !links_push(&a->links, capacity, (sa_link){j, i, row[j], false}))
            return false;
    }
    return true;
}

static bool link_words(const maker *m) {
    size_t capacity = 0;
    for (int i = 0; i < m->out->target_length; i++)
        if (links_symbol(m, &m->target, i, m->out->target_length) && !link_row(m, i, &capacity))
            return false;
    links_sort(&m->out->links);
    return true;
}

sa_status sa_alignment_make(sa_alignment *out, const sa_translation *t, int hypothesis, const char *source,
                            const sa_alignment_options *options, sa_error *error) {
    *out = (sa_alignment){0};
    if (hypothesis < 0 || hypothesis >= t->n)
        return sa_fail(error, SA_USAGE, "there is no hypothesis %d; there are %d", hypothesis, t->n);
    const sa_hypothesis *h = &t->hypothesis[hypothesis];
    if (h->length > 0 && (!h->attention || !h->word || !t->source_word))
        return sa_fail(
            error, SA_USAGE,
            "no attention to align with: the model does not attend, the line is too long, or attention was "
            "not asked for");
    maker m = {{t->source_length, t->source_word, t->source_symbol},
               {h->length, h->word, h->symbol},
               h->attention,
               options,
               out};
    bool ok = name_words(&m, source, h->text);
    if (ok)
        out->weights = calloc((size_t)out->source_length * (size_t)out->target_length, sizeof *out->weights);
    ok = ok && out->weights;
    if (ok && h->length == 0)
        out->weights[0] = 1;
    if (ok) {
        add_rows(&m);
        normalise(out);
        ok = link_words(&m);
    }
    if (ok)
        return SA_OK;
    sa_alignment_free(out);
    return sa_fail_memory(error, 0);
}

static void free_texts(char **text, int n) {
    for (int i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

void sa_alignment_free(sa_alignment *a) {
    free_texts(a->source, a->source_length);
    free_texts(a->target, a->target_length);
    free(a->weights);
    sa_links_free(&a->links);
    *a = (sa_alignment){0};
}
