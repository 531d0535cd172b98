/* Operations on pictures: squares of side x side places, one picture's rows behind the other's, each row by row. */
#ifndef OP_GRID_H
#define OP_GRID_H

#include "tape/tape.h"

/* y = 1 - colour / 255 for each of red, green and blue, so that white and what lies outside are 0. n pictures, of
 * which pixel k of number i is ids[k n + i], 0xRRGGBB: (n side^2, 3). shift: of picture i by shift[2 i] to the left
 * and shift[2 i + 1] upwards; NULL: none. Nobody learns pixels: there is no backward. */
tensor *op_pixels(tape *t, int n, int side, const int *ids, const int *shift);

/* Numbers as they are in ids, the upper 24 bits of a float each: of n sources, k vectors of width c, of which
 * number j of source i is ids[j n + i]. Returns (n k, c), which nobody learns. */
tensor *op_numbers(tape *t, int n, int k, int c, const int *ids);

/* What a convolution of 3 x 3 in steps of 2 multiplies: of each second place in each direction, the 9 places around
 * it one behind the other, zeros where there is none. x (n side^2, c), side even -> (n (side / 2)^2, 9 c). */
tensor *op_windows(tape *t, tensor *x, int n, int side);

#endif
