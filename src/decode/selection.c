#include "decode/selection.h"

#include "decode/stepper.h"

#include <stdlib.h>
#include <string.h>

/* What is in the list of the sentence that is being made. */
typedef struct selecting {
    selection *out;
    int *mark; /* of each word: the last sentence, from 1, that has it */
    int sentence;
    bool failed;
} selecting;

static void add(selecting *s, int word) {
    selection *out = s->out;
    if (s->failed || s->mark[word] == s->sentence)
        return;
    size_t n = (size_t)out->start[s->sentence];
    if (n == out->capacity) {
        size_t capacity = out->capacity ? 2 * out->capacity : 4096;
        int *words = realloc(out->word, capacity * sizeof *words), *columns = NULL;
        if (words) {
            out->word = words;
            columns = realloc(out->column, capacity * sizeof *columns);
        }
        if (!columns) {
            s->failed = true;
            return;
        }
        out->column = columns;
        out->capacity = capacity;
    }
    s->mark[word] = s->sentence;
    if (out->place[word] < 0) {
        out->place[word] = out->n;
        out->id[out->n++] = word;
    }
    out->word[n] = word;
    out->column[n] = out->place[word];
    out->start[s->sentence]++;
}

static void add_list(selecting *s, const int *words, int n) {
    for (int i = 0; i < n; i++)
        add(s, words[i]);
}

static void add_sentence(selecting *s, const sa_shortlist *list, const vocab *target, const source_sentence *of) {
    add(s, VOCAB_EOS);
    add(s, VOCAB_UNK);
    for (int kind = 0; kind < PROTECT_KINDS; kind++)
        if (vocab_placeholder(target, (protect_kind)kind) >= 0)
            add(s, vocab_placeholder(target, (protect_kind)kind));
    add_list(s, list->frequent, list->n_frequent);
    for (int i = 0; i < of->length; i++) {
        int x = of->ids[i];
        add_list(s, list->word + list->start[x], list->start[x + 1] - list->start[x]);
    }
    add_list(s, of->prefix, of->n_prefix);
    for (int word = 0; of->open && *of->open && word < list->vocab_size[SA_TARGET]; word++)
        add(s, word);
}

bool selection_make(selection *out, const sa_shortlist *list, const vocab *target, const source_sentence *sentences,
                    int n) {
    size_t V = (size_t)list->vocab_size[SA_TARGET];
    *out = (selection){.id = calloc(V, sizeof *out->id),
                       .place = malloc(V * sizeof *out->place),
                       .start = calloc((size_t)n + 1, sizeof *out->start)};
    selecting s = {out, calloc(V, sizeof *s.mark), 0, false};
    s.failed = !out->id || !out->place || !out->start || !s.mark;
    for (size_t i = 0; !s.failed && i < V; i++)
        out->place[i] = -1;
    for (int i = 0; !s.failed && i < n; i++) {
        s.sentence = i + 1;
        out->start[i + 1] = out->start[i];
        add_sentence(&s, list, target, &sentences[i]);
    }
    free(s.mark);
    return !s.failed;
}

void selection_free(selection *s) {
    free(s->id);
    free(s->place);
    free(s->start);
    free(s->word);
    free(s->column);
    *s = (selection){0};
}
