#include "model/kept_state.h"

#include <stdlib.h>
#include <string.h>

/* Room for so many bytes; what is there stays. It grows by half at least. */
static bool reserve(kept_block *b, size_t need) {
    if (need <= b->bytes)
        return true;
    size_t bytes = need > b->bytes + b->bytes / 2 ? need : b->bytes + b->bytes / 2;
    void *bigger = realloc(b->at, bytes);
    if (!bigger)
        return false;
    *b = (kept_block){bigger, bytes};
    return true;
}

static void exchange(kept_block *a, kept_block *b) {
    kept_block was = *a;
    *a = *b;
    *b = was;
}

static bool gather_part(kept_matrix *m, const tensor *from, const int *parent, int rows) {
    long cols = tensor_cols(from);
    if (!reserve(&m->spare, (size_t)rows * (size_t)cols * sizeof(real)))
        return false;
    real *to = m->spare.at;
    for (long i = 0; i < rows; i++)
        memcpy(to + i * cols, from->data + parent[i] * cols, (size_t)cols * sizeof *to);
    exchange(&m->now, &m->spare);
    m->width = (int)cols;
    return true;
}

static bool append_memory(kept_matrix *m, const tensor *from, long there) {
    long cols = tensor_cols(from), rows = tensor_rows(from);
    if (!reserve(&m->now, (size_t)(there + rows) * (size_t)cols * sizeof(real)))
        return false;
    memcpy((real *)m->now.at + there * cols, from->data, (size_t)(rows * cols) * sizeof(real));
    m->width = (int)cols;
    return true;
}

/* A row's trail is its parent's, and the parent's place among the rows that were just left. */
static bool extend_trail(kept_state *k, const int *parent, int rows) {
    long length = k->length;
    if (!reserve(&k->spare_trail, (size_t)rows * (size_t)(length + 1) * sizeof(int)))
        return false;
    const int *from = k->trail.at;
    int *to = k->spare_trail.at;
    for (long i = 0; i < rows; i++, to += length + 1) {
        if (length)
            memcpy(to, from + parent[i] * length, (size_t)length * sizeof *to);
        to[length] = k->memory_rows + parent[i];
    }
    exchange(&k->trail, &k->spare_trail);
    return true;
}

bool kept_state_take(kept_state *k, const decoder_state *from, const int *parent, int rows) {
    SA_ASSERT(from->length == k->length + 1);
    for (int i = 0; i < from->n; i++)
        if (!gather_part(&k->part[i], from->part[i], parent, rows))
            return false;
    if (from->n_memories && !extend_trail(k, parent, rows))
        return false;
    for (int i = 0; i < from->n_memories; i++)
        if (!append_memory(&k->memory[i], from->memory[i], k->memory_rows))
            return false;
    k->memory_rows += from->n_memories ? (int)tensor_rows(from->memory[0]) : 0;
    k->length = from->length;
    k->n = from->n;
    k->n_memories = from->n_memories;
    k->rows = rows;
    return true;
}

bool kept_state_give(const kept_state *k, tape *t, decoder_state *out) {
    *out = (decoder_state){.length = k->length, .n = k->n, .n_memories = k->n_memories, .trail = k->trail.at};
    for (int i = 0; i < k->n; i++)
        out->part[i] = tape_wrap(t, k->rows, k->part[i].width, k->part[i].now.at);
    for (int i = 0; i < k->n_memories; i++)
        out->memory[i] = tape_wrap(t, k->memory_rows, k->memory[i].width, k->memory[i].now.at);
    return !t->failed;
}

void kept_state_free(kept_state *k) {
    for (int i = 0; i < STATE_PARTS_MAX; i++) {
        free(k->part[i].now.at);
        free(k->part[i].spare.at);
    }
    for (int i = 0; i < MODEL_LAYERS_MAX; i++)
        free(k->memory[i].now.at);
    free(k->trail.at);
    free(k->spare_trail.at);
    *k = (kept_state){0};
}
