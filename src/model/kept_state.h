/* A decoder's state between the steps of a search: outside the arena, which is emptied after each step. */
#ifndef MODEL_KEPT_STATE_H
#define MODEL_KEPT_STATE_H

#include "model/model.h"

/* Memory that grows. */
typedef struct kept_block {
    void *at;
    size_t bytes;
} kept_block;

typedef struct kept_matrix {
    kept_block now, spare; /* spare: of parts, room to gather in */
    int width;
} kept_matrix;

typedef struct kept_state {
    int length, n, n_memories;
    kept_matrix part[STATE_PARTS_MAX], memory[MODEL_LAYERS_MAX];
    int rows, memory_rows; /* of parts; of memories */
    kept_block trail, spare_trail;
} kept_state;

/* Takes what a step left: row i of the next one goes on from its row parent[i]. The first state, before any step,
 * is not taken. *k begins cleared. False without memory. */
bool kept_state_take(kept_state *k, const decoder_state *from, const int *parent, int rows);
/* The state that the next step begins with; valid until the next take. False once the tape has failed. */
bool kept_state_give(const kept_state *k, tape *t, decoder_state *out);
void kept_state_free(kept_state *k);

#endif
