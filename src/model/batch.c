#include "model/batch.h"

#include <stdlib.h>

typedef struct sort_key {
    int length, number;
} sort_key;

static int longest_first(const void *a, const void *b) {
    const sort_key *x = a, *y = b;
    return x->length != y->length ? y->length - x->length : x->number - y->number;
}

/* Sorts; lengths and numbers of the rows. False once the tape has failed. */
static bool sort(tape *t, int n, const sentence *sentences, int **lengths, int **number) {
    sort_key *key = tape_bytes(t, (size_t)n * sizeof *key);
    *lengths = tape_bytes(t, (size_t)n * sizeof **lengths);
    *number = tape_bytes(t, (size_t)n * sizeof **number);
    if (!key || !*lengths || !*number)
        return false;
    for (int i = 0; i < n; i++)
        key[i] = (sort_key){sentences[i].length, i};
    qsort(key, (size_t)n, sizeof *key, longest_first);
    for (int i = 0; i < n; i++) {
        (*lengths)[i] = key[i].length;
        (*number)[i] = key[i].number;
    }
    return true;
}

/* What each step holds: word j of every row that is longer, or with `shift` 1 the word before. */
static int *lay_out(tape *t, const steps *s, const sentence *sentences, const int *number, int shift) {
    int *ids = tape_bytes(t, (size_t)s->at[s->T] * sizeof *ids);
    for (int j = 0; ids && j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            ids[s->at[j] + i] = j < shift ? -1 : sentences[number[i]].ids[j - shift];
    return ids;
}

bool source_batch_make(tape *t, int n, const sentence *sentences, source_batch *out) {
    int *lengths, *number, *row = tape_bytes(t, (size_t)n * sizeof *row);
    if (!row || !sort(t, n, sentences, &lengths, &number))
        return false;
    for (int i = 0; i < n; i++)
        row[number[i]] = i;
    *out = (source_batch){.lengths = lengths, .number = number, .row = row};
    steps_make(t, n, lengths, &out->steps);
    out->ids = t->failed ? NULL : lay_out(t, &out->steps, sentences, number, 0);
    return !t->failed;
}

bool target_batch_make(tape *t, int n, const sentence *sentences, const source_batch *source, target_batch *out) {
    int *lengths, *number, *source_row = tape_bytes(t, (size_t)n * sizeof *source_row);
    if (!source_row || !sort(t, n, sentences, &lengths, &number))
        return false;
    for (int i = 0; i < n; i++)
        source_row[i] = source->row[number[i]];
    *out = (target_batch){.lengths = lengths, .number = number, .source = source_row};
    steps_make(t, n, lengths, &out->steps);
    if (t->failed)
        return false;
    out->ids = lay_out(t, &out->steps, sentences, number, 0);
    out->previous = lay_out(t, &out->steps, sentences, number, 1);
    return !t->failed;
}

int *batch_row_numbers(tape *t, const steps *s, const int *number) {
    int *out = tape_bytes(t, (size_t)s->at[s->T] * sizeof *out);
    for (int j = 0; out && j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            out[s->at[j] + i] = number[i];
    return out;
}

int *batch_row_positions(tape *t, const steps *s, int first) {
    int *out = tape_bytes(t, (size_t)s->at[s->T] * sizeof *out);
    for (int j = 0; out && j < s->T; j++)
        for (int i = 0; i < s->n[j]; i++)
            out[s->at[j] + i] = first + j;
    return out;
}

source_order source_order_make(tape *t, const source_batch *source) {
    const steps *s = &source->steps;
    size_t rows = (size_t)s->at[s->T];
    int *start = tape_bytes(t, (size_t)s->B * sizeof *start), *row = tape_bytes(t, rows * sizeof *row);
    int *number = tape_bytes(t, rows * sizeof *number);
    if (t->failed)
        return (source_order){0};
    int at = 0;
    for (int i = 0; i < s->B; i++) {
        start[i] = at;
        for (int j = 0; j < source->lengths[i]; j++, at++) {
            row[at] = s->at[j] + i;
            number[at] = source->number[i];
        }
    }
    return (source_order){start, row, number};
}

int *source_last_rows(tape *t, const source_batch *source) {
    const steps *s = &source->steps;
    int *last = tape_bytes(t, (size_t)s->B * sizeof *last);
    for (int i = 0; last && i < s->B; i++)
        last[i] = s->at[source->lengths[i] - 1] + i;
    return last;
}
