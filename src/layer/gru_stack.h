#ifndef LAYER_GRU_STACK_H
#define LAYER_GRU_STACK_H

#include "layer/gru_cell.h"

/* Layers that read a sequence in both directions: at every position the output of a layer is [forward state;
 * backward state], from the second layer on plus the output of the layer below, which, with dropout, is its input.
 */
enum { GRU_LAYERS_MAX = 16 };
typedef struct gru_pair {
    gru_cell forward, backward;
    gru_transition deep_forward, deep_backward;
} gru_pair;
typedef struct gru_stack {
    int n;
    gru_pair layer[GRU_LAYERS_MAX];
} gru_stack;

/* The lowest layer is prefix.forward and prefix.backward, whose input is the form's; those above are
 * prefix.2.forward and so on. The transitions of every unit are deep.1 ... deep.`transitions` below its name. */
void gru_stack_declare(gru_stack *s, const weight_scope *scope, const char *prefix, int layers, int transitions,
                       gru_form form);

/* Where and how much the input of layers above the lowest is dropped: layer i, from 1, has the masks of site + i.
 * number: sentence of each row. */
typedef struct gru_stack_dropout {
    float rate;
    unsigned site;
    const int *number;
} gru_stack_dropout;

/* Runs all layers over the rows of all steps, x (N, m). Output row k of the highest is that of position order[k]:
 * (N, 2H). first gets its backward states at the first position (B, H). NULL once the tape has failed. */
tensor *gru_stack_run(tape *t, const gru_stack *s, tensor *x, const steps *over, gru_stack_dropout dropout,
                      const int *order, tensor **first);

#endif
